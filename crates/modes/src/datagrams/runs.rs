//! How the flows of a test of datagram goodput run, and what those of one end come to.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::Machine;

use super::{
    DatagramFlow, DatagramFlowFacts, DatagramShared, DatagramTally, DatagramsInterval,
    DatagramsPlan, DatagramsReport,
};
use crate::flows::{Begin, Flow, Left, Runs, Samples, System};
use crate::load::{FEWEST_RECEIVES, FlowReceived};
use crate::samples::NoRows;
use crate::sums::add_fields;

impl Runs for DatagramsPlan {
    type Client = DatagramFlow;
    type Server = DatagramFlow;
    type Tally = DatagramTally;
    /// Of what is not counted, but known of flows alone; and what each received in the window of all.
    type WorkerReport = (DatagramsReport, Vec<FlowReceived>);
    type Accumulator = DatagramTally;
    type Rows = NoRows;

    fn add_interval(sum: &mut DatagramsInterval, tally: &DatagramTally) {
        add_fields!(sum, tally.counts; sent, sent_bytes, received, received_bytes);
        sum.expected += tally.expected;
    }

    fn accumulator(&self, _: Role) -> DatagramTally {
        DatagramTally::default()
    }
}

impl Flow<DatagramsPlan> for DatagramFlow {
    fn shared(
        plan: &DatagramsPlan,
        begin: &Begin<'_>,
        _: Option<Samples<DatagramsPlan>>,
    ) -> Self::Shared {
        DatagramShared::at(plan, begin.role, begin.conventions, begin.together)
    }

    fn begin(plan: &DatagramsPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        Self::new(plan, begin.role, begin.key, flow).with_consent(begin.consents)
    }

    fn worker_report<S: System>(
        _: &DatagramsPlan,
        left: &Left<'_, Self, S>,
    ) -> (DatagramsReport, Vec<FlowReceived>) {
        let report = DatagramsReport {
            window: left.shared.window.window,
            corruptions: left.shared.corruptions.clone(),
            flows: left
                .flows
                .iter()
                .map(|(flow, system)| ended(flow, left.shared, system))
                .collect(),
            ..DatagramsReport::default()
        };
        let flows = left.flows.iter().map(|(flow, _)| flow);
        (report, flows.filter(|flow| flow.receiver.is_some()).map(received).collect())
    }
}

/// What became of a flow that is over.
fn ended(flow: &DatagramFlow, shared: &DatagramShared, system: &impl System) -> DatagramFlowFacts {
    let mut facts = flow.facts_told(shared);
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
    FlowReceived {
        flow: flow.id(),
        bytes: flow.receiver.as_ref().map_or(0, |half| half.window.window.bytes),
        is_brief: flow.totals().received < u64::from(FEWEST_RECEIVES),
        // All flows are of one length: where it is too short for a rate, it is so for most.
        is_whole: false,
    }
}
