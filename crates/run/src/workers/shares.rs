//! The workers of a group: which of its flows each has, and what they are started with.

use std::ops::Range;
use std::sync::Arc;

use pathscope_core::id::Lane;
use pathscope_flow::Group;
use pathscope_modes::flows::Flow;
use pathscope_modes::registry::{FlowVisitor, InDocuments, Plan};
use pathscope_os::sockets::Socket;

use crate::error::RunError;
use crate::messages::inbox::Inbox;
use crate::records::samples::{SampleFile, SampleWriter};
use crate::workers::placement::Placement;
use crate::workers::worker::{NewWorker, RunningWorker, Setting, Succession};

/// A group of flows, ready to run.
#[derive(Debug)]
pub(crate) struct ReadyGroup {
    pub group: Group,
    pub job: Plan,
    pub placement: Placement,
    /// By flow, from the group's first on.
    pub sockets: Vec<Arc<Socket>>,
    /// Those of the lanes of its one flow, where that roams.
    pub lanes: Vec<(Lane, Arc<Socket>)>,
    /// Where each thing that is measured goes, if that is wanted.
    pub samples: Option<SampleFile>,
    /// Where flows are replaced.
    pub succession: Option<Succession>,
}

/// Starts the workers of a group, each in its place behind those that run already. Whoever writes what they measure is put
/// into `writer`.
pub(crate) fn start(
    ready: ReadyGroup,
    setting: Setting,
    (running, writer): (&mut Vec<RunningWorker>, &mut Option<SampleWriter>),
    inbox: &Inbox,
) -> Result<(), RunError> {
    let job = ready.job.clone();
    job.run(setting.role, Start { ready, setting, running, writer, inbox })
}

/// What workers are started from, before it is known which machines they run.
struct Start<'a> {
    ready: ReadyGroup,
    setting: Setting,
    running: &'a mut Vec<RunningWorker>,
    writer: &'a mut Option<SampleWriter>,
    inbox: &'a Inbox,
}

impl FlowVisitor for Start<'_> {
    type Output = Result<(), RunError>;

    fn visit<M: InDocuments, F: Flow<M>>(self, plan: &M) -> Result<(), RunError> {
        let Self { ready, setting, running, writer, inbox } = self;
        let ReadyGroup { group, placement, sockets, lanes, samples, succession, .. } = ready;
        let mut buffers = Vec::new();
        if let Some((file, rows)) = samples.zip(plan.rows()) {
            let (all, thread) = file.write(rows, placement.workers, setting.start)?;
            (buffers, *writer) = (all, Some(thread));
        }
        let (mut buffers, first) = (buffers.into_iter(), running.len());
        let asks = plan.asks();
        let list = asks.cpus_of(setting.role);
        for share in shares(group.flows, placement.workers) {
            let flows = group.first.0 + share.start..group.first.0 + share.end;
            let worker = NewWorker {
                group,
                cpu: list.get((running.len() - first) % list.len().max(1)).copied(),
                flows,
                sockets: sockets.get(share.start as usize..share.end as usize).map(<[_]>::to_vec),
                lanes: lanes.clone(),
                setting,
                engine: placement.engine,
                wait: placement.wait,
                in_halves: placement.is_in_halves(plan),
                number: running.len(),
                inbox: inbox.clone(),
                succession: succession.clone(),
            };
            running.push(worker.start::<M, F>(plan, buffers.next())?);
        }
        Ok(())
    }
}

/// Flows 0..flows in as many nearly equal, contiguous shares.
fn shares(flows: u32, workers: usize) -> Vec<Range<u32>> {
    let workers = u32::try_from(workers).unwrap_or(u32::MAX).clamp(1, flows.max(1));
    let border = |index: u32| (u64::from(flows) * u64::from(index) / u64::from(workers)) as u32;
    (0..workers).map(|index| border(index)..border(index + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_shared_out_evenly_and_none_is_left_out() {
        assert_eq!(shares(8, 3), [0..2, 2..5, 5..8]);
        assert_eq!(shares(2, 4), [0..1, 1..2]);
        assert_eq!(shares(1_000_000, 2), [0..500_000, 500_000..1_000_000]);
    }
}
