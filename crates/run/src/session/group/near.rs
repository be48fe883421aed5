//! What the kernel keeps of each connection for its receiver where nothing but memory is between the two ends. Whether that is so is the
//! session's to know (`driver/carrier`), and how much is best the mode's.

use pathscope_core::id::Role;
use pathscope_flow::{Group, Transport};
use pathscope_modes::mode::Mode;
use pathscope_os::limits;

/// So much, unless somebody has said it, or an end would receive nothing; nothing either where the system does not grant
/// that much, and more by itself.
pub(super) fn kept(job: &dyn Mode, group: Group, role: Role) -> Option<usize> {
    granted(wanted(job, group, role)?, limits::receive_buffer_most()?)
}

fn wanted(job: &dyn Mode, group: Group, role: Role) -> Option<usize> {
    let is_asked = job.asks().sockets.is_none_or(|sockets| sockets.receive_buffer_bytes.is_some());
    let is_long = group.transport == Transport::Stream && !group.replaces();
    let receives = job.sends_bytes(role.peer());
    job.receives().kept_near_bytes.filter(|_| is_long && receives && !is_asked)
}

/// Three quarters are as good.
fn granted(wanted: usize, most: usize) -> Option<usize> {
    Some(wanted.min(most)).filter(|granted| *granted >= wanted / 4 * 3)
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Bytes, Frequency, Period};
    use pathscope_modes::goodput::{GoodputPlan, Iterations, Pace, Shape};
    use pathscope_modes::groups::Test;
    use pathscope_modes::latency::LatencyPlan;
    use pathscope_modes::load::{Extent, Pattern, Verify};
    use pathscope_modes::registry::Plan;
    use pathscope_modes::sockets::SocketPlan;

    use super::*;

    fn load(pattern: Pattern, kibibytes: u64) -> GoodputPlan {
        GoodputPlan {
            pattern,
            connections: 2,
            extent: Extent::DurationNs(Period::from_secs(1)),
            buffer_bytes: Bytes(kibibytes << 10),
            push_bytes: Bytes(1),
            pull_bytes: Bytes(1),
            rate_bps: None,
            warm_up_ns: Period(0),
            verify: Verify::Full,
            congestion_control: None,
            engine: None,
            wait: pathscope_core::Wait::Auto,
            shape: Shape::default(),
            sockets: SocketPlan::default(),
            pace: Pace::default(),
            client_cpus: Vec::new(),
            server_cpus: Vec::new(),
        }
    }

    /// What the client keeps, and what the server does.
    fn kept_by(plan: impl Into<Plan>) -> [Option<usize>; 2] {
        let test = Test::new(plan.into(), None, Period::from_secs(1));
        let group = test.groups()[0];
        [Role::Client, Role::Server].map(|role| wanted(&**test.plan_of(group.id), group, role))
    }

    #[test]
    fn whoever_receives_a_long_load_keeps_two_writes_and_never_very_little_or_much() {
        assert_eq!(kept_by(load(Pattern::Push, 64)), [None, Some(256 << 10)]);
        assert_eq!(kept_by(load(Pattern::Pull, 512)), [Some(1 << 20), None]);
        assert_eq!(kept_by(load(Pattern::Duplex, 200)), [Some(400 << 10); 2]);
        assert_eq!(kept_by(load(Pattern::Push, 4 << 10)), [None, Some(1 << 20)]);
        assert_eq!(kept_by(load(Pattern::Pushpull, 64)), [None; 2]);
        assert_eq!(kept_by(LatencyPlan::probe(Frequency(100))), [None; 2]);
    }

    #[test]
    fn what_was_asked_for_stays_and_connections_that_are_replaced_are_left_alone() {
        let sockets = SocketPlan { receive_buffer_bytes: Some(Bytes(1)), ..SocketPlan::default() };
        assert_eq!(kept_by(GoodputPlan { sockets, ..load(Pattern::Push, 64) }), [None; 2]);
        let shape = Shape { iterations: Iterations::Times(9), ..Shape::default() };
        let extent = Extent::TransferBytes(Bytes(64));
        assert_eq!(kept_by(GoodputPlan { shape, extent, ..load(Pattern::Push, 64) }), [None; 2]);
    }

    #[test]
    fn what_the_system_cuts_by_more_than_a_quarter_is_left_to_it() {
        assert_eq!(granted(256 << 10, 4 << 20), Some(256 << 10));
        assert_eq!(granted(256 << 10, 212_992), Some(212_992));
        assert_eq!(granted(1 << 20, 212_992), None);
    }
}
