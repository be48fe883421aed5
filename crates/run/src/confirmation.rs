//! What the other end says of a connection that has ended, beside what this end saw: a row says that it succeeded when
//! both count the same. When rows are written is `journal`'s.

use pathscope_core::id::Role;
use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts};
use pathscope_flow::Totals;
use pathscope_modes::goodput::Disagreement;

/// Whether the other end says of each connection what it came to, on the control connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Peer {
    /// It will say nothing: it has reported, or has no need to.
    #[default]
    Silent,
    /// It should.
    Awaited,
    /// It does.
    Heard,
    /// It is gone: it will confirm nothing any more.
    Gone,
}

/// What a connection came to at the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerEnd {
    /// What went through there.
    pub totals: Totals,
    /// Whether it failed there.
    pub failed: bool,
}

/// Why a connection has not ended well that has at this end; `None` where both count the same.
pub(crate) fn disagreement(
    role: Option<Role>,
    own: &FlowFacts,
    peer: PeerEnd,
) -> Option<FlowError> {
    let here = Totals { sent: own.sent_bytes, received: own.received_bytes };
    let (client, server) =
        if role == Some(Role::Client) { (here, peer.totals) } else { (peer.totals, here) };
    let differs = [(true, client.sent, server.received), (false, server.sent, client.received)]
        .into_iter()
        .find(|(_, sent, received)| sent != received);
    let (kind, text) = match differs {
        Some((is_up, sent_bytes, received_bytes)) => {
            let flow = own.flow;
            let differs = Disagreement { flow, is_up, sent_bytes, received_bytes };
            let kind = if peer.failed { FlowErrorKind::Network } else { FlowErrorKind::Protocol };
            (kind, differs.to_string())
        }
        None if peer.failed => {
            (FlowErrorKind::Network, "the other end says that it failed there".to_owned())
        }
        None => return None,
    };
    Some(FlowError { kind, text, errno: None })
}

/// Why a connection counts as failed that the other end says nothing of.
pub(crate) fn unconfirmed() -> FlowError {
    FlowError {
        kind: FlowErrorKind::Network,
        text: "the session was lost before the other end said what it received".to_owned(),
        errno: None,
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::FlowId;

    use super::*;

    fn own(sent_bytes: u64, received_bytes: u64) -> FlowFacts {
        FlowFacts { flow: FlowId(3), sent_bytes, received_bytes, ..FlowFacts::default() }
    }

    fn peer(sent: u64, received: u64, failed: bool) -> PeerEnd {
        PeerEnd { totals: Totals { sent, received }, failed }
    }

    #[test]
    fn the_end_that_is_short_is_named_at_both() {
        let text =
            "flow 3: the client sent 10 bytes and the server took 9; the server is short by 1";
        for (role, own, peer) in [
            (Role::Client, own(10, 4), peer(4, 9, false)),
            (Role::Server, own(4, 9), peer(10, 4, false)),
        ] {
            let error = disagreement(Some(role), &own, peer).expect("they differ");
            assert_eq!((error.kind, error.text.as_str()), (FlowErrorKind::Protocol, text));
        }
        assert_eq!(disagreement(Some(Role::Client), &own(10, 4), peer(4, 10, false)), None);
    }

    #[test]
    fn what_failed_there_has_not_succeeded_here() {
        let error = disagreement(Some(Role::Server), &own(0, 9), peer(9, 0, true));
        let error = error.expect("it failed");
        assert!(error.kind == FlowErrorKind::Network && error.text.contains("failed there"));
    }
}
