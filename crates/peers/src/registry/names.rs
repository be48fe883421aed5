//! Kinds of peers by their names.

use std::fmt;
use std::str::FromStr;

use super::PeerKind;

impl fmt::Display for PeerKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for PeerKind {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|kind| typed.eq_ignore_ascii_case(kind.name()));
        let names = || Self::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        known.copied().ok_or_else(|| format!("'{typed}' is none of {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_known_by_its_name_in_any_case_of_letters() {
        for kind in PeerKind::ALL {
            assert_eq!(kind.to_string().to_uppercase().parse(), Ok(*kind));
        }
        let error = "nativ".parse::<PeerKind>().expect_err("there is none");
        assert!(error.starts_with("'nativ' is none of native"), "{error}");
    }
}
