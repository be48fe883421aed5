//! What a server runs for clients who cannot say it: what its operator has stated, as far as this server's limits go.

use pathscope_flow::Group;
use pathscope_modes::conventions::StreamEnd;
use pathscope_modes::groups::Test;
use pathscope_modes::registry::Plan;

use super::{AHEAD, carries_to, frames};
use crate::Refusal;
use crate::dialogue::ServerSettings;
use crate::limits::Limits;

/// Descriptors beside those of connections: of connections that come before those that they follow are gone, of the session and of its
/// threads.
const OTHER_DESCRIPTORS: u64 = AHEAD as u64 + 32;

/// The test that the server's operator has stated, if it can be run.
pub(super) fn judged(settings: &ServerSettings, end: StreamEnd) -> Result<Test, Refusal> {
    let unstated = || Refusal::new("unable", "it was not told which test such clients run");
    let stated = settings.stated.clone().ok_or_else(unstated)?;
    let test = fitted(stated, &settings.limits);
    // Nothing is withheld from who has stated it: that is the operator, and no stranger.
    settings.limits.check(&test)?;
    if frames::carries(&test).is_err() {
        carries_to(&test, end)?;
    }
    Ok(test)
}

/// The same with no more connections at once than a session may have here, where it states how many there are at the most, and not how
/// many there are: they follow one another, and as many come as there are.
fn fitted(mut test: Test, limits: &Limits) -> Test {
    let follow = test.groups().iter().any(Group::replaces);
    if let (Plan::Goodput(plan), true) = (&mut test.plan, follow) {
        let descriptors = limits.descriptors.map(|most| most.saturating_sub(OTHER_DESCRIPTORS));
        let descriptors = descriptors.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
        let most = limits.connections.into_iter().chain(descriptors).min();
        plan.connections = most.map_or(plan.connections, |most| plan.connections.min(most.max(1)));
    }
    test
}

#[cfg(test)]
mod tests {
    use pathscope_modes::goodput::Iterations;

    use super::*;
    use crate::native::fixtures;

    #[test]
    fn connections_that_follow_one_another_are_as_many_as_there_may_be() {
        let mut test = fixtures::load(512);
        let limits =
            |connections, descriptors| Limits { connections, descriptors, ..Limits::default() };
        let connections = |test: &Test| match &test.plan {
            Plan::Goodput(plan) => plan.connections,
            _ => 0,
        };
        let few = limits(Some(50), Some(9_000));
        assert_eq!(connections(&fitted(test.clone(), &few)), 512, "so many are there");
        if let Plan::Goodput(plan) = &mut test.plan {
            plan.shape.iterations = Iterations::Forever;
        }
        assert_eq!(connections(&fitted(test.clone(), &few)), 50);
        assert_eq!(connections(&fitted(test.clone(), &limits(None, Some(256)))), 160);
        assert_eq!(connections(&fitted(test.clone(), &limits(None, Some(9)))), 1);
        assert_eq!(connections(&fitted(test, &limits(None, None))), 512);
    }
}
