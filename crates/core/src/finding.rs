//! What can be found of a test beside its figures, each thing defined once: a name that stays, what it means, what to do.
//! Every mode and every room has a closed list of its caveats and one of its checks; what holds a transfer back is
//! [`Limit`](crate::record::Limit). `docs/findings.md` is written from these lists.
//!
//! Not here: when something is found, and the sentence with the numbers.

/// One thing that can be found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FindingDefinition {
    /// The name that it has in documents: `send_lag`.
    pub name: &'static str,
    /// What it means, as a fragment.
    pub meaning: &'static str,
    /// What to do about it, or with it.
    pub remedy: &'static str,
}

/// One of a closed list, made by [`findings!`](crate::findings).
pub trait Finding: Copy {
    /// All of its list.
    const ALL: &'static [FindingDefinition];

    /// The name that it has in documents.
    fn name(self) -> &'static str;
}

/// A closed list of findings: an enum with a variant for each, and for each its name, meaning and remedy.
#[macro_export]
macro_rules! findings {
    (
        $(#[$about:meta])*
        $visibility:vis enum $list:ident {
            $($variant:ident: $name:literal, $meaning:literal, $remedy:literal;)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        $visibility enum $list {
            $(#[doc = $meaning] $variant,)+
        }

        impl $crate::finding::Finding for $list {
            const ALL: &'static [$crate::finding::FindingDefinition] =
                &[$($crate::finding::FindingDefinition { name: $name, meaning: $meaning, remedy: $remedy },)+];

            fn name(self) -> &'static str {
                Self::ALL[self as usize].name
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    findings! {
        /// What trees suffer from.
        enum TreeCaveat {
            Moss: "moss", "it grows on the bark", "scrape it off";
            Wind: "wind", "it bends the stem", "tie it";
        }
    }

    #[test]
    fn each_has_its_name_and_its_place_in_the_list() {
        let named = [TreeCaveat::Moss, TreeCaveat::Wind].map(Finding::name);
        assert_eq!(named, ["moss", "wind"]);
        assert_eq!(TreeCaveat::ALL.iter().map(|it| it.name).collect::<Vec<_>>(), named);
        assert_eq!(
            (TreeCaveat::ALL[1].meaning, TreeCaveat::ALL[1].remedy),
            ("it bends the stem", "tie it")
        );
    }
}
