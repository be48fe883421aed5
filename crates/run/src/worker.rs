//! Worker threads: the one place where modes meet engines. Each pair is one arm, monomorphised.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::Period;
use pathscope_core::{Tick, Wait};
use pathscope_engines::{
    Batches, Command, EngineError, EngineKind, Finished, Kernel, Notice, Outbox, Remote,
    Succession as EngineSuccession, Terms, Worker, mailbox, plain, registry,
};
use pathscope_flow::{Event, Group, GroupId, Machine, Phase, Shared, Split, Totals};
use pathscope_modes::datagrams::{DatagramFlow, DatagramShared, DatagramsPlan, Offload};
use pathscope_modes::goodput::{BufferRange, GoodputFlow, GoodputPlan, GoodputShared, Pattern};
use pathscope_modes::latency::{
    EchoFlow, LatencyPlan, LatencyShared, PingFlow, SampleBuffer, Timestamps,
};
use pathscope_modes::pattern::SessionKey;
use pathscope_os::cpus;
use pathscope_os::sockets::Socket;

use crate::error::RunError;
use crate::ledger::Ledger;
use crate::mail::{Mailbox, Part, Word, WorkerOutcome};
use crate::placement::{self, Placement};
use crate::vacancies::OpenerRemote;

/// The most that a load takes from the kernel at once. Half of a second-level cache of 512 KiB, so that what
/// was copied is still there, beside the table, when it is compared: of 64, 128, 256 and 512 KiB it took
/// the least processor time a gigabyte where it was tried (AMD EPYC, loopback; medians of 9: 367, 350, 328
/// and 344 ms).
const TAKEN_AT_ONCE: usize = 256 << 10;

/// What the flows of a group do: a variant for each mode.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    Goodput(GoodputPlan),
    Latency(LatencyPlan),
    Datagrams(DatagramsPlan),
}

impl Job {
    /// How the plan asks to wait.
    pub fn wait(&self) -> Wait {
        match self {
            Self::Goodput(plan) => plan.wait,
            Self::Latency(plan) => plan.wait,
            Self::Datagrams(plan) => plan.wait,
        }
    }

    /// Processors that its workers are kept on at an end; none: any.
    pub fn cpus(&self, role: Role) -> &[u32] {
        match self {
            Self::Goodput(plan) => plan.cpus_of(role),
            Self::Latency(plan) => plan.cpus_of(role),
            Self::Datagrams(plan) => plan.cpus_of(role),
        }
    }

    /// How this job is run by an end that may use so many processors.
    pub fn placement(&self, flows: u32, cpus: usize) -> Result<Placement, RunError> {
        match self {
            Self::Goodput(plan) => {
                placement::of_load(flows, plan.engine.as_deref(), plan.wait, cpus)
            }
            Self::Latency(plan) => placement::of_pings(plan, cpus),
            Self::Datagrams(plan) => {
                placement::of_load(flows, plan.engine.as_deref(), plan.wait, cpus)
            }
        }
    }
}

/// What all workers of a test have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub role: Role,
    pub key: SessionKey,
    pub start: Tick,
    pub report_every: Period,
    /// Whether word is left of each flow that is replaced.
    pub tells_departures: bool,
}

/// A group of flows, ready to run.
#[derive(Debug)]
pub(crate) struct ReadyGroup {
    pub group: Group,
    pub job: Job,
    pub placement: Placement,
    /// By flow, from the group's first on.
    pub sockets: Vec<Arc<Socket>>,
    /// Where each ping goes, if that is wanted. Pings have one worker.
    pub samples: Option<SampleBuffer>,
    /// Where flows are replaced.
    pub succession: Option<Succession>,
}

/// Where flows come in that replace others, and what is done as one goes.
#[derive(Debug)]
struct Entrance {
    plan: GoodputPlan,
    setting: Setting,
    sender: Sender<(GoodputFlow, Vec<Arc<Socket>>)>,
    /// Flows that came and have not gone.
    present: Arc<AtomicU32>,
}

/// Who hears of the end of flows.
#[derive(Clone, Debug)]
pub(crate) struct Succession {
    pub ledger: Ledger,
    /// At the client: opens the next.
    pub opener: Option<OpenerRemote>,
}

/// A worker thread that runs, as its session sees it.
#[derive(Debug)]
pub(crate) struct RunningWorker {
    pub group: GroupId,
    pub flows: Range<u32>,
    /// Reports it makes of each interval.
    pub reports: u8,
    remote: Remote,
    entrance: Option<Entrance>,
    thread: Option<JoinHandle<()>>,
}

impl RunningWorker {
    /// Tells one flow, or all of this worker.
    pub fn tell(&self, flow: Option<FlowId>, event: Event) {
        self.remote.tell(flow, event);
    }

    /// Ends the worker at once, with what it has.
    pub fn abandon(&self) {
        self.remote.send(Command::Abandon);
    }

    /// Takes a flow in.
    pub fn admit(&self, flow: FlowId, socket: Arc<Socket>) {
        let Some(entrance) = &self.entrance else { return };
        let Setting { role, key, .. } = entrance.setting;
        let machine = GoodputFlow::new(&entrance.plan, role, key, flow);
        entrance.present.fetch_add(1, Ordering::Relaxed);
        // It fails only where the worker has ended, which is told.
        let _ = entrance.sender.send((machine, vec![socket]));
        self.remote.send(Command::Admit);
    }

    /// How many flows it has, where they are replaced.
    pub fn present(&self) -> Option<u32> {
        self.entrance.as_ref().map(|entrance| entrance.present.load(Ordering::Relaxed))
    }

    /// No flow comes in any more.
    pub fn close_entrance(&mut self) {
        if self.entrance.take().is_some() {
            self.remote.send(Command::Admit);
        }
    }

    /// Waits for the end of a worker that has said it is over.
    pub fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic has been told as its outcome.
            let _ = thread.join();
        }
    }
}

/// Starts the workers of a group, each in its place behind those that run already.
pub(crate) fn start(
    ready: ReadyGroup,
    setting: Setting,
    running: &mut Vec<RunningWorker>,
    mailbox: &Mailbox,
) -> Result<(), RunError> {
    let ReadyGroup { group, job, placement, sockets, mut samples, succession } = ready;
    let first = running.len();
    for share in shares(group.flows, placement.workers) {
        let flows = group.first.0 + share.start..group.first.0 + share.end;
        let list = job.cpus(setting.role);
        let crew = Crew {
            group,
            cpu: list.get((running.len() - first) % list.len().max(1)).copied(),
            flows,
            sockets: sockets[share.start as usize..share.end as usize].to_vec(),
            setting,
            engine: placement.engine,
            wait: placement.wait,
            number: running.len(),
            mailbox: mailbox.clone(),
            samples: samples.take(),
            succession: succession.clone(),
        };
        running.push(crew.start(job.clone())?);
    }
    Ok(())
}

/// Flows 0..flows in as many nearly equal, contiguous shares.
fn shares(flows: u32, workers: usize) -> Vec<Range<u32>> {
    let workers = u32::try_from(workers).unwrap_or(u32::MAX).clamp(1, flows.max(1));
    let border = |index: u32| (u64::from(flows) * u64::from(index) / u64::from(workers)) as u32;
    (0..workers).map(|index| border(index)..border(index + 1)).collect()
}

/// One worker about to start.
struct Crew {
    group: Group,
    /// The processor that it is kept on.
    cpu: Option<u32>,
    flows: Range<u32>,
    sockets: Vec<Arc<Socket>>,
    setting: Setting,
    engine: EngineKind,
    wait: Wait,
    number: usize,
    mailbox: Mailbox,
    samples: Option<SampleBuffer>,
    succession: Option<Succession>,
}

impl Crew {
    /// The match of modes and engines: which machine, which shared state, which report.
    fn start(mut self, job: Job) -> Result<RunningWorker, RunError> {
        let Setting { role, key, .. } = self.setting;
        match (job, role) {
            (Job::Goodput(plan), _) => {
                let buffer = receive_room(&plan);
                let shared = GoodputShared::new(&plan);
                // Blocking calls both ways need a thread for each.
                let splits = self.engine == EngineKind::Plain
                    && self.wait == Wait::Sleep
                    && plan.pattern == Pattern::Duplex
                    && !plan.replaces();
                let (entrance, succession) = self.succession(&plan);
                let told = plan.clone();
                // Of flows that are replaced, only what was not agreed on before need be told.
                let tells = move |flow, phase, totals: Totals| {
                    !told.replaces()
                        || phase != Phase::Failed
                            && GoodputFlow::is_short(&told, role, flow, totals.sent)
                };
                let flow = move |id| GoodputFlow::new(&plan, role, key, id);
                let engine = if splits { Run::HALVES } else { Run::WHOLE };
                let shape = Shape {
                    shared,
                    buffer,
                    batches: Batches::One,
                    engine,
                    succession,
                    stamps: false,
                };
                let running =
                    self.spawn(flow, shape, tells, Part::Goodput, WorkerOutcome::Goodput)?;
                Ok(RunningWorker { entrance, ..running })
            }
            (Job::Datagrams(plan), _) => {
                let longest = plan.datagram_bytes.0 as usize;
                let batches = match plan.offload {
                    Offload::Auto => Batches::Joined { longest },
                    Offload::Off => Batches::Several { longest },
                };
                let shape = Shape {
                    shared: DatagramShared::new(&plan),
                    buffer: batches.room_bytes(),
                    batches,
                    engine: Run::WHOLE,
                    succession: None,
                    stamps: false,
                };
                let flow = move |id| DatagramFlow::new(&plan, role, key, id);
                self.spawn(
                    flow,
                    shape,
                    |_, _, _| true,
                    |tally| Part::Datagrams(Box::new(tally)),
                    WorkerOutcome::Datagrams,
                )
            }
            (Job::Latency(plan), Role::Client) => {
                let (buffer, mut shared) = (receive_buffer(&plan), LatencyShared::new(&plan));
                if let Some(samples) = self.samples.take() {
                    shared = shared.with_samples(samples);
                }
                let stamps = plan.timestamps == Timestamps::Kernel;
                let flow = move |id| PingFlow::new(&plan, key, id);
                let shape = Shape::of_pings(shared, buffer, stamps);
                self.spawn(
                    flow,
                    shape,
                    |_, _, _| true,
                    |tally| Part::Latency(Box::new(tally)),
                    WorkerOutcome::Ping,
                )
            }
            (Job::Latency(plan), Role::Server) => {
                let (buffer, shared) = (receive_buffer(&plan), LatencyShared::new(&plan));
                let stamps = plan.timestamps == Timestamps::Kernel;
                let flow = move |id| EchoFlow::new(&plan, key, id);
                let shape = Shape::of_pings(shared, buffer, stamps);
                self.spawn(
                    flow,
                    shape,
                    |_, _, _| true,
                    |tally| Part::Latency(Box::new(tally)),
                    WorkerOutcome::Echo,
                )
            }
        }
    }

    /// For flows that are replaced: where they come in, and who hears as they go.
    fn succession(
        &self,
        plan: &GoodputPlan,
    ) -> (Option<Entrance>, Option<EngineSuccession<GoodputFlow>>) {
        let Some(Succession { ledger, opener }) = self.succession.clone() else {
            return (None, None);
        };
        let (sender, successors) = channel();
        let first = self.flows.end - self.flows.start;
        let present = Arc::new(AtomicU32::new(first));
        let entrance = Entrance {
            plan: plan.clone(),
            setting: self.setting,
            sender,
            present: Arc::clone(&present),
        };
        let word = self.setting.tells_departures.then(|| self.mailbox.clone());
        let group = self.group.id;
        let departed = move |flow: &GoodputFlow, sockets: Vec<Arc<Socket>>, at| {
            let facts = ledger.depart(flow, &sockets, word.is_some());
            if let (Some(mailbox), Some(facts)) = (&word, facts) {
                mailbox.post(Word::Departed { group, facts: Box::new(facts), at });
            }
            // Closed before the next may take its port.
            drop(sockets);
            present.fetch_sub(1, Ordering::Relaxed);
            opener.iter().for_each(|opener| opener.vacancy(flow.id()));
        };
        let succession = EngineSuccession { successors, departed: Box::new(departed) };
        (Some(entrance), Some(succession))
    }

    fn spawn<M>(
        self,
        flow: impl Fn(FlowId) -> M,
        shape: Shape<M>,
        tells: impl Fn(FlowId, Phase, Totals) -> bool + Send + 'static,
        part: impl Fn(<M::Shared as Shared>::Report) -> Part + Send + 'static,
        outcome: impl FnOnce(Finished<M>) -> WorkerOutcome + Send + 'static,
    ) -> Result<RunningWorker, RunError>
    where
        M: Machine + 'static,
        M::Shared: 'static,
    {
        let (remote, inbox) = mailbox()?;
        let Self { group, cpu, flows, sockets, setting, engine, wait, number, mailbox, .. } = self;
        let Shape { shared, buffer, batches, engine: Run { run, reports }, succession, stamps } =
            shape;
        let group_id = group.id;
        let notices = mailbox.clone();
        let sockets = sockets.into_iter().map(|socket| vec![socket]);
        let worker = Worker {
            flows: flows.clone().map(FlowId).map(flow).zip(sockets).collect(),
            shared,
            terms: Terms {
                transport: group.transport,
                wait,
                start: setting.start,
                begin: setting.start,
                report_every: setting.report_every.duration(),
                receive_buffer_bytes: buffer,
                stamps,
                batches,
            },
            inbox,
            outbox: Outbox::into_sink(move |notice| match notice {
                Notice::Phase { flow, phase, totals, .. } if !tells(flow, phase, totals) => {}
                notice => notices.post(word(group_id, number, notice, &part)),
            }),
            succession,
        };
        let thread = std::thread::Builder::new()
            .name(format!("flows-{number}"))
            .spawn(move || {
                // A bug of ours must not leave the session waiting for a worker that is no more.
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    cpu.map_or(Ok(()), cpus::pin_thread)?;
                    run(engine, worker)
                }))
                .unwrap_or(Err(EngineError::Panicked))
                .map(outcome)
                .map_err(RunError::from);
                mailbox.post(Word::WorkerOver {
                    group: group_id,
                    worker: number,
                    outcome: Box::new(outcome),
                });
            })
            .map_err(|source| RunError::System { what: "cannot start a thread", source })?;
        Ok(RunningWorker {
            group: group_id,
            flows,
            reports,
            remote,
            entrance: None,
            thread: Some(thread),
        })
    }
}

/// What tells workers of one kind of flow apart from those of another.
struct Shape<M: Machine> {
    shared: M::Shared,
    /// The most that is received at once.
    buffer: usize,
    /// How datagrams are handed over.
    batches: Batches,
    engine: Run<M>,
    succession: Option<EngineSuccession<M>>,
    /// Whether the kernel stamps datagrams.
    stamps: bool,
}

impl<M: Machine> Shape<M> {
    /// One datagram at a time, so that each has a stamp of its own.
    fn of_pings(shared: M::Shared, buffer: usize, stamps: bool) -> Self {
        let (engine, batches) = (Run::WHOLE, Batches::One);
        Self { shared, buffer, batches, engine, succession: None, stamps }
    }
}

/// The most that a load takes from the kernel at once.
fn receive_room(plan: &GoodputPlan) -> usize {
    let BufferRange { low, high } = plan.buffers();
    // What was asked for by a range is drawn from all of it.
    if low == high { (low as usize).min(TAKEN_AT_ONCE) } else { high as usize }
}

/// How a worker is run, and the reports it then makes of each interval.
struct Run<M: Machine> {
    run: fn(EngineKind, Worker<M>) -> Result<Finished<M>, EngineError>,
    reports: u8,
}

impl<M: Machine> Run<M> {
    /// By an engine, flows as they are.
    const WHOLE: Self =
        Self { run: |engine, worker| registry::run(engine, worker, Kernel), reports: 1 };
}

impl<M: Split> Run<M> {
    /// By blocking calls, a thread for each half.
    const HALVES: Self = Self { run: |_, worker| plain::run_split(worker, Kernel), reports: 2 };
}

/// A ping or its echo, and successors: never so small that a batch does not fit.
fn receive_buffer(plan: &LatencyPlan) -> usize {
    (plan.size_bytes.max(plan.reply_bytes()).0 as usize).max(64 << 10)
}

fn word<R>(group: GroupId, worker: usize, notice: Notice<R>, part: &impl Fn(R) -> Part) -> Word {
    match notice {
        Notice::Phase { flow, phase, totals, at, error } => {
            Word::Phase { group, flow, phase, totals, at, error }
        }
        Notice::Report { index, start, end, report } => {
            Word::Part { group, worker, index, start, end, part: part(report) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_shared_out_evenly_and_none_is_left_out() {
        assert_eq!(shares(8, 3), [0..2, 2..5, 5..8]);
        assert_eq!(shares(2, 4), [0..1, 1..2]);
        assert_eq!(shares(1_000_000, 2), [0..500_000, 500_000..1_000_000]);
    }
}
