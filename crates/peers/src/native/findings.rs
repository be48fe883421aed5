//! What can be found of the messages of a session.

use pathscope_core::findings;

findings! {
    /// What to mind of what ends tell each other.
    pub enum NativeCaveat {
        ReportShortened: "report_shortened", "an end's report was too long for one message: it has fewer flows, or coarser distributions",
            "none is needed: counts are exact. Fewer connections, for more detail of each";
        ReportUnreadable: "report_unreadable", "the other end's report cannot be read by this version",
            "use the same version at both ends";
    }
}
