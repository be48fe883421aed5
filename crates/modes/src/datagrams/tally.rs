//! What datagram flows count, and what it becomes.

use pathscope_core::quantity::total;
use pathscope_core::record::FlowError;
use pathscope_core::stats::{LatencyFigures, LatencyHistogram};

use super::{DatagramsPlan, DatagramsReport};
use crate::arrivals::VariationTally;
use crate::flows::{Accumulate, AtEnd};
use crate::load::{FLOWS_TOLD, FlowReceived, RateSums};

/// Counts since the last report, which takes them whole and leaves fresh ones; and those of an end, added up.
#[derive(Debug, Default)]
pub struct DatagramTally {
    /// Counts, in the fields that they are told in. What is derived, or known of flows alone, is empty.
    pub(super) counts: DatagramsReport,
    /// By how much the highest numbers rose: what was received and what was not.
    pub(super) expected: u64,
    /// From the time that a batch was due to the time that it left.
    pub(super) send_lag: Box<LatencyHistogram>,
    pub(super) variation: VariationTally,
    /// What each flow received in the window of all: of flows that are over.
    received: Vec<FlowReceived>,
}

impl DatagramTally {
    /// What was counted, as it is told.
    pub(super) fn told(self) -> DatagramsReport {
        DatagramsReport {
            send_lag: (!self.send_lag.is_empty()).then(|| LatencyFigures::of(&self.send_lag)),
            jitter: self.variation.figures(),
            ..self.counts
        }
    }
}

impl Accumulate<DatagramsPlan> for DatagramTally {
    fn count(&mut self, later: &Self) {
        self.counts.add(&later.counts);
        self.expected += later.expected;
        self.send_lag.merge(&later.send_lag);
        self.variation.merge(&later.variation);
    }

    fn add(&mut self, (worker, received): (DatagramsReport, Vec<FlowReceived>)) {
        self.counts.window.merge(&worker.window);
        self.counts.corruptions.extend(worker.corruptions);
        self.counts.flows.extend(worker.flows);
        self.received.extend(received);
    }

    fn lose(&mut self, flows: u64, _: &FlowError) {
        self.counts.failed += flows;
    }

    fn report(mut self, end: AtEnd<'_>) -> DatagramsReport {
        let received = std::mem::take(&mut self.received);
        let mut report = DatagramsReport {
            socket_drops: end.socket_drops,
            receive_buffer_bytes: end.receive_buffer_bytes,
            ..self.told()
        };
        let flows = &mut report.flows;
        flows.sort_by_key(|flow| flow.flow);
        let expected = flows.iter().map(|flow| flow.expected);
        let expected = expected.reduce(|sum, more| Some(sum?.saturating_add(more?))).flatten();
        // Of flows that were lost with their worker nobody has said it.
        report.expected = expected.filter(|_| report.failed == 0);
        report.lost = total(flows.iter().map(|flow| flow.lost));
        let failed = flows.iter().filter(|flow| flow.error.is_some()).count();
        report.completed = (flows.len() - failed) as u64;
        report.failed += failed as u64;
        if report.received > 0 {
            let (rates, sums) = RateSums::over(report.window.length_ns(), &received);
            flows.iter_mut().for_each(|flow| flow.received_bps = rates.get(flow.flow));
            report.rates = sums;
        }
        report.flows_omitted = flows.len().saturating_sub(FLOWS_TOLD as usize) as u64;
        flows.truncate(FLOWS_TOLD as usize);
        report
    }
}
