//! What can be found of a goodput test beside its figures.

use pathscope_core::findings;
use pathscope_core::record::Limit;

findings! {
    /// What has to hold.
    pub(super) enum GoodputCheck {
        Verified: "verified", "every received byte that was looked at is the byte that was sent, and both ends have said so",
            "the path or a machine damages data: repeat over another path, with offloads switched off, and see docs/method/verification.md";
        Completed: "completed", "every connection came to its planned end at both ends",
            "read why the first one failed; --error-file holds all of them";
        CountsAgree: "counts_agree", "what one end sent is what the other received, connection by connection",
            "a middlebox or a bug ended connections differently at the two ends: see which of them in the text, and repeat";
    }
}

findings! {
    /// What to mind.
    pub(super) enum GoodputCaveat {
        ListenQueueFull: "listen_queue_full", "a queue of connections that wait to be accepted was full at the server's machine while connections followed one another: what came then was dropped, and sent again a second later or more",
            "fewer in the making at once (--connect-limit), or nothing else to do for the server's machine; a higher net.core.somaxconn where that is below 2,048, which a server of pathscope asks for";
        FastOpenNotTaken: "fast_open_not_taken", "connections were to be opened with their first bytes (--fast-open), and the server's system took none of those with a SYN: each was opened as ever",
            "set bit 2 of net.ipv4.tcp_fastopen at the server (3 is both ends' bits); where it is set, look for what takes TCP Fast Open's option out of SYNs on the way, and give no more than four addresses to --bind";
    }
}

/// What its verdicts can name.
pub(super) const LIMITS: &[Limit] = &[
    Limit::ConfiguredRate,
    Limit::ConfiguredPauses,
    Limit::Turns,
    Limit::SenderStopped,
    Limit::ReceiverStopped,
    Limit::SenderCpu,
    Limit::ReceiverCpu,
    Limit::ReceiveWindow,
    Limit::SendBuffer,
    Limit::Network,
    Limit::Sender,
    Limit::Undetermined,
];
