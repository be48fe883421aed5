//! Values whose fields are counts, added up or taken over into what is told of them, each field named once.
//!
//! Not here: what is no count, such as the most of something or a distribution; whoever has that adds it beside.

/// Adds to each named field of one value the same field of another. What a stranger wrote may be any number, so that sums
/// stop at the most there is.
macro_rules! add_fields {
    ($sum:expr, $more:expr; $($field:ident),+ $(,)?) => {
        $($sum.$field = $sum.$field.saturating_add($more.$field);)+
    };
}

/// A value of this type with the named fields as another has them, and nothing in the others.
macro_rules! with_fields {
    ($type:ident, $from:expr; $($field:ident),+ $(,)?) => {
        $type { $($field: $from.$field,)+ ..$type::default() }
    };
}

pub(crate) use add_fields;
pub(crate) use with_fields;

/// All of these, where each is known.
pub(crate) fn all_known<T>(values: impl IntoIterator<Item = Option<T>>) -> Option<Vec<T>> {
    values.into_iter().collect()
}
