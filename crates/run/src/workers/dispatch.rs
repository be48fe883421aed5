//! The one place where modes meet engines: which machine, which shared state, which report. Each pair is one arm,
//! monomorphised.

use pathscope_core::Wait;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_engines::{Batches, EngineKind};
use pathscope_flow::{Machine, Phase, Totals};
use pathscope_modes::datagrams::{DatagramFlow, DatagramShared, DatagramsPlan, Offload};
use pathscope_modes::goodput::{BufferRange, GoodputFlow, GoodputPlan, GoodputShared};
use pathscope_modes::latency::{EchoFlow, LatencyPlan, LatencyShared, PingFlow, Timestamps};
use pathscope_modes::media::{MediaFlow, MediaPlan, MediaShared};
use pathscope_modes::multipath::{
    MultipathEcho, MultipathEchoShared, MultipathFlow, MultipathPlan, MultipathShared,
};
use pathscope_modes::registry::Plan;

use crate::error::RunError;
use crate::records::samples::Rows;
use crate::session::inbox::{Part, WorkerOutcome};
use crate::workers::placement::Placement;
use crate::workers::worker::{NewWorker, PeerConsent, Run, RunningWorker, Shape};

/// The most that a load takes from the kernel at once. Half of a second-level cache of 512 KiB, so that what
/// was copied is still there, beside the table, when it is compared: of 64, 128, 256 and 512 KiB it took
/// the least processor time a gigabyte where it was tried (AMD EPYC, loopback; medians of 9: 367, 350, 328
/// and 344 ms).
const TAKEN_AT_ONCE: usize = 256 << 10;

/// Room for a datagram of any size.
const LARGEST_DATAGRAM: usize = 64 << 10;

/// Starts one worker of a group.
pub(crate) fn start(worker: NewWorker, plan: Plan) -> Result<RunningWorker, RunError> {
    match (plan, worker.setting.role) {
        (Plan::Goodput(plan), _) => goodput(worker, plan),
        (Plan::Datagrams(plan), _) => datagrams(worker, plan),
        (Plan::Latency(plan), Role::Client) => pings(worker, plan),
        (Plan::Latency(plan), Role::Server) => echoes(worker, plan),
        (Plan::Media(plan), _) => streams(worker, plan),
        (Plan::Multipath(plan), Role::Client) => paths(worker, plan),
        (Plan::Multipath(plan), Role::Server) => path_echoes(worker, plan),
    }
}

fn goodput(worker: NewWorker, plan: GoodputPlan) -> Result<RunningWorker, RunError> {
    let (role, key) = (worker.setting.role, worker.setting.key);
    let (buffer, shared) = (receive_room(&plan), GoodputShared::new(&plan));
    // Blocking calls both ways need a thread for each.
    let splits = splits(&plan, worker.engine, worker.wait);
    let (entrance, succession) = worker.succession(&plan);
    let told = plan.clone();
    // Of flows that are replaced, only what was not agreed on before need be told.
    let tells = move |flow, phase, totals: Totals| {
        !told.replaces()
            || phase != Phase::Failed && GoodputFlow::is_short(&told, role, flow, totals.sent)
    };
    let flow = move |id| GoodputFlow::new(&plan, role, key, id);
    let engine = if splits { Run::HALVES } else { Run::WHOLE };
    let shape = Shape { shared, buffer, batches: Batches::One, engine, succession, stamps: false };
    let running = worker.spawn(flow, shape, tells, Part::Goodput, WorkerOutcome::Goodput)?;
    Ok(running.with_entrance(entrance))
}

fn datagrams(worker: NewWorker, plan: DatagramsPlan) -> Result<RunningWorker, RunError> {
    let (role, key) = (worker.setting.role, worker.setting.key);
    let batches = batches_of(&plan);
    let buffer = batches.room_bytes();
    let shape = Shape {
        batches,
        ..Shape::of_single_datagrams(DatagramShared::new(&plan, role), buffer, false)
    };
    let consent = worker.setting.consent;
    let flow = move |id| {
        let flow = DatagramFlow::new(&plan, role, key, id);
        if consent == PeerConsent::Spoken { flow.with_consent() } else { flow }
    };
    let part = |tally| Part::Datagrams(Box::new(tally));
    worker.spawn(flow, shape, always, part, WorkerOutcome::Datagrams)
}

fn pings(mut worker: NewWorker, plan: LatencyPlan) -> Result<RunningWorker, RunError> {
    let key = worker.setting.key;
    let mut shared = LatencyShared::new(&plan, Role::Client);
    if let Some(Rows::Pings(samples)) = worker.rows.take() {
        shared = shared.with_samples(samples);
    }
    let shape = shape_of_latency(shared, &plan);
    let flow = move |id| PingFlow::new(&plan, key, id);
    let part = |tally| Part::Latency(Box::new(tally));
    worker.spawn(flow, shape, always, part, WorkerOutcome::Ping)
}

fn echoes(worker: NewWorker, plan: LatencyPlan) -> Result<RunningWorker, RunError> {
    let key = worker.setting.key;
    let shape = shape_of_latency(LatencyShared::new(&plan, Role::Server), &plan);
    let flow = move |id| EchoFlow::new(&plan, key, id);
    let part = |tally| Part::Latency(Box::new(tally));
    worker.spawn(flow, shape, always, part, WorkerOutcome::Echo)
}

fn streams(mut worker: NewWorker, plan: MediaPlan) -> Result<RunningWorker, RunError> {
    let (role, key) = (worker.setting.role, worker.setting.key);
    let mut shared = MediaShared::new(&plan, role);
    if let Some(Rows::Frames(rows)) = worker.rows.take() {
        shared = shared.with_rows(rows);
    }
    let shape = Shape::of_single_datagrams(shared, LARGEST_DATAGRAM, false);
    let consent = worker.setting.consent;
    let flow = move |id| {
        let flow = MediaFlow::new(&plan, role, key, id);
        if consent == PeerConsent::Spoken { flow.with_consent() } else { flow }
    };
    let part = |tally| Part::Media(Box::new(tally));
    worker.spawn(flow, shape, always, part, WorkerOutcome::Media)
}

fn paths(mut worker: NewWorker, plan: MultipathPlan) -> Result<RunningWorker, RunError> {
    let key = worker.setting.key;
    let mut shared = MultipathShared::new(&plan);
    if let Some(Rows::Stamps(stamps)) = worker.rows.take() {
        shared = shared.with_samples(stamps);
    }
    let shape = Shape::of_single_datagrams(shared, LARGEST_DATAGRAM, false);
    let lanes: Vec<Lane> = worker.lanes.iter().map(|(lane, _)| *lane).collect();
    let flow = move |id| MultipathFlow::new(&plan, key, id, lanes.iter().copied());
    let part = |part| Part::Multipath(Box::new(part));
    let outcome = |finished| WorkerOutcome::Multipath(Box::new(finished));
    worker.spawn(flow, shape, always, part, outcome)
}

fn path_echoes(worker: NewWorker, plan: MultipathPlan) -> Result<RunningWorker, RunError> {
    let key = worker.setting.key;
    let shared = MultipathEchoShared::new(&plan);
    let shape = Shape::of_single_datagrams(shared, LARGEST_DATAGRAM, false);
    let flow = move |id| MultipathEcho::new(&plan, key, id);
    let part = |part| Part::Multipath(Box::new(part));
    worker.spawn(flow, shape, always, part, WorkerOutcome::MultipathEcho)
}

/// Whether a worker hands the halves of its flows to threads of their own.
fn splits(plan: &GoodputPlan, engine: EngineKind, wait: Wait) -> bool {
    engine == EngineKind::Plain && wait == Wait::Sleep && plan.has_halves()
}

/// How many threads one worker is: itself, and one for each half where flows are cut in two.
pub(crate) fn threads_of(plan: &Plan, placement: &Placement) -> usize {
    match plan {
        Plan::Goodput(plan) if splits(plan, placement.engine, placement.wait) => 3,
        _ => 1,
    }
}

/// The most that a worker receives at once: what it has room for.
pub(crate) fn received_at_once(plan: &Plan) -> usize {
    match plan {
        Plan::Goodput(plan) => receive_room(plan),
        Plan::Datagrams(plan) => batches_of(plan).room_bytes(),
        Plan::Latency(plan) => {
            (plan.size_bytes.max(plan.reply_bytes()).0 as usize).max(LARGEST_DATAGRAM)
        }
        Plan::Media(_) | Plan::Multipath(_) => LARGEST_DATAGRAM,
    }
}

fn batches_of(plan: &DatagramsPlan) -> Batches {
    let longest = plan.datagram_bytes.0 as usize;
    match plan.offload {
        Offload::Auto => Batches::Joined { longest },
        Offload::Off => Batches::Several { longest },
    }
}

/// The session hears of each change of phase.
fn always(_: FlowId, _: Phase, _: Totals) -> bool {
    true
}

/// A ping or its echo, and successors: never so small that a batch does not fit.
fn shape_of_latency<M: Machine<Shared = LatencyShared>>(
    shared: LatencyShared,
    plan: &LatencyPlan,
) -> Shape<M> {
    let buffer = plan.size_bytes.max(plan.reply_bytes()).0 as usize;
    let stamps = plan.timestamps == Timestamps::Kernel;
    Shape::of_single_datagrams(shared, buffer.max(LARGEST_DATAGRAM), stamps)
}

/// The most that a load takes from the kernel at once.
fn receive_room(plan: &GoodputPlan) -> usize {
    let BufferRange { low, high } = plan.buffers();
    // What was asked for by a range is drawn from all of it.
    if low == high { (low as usize).min(TAKEN_AT_ONCE) } else { high as usize }
}
