//! What the other end says of a connection that has ended, beside what this end saw: a row says that it succeeded when
//! both count the same. When rows are written is `journal`'s.

use pathscope_core::id::Role;
use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts};
use pathscope_flow::Totals;
use pathscope_modes::load::{Disagreement, failure_of_both};

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
    /// It may be there, and is waited for no longer, since somebody wanted to stop.
    Left,
}

/// What a connection came to at the other end.
#[derive(Clone, Debug)]
pub(crate) struct PeerEnd {
    /// What went through there.
    pub totals: Totals,
    /// Why it failed there, where it did.
    pub failure: Option<FlowError>,
}

/// Why a connection has not ended well, as both ends found it; `None` where it has, and both count the same.
pub(crate) fn error_of_both(
    role: Option<Role>,
    own: &FlowFacts,
    peer: &PeerEnd,
) -> Option<FlowError> {
    match (&peer.failure, &own.error) {
        (Some(theirs), own) => {
            let other = role.map_or(Role::Client, Role::peer);
            Some(failure_of_both(other, theirs, own.as_ref()))
        }
        (None, Some(own)) => Some(own.clone()),
        (None, None) => disagreement(role, own, peer.totals),
    }
}

/// Where the two ends do not count the same.
fn disagreement(role: Option<Role>, own: &FlowFacts, there: Totals) -> Option<FlowError> {
    let here = Totals { sent: own.sent_bytes, received: own.received_bytes };
    let (client, server) = if role == Some(Role::Client) { (here, there) } else { (there, here) };
    let (is_up, sent_bytes, received_bytes) =
        [(true, client.sent, server.received), (false, server.sent, client.received)]
            .into_iter()
            .find(|(_, sent, received)| sent != received)?;
    let differs = Disagreement { flow: own.flow, is_up, sent_bytes, received_bytes };
    Some(FlowError { kind: FlowErrorKind::Protocol, text: differs.to_string(), errno: None })
}

/// What is to be said of a connection that ended well here and of which the other end says nothing.
pub(crate) fn unconfirmed(peer: Peer) -> FlowError {
    let (kind, text) = if peer == Peer::Left {
        let text = "it is not known how it ended at the other end: the run was stopped before that had said";
        (FlowErrorKind::Unconfirmed, text)
    } else {
        let text = "the session was lost before the other end said what it received";
        (FlowErrorKind::Network, text)
    };
    FlowError { kind, text: text.to_owned(), errno: None }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::FlowId;

    use super::*;

    fn own(sent_bytes: u64, received_bytes: u64) -> FlowFacts {
        FlowFacts { flow: FlowId(3), sent_bytes, received_bytes, ..FlowFacts::default() }
    }

    fn peer(sent: u64, received: u64, failure: Option<FlowError>) -> PeerEnd {
        PeerEnd { totals: Totals { sent, received }, failure }
    }

    fn error(kind: FlowErrorKind, text: &str) -> FlowError {
        FlowError { kind, text: text.to_owned(), errno: None }
    }

    #[test]
    fn the_end_that_is_short_is_named_at_both() {
        let text =
            "flow 3: the client sent 10 bytes and the server took 9; the server is short by 1";
        for (role, own, peer) in [
            (Role::Client, own(10, 4), peer(4, 9, None)),
            (Role::Server, own(4, 9), peer(10, 4, None)),
        ] {
            let error = error_of_both(Some(role), &own, &peer).expect("they differ");
            assert_eq!((error.kind, error.text.as_str()), (FlowErrorKind::Protocol, text));
        }
        assert_eq!(error_of_both(Some(Role::Client), &own(10, 4), &peer(4, 10, None)), None);
    }

    #[test]
    fn what_failed_there_has_not_succeeded_here_and_is_named_by_what_tells_most() {
        let damage = error(FlowErrorKind::Data, "wrong data at byte 9");
        let broken = error(FlowErrorKind::Network, "the connection broke");
        let judged = |own_error: Option<&FlowError>, theirs: &FlowError| {
            let own = FlowFacts { error: own_error.cloned(), ..own(0, 9) };
            error_of_both(Some(Role::Server), &own, &peer(9, 0, Some(theirs.clone())))
        };
        let named = |kind, text: &str| Some(error(kind, text));
        let (data, network) = (FlowErrorKind::Data, FlowErrorKind::Network);
        assert_eq!(judged(None, &damage), named(data, "wrong data at byte 9 (at the client)"));
        let both = "wrong data at byte 9 (at the client; here: the connection broke)";
        assert_eq!(judged(Some(&broken), &damage), named(data, both));
        assert_eq!(judged(Some(&damage), &broken), named(data, "wrong data at byte 9"));
        assert_eq!(judged(None, &broken), named(network, "the connection broke (at the client)"));
    }
}
