//! A server's socket of a flow of datagrams that is not open yet: where it will be, and who opens it. When, the session says.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use pathscope_os::OsError;
use pathscope_os::flow_sockets::FlowOpener;
use pathscope_os::sockets::{Settings, Socket};

use crate::threads::lock;

/// Such a socket. It is opened when the test starts: until then the client may ask again whether it has its seat, and the listener must hear
/// it.
#[derive(Clone, Debug)]
pub(crate) struct Promised {
    /// Its own address.
    pub local: SocketAddr,
    /// The other end's.
    pub remote: SocketAddr,
    /// Which listener heard of it.
    pub beside: Beside,
}

impl Promised {
    /// Opens it, in the table of descriptors that the listener is in.
    pub fn open(&self, settings: &Settings) -> Result<Socket, OsError> {
        lock(&self.beside.0).open((self.local, self.remote), settings)
    }

    /// Its own address and the other end's.
    pub const fn addresses(&self) -> [Option<SocketAddr>; 2] {
        [Some(self.local), Some(self.remote)]
    }
}

/// Who opens the sockets of flows beside a listener. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside(Arc<Mutex<FlowOpener>>);

impl Beside {
    /// Of this listener.
    pub fn listener(listener: &Socket) -> Self {
        Self(Arc::new(Mutex::new(FlowOpener::beside(listener))))
    }

    /// The same for a thread with a table of descriptors of its own.
    pub fn another(&self) -> FlowOpener {
        lock(&self.0).another()
    }
}
