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
    thread: Option<JoinHandle<Result<(), RunError>>>,
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
        let thread = threads::spawn("server", move || server.serve(&hears, &|_| {}))?;
        Ok(Self { address, stop, thread: Some(thread) })
    }

    /// Ends it. Why it could not go on until now, where it could not: its client has only met with nobody.
    pub fn end(mut self) -> Result<(), RunError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), RunError> {
        self.stop.request("its client is done");
        // A panic was told as such.
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or(Ok(()))
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        // Whoever wants to know has asked.
        let _ = self.finish();
    }
}
