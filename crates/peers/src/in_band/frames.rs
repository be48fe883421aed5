//! Which streams of frames can be had where nothing is said but that they are wanted.

use pathscope_modes::groups::Test;
use pathscope_modes::media::{Direction, Pacing};
use pathscope_modes::registry::Plan;

use crate::Refusal;

/// Whether a test is of such streams; if not, why, as a fragment of a sentence.
pub fn carries(test: &Test) -> Result<(), Refusal> {
    let no = |sentence: &str| {
        Err(Refusal::new("unable", format!("without a control connection {sentence}")))
    };
    let Plan::Media(plan) = &test.plan else {
        return no("datagrams carry streams of frames alone");
    };
    if plan.direction != Direction::Down {
        return no("streams come from the server, and none goes there: --direction down");
    }
    if plan.pacing != Pacing::BackToBack {
        return no("nobody says how the datagrams of a frame leave: --pacing back-to-back");
    }
    if test.groups().len() > 1 {
        return no("nobody says which flows are probes: --no-probe");
    }
    Ok(())
}
