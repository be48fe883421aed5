//! What can be found of a test of datagrams beside its figures.

use pathscope_core::findings;
use pathscope_core::record::Limit;

findings! {
    /// What has to hold.
    pub(super) enum DatagramsCheck {
        Verified: "verified", "every received byte that was looked at is the byte that was sent, and both ends have said so",
            "the path or a machine damages data: repeat over another path, with offloads switched off, and see docs/method/verification.md";
        Completed: "completed", "every flow came to its end at both ends",
            "read why the first one failed: a program that was gone, a path that was cut, a system that refused";
        CountsAgree: "counts_agree", "what each receiver was told was sent is what the sender says, and no more arrived",
            "something between the ends makes datagrams of its own, or an end was restarted: repeat";
    }
}

findings! {
    /// What to mind of the figures.
    pub(super) enum DatagramsCaveat {
        RateNotReached: "rate_not_reached", "less was sent than was asked for: what was due and never left was not tried",
            "ask for less, for longer datagrams or for more flows; --offload on where the system has it";
        SendLag: "send_lag", "one batch in a hundred left late, and what was due by then with it, at once",
            "give the sender less to do, a processor of its own (--cpu) or a lower rate";
    }
}

/// What its verdicts can name.
pub(super) const LIMITS: &[Limit] = &[
    Limit::ConfiguredRate,
    Limit::SenderStopped,
    Limit::ReceiverStopped,
    Limit::SenderCpu,
    Limit::ReceiverCpu,
    Limit::ReceiverSocket,
    Limit::Network,
    Limit::Undetermined,
];
