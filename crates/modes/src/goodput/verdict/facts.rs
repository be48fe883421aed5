//! The figures that a verdict on goodput rests on, from the reports of both ends.

use std::ops::Add as _;

use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::total;
use pathscope_core::record::{FlowFacts, TcpFacts, WorkerUsage};
use pathscope_core::sending::SendSamples;

use super::GoodputEnd;
use super::bounds::Strictness;
use crate::goodput::{DirectionSummary, GoodputPlan, GoodputSummary};
use crate::load::Pattern;
use crate::verdicts::most_stolen;

/// Fewer looks at sockets than these say nothing: half a second of one connection.
const LEAST_LOOKS: u64 = 10;
/// The figures that a verdict rests on, shares of one.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// How strictly they are held to their thresholds.
    pub strictness: Strictness,
    pub rate: Option<f64>,
    pub sender_cpu: Option<f64>,
    pub receiver_cpu: Option<f64>,
    /// Of the time, what the thread that waited longest for a processor did so.
    pub sender_wait: Option<f64>,
    pub receiver_wait: Option<f64>,
    pub shared_host_cpu: Option<f64>,
    /// What both ends' workers used of all processors.
    pub own_cpu: Option<f64>,
    /// Whether some worker spins, so that its processor time says nothing.
    pub spins: bool,
    pub sender_uses_more: bool,
    /// For how long each end's program stood still, and what share of the time that was.
    pub sender_still: Option<(u64, f64)>,
    pub receiver_still: Option<(u64, f64)>,
    /// Of the time, how long the plan's own pauses kept the sender's flows from sending.
    pub paused: Option<f64>,
    /// Whether both ends send in turns.
    pub in_turns: bool,
    /// What the sender's sockets were seen to wait for.
    pub seen: Option<Seen>,
    pub receive_window: Option<f64>,
    pub send_buffer: Option<f64>,
    pub busy: Option<f64>,
    /// What those sent again that send: in turns both ends.
    pub retransmits: Option<u64>,
    /// Of the looks at its sockets, how many found data that waited, and next to nothing acknowledged since the look before.
    pub stalled: Option<f64>,
    /// How many looks there were at the sockets.
    pub looks: Option<u64>,
    /// Of the time, the most that the hypervisor took of one processor of either end.
    pub stolen: Option<f64>,
}

/// Of all looks at sockets of a sender, how many found it held by what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub program: f64,
    pub send_buffer: f64,
    pub receive_window: f64,
    pub path: f64,
    /// Of those of a full buffer or window: while more was on its way than the path carries in a round trip.
    pub queued: f64,
}

impl Seen {
    fn of(samples: SendSamples) -> Option<Self> {
        let all = samples.all();
        let share = |count: u64| count as f64 / all as f64;
        (all >= LEAST_LOOKS).then(|| Self {
            program: share(samples.program),
            send_buffer: share(samples.send_buffer),
            receive_window: share(samples.receive_window),
            path: share(samples.path),
            queued: share(samples.queued),
        })
    }

    /// Of two ends that send in turns: what one does while the other has its turn says nothing.
    fn in_turns(self, other: Self) -> Self {
        let mut both = Self {
            program: 0.0,
            send_buffer: self.send_buffer + other.send_buffer,
            receive_window: self.receive_window + other.receive_window,
            path: self.path + other.path,
            queued: self.queued + other.queued,
        };
        both.program = (1.0 - both.send_buffer - both.receive_window - both.path).max(0.0);
        both
    }
}

impl Facts {
    pub fn of(
        plan: &GoodputPlan,
        summary: &GoodputSummary,
        (sender, receiver): (GoodputEnd<'_>, GoodputEnd<'_>),
        shared_cpus: Option<u32>,
    ) -> Self {
        // Where each end sends on connections of its own, the others say nothing of it.
        let sends = |flow: &&FlowFacts| plan.pattern != Pattern::Bidir || flow.sent_bytes > 0;
        let flows = || sender.own.flows.iter().filter(sends).filter_map(|flow| flow.tcp);
        let sum = |field: fn(&TcpFacts) -> Option<u64>| {
            flows().filter_map(|tcp| field(&tcp)).reduce(u64::saturating_add)
        };
        let busy_ns = sum(|tcp| tcp.busy_ns);
        let of_busy =
            |part: Option<u64>| Some(part? as f64 / busy_ns.filter(|&busy| busy > 0)? as f64);
        let elapsed = sender.facts.elapsed_ns as f64 * flows().count() as f64;
        let in_turns = plan.pattern == Pattern::Pushpull;
        let still = |end: GoodputEnd<'_>| Some((end.facts.still_ns(), end.facts.still_share()?));
        let cpu = |end: GoodputEnd<'_>| end.facts.busiest(|it| Some(it.cpu_share()));
        let wait = |end: GoodputEnd<'_>| end.facts.busiest(WorkerUsage::cpu_wait_share);
        let seen = |end: GoodputEnd<'_>| end.own.sending.and_then(Seen::of);
        let sending = sender.own.sending;
        let workers = || sender.facts.workers.iter().chain(receiver.facts.workers);
        // What both sent again that send in turns.
        let again = [Some(sender), in_turns.then_some(receiver)].into_iter().flatten();
        let again = again.flat_map(|end| &end.own.flows).filter_map(|flow| flow.tcp?.retransmits);
        Self {
            strictness: Strictness::default(),
            rate: rate_share(plan, summary),
            sender_cpu: cpu(sender),
            receiver_cpu: cpu(receiver),
            sender_wait: wait(sender),
            receiver_wait: wait(receiver),
            shared_host_cpu: sender.facts.host_cpu_share.filter(|_| shared_cpus.is_some()),
            own_cpu: shared_cpus.and_then(|cpus| own_cpu_share(sender, receiver, cpus)),
            spins: workers().any(|worker| worker.wait == "spin"),
            sender_uses_more: cpu_ns(sender) >= cpu_ns(receiver),
            sender_still: still(sender),
            receiver_still: still(receiver),
            paused: paused(plan, sender),
            in_turns,
            seen: match (seen(sender), seen(receiver)) {
                (Some(here), Some(there)) if in_turns => Some(here.in_turns(there)),
                (here, _) => here.filter(|_| !in_turns),
            },
            receive_window: of_busy(sum(|tcp| tcp.receive_window_limited_ns)),
            send_buffer: of_busy(sum(|tcp| tcp.send_buffer_limited_ns)),
            busy: busy_ns.filter(|_| elapsed > 0.0).map(|busy| busy as f64 / elapsed),
            retransmits: again.reduce(u64::saturating_add),
            stalled: sending.filter(|_| !in_turns).and_then(stalled),
            looks: sending.map(SendSamples::all),
            stolen: most_stolen([sender.facts, receiver.facts]),
        }
    }
}

fn stalled(samples: SendSamples) -> Option<f64> {
    let all = samples.all();
    Some(samples.stalled? as f64 / all as f64).filter(|_| all >= LEAST_LOOKS)
}

/// Of the time of all its connections, how long the sender had to pause between bursts.
fn paused(plan: &GoodputPlan, sender: GoodputEnd<'_>) -> Option<f64> {
    plan.pace.burst?;
    let paused_ns = sender.own.paused_ns as f64;
    let elapsed = sender.facts.elapsed_ns as f64 * f64::from(plan.connections);
    (elapsed > 0.0).then(|| (paused_ns / elapsed).min(1.0))
}

/// The share of all processors that both ends' workers used.
fn own_cpu_share(sender: GoodputEnd<'_>, receiver: GoodputEnd<'_>, cpus: u32) -> Option<f64> {
    let available = sender.facts.elapsed_ns.max(receiver.facts.elapsed_ns) as f64 * f64::from(cpus);
    (available > 0.0).then(|| (cpu_ns(sender) + cpu_ns(receiver)) as f64 / available)
}

/// The reached share of the configured rate, in the slower direction.
fn rate_share(plan: &GoodputPlan, summary: &GoodputSummary) -> Option<f64> {
    plan.rate_bps?;
    let share = |(direction, role): (Option<DirectionSummary>, Role)| {
        let flows = plan.pattern.flows_from(role, plan.connections);
        let rates = flows.filter_map(|flow| plan.rate_of(FlowId(flow)));
        Some(direction?.goodput_bps? / rates.map(|rate| rate.0 as f64).sum::<f64>())
    };
    let directions = [(summary.up, Role::Client), (summary.down, Role::Server)];
    let shares = directions.into_iter().filter_map(share);
    // In turns, the two directions share the time.
    shares.reduce(if plan.pattern == Pattern::Pushpull { f64::add } else { f64::min })
}

fn cpu_ns(end: GoodputEnd<'_>) -> u64 {
    total(end.facts.workers.iter().flat_map(|worker| [worker.user_ns, worker.system_ns]))
}
