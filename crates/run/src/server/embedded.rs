//! A server inside the client's own process, on loopback, for a first look without a second machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;

use pathscope_core::record::Host;
use pathscope_peers::limits::Limits;

use super::{Server, Settings, listening};
use crate::error::RunError;
use crate::stop::Stop;
use crate::threads;

/// A server that lives as long as this value.
pub struct Embedded {
    /// Where it listens.
    pub address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Embedded {
    /// Starts on a port of loopback that the system chooses. Nobody else can reach it.
    pub fn start(here: Host) -> Result<Self, RunError> {
        let listening = listening::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listening.address;
        let settings = Settings { limits: Limits::NONE, here, ..Settings::default() };
        let files = 2 * crate::workers::placement::FILES_KEPT;
        let (listening, own) = (vec![listening], Vec::new());
        let server = Server { listening, own, files, settings };
        let stop = Stop::default();
        let hears = stop.clone();
        // Its clients are told what goes wrong by their own ends of it.
        let thread = threads::spawn("server", move || drop(server.serve(&hears, &|_| {})))?;
        Ok(Self { address, stop, thread: Some(thread) })
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.stop.request("its client is done");
        if let Some(thread) = self.thread.take() {
            // It has nothing to say that its clients do not know.
            let _ = thread.join();
        }
    }
}
