//! Worker threads: started with flows of one kind, told what to do, heard of when they end. Which flows each has is
//! `shares`', and what kind they are of is `dispatch`'.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::quantity::Period;
use pathscope_core::{Tick, Wait};
use pathscope_engines::{
    Batches, Command, EngineError, EngineKind, Finished, Kernel, LaneChange, Notice, Outbox,
    Remote, Succession as EngineSuccession, Terms, Worker, plain, registry, worker_inbox,
};
use pathscope_flow::{Event, Group, GroupId, Machine, Phase, Shared, Split, Totals};
use pathscope_modes::goodput::{GoodputFlow, GoodputPlan};
use pathscope_modes::pattern::SessionKey;
use pathscope_os::cpus;
use pathscope_os::sockets::Socket;

use crate::connect::replacements::OpenerRemote;
use crate::error::RunError;
use crate::records::samples::Rows;
use crate::session::inbox::{Inbox, Part, SessionMessage, WorkerOutcome};
use crate::session::ledger::Ledger;

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

/// Whether the other end says of each stream of datagrams that it still wants it, and hears that said.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum PeerConsent {
    /// It knows nothing of that.
    #[default]
    Unknown,
    /// It does.
    Spoken,
}

/// Where flows come in that replace others, and what is done as one goes.
#[derive(Debug)]
pub(crate) struct Entrance {
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
    /// Where its flows are replaced: with where they come in.
    pub fn with_entrance(self, entrance: Option<Entrance>) -> Self {
        Self { entrance, ..self }
    }

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

/// What tells workers of one kind of flow apart from those of another.
pub(crate) struct Shape<M: Machine> {
    pub shared: M::Shared,
    /// The most that is received at once.
    pub buffer: usize,
    /// How datagrams are handed over.
    pub batches: Batches,
    pub engine: Run<M>,
    pub succession: Option<EngineSuccession<M>>,
    /// Whether the kernel stamps datagrams.
    pub stamps: bool,
}

impl<M: Machine> Shape<M> {
    /// One datagram with each receive, so that each has a time of its own.
    pub fn of_single_datagrams(shared: M::Shared, buffer: usize, stamps: bool) -> Self {
        Self { shared, buffer, batches: Batches::One, engine: Run::WHOLE, succession: None, stamps }
    }
}

/// How a worker is run, and the reports it then makes of each interval.
pub(crate) struct Run<M: Machine> {
    pub run: fn(EngineKind, Worker<M>) -> Result<Finished<M>, EngineError>,
    pub reports: u8,
}

impl<M: Machine> Run<M> {
    /// By an engine, flows as they are.
    pub const WHOLE: Self =
        Self { run: |engine, worker| registry::run(engine, worker, Kernel), reports: 1 };
}

impl<M: Split> Run<M> {
    /// By blocking calls, a thread for each half.
    pub const HALVES: Self = Self { run: |_, worker| plain::run_split(worker, Kernel), reports: 2 };
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
    pub number: usize,
    pub inbox: Inbox,
    pub rows: Option<Rows>,
    pub succession: Option<Succession>,
}

impl NewWorker {
    /// For flows that are replaced: where they come in, and who hears as they go.
    pub fn succession(
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
        let tells_all = self.setting.tells_departures;
        let inbox = self.inbox.clone();
        let group = self.group.id;
        let departed = move |flow: &GoodputFlow, sockets: Vec<Arc<Socket>>, at| {
            let is_told = tells_all || flow.phase() == Phase::Failed;
            if let Some(facts) = ledger.depart(flow, &sockets, is_told) {
                inbox.post(SessionMessage::Departed { group, facts: Box::new(facts), at });
            }
            // Closed before the next may take its port.
            drop(sockets);
            present.fetch_sub(1, Ordering::Relaxed);
            opener.iter().for_each(|opener| opener.vacancy(flow.id()));
        };
        let succession = EngineSuccession { successors, departed: Box::new(departed) };
        (Some(entrance), Some(succession))
    }

    /// Starts the thread. `tells` says of which changes of phase the session hears.
    pub fn spawn<M>(
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
        let (remote, commands) = worker_inbox()?;
        let Self {
            group, cpu, flows, sockets, lanes, setting, engine, wait, number, inbox, ..
        } = self;
        let Shape { shared, buffer, batches, engine: Run { run, reports }, succession, stamps } =
            shape;
        let group_id = group.id;
        let notices = inbox.clone();
        let sockets: Vec<Vec<Arc<Socket>>> = match sockets {
            Some(sockets) => sockets.into_iter().map(|socket| vec![socket]).collect(),
            None => vec![Vec::new(); flows.len()],
        };
        for (lane, socket) in lanes {
            // They join as soon as the flow has been started.
            let change = LaneChange { flow: group.first, lane, socket: Some(socket) };
            remote.change_lane(change);
        }
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
            inbox: commands,
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
                inbox.post(SessionMessage::WorkerOver {
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

fn word<R>(
    group: GroupId,
    worker: usize,
    notice: Notice<R>,
    part: &impl Fn(R) -> Part,
) -> SessionMessage {
    match notice {
        Notice::Phase { flow, phase, totals, at, error } => {
            SessionMessage::Phase { group, flow, phase, totals, at, error }
        }
        Notice::Report { index, start, end, report } => {
            SessionMessage::Part { group, worker, index, start, end, part: part(report) }
        }
    }
}
