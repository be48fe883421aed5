//! What one end says of a test when it is over: what its workers came to, put together.

use std::sync::Arc;

use pathscope_core::Tick;
use pathscope_core::counters::HostCounters;
use pathscope_core::stats::{LatencyFigures, LatencyHistogram};
use pathscope_modes::registry::EndReport;
use pathscope_modes::times::Ramp;
use pathscope_os::counters::Reading;
use pathscope_os::cpus::{self, HostCpu};

use super::{Early, RunningTest};
use crate::records::lookout::Watched;
use crate::records::names::FlowNames;
use crate::records::samples::SampleWriter;
use crate::session::group::GroupState;

/// What the machine had done at a time.
pub(super) struct Moment {
    pub at: Tick,
    cpu: Option<HostCpu>,
    counters: Arc<Reading>,
}

impl Moment {
    /// So far.
    pub fn now(at: Tick) -> Self {
        Self::with(at, Arc::new(Reading::now()))
    }

    /// The same, by this reading of its counters.
    pub fn with(at: Tick, counters: Arc<Reading>) -> Self {
        Self { at, cpu: cpus::host(), counters }
    }
}

impl RunningTest {
    /// What this end says at the end, of flows that are called so; once.
    pub fn take_report(&mut self, names: &FlowNames) -> Option<Box<EndReport>> {
        let start = self.started.as_ref()?;
        if std::mem::replace(&mut self.is_reported, true) {
            return None;
        }
        let mut report = self.report.take().unwrap_or_default();
        let Early { mut caveats, sockets, senders } = std::mem::take(&mut self.early);
        caveats.append(&mut report.caveats);
        (report.caveats, report.sockets, report.senders) = (caveats, sockets, senders);
        let name = |flow| names.name(flow);
        for state in &mut self.groups {
            state.report(start.at, &name, &mut report);
        }
        let moved_bytes = self.test.plan.moved_bytes_of(&report);
        report.cpu_per_gigabyte_ns = moved_bytes.and_then(|bytes| report.cpu_per_gigabyte(bytes));
        report.caveats.extend(self.writer.take().and_then(SampleWriter::finish));
        let connects = connects_of(self.connects.take(), &self.groups);
        report.ramp = self.ramp.told();
        report.connect = connects.map(|connects| LatencyFigures::of(&connects));
        // Of processors what they had done when the last flow was over: nothing of what follows is a flow's.
        let end = self.ended.take().unwrap_or_else(|| Moment::now(start.at));
        let of_flows = end.counters.since(&start.counters);
        let host = Reading::now().since(&start.counters).zip(of_flows);
        report.host = host.map(|(host, HostCounters { cpus, .. })| HostCounters { cpus, ..host });
        let elapsed_ns = report.elapsed_ns;
        report.host_activity = report.host.as_ref().map(|host| host.activity(elapsed_ns));
        report.host_cpu_share =
            end.cpu.zip(start.cpu).and_then(|(end, start)| end.busy_share_since(&start));
        report.stood_still = self.program.take().as_ref().and_then(Watched::stood_still);
        Some(report)
    }
}

/// The connections with which a test begins, as they are made.
#[derive(Debug, Default)]
pub(super) struct Ramping(Option<Ramped>);

#[derive(Clone, Copy, Debug)]
struct Ramped {
    connections: u64,
    /// When the first of them was begun.
    from: Tick,
    /// When the last was established.
    until: Tick,
}

impl Ramping {
    /// One more, that was begun then and took so long.
    pub fn add(&mut self, begun: Tick, took_ns: u64) {
        let established = begun.plus_nanos(took_ns);
        let one = Ramped { connections: 0, from: begun, until: established };
        let all = self.0.get_or_insert(one);
        all.connections += 1;
        all.from = all.from.min(begun);
        all.until = all.until.max(established);
    }

    /// What is told of them.
    fn told(&self) -> Option<Ramp> {
        let all = self.0?;
        Some(Ramp::new(all.connections, all.until.nanos_since(all.from)))
    }
}

/// How long the plan's connections took to be made, those included that came past the session's thread.
fn connects_of(
    own: Option<Box<LatencyHistogram>>,
    groups: &[GroupState],
) -> Option<Box<LatencyHistogram>> {
    let load = groups.iter().filter(|state| !state.is_probe);
    let followed = load.filter_map(|state| state.entrances.take_connects());
    own.into_iter().chain(followed).reduce(|mut all, more| {
        all.merge(&more);
        all
    })
}
