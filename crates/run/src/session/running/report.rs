//! What one end says of a test when it is over: what its workers came to, put together.

use pathscope_core::counters::{CpuShares, HostCounters};
use pathscope_core::stats::LatencyFigures;
use pathscope_modes::goodput::{FlowRates, FlowReceived, GoodputReport, RateSpread, RemoteCounts};
use pathscope_modes::media::MediaReport;
use pathscope_modes::registry::{EndReport, Plan};
use pathscope_os::counters::Reading;
use pathscope_os::cpus::{self, HostCpu};
use pathscope_peers::native::connection_id;

use super::RunningTest;
use crate::records::samples::SampleWriter;

/// What the processors of the machine had done when the last flow was over: nothing of what follows is a flow's.
#[derive(Debug)]
pub(super) struct AtEnd {
    cpus: Vec<CpuShares>,
    cpu_share: Option<f64>,
}

impl AtEnd {
    /// Since then.
    pub fn read(counters: Option<&Reading>, cpu: Option<&HostCpu>) -> Self {
        let host = counters.and_then(|start| Reading::now().since(start));
        Self {
            cpus: host.map(|host| host.cpus).unwrap_or_default(),
            cpu_share: cpu.and_then(|start| cpus::host()?.busy_share_since(start)),
        }
    }
}

impl RunningTest {
    /// What this end says at the end; once.
    pub fn take_report(&mut self) -> Option<Box<EndReport>> {
        if self.started.is_none() || std::mem::replace(&mut self.is_reported, true) {
            return None;
        }
        let mut report = std::mem::take(&mut self.report);
        for state in &mut self.groups {
            let Some(tally) = state.tally.take() else { continue };
            let mut latency = tally.report(state.error.take());
            latency.socket_drops = state.socket_drops;
            latency.stamps = state.stamps.take();
            let latency = Some(latency);
            if state.is_probe() { report.probe = latency } else { report.latency = latency }
        }
        for state in &mut self.groups {
            let Plan::Datagrams(plan) = &state.job else { continue };
            report.caveats.extend(state.datagrams.caveat(plan, self.role));
            report.datagrams = Some(state.datagrams.report(state.socket_drops));
        }
        let token = self.token;
        for state in &mut self.groups {
            let Some(streams) = state.streams.take() else { continue };
            let name = |flow| connection_id(token, flow).to_string();
            let socket_drops = state.socket_drops;
            report.media = Some(MediaReport { socket_drops, ..streams.report(name) });
        }
        if let Some(multipath) = &mut report.multipath {
            let started = self.started.unwrap_or_default();
            for paths in self.paths() {
                paths.stop();
                paths.tell(multipath, started);
            }
        }
        report.caveats.extend(self.writer.take().and_then(SampleWriter::finish));
        if let Some(goodput) = &mut report.goodput {
            for state in &self.groups {
                if state.sends_bytes(self.role) {
                    state.count_retransmits();
                    goodput.sending =
                        Some(goodput.sending.unwrap_or_default().with(state.ledger.take_seen()));
                }
                add_up(goodput, state.ledger.take());
            }
            goodput.flows.sort_by_key(|flow| flow.flow);
            for flow in &mut goodput.flows {
                flow.connection_id = Some(connection_id(self.token, flow.flow).to_string());
            }
            let received = self.groups.iter().flat_map(|state| state.received.iter().copied());
            rate_flows(goodput, &received.collect::<Vec<_>>());
            let told = goodput.flows.iter();
            let rates = told.filter_map(|flow| Some((flow.flow, flow.received_bps?)));
            goodput.spread.get_or_insert_with(|| RateSpread::of(rates));
        }
        report.connect = self.connects.take().map(|connects| LatencyFigures::of(&connects));
        let (counters, cpu) = (self.counters_at_start.take(), self.cpu_at_start.take());
        let at_end = self.at_end.take();
        let at_end = at_end.unwrap_or_else(|| AtEnd::read(counters.as_ref(), cpu.as_ref()));
        let host = counters.and_then(|start| Reading::now().since(&start));
        report.host = host.map(|host| HostCounters { cpus: at_end.cpus, ..host });
        report.host_cpu_share = at_end.cpu_share;
        report.stood_still = self.watch.take().and_then(|watch| watch.stood_still());
        Some(report)
    }
}

/// Adds what was written down to what is known besides.
fn add_up(report: &mut GoodputReport, ledger: GoodputReport) {
    report.sent_bytes += ledger.sent_bytes;
    report.received_bytes += ledger.received_bytes;
    report.completed += ledger.completed;
    report.failed += ledger.failed;
    report.failures.add(ledger.failures);
    report.cut += ledger.cut;
    report.flows.extend(ledger.flows);
    report.flows_omitted += ledger.flows_omitted;
    report.rates.merge(&ledger.rates);
    RemoteCounts::merge(&mut report.remotes, ledger.remotes);
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
