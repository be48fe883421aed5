//! How the flows of a test of datagram goodput run, and what those of one end come to.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::Machine;

use super::{
    DatagramCorruption, DatagramFlow, DatagramFlowFacts, DatagramShared, DatagramTally,
    DatagramsInterval, DatagramsPlan, DatagramsReport,
};
use crate::flows::{Accumulate, AtEnd, Begin, Flow, Left, Runs, Samples, System};
use crate::load::{FEWEST_RECEIVES, FlowRates, FlowReceived, ReceiveWindow};
use crate::samples::NoRows;

/// Flows that are told one by one.
const FLOWS_TOLD: usize = 1_000;

/// What the flows of a worker came to.
#[derive(Debug)]
pub struct DatagramWorker {
    window: ReceiveWindow,
    corruptions: Vec<DatagramCorruption>,
    flows: Vec<DatagramFlowFacts>,
    /// What each received in the window of all.
    received: Vec<FlowReceived>,
}

/// What the flows of an end come to.
#[derive(Debug, Default)]
pub struct DatagramAccumulator {
    tally: DatagramTally,
    report: DatagramsReport,
    received: Vec<FlowReceived>,
}

impl Runs for DatagramsPlan {
    type Client = DatagramFlow;
    type Server = DatagramFlow;
    type Tally = DatagramTally;
    type WorkerReport = DatagramWorker;
    type Accumulator = DatagramAccumulator;
    type Rows = NoRows;

    fn add_interval(sum: &mut DatagramsInterval, tally: &DatagramTally) {
        sum.add(&tally.interval());
    }

    fn accumulator(&self, _: Role) -> DatagramAccumulator {
        DatagramAccumulator::default()
    }
}

impl Flow<DatagramsPlan> for DatagramFlow {
    fn shared(
        plan: &DatagramsPlan,
        role: Role,
        _: Option<Samples<DatagramsPlan>>,
    ) -> DatagramShared {
        DatagramShared::new(plan, role)
    }

    fn begin(plan: &DatagramsPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        let flow = Self::new(plan, begin.role, begin.key, flow);
        if begin.consents { flow.with_consent() } else { flow }
    }

    fn worker_report<S: System>(
        _: &DatagramsPlan,
        _: Role,
        left: &Left<'_, Self, S>,
    ) -> DatagramWorker {
        DatagramWorker {
            window: left.shared.window.window,
            corruptions: left.shared.corruptions.clone(),
            flows: left.flows.iter().map(|(flow, system)| ended(flow, system)).collect(),
            received: left.flows.iter().map(|(flow, _)| received(flow)).collect(),
        }
    }
}

/// What became of a flow that is over.
fn ended(flow: &DatagramFlow, system: &impl System) -> DatagramFlowFacts {
    let mut facts = flow.facts();
    if !flow.phase().is_over() {
        let text = "ended before it was known what would still come".to_owned();
        let unknown = FlowError { kind: FlowErrorKind::Unknown, text, errno: None };
        facts.error.get_or_insert(unknown);
    }
    // One that the system refused, not one whose receiver did.
    let is_ours =
        |error: &&mut FlowError| error.kind == FlowErrorKind::Network && error.errno.is_some();
    if let Some(error) = facts.error.as_mut().filter(is_ours)
        && let Some(longest) = system.longest_datagram_bytes()
    {
        error.text = format!("{}; its path takes {longest} bytes at most", error.text);
    }
    facts
}

fn received(flow: &DatagramFlow) -> FlowReceived {
    let facts = flow.facts();
    FlowReceived {
        flow: facts.flow,
        bytes: flow.window().bytes,
        is_brief: facts.received < u64::from(FEWEST_RECEIVES),
        // All flows are of one length: where it is too short for a rate, it is so for most.
        is_whole: false,
    }
}

impl Accumulate<DatagramsPlan> for DatagramAccumulator {
    fn count(&mut self, tally: &DatagramTally) {
        self.tally.merge(tally);
    }

    fn add(&mut self, worker: DatagramWorker) {
        let report = &mut self.report;
        report.window.merge(&worker.window);
        report.corruptions.extend(worker.corruptions);
        self.received.extend(worker.received);
        for facts in worker.flows {
            // The first of them has none to be summed up with.
            let is_first = report.completed + report.failed == 0;
            let sum = if is_first { Some(0) } else { report.expected };
            report.expected = sum.zip(facts.expected).map(|(sum, more)| sum.saturating_add(more));
            report.lost = report.lost.saturating_add(facts.lost);
            *(if facts.error.is_some() { &mut report.failed } else { &mut report.completed }) += 1;
            if report.flows.len() < FLOWS_TOLD {
                report.flows.push(facts);
            } else {
                report.flows_omitted += 1;
            }
        }
    }

    fn lose(&mut self, flows: u64, _: &FlowError) {
        self.report.failed += flows;
    }

    fn report(self, end: AtEnd<'_>) -> DatagramsReport {
        let mut report = self.report;
        self.tally.add_to(&mut report);
        report.socket_drops = end.socket_drops;
        report.receive_buffer_bytes = end.receive_buffer_bytes;
        report.flows.sort_by_key(|flow| flow.flow);
        if report.received == 0 {
            return report;
        }
        let FlowRates { rates, too_short } =
            FlowRates::over(report.window.length_ns(), &self.received);
        report.rates.too_short = too_short;
        for (flow, rate) in rates {
            report.rates.record(rate);
            if let Ok(place) = report.flows.binary_search_by_key(&flow, |facts| facts.flow) {
                report.flows[place].received_bps = Some(rate);
            }
        }
        report
    }
}
