//! Strangers in the words of two other programs that a server may serve: iperf3's and ntttcp's, as reference texts of them have it.

mod iperf3;
mod ntttcp;

pub use iperf3::{
    broken as iperf3_broken, documents as iperf3_documents, flood as iperf3_flood,
    one_cookie as iperf3_one_cookie, silent as iperf3_silent,
};
pub use ntttcp::{
    broken as ntttcp_broken, data_alone as ntttcp_data_alone, silent as ntttcp_silent,
};

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::net::sockopt;

use crate::ground::Ground;

/// How many sessions the defaults allow.
const SESSIONS: u64 = 32;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The server at another of its ports.
fn at(ground: &Ground, port: u16) -> SocketAddr {
    SocketAddr::new(ground.server.ip(), port)
}

/// Waits for so long, for an answer as for room to send.
fn patient(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

/// Ends a connection by a reset.
fn reset(stream: TcpStream) {
    // Where it cannot be set, it is closed in order, and does less harm.
    let _ = sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
    drop(stream);
}
