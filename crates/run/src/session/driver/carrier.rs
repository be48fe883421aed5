//! What a session is held over, as it begins: a control connection, nothing but the connections of its flows, or both. Not what is said
//! there, which is the dialogue's.

use std::net::{IpAddr, SocketAddr, TcpStream};

use pathscope_os::Waker;

use crate::error::RunError;
use crate::messages::door::Door;
use crate::messages::inbox::{Inbox, InboxReader};

/// What a session is held over.
#[derive(Debug)]
pub(crate) enum Carrier {
    /// A control connection, which was established, and with whom: of one that is reset the system does not tell that any more.
    Control(TcpStream, SocketAddr),
    /// The same, where connections of its flows are the session's by being of its client, too.
    Joined {
        /// The control connection.
        control: TcpStream,
        /// Where word for the session is left.
        inbox: (Inbox, InboxReader),
        /// By what connections of its flows come.
        door: Door,
    },
    /// The connections of its flows, which are still to come, or which are left in this inbox as they come.
    Flows {
        /// Where this end is towards the other, where that is known.
        local: Option<IpAddr>,
        /// Where the other end is.
        remote: SocketAddr,
        /// Where word for the session is left.
        inbox: (Inbox, InboxReader),
        /// By what those come that follow.
        door: Door,
    },
}

impl Carrier {
    /// No control connection, between these ends.
    pub fn flows(local: Option<IpAddr>, remote: SocketAddr) -> Result<Self, RunError> {
        Ok(Self::Flows { local, remote, inbox: Inbox::new(Waker::new()?), door: Door::default() })
    }

    /// Where this end is towards the other, where that is known.
    pub fn local(&self) -> Option<IpAddr> {
        match self {
            Self::Control(stream, _) | Self::Joined { control: stream, .. } => {
                stream.local_addr().ok().map(|address| address.ip())
            }
            Self::Flows { local, .. } => *local,
        }
    }

    /// Where the other end is, where that is known.
    pub fn remote(&self) -> Option<SocketAddr> {
        match self {
            Self::Control(_, remote) | Self::Flows { remote, .. } => Some(*remote),
            Self::Joined { control, .. } => control.peer_addr().ok(),
        }
    }

    /// Whether both ends are on one machine, as far as addresses tell.
    pub fn is_within_one_host(&self) -> bool {
        let here = self.local();
        here.is_some() && here == self.remote().map(|address| address.ip())
    }
}
