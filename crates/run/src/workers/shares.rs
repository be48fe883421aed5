//! The workers of a group: which of its flows each has, and what they are started with.

use std::ops::Range;

use pathscope_modes::flows::Flow;
use pathscope_modes::load::Together;
use pathscope_modes::registry::{FlowVisitor, InDocuments};

use crate::error::RunError;
use crate::records::samples::{SampleFile, SampleWriter};
use crate::workers::worker::{Given, NewWorker, ReadyGroup, RunningWorker};

/// Starts the workers of a group, before it is known which machines they run.
pub(crate) struct Start<'a> {
    pub ready: ReadyGroup<'a>,
    /// The sockets of all its flows.
    pub given: Given,
    /// Where each thing that is measured goes, if that is wanted.
    pub samples: Option<SampleFile>,
    /// Those that run already: each takes its place behind them.
    pub running: &'a mut Vec<RunningWorker>,
    /// Whoever writes what they measure is put here.
    pub writer: &'a mut Option<SampleWriter>,
}

impl FlowVisitor for Start<'_> {
    type Output = Result<(), RunError>;

    fn visit<M: InDocuments, F: Flow<M>>(self, plan: &M) -> Result<(), RunError> {
        let Self { ready, given: Given { sockets, mut lanes }, samples, running, writer } = self;
        let ReadyGroup { group, placement, setting, .. } = ready;
        let mut buffers = Vec::new();
        if let Some((file, rows)) = samples.zip(plan.rows()) {
            let (all, thread) = file.write(rows, placement.workers, setting.start)?;
            (buffers, *writer) = (all, Some(thread));
        }
        let together = Together::default();
        let are_to_come = group.replaces() && sockets.is_empty();
        let (mut buffers, mut sockets) = (buffers.into_iter(), sockets.into_iter());
        let mut cpus = plan.asks().cpus_of(setting.begin.role).iter().copied().cycle();
        for share in shares(group.flows, placement.workers) {
            // Those that follow one another may all be still to come.
            let end = if are_to_come { share.start } else { share.end };
            let flows = group.first.0 + share.start..group.first.0 + end;
            let (number, cpu) = (running.len(), cpus.next());
            // Each has its own, in order; lanes that roam are those of one flow.
            let sockets = sockets.by_ref().take(flows.len()).collect();
            let lanes = std::mem::take(&mut lanes);
            let given = Given { sockets, lanes };
            let together = &together;
            let worker = NewWorker { ready: &ready, plan, flows, given, number, together, cpu };
            running.push(worker.start::<F>(buffers.next())?);
        }
        Ok(())
    }
}

/// Flows 0..flows in as many nearly equal, contiguous shares.
pub(crate) fn shares(flows: u32, workers: usize) -> Vec<Range<u32>> {
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
