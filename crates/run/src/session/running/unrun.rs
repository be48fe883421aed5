//! Flows that never run, since a test cannot go on before all of its workers have begun. Not here: those whose workers could not go on.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_flow::GroupId;

use super::{Moment, RunningTest};

impl RunningTest {
    /// No more workers begin. The flows that have none, but for those that follow one another: of these each connection says for itself that it
    /// is over. Their sockets are closed, since nobody reads what comes there.
    pub fn give_up_unrun(&mut self, now: Tick) -> Vec<(GroupId, FlowId)> {
        // It reports all the same.
        self.started.get_or_insert_with(|| Moment::now(now));
        let Self { groups, workers, .. } = self;
        let mut unrun = Vec::new();
        for state in groups {
            state.sockets.clear();
            state.lanes.clear();
            let group = state.group;
            if group.replaces() {
                continue;
            }
            let workers = workers.iter().filter(|worker| worker.group == group.id);
            let run: Vec<_> = workers.map(|worker| worker.flows.clone()).collect();
            let flows = group.first.0..group.first.0 + group.flows;
            let flows = flows.filter(|flow| !run.iter().any(|run| run.contains(flow)));
            unrun.extend(flows.map(|flow| (group.id, FlowId(flow))));
        }
        unrun
    }
}
