//! What holds whatever this machine's `net.ipv4.tcp_fastopen` is: the lab's tests set it.

use std::io::{Read, Write};

use super::*;
use crate::sockets;

#[test]
fn a_connection_that_asks_for_it_is_made_with_it_or_without() {
    let loopback: SocketAddr = ([127, 0, 0, 1], 0).into();
    let listener = sockets::listen_tcp(loopback, 4).expect("loopback");
    serve(&listener, 4).expect("an option of Linux");
    let address = listener.local_addr().expect("it is bound");
    if check().is_err() {
        // What is asked for and is not there is refused with what to do.
        let refused = begin_connect_tcp(address, &Settings::default());
        let remedy = refused.expect_err("it is off").remedy();
        assert!(remedy.is_some_and(|remedy| remedy.contains("net.ipv4.tcp_fastopen")));
        return;
    }
    for _ in 0..3 {
        let settings = Settings::default();
        let (socket, waits) = begin_connect_tcp(address, &settings).expect("it listens");
        let mut client = socket.try_clone().expect("a descriptor").into_tcp_stream();
        client.set_nonblocking(false).expect("a socket");
        client.write_all(b"first").expect("it is connected, or its SYN leaves");
        let (server, _) = loop {
            if let Some(accepted) = sockets::accept_tcp(&listener).expect("it listens") {
                break accepted;
            }
            std::thread::yield_now();
        };
        let mut server = server.into_tcp_stream();
        server.set_nonblocking(false).expect("a socket");
        let mut said = [0; 5];
        server.read_exact(&mut said).expect("it was said");
        assert_eq!(&said, b"first");
        server.write_all(b"!").expect("it is connected");
        client.read_exact(&mut said[..1]).expect("it was said");
        let taken = was_taken(&socket).expect("Linux says it");
        assert!(!taken || waits, "a SYN that did not wait bore nothing");
        assert!(!taken || is_served() == Some(true), "the system does not allow it");
    }
}
