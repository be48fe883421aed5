//! What can be found of a test, whatever is measured. What can be found of a mode is in its folder, and all of it side by
//! side in `findings`.

use pathscope_core::finding::{Finding, FindingDefinition};
use pathscope_core::findings;
use pathscope_core::record::{Caveat, Limit};

/// What can be found of a mode.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ModeFindings {
    /// What it is called in documents.
    pub mode: &'static str,
    /// What has to hold.
    pub checks: &'static [FindingDefinition],
    /// What there can be to mind.
    pub caveats: &'static [FindingDefinition],
    /// What its verdicts can name.
    pub limits: &'static [Limit],
}

findings! {
    /// What has to hold of any test.
    pub(crate) enum TestCheck {
        Asserted: "asserted", "a figure is what `--assert` says that it has to be; one that the result does not have is not",
            "look at the figure and at the caveats beside it; docs/figures.md has the ids";
    }
}

findings! {
    /// What to mind of any test.
    pub(crate) enum TestCaveat {
        ServerReportMissing: "server_report_missing", "the server's report never came: what it received is unknown, and nothing is concluded from it",
            "see whether the server still runs and the path holds, and repeat";
        PeerTellsLess: "peer_tells_less", "this kind of peer does not tell all that it counts, or what its data are made of: what rests on that is absent, and checks of it are unknown",
            "read what the other end says itself, or have pathscope at both ends where it has to be known";
        Unfinished: "unfinished", "the measurement was under way when this was saved: its intervals alone are here",
            "let it come to its end";
        ServerMissing: "server_missing", "of several servers, what one came to is not known in full: there are no figures over all",
            "see its own entry, and repeat";
        ServersApart: "servers_apart", "several servers did not run at the same time: their rates are not added up",
            "state a duration, so that all run for the same time";
        StoodStill: "stood_still", "an end's program stood still: it was stopped, or its machine was; nothing of that time is the path's",
            "run again; look for what suspends, freezes or pauses that machine";
        ProbeLoad: "probe_load", "the latency probes were a noticeable part of what was carried, and the load is that much less",
            "fewer: --probe-rate";
        ProbeUnanswered: "probe_unanswered", "latency probes beside a load were never answered",
            "compare with a run without load; open the server's UDP port";
    }
}

/// A caveat for each that was found, which is told in a sentence.
pub(crate) fn caveats<F: Finding>(
    found: impl IntoIterator<Item = (F, Option<String>)>,
) -> Vec<Caveat> {
    found.into_iter().filter_map(|(of, text)| Some(Caveat::new(of, text?))).collect()
}
