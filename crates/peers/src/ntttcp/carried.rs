//! Which tests of ours an ntttcp receiver can be sent: whatever there is no way to send it is refused here, with what to do instead.

use pathscope_flow::{Group, Transport};
use pathscope_modes::goodput::Shutdown;
use pathscope_modes::groups::Test;
use pathscope_modes::load::Pattern;
use pathscope_modes::registry::Plan;

use crate::Refusal;

/// Whether it can be sent this test; if not, why.
pub(super) fn carries(test: &Test) -> Result<(), Refusal> {
    let pattern = match &test.plan {
        Plan::Goodput(plan) => plan.pattern,
        Plan::Datagrams(plan) => plan.pattern,
        _ => {
            return no(
                "an ntttcp receiver takes loads over TCP and UDP, and nothing else: goodput",
            );
        }
    };
    if pattern != Pattern::Push {
        return no("an ntttcp receiver sends nothing: --pattern push");
    }
    let groups = test.groups();
    if groups.len() > 1 {
        return no(
            "an ntttcp receiver cannot tell probes from the connections of the load: --no-probe",
        );
    }
    let is_rude =
        matches!(&test.plan, Plan::Goodput(plan) if plan.shape.shutdown != Shutdown::Graceful);
    if groups.iter().any(Group::replaces) || is_rude {
        return no("connections to an ntttcp receiver are made once, and end in good order");
    }
    Ok(())
}

/// Whether it can be told how long this test lasts.
pub(super) fn is_timed(test: &Test) -> Result<(), Refusal> {
    match test.stated_duration() {
        Some(_) => Ok(()),
        None => {
            no("an ntttcp receiver is told how long a test lasts: --duration, and no --transfer")
        }
    }
}

/// Whether it may be sent this test without a word: an address that has not said that it waits for datagrams is sent none.
pub(super) fn is_of_streams(test: &Test) -> Result<(), Refusal> {
    if is_of_datagrams(test) {
        return no(
            "without the connection for words no receiver says that it waits for datagrams, and who does not wait is sent none: \
             --peer ntttcp, and a receiver that was started without -N",
        );
    }
    Ok(())
}

/// Whether its flows are of datagrams.
pub(super) fn is_of_datagrams(test: &Test) -> bool {
    test.is_over(Transport::Datagram)
}

fn no(sentence: &str) -> Result<(), Refusal> {
    Err(Refusal::new("unable", sentence))
}
