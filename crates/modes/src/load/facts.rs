//! What the journal has of every load, whatever carries it. Not what a mode's own plan says beyond that.

use pathscope_core::journal::LoadFacts;

use super::{Extent, Pattern};
use crate::sockets::SocketPlan;

/// Which way data goes, how far, and how its sockets are asked for; the rest is the mode's.
pub(crate) fn facts(pattern: Pattern, extent: Extent, sockets: &SocketPlan) -> LoadFacts {
    let (duration_ns, transfer_bytes) = match extent {
        Extent::DurationNs(duration) => (Some(duration.0), None),
        Extent::TransferBytes(bytes) => (None, Some(bytes.0)),
    };
    LoadFacts {
        is_up: pattern != Pattern::Pull,
        is_down: pattern != Pattern::Push,
        is_split: pattern == Pattern::Bidir,
        duration_ns,
        transfer_bytes,
        dscp: sockets.dscp,
        send_buffer_bytes: sockets.send_buffer_bytes.map(|it| it.0),
        segment_bytes: sockets.segment_bytes.map(|it| it.0),
        ..LoadFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Bytes, Period};

    use super::*;

    #[test]
    fn what_is_stated_is_there_and_nothing_else() {
        let sockets = SocketPlan {
            dscp: Some(8),
            send_buffer_bytes: Some(Bytes(65_536)),
            segment_bytes: Some(Bytes(1_000)),
            ..SocketPlan::default()
        };
        let pull =
            facts(Pattern::Pull, Extent::DurationNs(Period::from_secs(2)), &SocketPlan::default());
        let expected =
            LoadFacts { is_down: true, duration_ns: Some(2_000_000_000), ..LoadFacts::default() };
        assert_eq!(pull, expected);
        let bidir = facts(Pattern::Bidir, Extent::TransferBytes(Bytes(9)), &sockets);
        let expected = LoadFacts {
            is_up: true,
            is_down: true,
            is_split: true,
            transfer_bytes: Some(9),
            dscp: Some(8),
            send_buffer_bytes: Some(65_536),
            segment_bytes: Some(1_000),
            ..LoadFacts::default()
        };
        assert_eq!(bidir, expected);
    }
}
