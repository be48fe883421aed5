//! Worker threads: started with flows of one mode, told what to do, heard of when they end. Which flows each has is
//! `shares`'; what they are is their mode's.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::journal::KernelView;
use pathscope_core::quantity::Period;
use pathscope_core::tcp_look::TcpLook;
use pathscope_engines::{
    EngineError, EngineKind, Finished, Inbox as EngineInbox, Kernel, LaneChange, Lanes, Made,
    Notice, Outbox, Part, Remote, Sockets, Succession as EngineSuccession, Successor, Terms,
    Worker, registry, room_bytes, worker_inbox, worker_inbox_of,
};
use pathscope_flow::{Batches, Group, GroupId, Machine, Phase, Split};
use pathscope_modes::flows::{Begin, Flow, Runner, Samples};
use pathscope_modes::load::{Acknowledged, ConnectionEnd, Together};
use pathscope_modes::mode::{Mode, Receives, ToldAs};
use pathscope_modes::registry::InDocuments;
use pathscope_os::cpus;
use pathscope_os::sockets::Socket;
use pathscope_os::tcp_facts::{tcp_facts, tcp_look};

use crate::error::RunError;
use crate::holders::Holders;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::messages::outcome::{FlowProgress, LastSeen, WorkerOutcome};
use crate::messages::replacements::OpenerRemote;
use crate::records::journal::ASKED;
use crate::records::ledger::Ledger;
use crate::threads;
use crate::workers::entrances::{Entrance, Entrances};
use crate::workers::placement::Placement;

/// What all workers of a test have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// What each flow begins with, but for its lanes.
    pub begin: Begin<'static>,
    pub start: Tick,
    pub report_every: Period,
    pub tells: Tells,
}

/// What is told of connections while they run, beside what they count.
#[expect(clippy::struct_excessive_bools, reason = "each is told or not, whatever the others are")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tells {
    /// Each that is replaced, as it ends; else those that fail.
    pub departures: bool,
    /// What the kernel says of each as it ends.
    pub rows: bool,
    /// How the kernel sees the first of them with each report.
    pub status: bool,
    /// How much of what is sent was acknowledged: the other end tells nothing of it.
    pub acknowledged: bool,
}

/// A worker that runs, as its session sees it.
pub(crate) struct RunningWorker {
    pub group: GroupId,
    pub flows: Range<u32>,
    /// Reports it makes of each interval.
    pub reports: u8,
    /// How it is told.
    pub remote: Remote,
    /// Whether it has said that it has ended.
    pub is_over: bool,
}

/// The most that a worker which runs flows of a plan receives at once: what it has room for.
pub(crate) fn receive_room(plan: &dyn Mode) -> usize {
    let Receives { at_once_bytes, batches, .. } = plan.receives();
    if batches == Batches::One { at_once_bytes } else { room_bytes(batches) }
}

/// A group of flows that is ready to run: what all its workers have in common.
pub(crate) struct ReadyGroup<'a> {
    pub group: Group,
    pub placement: &'a Placement,
    /// The part that its one worker has of a thread which runs those of other tests, too.
    pub part: Option<&'a Part>,
    /// The threads that hold the sockets of its flows and run each worker, where one table has no room for them.
    pub holders: Option<&'a Holders>,
    /// Where its flows are written down as they end, where they are replaced.
    pub ledger: &'a Ledger,
    /// Where the next of those come in.
    pub entrances: &'a Entrances,
    /// At the client: who opens them.
    pub opener: Option<&'a OpenerRemote>,
    pub setting: Setting,
    pub inbox: &'a Inbox,
}

/// Sockets that are a worker's from then on.
pub(crate) struct Given {
    /// By flow, from its first on; none where their lanes roam.
    pub sockets: Vec<Socket>,
    /// Those of the lanes of its one flow, where that roams.
    pub lanes: Vec<(Lane, Socket)>,
}

/// One worker about to start.
pub(crate) struct NewWorker<'a, M> {
    pub ready: &'a ReadyGroup<'a>,
    pub plan: &'a M,
    pub flows: Range<u32>,
    pub given: Given,
    pub number: usize,
    /// What all of its group receive.
    pub together: &'a Together,
    /// The processor that it is kept on.
    pub cpu: Option<u32>,
}

impl<M: InDocuments> NewWorker<'_, M> {
    /// Starts the thread on which the flows of the plan run, or hands them to one that has others.
    pub fn start<F: Flow<M>>(
        mut self,
        samples: Option<Samples<M>>,
    ) -> Result<RunningWorker, RunError> {
        let part = self.ready.part;
        let held = self.ready.holders.and_then(|holders| holders.commands(&self.flows));
        let (remote, commands) = match (part, held) {
            (Some(part), _) => worker_inbox_of(part.waker.clone()),
            (None, Some(commands)) => commands,
            (None, None) => worker_inbox()?,
        };
        let succession = self.ready.group.replaces().then(|| self.succeed::<F>(&remote));
        let &ReadyGroup { group, placement, setting, .. } = self.ready;
        let ends_apart = setting.begin.conventions.end.has_halves();
        let in_halves = ends_apart && placement.is_in_halves(self.plan);
        let mut worker = self.worker::<F>(samples, (commands, succession), in_halves);
        let Self { ready, plan, flows, given, number, cpu, together } = self;
        for (lane, socket) in given.lanes {
            // They join as soon as the flow has been started.
            remote.change_lane(LaneChange { flow: group.first, lane, socket: Some(socket) });
        }
        let (ours, engine, plan) = (plan, placement.engine, plan.clone());
        let inbox = ready.inbox.clone();
        let outcome_of = move |finished| {
            WorkerOutcome::of(&plan, (setting.begin.role, group, setting.tells.rows), finished)
        };
        let tell = move |outcome: Result<WorkerOutcome, EngineError>| {
            let (group, outcome) = (group.id, Box::new(outcome.map_err(RunError::from)));
            inbox.post(SessionMessage::WorkerOver { group, worker: number, outcome });
        };
        // A bug of ours must not leave the session waiting for a worker that is no more.
        if let Some(part) = part {
            part.run(worker, move |finished| {
                let outcome = || finished.map(outcome_of);
                let mut outcome =
                    catch_unwind(AssertUnwindSafe(outcome)).unwrap_or(Err(EngineError::Panicked));
                // They stay where they are open.
                let kept = outcome.as_mut().map(|outcome| std::mem::take(&mut outcome.sockets));
                let kept = kept.unwrap_or_default();
                tell(outcome);
                kept
            })?;
        } else if let Some(holders) = ready.holders {
            let (all, for_flows, together) = (flows.clone(), ours.clone(), together.clone());
            holders.run(&flows, move |holding| {
                let flow = move |(id, socket)| {
                    let begin = Begin { together: Some(&together), ..setting.begin };
                    (F::begin(&for_flows, FlowId(id), &begin), Lanes::One(socket))
                };
                let run = || {
                    cpu.map_or(Ok(()), cpus::pin_thread)?;
                    let sockets = holding.take(&all)?;
                    worker.made = Some(Made::by(all.zip(sockets).map(flow)));
                    Ok(outcome_of(F::run(OnEngine { engine, worker }, in_halves)?))
                };
                let mut outcome =
                    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(EngineError::Panicked));
                // They stay where they are open.
                if let Ok(outcome) = &mut outcome {
                    holding.sockets = std::mem::take(&mut outcome.sockets);
                }
                tell(outcome);
            })?;
        } else {
            let run = move || {
                cpu.map_or(Ok(()), cpus::pin_thread)?;
                Ok(outcome_of(F::run(OnEngine { engine, worker }, in_halves)?))
            };
            // Nobody waits for the end of the thread: what it has to say is told.
            threads::spawn(&format!("flows-{number}"), move || {
                tell(catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(EngineError::Panicked)));
            })?;
        }
        let reports = if in_halves { 2 } else { 1 };
        let (group, is_over) = (group.id, false);
        Ok(RunningWorker { group, flows, reports, remote, is_over })
    }

    /// What its engine is given.
    fn worker<F: Flow<M>>(
        &mut self,
        samples: Option<Samples<M>>,
        (inbox, succession): (EngineInbox, Option<EngineSuccession<F>>),
        in_halves: bool,
    ) -> Worker<F> {
        let Self { ready, plan, number, .. } = *self;
        let &ReadyGroup { group: Group { id: group, transport, .. }, setting, .. } = ready;
        let lanes: Vec<Lane> = self.given.lanes.iter().map(|(lane, _)| *lane).collect();
        let begin = Begin { lanes: &lanes, together: Some(self.together), ..setting.begin };
        let mut sockets = std::mem::take(&mut self.given.sockets).into_iter();
        let flow =
            |id: u32| (F::begin(plan, FlowId(id), &begin), sockets.next().into_iter().collect());
        // Very many are made where they run: the session has to be heard of meanwhile.
        let here = if ready.holders.is_some() { 0..0 } else { self.flows.clone() };
        let Receives { batches, stamps, .. } = plan.receives();
        let (told, notices, role) = (plan.clone(), ready.inbox.clone(), begin.role);
        let (ledger, tells) = (ready.ledger.clone(), setting.tells);
        let is_told = plan.told_as(role) == ToldAs::Connections;
        let sends = plan.sends_bytes(role);
        let asked =
            if is_told && tells.status { ASKED.div_ceil(ready.placement.workers) } else { 0 };
        // Of a flow that is cut in two either half would tell it.
        let acknowledged =
            (sends && tells.acknowledged && !in_halves).then(|| Cell::new(Acknowledged::default()));
        let sink = move |notice, sockets: &dyn Sockets| {
            if let (Some(known), Notice::Phase { flow, phase, .. }) = (&acknowledged, &notice)
                && phase.is_over()
            {
                with(known, |known| known.lose(sockets.lost_bytes(*flow)));
            }
            notices.post(match notice {
                Notice::Look => return ledger.look(sockets),
                Notice::Phase { flow, phase, totals, .. }
                    if !told.tells(role, flow, phase, totals) =>
                {
                    return;
                }
                Notice::Phase { flow, phase, totals, at, error } => {
                    let has_row = is_told && tells.rows && phase.is_over();
                    let socket = if has_row { sockets.of(flow) } else { None };
                    let tcp = socket.and_then(|it| LastSeen::of(flow, it, sends)).map(Box::new);
                    SessionMessage::Phase { group, flow, phase, totals, at, error, tcp }
                }
                Notice::Flows { start, end, flows } => {
                    let tcp = |flow| {
                        let sends = sends && told.sends_on(role, flow);
                        let socket = if sends { sockets.of(flow) } else { None };
                        socket.and_then(tcp_look).map(|look| TcpLook { flow, ..look })
                    };
                    let with_look = |(flow, totals, datagrams)| FlowProgress {
                        flow,
                        totals,
                        datagrams,
                        tcp: tcp(flow),
                    };
                    let flows = flows.into_iter().map(with_look).collect();
                    SessionMessage::Progress { start, end, flows }
                }
                Notice::Report { index, start, end, mut report } => {
                    if let Some(known) = &acknowledged {
                        let waiting = unacknowledged_bytes(sockets);
                        with(known, |known| M::acknowledge(&mut report, known, waiting));
                    }
                    if sends {
                        ledger.look_at_tcp(sockets);
                    }
                    let (tally, worker, views) = (M::tally(report), number, views(asked, sockets));
                    SessionMessage::Interval { group, worker, index, start, end, tally, views }
                }
            });
        };
        Worker {
            flows: here.map(flow).collect(),
            made: None,
            shared: F::shared(plan, &begin, samples),
            terms: Terms {
                transport,
                wait: ready.placement.wait,
                start: setting.start,
                begin: setting.start,
                report_every: setting.report_every.duration(),
                receive_buffer_bytes: receive_room(plan),
                counts_lost: tells.acknowledged,
                stamps,
                batches,
            },
            inbox,
            outbox: Outbox::beside_sockets(sink),
            succession,
        }
    }

    /// For flows that are replaced: they come in at an entrance of the group's, and it is heard as they go.
    fn succeed<F: Flow<M>>(&self, remote: &Remote) -> EngineSuccession<F> {
        let (sender, successors) = channel();
        let (setting, for_new) = (self.ready.setting, self.plan.clone());
        let take_in = move |flow, socket, preface| {
            let machine = F::begin(&for_new, flow, &setting.begin);
            // It fails only where the worker has ended, which is told.
            let _ = sender.send(Successor { machine, sockets: Lanes::One(socket), preface });
        };
        let present = Arc::new(AtomicU32::new(self.flows.len() as u32));
        let (take_in, remote) = (Box::new(take_in), remote.clone());
        let speaks_prefaces = self.ready.placement.engine.speaks_prefaces();
        let (has_left, counted) = (false, Arc::clone(&present));
        let entrance = Entrance { take_in, speaks_prefaces, has_left, present: counted, remote };
        self.ready.entrances.add(entrance);
        let (ledger, opener) = (self.ready.ledger.clone(), self.ready.opener.cloned());
        let (inbox, group) = (self.ready.inbox.clone(), self.ready.group.id);
        let plan = self.plan.clone();
        let turned_away = self.turns_away(&present);
        let departed = move |flow: &F, sockets: Lanes, at| {
            let is_told = setting.tells.departures || flow.phase() == Phase::Failed;
            let end = flow.connection_end(&plan);
            let end = end.map(|end| ConnectionEnd { ended_at: end.ended_at.or(Some(at)), ..end });
            let facts = end.and_then(|end| {
                let socket = sockets.first();
                let local = || socket.and_then(|socket| socket.local_addr().ok());
                // Of one that was reset the kernel knows nothing any more.
                let known = socket.filter(|_| !end.is_reset);
                ledger.depart(end, (local, || known.and_then(tcp_facts)), is_told)
            });
            if let Some(facts) = facts {
                inbox.post(SessionMessage::Departed { group, facts: Box::new(facts), at });
            }
            // Closed before the next may take its port.
            drop(sockets);
            present.fetch_sub(1, Ordering::Relaxed);
            opener.iter().for_each(|opener| opener.vacated(flow.id()));
        };
        let is_timed = setting.tells.departures;
        EngineSuccession { successors, departed: Box::new(departed), turned_away, is_timed }
    }

    /// Forgets a flow whose connection did not become its own: of that who made it says what came of it.
    fn turns_away(&self, present: &Arc<AtomicU32>) -> Box<dyn FnMut(FlowId) + Send> {
        let (ledger, present) = (self.ready.ledger.clone(), Arc::clone(present));
        Box::new(move |flow| {
            ledger.forget(flow);
            present.fetch_sub(1, Ordering::Relaxed);
        })
    }
}

/// How the kernel sees the first so many connections that are open.
fn views(most: usize, sockets: &dyn Sockets) -> Box<[(FlowId, KernelView)]> {
    let (mut left, mut views) = (most, Vec::new());
    if left > 0 {
        sockets.each(&mut |flow, socket| {
            views.extend(tcp_facts(socket).map(|tcp| (flow, KernelView::of(&tcp))));
            left -= 1;
            if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    views.into()
}

/// Changes what a worker keeps for itself.
fn with<T: Copy>(kept: &Cell<T>, change: impl FnOnce(&mut T)) {
    let mut value = kept.get();
    change(&mut value);
    kept.set(value);
}

/// Of all that flows have sent, what is not acknowledged by now.
fn unacknowledged_bytes(sockets: &dyn Sockets) -> u64 {
    let mut all = 0_u64;
    sockets.each(&mut |_, socket| {
        all = all.saturating_add(socket.unacknowledged_bytes().unwrap_or_default());
        ControlFlow::Continue(())
    });
    all
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
        registry::run_halves(self.worker, Kernel)
    }
}
