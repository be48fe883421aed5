//! Who does something with a peer of whichever kind: once for each kind, with its own types.

use pathscope_modes::conventions::Conventions;

use super::PeerKind;
use crate::peer::Peer;

/// Who does something with a peer, of whichever kind: once for each.
pub trait PeerVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<P: Peer>(self) -> Self::Output;
}

/// Who serves a client that began like this, of whichever kind: once for each.
pub trait GreetingVisitor {
    /// What comes of it.
    type Output;

    /// Serves it.
    fn visit<P: Peer>(self, greeting: P::Greeting) -> Self::Output;
}

/// Who asks what conventions there are.
struct Asks;

impl PeerVisitor for Asks {
    type Output = Conventions;

    fn visit<P: Peer>(self) -> Conventions {
        P::CONVENTIONS
    }
}

impl PeerKind {
    /// What its flows have in common beside what a test says.
    pub fn conventions(self) -> Conventions {
        self.visit(Asks)
    }
}
