//! What connections are called in what is written down of them.

use pathscope_core::id::{FlowId, Token};
use pathscope_flow::Dialogue;
use pathscope_modes::load::FLOWS_TOLD;

use super::SessionJournal;
use crate::records::names::FlowNames;

impl SessionJournal {
    /// A server has called a connection so on it. Of those that no report tells, that is known while they have no row yet.
    pub fn call(&mut self, flow: FlowId, name: String) {
        let is_told = flow.0 < FLOWS_TOLD || self.is_kept();
        if let Some((_, _, names)) = self.test.as_mut().filter(|_| is_told) {
            names.call(flow, name);
        }
    }

    /// What flows of the test are called that this token stands for.
    pub fn names<D: Dialogue>(&self, token: Token) -> FlowNames {
        let known = self.test.as_ref().map(|(_, _, names)| names.by::<D>(token));
        known.unwrap_or_else(|| FlowNames::of::<D>(token))
    }

    /// What names a flow at both ends alike.
    pub(super) fn id_of(&self, flow: FlowId) -> Option<String> {
        let (_, _, names) = self.test.as_ref()?;
        names.name(flow)
    }

    /// A connection has its row.
    pub(super) fn forget_name(&mut self, flow: FlowId) {
        if let Some((_, _, names)) = self.test.as_mut().filter(|_| flow.0 >= FLOWS_TOLD) {
            names.forget(flow);
        }
    }
}
