//! A server inside the client's own process, on loopback, for a first look without a second machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;

use pathscope_core::record::Host;
use pathscope_peers::limits::Limits;

use super::{LogLimit, Server, listening};
use crate::error::RunError;
use crate::records::journal::Journal;
use crate::stop::Stop;

/// A server that lives as long as this value.
#[derive(Debug)]
pub struct Embedded {
    address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Embedded {
    /// Starts on a port of loopback that the system chooses. Nobody else can reach it.
    pub fn start(host: Host) -> Result<Self, RunError> {
        let listening = listening::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listening.address;
        let server = Server {
            listening: vec![listening],
            limits: Limits::NONE,
            exit_after: None,
            host,
            files: 2 * super::shares::FILES_KEPT,
            journal: Journal::default(),
            log_limit: Arc::new(LogLimit::new(false)),
        };
        let stop = Stop::default();
        let hears = stop.clone();
        let thread = std::thread::Builder::new()
            .name("server".to_owned())
            // Its clients are told what goes wrong by their own ends of it.
            .spawn(move || drop(server.serve(&hears, &|_| {})))
            .map_err(|source| RunError::System { what: "cannot start a thread", source })?;
        Ok(Self { address, stop, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
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
