//! A test as it begins, runs and is over, for whoever shows each by itself: what goes through each of its flows.

use pathscope_core::Tick;
use pathscope_core::journal::{ConnectionProgress, DatagramProgress, Entry, TestBegan, TestOver};
use pathscope_flow::{FlowDatagrams, Totals};
use pathscope_modes::registry::EndReport;
use pathscope_os::{clock, interrupts};

use super::{Journal, SessionJournal};
use crate::messages::outcome::FlowProgress;

/// A test that runs: when it is let go of, that is told.
pub(super) struct Runs {
    journal: Journal,
    /// What is told when it is over.
    over: TestOver,
    /// How often the machine had been interrupted when it began, where somebody wants to hear it.
    interrupts: Option<interrupts::Reading>,
}

impl SessionJournal {
    /// Whether somebody reads what went through each connection in each interval.
    pub fn wants_progress(&self) -> bool {
        self.journal.wants().progress
    }

    /// An interval has passed in which so much went through each flow, from the start of the test on.
    pub fn progress(&mut self, flows: &[FlowProgress], times: (Tick, Tick)) {
        flows.iter().for_each(|flow| self.progress_of(flow, times));
    }

    pub(super) fn progress_of(&mut self, of: &FlowProgress, (start, end): (Tick, Tick)) {
        let &FlowProgress { flow, totals, datagrams, tcp } = of;
        let (started, end) = (self.started, self.interval_end(datagrams, end));
        let Some(held) = self.connections.get_mut(&flow).filter(|held| held.until.is_none()) else {
            return;
        };
        let (told, told_ns) = held.told;
        let [start_ns, end_ns] = [start, end].map(|at| at.nanos_since(started));
        let end_ns = end_ns.max(told_ns);
        // Of a direction that another thread has, this one says nothing.
        let sent = totals.sent.max(told.sent);
        let received = totals.received.max(told.received);
        held.told = (Totals { sent, received }, end_ns);
        let (sent, received) = (sent - told.sent, received - told.received);
        let before = std::mem::replace(&mut held.told_datagrams, datagrams.unwrap_or_default());
        let datagrams = datagrams.map(|so_far| DatagramProgress {
            sent,
            received,
            expected: so_far
                .expected
                .map(|expected| expected.saturating_sub(before.expected.unwrap_or(0))),
            duplicates: so_far.duplicates.saturating_sub(before.duplicates),
            reordered: so_far.reordered.saturating_sub(before.reordered),
            jitter_ns: (received > 0).then_some(so_far.jitter_ns),
        });
        // Of datagrams their number was told.
        let bytes_of_each = if datagrams.is_some() { self.block_bytes } else { 1 };
        let progress = ConnectionProgress {
            start_ns: start_ns.max(told_ns).min(end_ns),
            end_ns,
            flow,
            sent_bytes: sent.saturating_mul(bytes_of_each),
            received_bytes: received.saturating_mul(bytes_of_each),
            tcp,
            datagrams,
            ..ConnectionProgress::default()
        };
        self.write(end, |at_ns, session| {
            Entry::Progress(Box::new(ConnectionProgress { at_ns, session, ..progress }))
        });
    }

    /// When an interval was over that a worker tells of then. Datagrams are waited for behind the word that a test is over: what is waited
    /// for in vain is none of its time.
    fn interval_end(&self, datagrams: Option<FlowDatagrams>, told: Tick) -> Tick {
        let (Some(datagrams), Some(stopped)) = (datagrams, self.stopped) else { return told };
        let last = datagrams.last_ns.map(|last_ns| self.started.plus_nanos(last_ns));
        told.min(last.map_or(stopped, |last| last.max(stopped)))
    }

    /// The flows of a test are about to move data.
    pub(super) fn runs(&mut self, at: Tick) {
        let load = self.test.as_ref().and_then(|(plan, ..)| plan.load());
        let wants = self.journal.wants();
        let Some(load) = load.filter(|_| wants.progress || wants.status) else { return };
        self.block_bytes = load.block_bytes;
        self.write(at, |at_ns, session| {
            let remarks = self.remarks.clone();
            Entry::TestBegan(Box::new(TestBegan { at_ns, load, remarks, session }))
        });
        let over = TestOver { session: self.session.clone(), ..TestOver::default() };
        let interrupts = wants.interrupts.then(interrupts::Reading::now);
        self.runs = Some(Runs { journal: self.journal.clone(), over, interrupts });
    }
}

impl Runs {
    /// This end has reported.
    pub fn reported(&mut self, report: &EndReport) {
        let flows = report.datagrams.iter().flat_map(|report| &report.flows);
        let sent_there = flows.filter_map(|facts| Some((facts.flow, facts.expected?))).collect();
        let (workers, sockets) = (report.workers.clone(), report.sockets.clone());
        let (elapsed_ns, host) = (report.elapsed_ns, report.host.clone());
        let before = self.interrupts.take();
        let interrupts =
            before.map(|before| interrupts::Reading::now().since(&before)).unwrap_or_default();
        let over = std::mem::take(&mut self.over);
        self.over = TestOver { sent_there, workers, sockets, elapsed_ns, host, interrupts, ..over };
    }

    /// What is told once it is over, as far as it is known.
    pub fn over(&self) -> TestOver {
        self.over.clone()
    }

    /// Its session has failed.
    pub fn failed(&mut self, why: &str) {
        self.over.failure = Some(why.to_owned());
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        let over = std::mem::take(&mut self.over);
        self.journal
            .write(clock::now(), |at_ns| Entry::TestOver(Box::new(TestOver { at_ns, ..over })));
    }
}
