//! What one end says of a test when it is over: what its workers came to, put together.

use pathscope_core::counters::{CpuShares, HostCounters};
use pathscope_core::stats::LatencyFigures;
use pathscope_modes::registry::EndReport;
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
        let (token, start) = (self.token, self.started.unwrap_or_default());
        let name = |flow| connection_id(token, flow).to_string();
        for state in &mut self.groups {
            state.report((self.role, start), &name, &mut report);
        }
        report.caveats.extend(self.writer.take().and_then(SampleWriter::finish));
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
