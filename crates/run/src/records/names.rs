//! What the flows of a test are called at both ends alike: by its token, as its peer says, or as its server has called each connection
//! on that connection.

use std::collections::HashMap;

use pathscope_core::id::{ConnectionId, FlowId, Token};
use pathscope_flow::Dialogue;

/// The names of a test's flows.
#[derive(Clone, Debug)]
pub(crate) struct FlowNames {
    token: Token,
    name: fn(Token, FlowId) -> Option<ConnectionId>,
    called: HashMap<FlowId, Box<str>>,
}

impl FlowNames {
    /// Of a test that this token stands for, as dialogues `D` have them.
    pub fn of<D: Dialogue>(token: Token) -> Self {
        Self { token, name: D::connection_id, called: HashMap::new() }
    }

    /// The same of a test that goes by another token.
    pub fn by<D: Dialogue>(&self, token: Token) -> Self {
        Self { called: self.called.clone(), ..Self::of::<D>(token) }
    }

    /// The server has called this one so.
    pub fn call(&mut self, flow: FlowId, name: String) {
        self.called.insert(flow, name.into());
    }

    /// This one need not be known any more.
    pub fn forget(&mut self, flow: FlowId) {
        self.called.remove(&flow);
    }

    /// That of this flow; none where the other end knows no such thing.
    pub fn name(&self, flow: FlowId) -> Option<String> {
        let said = self.called.get(&flow).map(ToString::to_string);
        said.or_else(|| (self.name)(self.token, flow).map(|name| name.to_string()))
    }
}
