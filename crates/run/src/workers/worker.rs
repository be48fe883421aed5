//! Worker threads: started with flows of one mode, told what to do, heard of when they end. Which flows each has is
//! `shares`'; what they are is their mode's.

use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::quantity::Period;
use pathscope_core::{Tick, Wait};
use pathscope_engines::{
    Command, EngineError, EngineKind, Finished, Inbox as EngineInbox, Kernel, LaneChange, Notice,
    Outbox, Remote, Succession as EngineSuccession, Terms, Worker, plain, registry, room_bytes,
    worker_inbox,
};
use pathscope_flow::{Batches, Event, Group, GroupId, Machine, Phase, Split};
use pathscope_modes::flows::{Begin, Flow, Runner, Samples};
use pathscope_modes::mode::{Mode, Receives};
use pathscope_modes::pattern::SessionKey;
use pathscope_modes::registry::InDocuments;
use pathscope_os::cpus;
use pathscope_os::sockets::Socket;

use crate::error::RunError;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::messages::outcome::WorkerOutcome;
use crate::messages::replacements::OpenerRemote;
use crate::records::ledger::Ledger;

/// What all workers of a test have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub role: Role,
    pub key: SessionKey,
    pub start: Tick,
    pub report_every: Period,
    /// Whether word is left of each flow that is replaced; else of those that fail.
    pub tells_departures: bool,
    pub consent: PeerConsent,
}

impl Setting {
    /// What a flow begins with that has these lanes.
    fn begin(self, lanes: &[Lane]) -> Begin<'_> {
        let consents = self.consent == PeerConsent::Spoken;
        Begin { role: self.role, key: self.key, consents, lanes }
    }
}

/// Whether the other end says of each stream of datagrams that it still wants it, and hears that said.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum PeerConsent {
    /// It knows nothing of that.
    #[default]
    Unknown,
    /// It does.
    Spoken,
}

/// Where flows come in that replace others.
struct Entrance {
    /// Makes a flow on this socket, and hands it over. A dynamic call: it is made once a connection.
    take_in: Box<dyn Fn(FlowId, Arc<Socket>) + Send>,
    /// Flows that came and have not gone.
    present: Arc<AtomicU32>,
}

impl fmt::Debug for Entrance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entrance").field("present", &self.present).finish_non_exhaustive()
    }
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

    /// Has a lane join a flow, or leave it.
    pub fn change_lane(&self, flow: FlowId, lane: Lane, socket: Option<Arc<Socket>>) {
        self.remote.change_lane(LaneChange { flow, lane, socket });
    }

    /// Takes a flow in.
    pub fn admit(&self, flow: FlowId, socket: Arc<Socket>) {
        let Some(entrance) = &self.entrance else { return };
        entrance.present.fetch_add(1, Ordering::Relaxed);
        (entrance.take_in)(flow, socket);
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

/// The most that a worker which runs flows of a plan receives at once: what it has room for.
pub(crate) fn receive_room(plan: &dyn Mode) -> usize {
    let Receives { at_once_bytes, batches, .. } = plan.receives();
    if batches == Batches::One { at_once_bytes } else { room_bytes(batches) }
}

/// One worker about to start.
pub(crate) struct NewWorker {
    pub group: Group,
    /// The processor that it is kept on.
    pub cpu: Option<u32>,
    pub flows: Range<u32>,
    /// A socket for each flow; none where their lanes roam.
    pub sockets: Option<Vec<Arc<Socket>>>,
    pub lanes: Vec<(Lane, Arc<Socket>)>,
    pub setting: Setting,
    pub engine: EngineKind,
    pub wait: Wait,
    /// Whether each flow is two halves, on a thread each.
    pub in_halves: bool,
    pub number: usize,
    pub inbox: Inbox,
    pub succession: Option<Succession>,
}

impl NewWorker {
    /// Starts the thread, on which the flows of a plan run.
    pub fn start<M: InDocuments, F: Flow<M>>(
        mut self,
        plan: &M,
        samples: Option<Samples<M>>,
    ) -> Result<RunningWorker, RunError> {
        let (remote, commands) = worker_inbox()?;
        let (entrance, succession) = match self.succession.take() {
            Some(succession) => {
                let (entrance, succession) = self.succeed(plan, succession);
                (Some(entrance), Some(succession))
            }
            None => (None, None),
        };
        let shared = F::shared(plan, self.setting.role, samples);
        let worker = self.worker::<M, F>(plan, shared, (commands, succession));
        for &(lane, ref socket) in &self.lanes {
            // They join as soon as the flow has been started.
            let socket = Some(Arc::clone(socket));
            remote.change_lane(LaneChange { flow: self.group.first, lane, socket });
        }
        let Self { group, cpu, flows, setting, engine, in_halves, number, inbox, .. } = self;
        let plan = plan.clone();
        let thread = std::thread::Builder::new()
            .name(format!("flows-{number}"))
            .spawn(move || {
                // A bug of ours must not leave the session waiting for a worker that is no more.
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    cpu.map_or(Ok(()), cpus::pin_thread)?;
                    let finished = F::run(OnEngine { engine, worker }, in_halves)?;
                    Ok(WorkerOutcome::of(&plan, (setting.role, group.transport), finished))
                }))
                .unwrap_or(Err(EngineError::Panicked))
                .map_err(RunError::from);
                inbox.post(SessionMessage::WorkerOver {
                    group: group.id,
                    worker: number,
                    outcome: Box::new(outcome),
                });
            })
            .map_err(|source| RunError::System { what: "cannot start a thread", source })?;
        let (reports, thread) = (if in_halves { 2 } else { 1 }, Some(thread));
        Ok(RunningWorker { group: group.id, flows, reports, remote, entrance, thread })
    }

    /// What its engine is given.
    fn worker<M: InDocuments, F: Flow<M>>(
        &mut self,
        plan: &M,
        shared: F::Shared,
        (inbox, succession): (EngineInbox, Option<EngineSuccession<F>>),
    ) -> Worker<F> {
        let (group, number, role) = (self.group, self.number, self.setting.role);
        let sockets: Vec<Vec<Arc<Socket>>> = match self.sockets.take() {
            Some(sockets) => sockets.into_iter().map(|socket| vec![socket]).collect(),
            None => vec![Vec::new(); self.flows.len()],
        };
        let lanes: Vec<Lane> = self.lanes.iter().map(|(lane, _)| *lane).collect();
        let begin = self.setting.begin(&lanes);
        let flow = |id| F::begin(plan, FlowId(id), &begin);
        let Receives { batches, stamps, .. } = plan.receives();
        let (told, notices) = (plan.clone(), self.inbox.clone());
        Worker {
            flows: self.flows.clone().map(flow).zip(sockets).collect(),
            shared,
            terms: Terms {
                transport: group.transport,
                wait: self.wait,
                start: self.setting.start,
                begin: self.setting.start,
                report_every: self.setting.report_every.duration(),
                receive_buffer_bytes: receive_room(plan),
                stamps,
                batches,
            },
            inbox,
            outbox: Outbox::into_sink(move |notice| match notice {
                Notice::Phase { flow, phase, totals, .. }
                    if !told.tells(role, flow, phase, totals) => {}
                notice => notices.post(message::<M>((group.id, number), notice)),
            }),
            succession,
        }
    }

    /// For flows that are replaced: where they come in, and who hears as they go.
    fn succeed<M: InDocuments, F: Flow<M>>(
        &self,
        plan: &M,
        Succession { ledger, opener }: Succession,
    ) -> (Entrance, EngineSuccession<F>) {
        let (sender, successors) = channel();
        let (setting, for_new) = (self.setting, plan.clone());
        let take_in = move |flow, socket| {
            let machine = F::begin(&for_new, flow, &setting.begin(&[]));
            // It fails only where the worker has ended, which is told.
            let _ = sender.send((machine, vec![socket]));
        };
        let present = Arc::new(AtomicU32::new(self.flows.end - self.flows.start));
        let entrance = Entrance { take_in: Box::new(take_in), present: Arc::clone(&present) };
        let (inbox, group, plan) = (self.inbox.clone(), self.group.id, plan.clone());
        let departed = move |flow: &F, sockets: Vec<Arc<Socket>>, at| {
            let is_told = setting.tells_departures || flow.phase() == Phase::Failed;
            let end = flow.connection_end(&plan);
            if let Some(facts) = end.and_then(|end| ledger.depart(end, &sockets, is_told)) {
                inbox.post(SessionMessage::Departed { group, facts: Box::new(facts), at });
            }
            // Closed before the next may take its port.
            drop(sockets);
            present.fetch_sub(1, Ordering::Relaxed);
            opener.iter().for_each(|opener| opener.vacancy(flow.id()));
        };
        (entrance, EngineSuccession { successors, departed: Box::new(departed) })
    }
}

/// A worker and the engine that runs it.
struct OnEngine<F: Machine> {
    engine: EngineKind,
    worker: Worker<F>,
}

impl<F: Machine> Runner<F> for OnEngine<F> {
    type Output = Result<Finished<F>, EngineError>;

    fn whole(self) -> Self::Output {
        registry::run(self.engine, self.worker, Kernel)
    }

    /// By blocking calls, a thread for each half.
    fn halves(self) -> Self::Output
    where
        F: Split,
    {
        plain::run_split(self.worker, Kernel)
    }
}

/// What the session is told of a notice.
fn message<M: InDocuments>(
    (group, worker): (GroupId, usize),
    notice: Notice<M::Tally>,
) -> SessionMessage {
    match notice {
        Notice::Phase { flow, phase, totals, at, error } => {
            SessionMessage::Phase { group, flow, phase, totals, at, error }
        }
        Notice::Report { index, start, end, report } => {
            let tally = M::tally(report);
            SessionMessage::Interval { group, worker, index, start, end, tally }
        }
    }
}
