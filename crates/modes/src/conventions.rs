//! What holds on the flows' own connections with a kind of peer, whatever is measured: what streams are filled with, and by what their
//! end is known. Values, and no type parameters: those would multiply modes, engines and peers. Not here: what is said before a
//! connection is a flow's, which is each peer's own.

use crate::pattern::Payload;

/// What holds on flows' connections. As a whole what pathscope does, unless something else is said.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Conventions {
    /// What loads over streams are made of.
    pub payload: Payload,
    /// By what an end knows where a stream ends that comes to it.
    pub end: StreamEnd,
}

/// By what it is known where a stream ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum StreamEnd {
    /// By the plan, or by what the other end says that it has sent: not on the stream itself.
    #[default]
    Told,
    /// By its close: whoever sends closes its direction when it has sent all. Nobody says anything of it elsewhere, nor that an end
    /// is stopped: that breaks its connections.
    Closed,
}

impl StreamEnd {
    /// Whether streams end with their close.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Closed)
    }
}
