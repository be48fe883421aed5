//! Who calls a server's port, over real sockets: told by its first bytes, however they are cut, and by the server's log.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::record::Host;
use pathscope_flow::{Dialogue, Input, Output};
use pathscope_peers::dialogue::ClientDialogue;
use pathscope_peers::native::Client;
use pathscope_run::server::{Server, Settings};
use pathscope_run::stop::Stop;

/// What a server's log says of what `call` does to it.
fn log_of(call: impl FnOnce(SocketAddr)) -> Vec<String> {
    let settings = Settings { listen: vec!["127.0.0.1".to_owned()], ..Settings::default() };
    let server = Server::bind(settings).expect("a free port");
    let address = server.addresses().next().expect("it listens");
    let lines = Mutex::new(Vec::new());
    let say = |line: &str| lines.lock().expect("nobody panics with it").push(line.to_owned());
    let stop = Stop::default();
    thread::scope(|scope| {
        let (hears, says) = (&stop, &say);
        let serving = scope.spawn(move || server.serve(hears, says));
        call(address);
        stop.request("done");
        serving.join().expect("it does not panic").expect("it serves");
    });
    lines.into_inner().expect("nobody panics with it")
}

/// A connection on which each piece leaves as a segment of its own.
fn connect(server: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(server).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
    stream
}

#[test]
fn a_caller_with_an_iperf3_cookie_is_told_as_one_and_denied_where_none_are_served() {
    let cookie = b"abcdefghijklmnopqrstuvwxyz234567abcd\0";
    let log = log_of(|server| {
        for cut in [0, 32, 36] {
            let mut stream = connect(server);
            let (first, rest) = cookie.split_at(cut);
            stream.write_all(first).expect("it is heard");
            stream.write_all(rest).expect("it is heard");
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).expect("it is closed in order");
            assert_eq!(answer, [0xff], "its word for who is not served");
        }
    });
    let told = "iperf3 clients are not served here; add iperf3 to --accept";
    let lines = log.iter().filter(|line| line.ends_with(told)).count();
    assert_eq!(lines, 3, "{log:?}");
}

#[test]
fn a_client_is_heard_however_its_first_words_are_cut() {
    let log = log_of(|server| {
        // In one segment; cut within the opening, behind it, and within what follows.
        for cut in [0, 8, 31, 32, 33, 40] {
            let mut client = Client::new(Host::default(), Tick::ZERO);
            let mut said = Vec::new();
            while let Some(output) = client.output() {
                let Output::Send(bytes) = output else { panic!("it speaks first") };
                said.extend_from_slice(&bytes);
            }
            let mut stream = connect(server);
            let (first, rest) = said.split_at(cut);
            stream.write_all(first).expect("it is heard");
            stream.write_all(rest).expect("it is heard");
            let mut buffer = [0; 4_096];
            while client.server_host().is_none() {
                let count = stream.read(&mut buffer).expect("it answers");
                assert!(count > 0, "cut at {cut}: it is turned away");
                client.input(Input::Received(&buffer[..count]), Tick::ZERO);
            }
        }
    });
    assert!(!log.iter().any(|line| line.contains("turned away")), "{log:?}");
}
