//! What can be asked of peers that have no control connection, over TCP.

use pathscope_flow::{Group, Transport};
use pathscope_modes::conventions::StreamEnd;
use pathscope_modes::groups::Test;
use pathscope_modes::load::Pattern;
use pathscope_modes::registry::Plan;

use crate::Refusal;

/// Whether nothing has to be said of a test while it runs: over TCP, of connections that are all there from the begin to the end.
pub fn carries(test: &Test) -> Result<(), Refusal> {
    carries_to(test, StreamEnd::Closed)
}

/// The same of a kind of peer whose streams end so: where each says for itself that it is over, they may follow one another.
pub fn carries_to(test: &Test, end: StreamEnd) -> Result<(), Refusal> {
    let may_follow = matches!(end, StreamEnd::Agreed(_) | StreamEnd::Word(_));
    let no = |sentence: &str| {
        Err(Refusal::new("unable", format!("without a control connection {sentence}")))
    };
    let groups = test.groups();
    if groups.iter().any(|group| group.transport == Transport::Datagram) {
        return no("no datagrams can be sent");
    }
    let follow = |group: &Group| group.replaces() && !may_follow;
    if groups.iter().any(|group| follow(group) || group.roams || group.lanes != 1) {
        return no("no connection can be replaced, and none have several paths");
    }
    if groups.len() > 1 {
        return no("nobody says which connections are probes: --no-probe");
    }
    match &test.plan {
        Plan::Goodput(plan) if plan.pattern == Pattern::Bidir => {
            no("nobody says which way a connection goes: --pattern duplex goes both ways on each")
        }
        Plan::Goodput(_) | Plan::Latency(_) => Ok(()),
        _ => no("loads and pings can be carried, and nothing else"),
    }
}
