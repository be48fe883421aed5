//! Adding up values whose fields are counts, each field named once.
//!
//! Not here: what is no count, such as the most of something or a distribution; whoever has that adds it beside.

/// Adds to each named field of one value the same field of another. What a stranger wrote may be any number, so that sums
/// stop at the most there is.
macro_rules! add_fields {
    ($sum:expr, $more:expr; $($field:ident),+ $(,)?) => {
        $($sum.$field = $sum.$field.saturating_add($more.$field);)+
    };
}

pub(crate) use add_fields;
