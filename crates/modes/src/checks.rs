//! Checks of several modes that are worded alike: of data, of how flows ended, of counts. What the server has not said is not
//! known, and what is not known does not hold; of what its kind never says, nobody can know whether it does.

use pathscope_core::finding::Finding;
use pathscope_core::quantity::counted;
use pathscope_core::record::Check;

use crate::results::{Ends, Results};

/// Why it is not known whether something held, as a sentence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Unknown {
    /// The server should have said it, and has not.
    Unsaid(String),
    /// Such a server never says it.
    Untold(String),
}

impl Unknown {
    /// `what` is not known since the server's report is missing.
    fn without_report<M: Results>(ends: &Ends<'_, M>, what: &str) -> Self {
        if ends.hosts.tells().report {
            Self::Unsaid(format!("{what}: it has not said"))
        } else {
            Self::Untold(format!("{what}: such a server does not say"))
        }
    }

    /// The same with more of it.
    pub(crate) fn with(self, more: &str) -> Self {
        match self {
            Self::Unsaid(sentence) => Self::Unsaid(sentence + more),
            Self::Untold(sentence) => Self::Untold(sentence + more),
        }
    }

    /// The sentence.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Unsaid(sentence) | Self::Untold(sentence) => sentence,
        }
    }
}

/// Of data that go up, down or both ways, which of them nobody has compared, as far as this end knows.
pub(crate) fn unknown_data<M: Results>(
    ends: &Ends<'_, M>,
    (is_up, is_down): (bool, bool),
) -> Option<Unknown> {
    const WHAT: &str = "it is not known whether what the client received is right: such a server does not say what it sends";
    let there = unknown_there(ends).filter(|_| is_up);
    let is_opaque = is_down && !ends.hosts.tells().payload;
    match there {
        Some(there) if is_opaque => Some(there.with(&format!("; {WHAT}"))),
        None if is_opaque => Some(Unknown::Untold(WHAT.to_owned())),
        there => there,
    }
}

/// Of data that the server received, where it has not said what it makes of them. One that compares and does not report says it by
/// how its connections end.
fn unknown_there<M: Results>(ends: &Ends<'_, M>) -> Option<Unknown> {
    const WHAT: &str = "it is not known whether what the server received is right";
    let tells = ends.hosts.tells();
    if !tells.verification {
        return Some(Unknown::Untold(format!("{WHAT}: such a server does not say")));
    }
    let is_missing = ends.server.is_none() && tells.report;
    is_missing.then(|| Unknown::without_report(ends, WHAT))
}

/// Of flows, or of what else they are called, where the server's report is missing.
pub(crate) fn unknown_end<M: Results>(ends: &Ends<'_, M>, what: &str, flows: u64) -> Unknown {
    let flows = counted(flows, what);
    Unknown::without_report(ends, &format!("it is not known how {flows} ended at the server"))
}

/// A check that compares what both ends count: absent where the server's report is missing, and unknown where there is never one.
pub(crate) fn of_counts<M: Results>(
    ends: &Ends<'_, M>,
    check: impl Finding,
    compared: impl FnOnce(&M::Report, &M::Report) -> Check,
) -> Option<Check> {
    const UNTOLD: &str = "it is not known what the server counted: such a server does not say";
    match ends.of_server() {
        Some(server) => Some(compared(ends.of_client(), server)),
        None => (!ends.hosts.tells().report).then(|| Check::unknown(check, UNTOLD)),
    }
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
    unknown: Option<Unknown>,
    right: String,
) -> Check {
    match (wrong, unknown) {
        (Some(sentence), _) | (None, Some(Unknown::Unsaid(sentence))) => {
            Check::new(check, false, sentence)
        }
        (None, Some(Unknown::Untold(sentence))) => Check::unknown(check, sentence),
        (None, None) => Check::new(check, true, right),
    }
}
