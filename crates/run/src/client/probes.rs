//! Latency probes at a server of ours, beside a load at one that has no place for them: a session of their own, whose test is set up
//! before the load's, started with it and ended with it. Not probes of a load's own session, which are a group of its test.

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::quantity::Period;
use pathscope_core::record::Caveat;
use pathscope_modes::assemble::Findings;
use pathscope_modes::document::{Document, Measurement};
use pathscope_modes::end::Hosts;
use pathscope_modes::follow_up::Tests;
use pathscope_modes::groups::Test;
use pathscope_peers::PeerError;
use pathscope_peers::registry::PeerKind;

use super::{CONNECT_WITHIN, ClientRun, Told};
use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::records::journal::Journal;
use crate::session::intervals::Pairs;
use crate::stop::Stop;
use crate::threads::lock;

/// A server that has not said by then that it is one of ours is none, or too far away to be pinged beside a load, which waits for it.
pub(super) const GREETED_WITHIN: Period = Period::from_secs(3);

/// Why probes end.
const LOAD_IS_OVER: &str = "the load is over";

/// A server of ours that answers probes beside a load at another.
#[derive(Clone, Debug)]
pub(super) struct ProbeServer {
    /// As it was named.
    pub name: String,
    pub targets: Vec<SocketAddr>,
}

/// Probes whose test is set up, or runs.
pub(super) struct Probes {
    name: String,
    /// What they do, by themselves.
    pub test: Test,
    start: Arc<JointStart>,
    thread: Option<JoinHandle<Part>>,
}

/// What their session leaves.
struct Part {
    document: Document,
    result: Result<(), RunError>,
}

/// When probes start, as their session and that of the load share it.
#[derive(Debug, Default)]
pub(super) struct JointStart {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    inbox: Option<Inbox>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Stage {
    #[default]
    Preparing,
    Ready,
    /// Told to end: once, since who asks twice waits for nobody.
    Ending,
    Over,
}

impl JointStart {
    /// A session for the probes begins.
    pub fn comes(&self, inbox: &Inbox) {
        lock(&self.state).inbox = Some(inbox.clone());
    }

    /// All their flows are there.
    pub fn ready(&self) {
        self.set(Stage::Ready);
    }

    fn set(&self, stage: Stage) {
        lock(&self.state).stage = stage;
        self.changed.notify_all();
    }

    /// Waits until they are ready, or are not to be had. Their session's own limits of time end this.
    fn wait(&self) -> bool {
        let state = lock(&self.state);
        let waiting = |state: &mut State| state.stage == Stage::Preparing;
        let state = self.changed.wait_while(state, waiting);
        state.unwrap_or_else(PoisonError::into_inner).stage == Stage::Ready
    }

    fn start(&self) {
        let state = lock(&self.state);
        if state.stage == Stage::Ready {
            state.inbox.iter().for_each(|inbox| inbox.post(SessionMessage::MayStart));
        }
    }

    fn stop(&self) {
        let mut state = lock(&self.state);
        if matches!(state.stage, Stage::Preparing | Stage::Ready) {
            state.stage = Stage::Ending;
            state.inbox.iter().for_each(|inbox| inbox.post(SessionMessage::Stop(LOAD_IS_OVER)));
        }
    }
}

/// Their session is over, however it ended.
struct Leaving(Arc<JointStart>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.set(Stage::Over);
    }
}

impl ProbeServer {
    /// Sets up the probes of a test, which hears of their intervals; or says why that cannot be.
    pub fn set_up(
        &self,
        test: &Test,
        (document, began): (Document, Tick),
        stop: &Stop,
        load: &Inbox,
    ) -> Result<Option<Probes>, RunError> {
        let Some(alone) = test.probes_apart() else { return Ok(None) };
        let list = vec![("probes".to_owned(), alone.clone())];
        let start = Arc::new(JointStart::default());
        let (leaving, stop, load) = (Leaving(Arc::clone(&start)), stop.clone(), load.clone());
        let targets = vec![self.targets.clone()];
        let work = move || {
            let mut sink = |told: Told<'_>| {
                if let Told::Interval { interval, .. } = told
                    && let Some(client) = &interval.client
                {
                    load.post(SessionMessage::Probed(Box::new(client.clone())));
                }
            };
            let mut run = ClientRun {
                document,
                began,
                stop: &stop,
                sink: &mut sink,
                peer: PeerKind::OWN,
                connect_within: Duration::from_nanos(CONNECT_WITHIN.0),
                // What they go over is not asked for by name.
                tests: Tests { are_compared: true, ..list.into() },
                journal: Journal::default(),
                samples: None,
                targets,
                company: None,
                joint_start: Some(&leaving.0),
                probe_server: None,
                destinations: None,
                kept_until: Tick::ZERO,
            };
            let result = run.measure();
            Part { document: run.document, result }
        };
        let thread = Builder::new().name("probes".to_owned()).spawn(work);
        let thread = thread.map_err(RunError::system("cannot start a thread"))?;
        let (name, thread) = (self.name.clone(), Some(thread));
        let mut probes = Probes { name, test: alone, start, thread };
        if probes.start.wait() {
            return Ok(Some(probes));
        }
        let why = probes.join().result.err().unwrap_or(RunError::LeftEarly);
        if matches!(why, RunError::Interrupted) {
            return Err(why);
        }
        Err(RunError::Peer(format!(
            "the server of the latency probes, {}: {}",
            self.name,
            unreached(why)
        )))
    }
}

/// Why it cannot be had, and what to do about that: what is said of a load's server would lead elsewhere.
fn unreached(why: RunError) -> String {
    match why {
        RunError::Dialogue(PeerError::Ungreeted { limit }) => format!(
            "it did not answer the greeting of a pathscope client within {limit}; --probe-server names a 'pathscope server', beside the \
             load's own, as HOST:PORT"
        ),
        RunError::Os(error) => format!(
            "{error}; start a 'pathscope server' there, or name its port: --probe-server HOST:PORT"
        ),
        other => other.to_string(),
    }
}

impl ClientRun<'_> {
    /// What the server is asked for: all of it, or where its probes go to another the load alone; those are set up then.
    pub(super) fn apart(
        &self,
        test: Test,
        inbox: &Inbox,
    ) -> Result<(Test, Option<Probes>), RunError> {
        let Some(server) = &self.probe_server else { return Ok((test, None)) };
        let hosts = Hosts { client: self.document.hosts.client.clone(), ..Hosts::default() };
        let document = Document { hosts, ..Document::default() };
        let probes = server.set_up(&test, (document, self.began), self.stop, inbox)?;
        Ok((test.alone(), probes))
    }
}

impl Probes {
    /// The load has started.
    pub fn start(&self) {
        self.start.start();
    }

    /// The load's flows are over.
    pub fn stop(&self) {
        self.start.stop();
    }

    /// The load is over: ends them, where they have not ended, and puts what they came to beside what is known of it.
    pub fn end(mut self, pairs: &mut Pairs, findings: &mut Findings) -> Caveat {
        let Part { mut document, result } = self.join();
        let name = &self.name;
        let measured = document.measurements.pop();
        let mut text = format!(
            "loaded latency is of pings to {name}, a pathscope server, since the load's own server has no place for them: it is that of the \
             load's path as far as both are at one host"
        );
        if let Err(error) = result
            && !error.is_own_stop()
        {
            text = format!("{text}; they ended early: {error}");
        }
        if let Some(Measurement { test, intervals, client, .. }) = measured {
            intervals
                .iter()
                .filter_map(|it| it.client.as_ref())
                .for_each(|it| pairs.add_probes(it));
            findings.test.take_probes(test);
            findings.client.take_probes_of_test(client);
        }
        findings.client.caveats.append(&mut document.caveats);
        Caveat::new(RunCaveat::ProbesElsewhere, text)
    }

    /// Ends their session, if it has not ended, and has what it leaves. One that panicked takes this one with it, as everywhere.
    fn join(&mut self) -> Part {
        self.stop();
        let joined = self.thread.take().map(JoinHandle::join);
        match joined {
            Some(Ok(part)) => part,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Part { document: Document::default(), result: Err(RunError::LeftEarly) },
        }
    }
}

impl Drop for Probes {
    /// Where the load never came to its end.
    fn drop(&mut self) {
        self.stop();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
