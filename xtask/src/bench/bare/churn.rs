//! Connections that live for one request each, so many at a time: connected, asked, answered, and closed by a reset. The same bytes go
//! each way as with pathscope: what opens a connection and its request, and what answers both.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::sockets::{self, Settings, Socket};
use serde_json::json;
use socket2::SockRef;

use super::super::case::{ANSWER_BYTES, REQUEST_BYTES};
use super::now;
use crate::console::say;

/// What both ends know.
#[derive(Args, Clone, Debug)]
pub struct Churn {
    #[arg(long)]
    port: u16,
    #[arg(long)]
    connections: usize,
    #[arg(long)]
    seconds: u64,
}

const LISTENER: u64 = u64::MAX;

impl Churn {
    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }
}

/// Answers each request, until it is killed.
pub fn answer(churn: &Churn) -> Result<()> {
    let listener = sockets::listen_tcp(churn.address(), 1_024)?;
    let poller = Poller::new()?;
    poller.add(&listener, LISTENER, Interest::INPUT)?;
    let (mut open, mut next) = (HashMap::new(), 0_u64);
    let mut ready: Vec<Ready> = Vec::new();
    loop {
        poller.wait(&mut ready, None)?;
        for &Ready { key, .. } in &ready {
            if key == LISTENER {
                while let Some((socket, _)) = sockets::accept_tcp(&listener)? {
                    let stream = socket.into_tcp_stream();
                    poller.add(&stream, next, Interest::INPUT)?;
                    open.insert(next, stream);
                    next += 1;
                }
            } else if let Some(stream) = open.get_mut(&key) {
                let mut request = [0; REQUEST_BYTES];
                match stream.read(&mut request) {
                    Ok(0) => drop(open.remove(&key)),
                    // A request is one packet.
                    Ok(_) => stream.write_all(&[1; ANSWER_BYTES]).context("answer")?,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    // Its client has closed, by a reset.
                    Err(_) => drop(open.remove(&key)),
                }
            }
        }
    }
}

/// Asks for the time given, and says how often that was.
pub fn ask(churn: &Churn) -> Result<()> {
    let poller = Poller::new()?;
    let mut open: Vec<TcpStream> = Vec::new();
    for place in 0..churn.connections {
        open.push(begin(churn, &poller, place as u64)?);
    }
    let (start, limit) = (now(), Duration::from_secs(churn.seconds));
    let (mut ready, mut completed): (Vec<Ready>, u64) = (Vec::new(), 0);
    while start.elapsed() < limit {
        poller.wait(&mut ready, Some(limit))?;
        for &Ready { key, .. } in &ready {
            let mut reply = [0; ANSWER_BYTES];
            let stream = &mut open[key as usize];
            match stream.read(&mut reply) {
                Ok(0) => bail!("hear an answer: the server has closed"),
                // An answer is one packet.
                Ok(_) => {
                    completed += 1;
                    *stream = begin(churn, &poller, key)?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error).context("hear an answer"),
            }
        }
    }
    say(json!({ "completed_per_second": completed as f64 / start.elapsed().as_secs_f64() }))
}

/// Over loopback a connection is there when it was begun.
fn begin(churn: &Churn, poller: &Poller, key: u64) -> Result<TcpStream> {
    let socket: Socket = sockets::begin_connect_tcp(churn.address(), &Settings::default())?;
    let mut stream = socket.into_tcp_stream();
    SockRef::from(&stream).set_linger(Some(Duration::ZERO)).context("set up a socket")?;
    stream.write_all(&[1; REQUEST_BYTES]).context("ask")?;
    poller.add(&stream, key, Interest::INPUT)?;
    Ok(stream)
}
