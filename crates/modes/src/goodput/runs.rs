//! How the flows of a goodput test run, and what those of one end come to.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::StreamStatus;
use pathscope_core::record::FlowError;
use pathscope_flow::{Machine, Phase, Totals};

use super::{
    FlowCorruption, GoodputFlow, GoodputInterval, GoodputPlan, GoodputReport, GoodputShared,
};
use crate::flows::{Accumulate, AtEnd, Begin, Flow, Left, Runner, Runs, Samples, System, error_of};
use crate::load::{ConnectionEnd, FlowRates, FlowReceived, RateSpread, ReceiveWindow};
use crate::samples::NoRows;

/// What the flows of a worker came to, beside what is said of each connection.
#[derive(Debug)]
pub struct GoodputWorker {
    window: ReceiveWindow,
    paused_ns: u64,
    corruptions: Vec<FlowCorruption>,
    /// What each received in the window of all; of flows that are replaced, none.
    received: Vec<FlowReceived>,
}

/// What the flows of an end come to.
#[derive(Debug, Default)]
pub struct GoodputAccumulator {
    report: GoodputReport,
    received: Vec<FlowReceived>,
}

impl Runs for GoodputPlan {
    type Client = GoodputFlow;
    type Server = GoodputFlow;
    type Tally = GoodputInterval;
    type WorkerReport = GoodputWorker;
    type Accumulator = GoodputAccumulator;
    type Rows = NoRows;

    fn add_interval(sum: &mut GoodputInterval, tally: &GoodputInterval) {
        sum.sent_bytes += tally.sent_bytes;
        sum.received_bytes += tally.received_bytes;
    }

    fn accumulator(&self, _: Role) -> GoodputAccumulator {
        GoodputAccumulator::default()
    }

    fn status(interval: &GoodputInterval) -> Option<StreamStatus> {
        let &GoodputInterval { sent_bytes, received_bytes } = interval;
        Some(StreamStatus { sent_bytes, received_bytes, ..StreamStatus::default() })
    }

    /// Of flows that are replaced, only what was not agreed on before need be told.
    fn tells(&self, role: Role, flow: FlowId, phase: Phase, totals: Totals) -> bool {
        let is_short = || GoodputFlow::is_short(self, role, flow, totals.sent);
        !self.replaces() || phase != Phase::Failed && is_short()
    }
}

impl Flow<GoodputPlan> for GoodputFlow {
    fn shared(plan: &GoodputPlan, _: Role, _: Option<Samples<GoodputPlan>>) -> GoodputShared {
        GoodputShared::new(plan)
    }

    fn begin(plan: &GoodputPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        Self::new(plan, begin.role, begin.key, flow)
    }

    fn run<R: Runner<Self>>(runner: R, in_halves: bool) -> R::Output {
        if in_halves { runner.halves() } else { runner.whole() }
    }

    fn worker_report<S: System>(
        plan: &GoodputPlan,
        _: Role,
        left: &Left<'_, Self, S>,
    ) -> GoodputWorker {
        let flows = left.flows.iter().filter(|_| !plan.replaces());
        GoodputWorker {
            window: left.shared.window,
            paused_ns: left.shared.paused_ns,
            corruptions: left.shared.corruptions.clone(),
            received: flows.map(|(flow, _)| flow.received(plan)).collect(),
        }
    }

    fn connection_end(&self, _: &GoodputPlan) -> Option<ConnectionEnd> {
        let error = match (self.error(), self.phase().is_over()) {
            (None, false) => Some(self.unfinished()),
            _ => error_of(self),
        };
        Some(ConnectionEnd {
            flow: self.id(),
            totals: self.totals(),
            error,
            is_cut: self.is_cut(),
            is_reset: self.is_reset(),
            own_rate_bps: self.receiver.own_rate_bps(),
            ended_at: self.ended_at(),
        })
    }
}

impl Accumulate<GoodputPlan> for GoodputAccumulator {
    /// All of it is said of each connection once more, when that has ended.
    fn count(&mut self, _: &GoodputInterval) {}

    fn add(&mut self, worker: GoodputWorker) {
        self.report.window.merge(&worker.window);
        self.report.paused_ns += worker.paused_ns;
        self.report.corruptions.extend(worker.corruptions);
        self.received.extend(worker.received);
    }

    fn lose(&mut self, flows: u64, _: &FlowError) {
        self.report.failed += flows;
        self.report.failures.network += flows;
    }

    fn report(self, end: AtEnd<'_>) -> GoodputReport {
        let (lost, all) = (self.report, end.connections);
        let mut report = GoodputReport {
            sent_bytes: all.sent_bytes,
            received_bytes: all.received_bytes,
            completed: all.completed,
            failed: lost.failed + all.failed,
            failures: all.failures,
            cut: all.cut,
            flows: all.flows,
            flows_omitted: all.flows_omitted,
            rates: all.rates,
            remotes: all.remotes,
            sending: end.sending,
            ..lost
        };
        report.failures.network += lost.failures.network;
        report.flows.sort_by_key(|flow| flow.flow);
        for flow in &mut report.flows {
            flow.connection_id = Some((end.name)(flow.flow));
        }
        rate_flows(&mut report, &self.received);
        let told = report.flows.iter();
        let rates = told.filter_map(|flow| Some((flow.flow, flow.received_bps?)));
        report.spread = report.spread.or_else(|| Some(RateSpread::of(rates)));
        report
    }
}

/// Each flow's rate over the window of all of them. An end that receives nothing has no flow with a rate.
fn rate_flows(report: &mut GoodputReport, received: &[FlowReceived]) {
    if report.received_bytes == 0 || received.is_empty() {
        return;
    }
    let FlowRates { rates, too_short } = FlowRates::over(report.window.length_ns(), received);
    report.rates.too_short += too_short;
    if !rates.is_empty() {
        report.spread = Some(RateSpread::of(rates.iter().copied()));
    }
    for (flow, rate) in rates {
        report.rates.record(rate);
        let told = report.flows.binary_search_by_key(&flow, |facts| facts.flow);
        if let Ok(told) = told {
            report.flows[told].received_bps = Some(rate);
        }
    }
}
