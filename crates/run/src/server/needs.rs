//! What a session and its test take of a server: said before any of it is taken. Sizes are estimates on the safe side; those of
//! plans are held to an allocator that counts (`tests/memory_need.rs`), all together by `cargo xtask attack`.

use pathscope_flow::Group;
use pathscope_modes::groups::Test;
use pathscope_peers::in_band::AHEAD;

use crate::session::group::GroupState;
use crate::workers::worker::receive_room;

/// What a session takes that runs no test: what it remembers, its messages, and what short ones become when they are read.
pub(super) const SESSION_BYTES: u64 = 256 << 10;
/// Of that, for messages that are not whole, not confirmed or have not left.
const SESSION_MESSAGES: u64 = 128 << 10;

/// What a test has for messages: the longest report of its client, and as much for what it says itself.
const TEST_MESSAGES: u64 = 2 << 20;
/// For each row of its own report: the row, its text, and that once more until it has left and until it is confirmed.
const ROW_BYTES: u64 = 4 << 10;
/// Rows of a report at most.
const ROWS: u64 = 1_000;

/// A flow beside what its machine remembers: its seat, its socket as this process keeps it, where it comes from, and what
/// an engine knows of it.
const FLOW_BYTES: u64 = 2 << 10;
/// A thread beside what it receives into: its stack, and what an engine works with.
const THREAD_BYTES: u64 = 256 << 10;
/// Numbers of connections that follow others, as far as they are remembered, each where it is told and where it is heard.
const LATER_BYTES: u64 = 4 << 20;

/// How many sockets the flows of a group have at once, at most. Of connections that are replaced, some may come before those
/// that they follow are closed, and no more than the client has in the making: of few connections [`AHEAD`] all the same, since a worker
/// that has no processor for a moment closes none.
pub(super) fn most_attached(test: &Test, group: &Group) -> u32 {
    let ahead = if group.replaces() { test.plan.connect_limit() } else { 0 };
    group.flows + ahead.min(group.flows.max(AHEAD))
}

/// What a session has open that runs no test: its control connection. One that is to take its place is there for no longer than a turn of
/// its session takes. Of those that sessions and tests leave, what guests do not have is for these; where the connections of more clients
/// were lost at once, the rest wait in the kernel until the first are taken in.
pub(super) const FILES_OF_SESSION: u64 = 1;

/// What a worker has open beside its sockets.
const FILES_OF_WORKER: u64 = 2;

/// Memory is taken in steps of so many bytes.
const STEP_BYTES: u64 = 64 << 10;

/// What a test takes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Needs {
    /// For the sockets of its flows, and for its workers: each has a waker, and what it waits with.
    pub files: u64,
    /// Beside those, in tables of workers' own.
    pub files_elsewhere: u64,
    /// That run its flows.
    pub threads: u64,
    /// For its flows and workers.
    pub table_bytes: u64,
    /// For what is said about it.
    pub message_bytes: u64,
}

impl Needs {
    /// Those of a test of these groups.
    pub fn of(test: &Test, groups: &[GroupState]) -> Self {
        let mut needs = Self { message_bytes: TEST_MESSAGES, ..Self::default() };
        for state in groups {
            let (group, workers) = (state.group, state.placement.workers);
            let threads = state.placement.threads(&*state.job);
            let sockets = u64::from(most_attached(test, &group)) * u64::from(group.lanes);
            // Each half of a flow has a descriptor of its own for their socket.
            let halves = 1 + u64::from(state.placement.is_in_halves(&*state.job));
            if state.placement.has_tables {
                // Those are in tables of their own: here is what each is called and handed sockets by.
                needs.files += FILES_OF_WORKER * threads as u64;
                needs.files_elsewhere += sockets;
            } else {
                needs.files += sockets * halves + FILES_OF_WORKER * threads as u64;
            }
            needs.threads += threads as u64;
            let rows = u64::from(group.numbers.max(group.flows)).min(ROWS);
            needs.message_bytes += rows * ROW_BYTES;
            let tables = tables(test, &group, (sockets, workers as u64, threads as u64));
            needs.table_bytes = needs.table_bytes.saturating_add(tables);
        }
        needs
    }

    /// What is taken for it where so many bytes of messages are there.
    pub fn memory(self, message_bytes: u64) -> u64 {
        let granted = SESSION_MESSAGES + self.message_bytes;
        let more = message_bytes.saturating_sub(granted);
        self.table_bytes.saturating_add(self.message_bytes).saturating_add(more)
    }
}

fn tables(test: &Test, group: &Group, (sockets, workers, threads): (u64, u64, u64)) -> u64 {
    let plan = test.plan_of(group.id);
    let flows = sockets.div_ceil(u64::from(group.lanes.max(1)));
    let machines = plan.server_memory().of(flows, workers);
    let later = if group.replaces() { LATER_BYTES } else { 0 };
    let of_thread = THREAD_BYTES + receive_room(&**plan) as u64;
    machines
        .saturating_add(sockets * FLOW_BYTES)
        .saturating_add(threads.saturating_mul(of_thread))
        .saturating_add(later)
}

/// Rounded up to what memory is taken in.
pub(super) fn in_steps(bytes: u64) -> u64 {
    bytes.div_ceil(STEP_BYTES).saturating_mul(STEP_BYTES)
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::Role;
    use pathscope_core::quantity::{Frequency, Period};
    use pathscope_modes::latency::LatencyPlan;

    use super::*;
    use crate::workers::placement::Means;

    fn pings(connections: u32) -> Needs {
        let plan = LatencyPlan { connections, ..LatencyPlan::probe(Frequency(100)) };
        let report_every_ns = Period::from_secs(1);
        let test = Test::new(plan.into(), None, report_every_ns);
        let end = (Role::Server, Means { cpus: 1, spinning: 1 });
        let group = GroupState::new(&test, test.groups()[0], end).expect("it can be run");
        Needs::of(&test, &[group])
    }

    #[test]
    fn what_is_needed_grows_with_what_is_asked_for() {
        let [one, many] = [1, 10_000].map(pings);
        assert_eq!((one.files, many.files), (3, 10_002));
        assert_eq!((one.threads, many.threads), (1, 1));
        assert!(one.table_bytes >= THREAD_BYTES + FLOW_BYTES);
        let of_flow = (many.table_bytes - one.table_bytes) / 9_999;
        assert!((FLOW_BYTES..3 * FLOW_BYTES).contains(&of_flow), "{of_flow}");
        assert_eq!(one.message_bytes, TEST_MESSAGES + ROW_BYTES);
        assert_eq!(many.message_bytes, TEST_MESSAGES + ROWS * ROW_BYTES);
    }

    #[test]
    fn messages_count_once_they_are_more_than_was_granted() {
        let needs = pings(1);
        let granted = SESSION_MESSAGES + needs.message_bytes;
        assert_eq!(needs.memory(0), needs.memory(granted));
        assert_eq!(needs.memory(granted + 5), needs.memory(0) + 5);
        assert_eq!(Needs::default().memory(SESSION_MESSAGES), 0);
        assert_eq!(
            [0, 1, STEP_BYTES, STEP_BYTES + 1].map(in_steps),
            [0, 1, 1, 2].map(|it| it * STEP_BYTES)
        );
    }
}
