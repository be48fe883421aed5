//! What can be found of streams of frames beside their figures.

use pathscope_core::findings;
use pathscope_core::record::Limit;

findings! {
    /// What has to hold.
    pub(super) enum MediaCheck {
        Verified: "verified", "every received byte is the byte that was sent, and both ends have said so",
            "the path or a machine damages data: repeat over another path, with offloads switched off, and see docs/method/verification.md";
        Completed: "completed", "every stream came to its end at both ends",
            "read why the first one failed: a program that was gone, a path that was cut, a system that refused";
        Accounted: "accounted", "each datagram that was sent came, came damaged, or was lost, and nothing else came",
            "an end was restarted, or something between the ends makes datagrams of its own: repeat";
    }
}

findings! {
    /// What to mind of the figures.
    pub(super) enum MediaCaveat {
        FramesUnsent: "frames_unsent", "frames that were due never left: the sender cannot keep this rate",
            "ask for a lower rate or fewer streams, or give the sender less to do";
        SendLag: "send_lag", "one frame in a hundred left so late that part of the delay is the sender's own",
            "give the sender less to do, or a machine that is faster";
        EndedEarly: "ended_early", "of the last frames of a stream, whose length nobody says, nothing came",
            "see whether the server was told the same length of its streams, and whether it has gone";
        Fragmented: "fragmented", "datagrams travel in fragments, and one that is lost loses the whole",
            "give the --datagram that the text names, or less";
    }
}

/// What its verdicts can name.
pub(super) const LIMITS: &[Limit] = &[
    Limit::ConfiguredRate,
    Limit::ReceiverStopped,
    Limit::SenderLate,
    Limit::ReceiverSocket,
    Limit::NetworkLoss,
    Limit::NetworkDelay,
    Limit::Damage,
    Limit::Undetermined,
];
