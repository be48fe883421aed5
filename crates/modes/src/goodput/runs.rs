//! How the flows of a goodput test run, and what those of one end come to.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::StreamStatus;
use pathscope_core::record::FlowError;
use pathscope_flow::{Machine, Phase, Totals};

use super::{GoodputFlow, GoodputInterval, GoodputPlan, GoodputReport, GoodputShared};
use crate::flows::{Accumulate, AtEnd, Begin, Flow, Left, Runner, Runs, Samples, System};
use crate::load::{Acknowledged, ConnectionEnd, FlowReceived, RateSpread, RateSums};
use crate::samples::NoRows;
use crate::sums::add_fields;

/// What the flows of a worker came to, and then those of an end, beside what is said of each connection.
#[derive(Debug, Default)]
pub struct GoodputWorker {
    report: GoodputReport,
    /// What each received in the window of all; of flows that are replaced, none.
    received: Vec<FlowReceived>,
}

impl Runs for GoodputPlan {
    type Client = GoodputFlow;
    type Server = GoodputFlow;
    type Tally = GoodputInterval;
    type WorkerReport = GoodputWorker;
    type Accumulator = GoodputWorker;
    type Rows = NoRows;

    fn add_interval(sum: &mut GoodputInterval, tally: &GoodputInterval) {
        add_fields!(sum, tally; sent_bytes, received_bytes);
        let acknowledged = [sum.acknowledged_bytes, tally.acknowledged_bytes];
        sum.acknowledged_bytes = acknowledged.into_iter().flatten().reduce(u64::saturating_add);
    }

    fn acknowledge(tally: &mut GoodputInterval, known: &mut Acknowledged, waiting_bytes: u64) {
        tally.acknowledged_bytes = Some(known.since(tally.sent_bytes, waiting_bytes));
    }

    fn accumulator(&self, _: Role) -> GoodputWorker {
        GoodputWorker::default()
    }

    fn status(interval: &GoodputInterval) -> Option<StreamStatus> {
        let &GoodputInterval { sent_bytes, received_bytes, .. } = interval;
        Some(StreamStatus { sent_bytes, received_bytes, ..StreamStatus::default() })
    }

    /// Of flows that are replaced, only what was not agreed on before need be told.
    fn tells(&self, role: Role, flow: FlowId, phase: Phase, totals: Totals) -> bool {
        let is_short = || GoodputFlow::is_short(self, role, flow, totals.sent);
        !self.replaces() || phase != Phase::Failed && is_short()
    }
}

impl Flow<GoodputPlan> for GoodputFlow {
    fn shared(
        plan: &GoodputPlan,
        begin: &Begin<'_>,
        _: Option<Samples<GoodputPlan>>,
    ) -> GoodputShared {
        let shared = GoodputShared::at(plan, begin.role, begin.conventions);
        shared.sending(plan, begin.sending).together(plan, begin.role, begin.together)
    }

    fn begin(plan: &GoodputPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        let end = begin.conventions.end;
        Self::new(plan, begin.role, begin.key, flow).ending(plan, begin.role, end)
    }

    fn run<R: Runner<Self>>(runner: R, in_halves: bool) -> R::Output {
        if in_halves { runner.halves() } else { runner.whole() }
    }

    fn worker_report<S: System>(plan: &GoodputPlan, left: &Left<'_, Self, S>) -> GoodputWorker {
        let flows = left.flows.iter().map(|(flow, _)| flow);
        let receiving = flows.filter(|flow| !plan.replaces() && flow.receives(plan));
        let report = GoodputReport {
            window: left.shared.window,
            paused_ns: left.shared.paused_ns,
            late_bytes: left.shared.late_bytes,
            corruptions: left.shared.corruptions.clone(),
            ..GoodputReport::default()
        };
        // No more room than for these: they may be very many.
        let mut received = Vec::with_capacity(receiving.clone().count());
        received.extend(receiving.map(|flow| flow.received(plan)));
        GoodputWorker { report, received }
    }

    fn connection_end(&self, plan: &GoodputPlan) -> Option<ConnectionEnd> {
        let unfinished = || self.unfinished();
        let error = (self.phase() != Phase::Done).then(|| self.error().unwrap_or_else(unfinished));
        Some(ConnectionEnd {
            flow: self.id(),
            totals: self.totals(),
            error,
            is_cut: self.is_cut(),
            is_reset: self.is_reset(),
            is_replaced: plan.replaces(),
            follows: self.id().0 >= plan.flows_at_once(),
            own_rate_bps: self.receiver.own_rate_bps().filter(|_| plan.replaces()),
            begun_at: None,
            ended_at: self.ended_at(),
        })
    }
}

impl Accumulate<GoodputPlan> for GoodputWorker {
    /// All of it is said of each connection once more, when that has ended.
    fn count(&mut self, _: &GoodputInterval) {}

    fn add(&mut self, worker: Self) {
        self.report.window.merge(&worker.report.window);
        self.report.paused_ns += worker.report.paused_ns;
        let late = [self.report.late_bytes, worker.report.late_bytes];
        self.report.late_bytes = late.into_iter().flatten().reduce(u64::saturating_add);
        self.report.corruptions.extend(worker.report.corruptions);
        self.received.extend(worker.received);
    }

    fn lose(&mut self, flows: u64, _: &FlowError) {
        self.report.failed += flows;
    }

    fn report(self, end: AtEnd<'_>) -> GoodputReport {
        let GoodputReport { window, paused_ns, late_bytes, corruptions, failed: lost, .. } =
            self.report;
        let times = end.connections.times.told(end.start);
        let all = end.connections.report;
        let sending = end.sending;
        let mut report =
            GoodputReport { window, late_bytes, corruptions, times, sending, paused_ns, ..all };
        report.failed += lost;
        report.failures.network += lost;
        report.flows.sort_by_key(|flow| flow.flow);
        for flow in &mut report.flows {
            flow.connection_id = (end.name)(flow.flow);
        }
        // An end that receives nothing has no flow with a rate.
        if report.received_bytes > 0 && !self.received.is_empty() {
            let (rates, sums) = RateSums::over(window.length_ns(), &self.received);
            for flow in &mut report.flows {
                flow.received_bps = rates.get(flow.flow);
            }
            (report.rates, report.spread) = (sums, Some(RateSpread::of(rates)));
        } else {
            let told = report.flows.iter();
            let rates = told.filter_map(|flow| Some((flow.flow, flow.received_bps?)));
            report.spread = Some(RateSpread::of(rates));
        }
        report
    }
}
