//! What the flows of a test are called at both ends alike: by its token, as its peer says.

use pathscope_core::id::{ConnectionId, FlowId, Token};
use pathscope_flow::Dialogue;

/// The names of a test's flows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowNames {
    token: Token,
    name: fn(Token, FlowId) -> Option<ConnectionId>,
}

impl FlowNames {
    /// Of a test that this token stands for, as dialogues `D` have them.
    pub fn of<D: Dialogue>(token: Token) -> Self {
        Self { token, name: D::connection_id }
    }

    /// That of this flow; none where the other end knows no such thing.
    pub fn name(&self, flow: FlowId) -> Option<String> {
        (self.name)(self.token, flow).map(|name| name.to_string())
    }
}
