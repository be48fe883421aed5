//! Checks of several modes that are worded alike: of data, and of how flows ended. What the server has not said is not known,
//! and what is not known does not hold.

use pathscope_core::finding::Finding;
use pathscope_core::quantity::counted;
use pathscope_core::record::Check;

/// Of data that the server received, where its report is missing.
pub(crate) const UNKNOWN_DATA: &str =
    "it is not known whether what the server received is right: it has not said";

/// Of flows, or of what else they are called, where the server's report is missing.
pub(crate) fn unknown_end(what: &str, flows: u64) -> String {
    let flows = counted(flows, what);
    format!("it is not known how {flows} ended at the server: it has not said")
}

/// Of flows, or of what else they are called, all of which came to their end.
pub(crate) fn all_ended(what: &str, flows: u64) -> String {
    match flows {
        1 => format!("the {what} came to its end"),
        _ => format!("all {} came to their end", counted(flows, what)),
    }
}

/// A check of what both ends say: it holds where nothing is wrong or unknown.
pub(crate) fn of_ends(
    check: impl Finding,
    wrong: Option<String>,
    unknown: Option<String>,
    right: String,
) -> Check {
    let passed = wrong.is_none() && unknown.is_none();
    Check::new(check, passed, wrong.or(unknown).unwrap_or(right))
}
