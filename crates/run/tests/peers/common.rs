//! What tests of kinds of peers have in common: a server of ours in this process, and a client's run against one.

use std::sync::Mutex;
use std::thread;

use pathscope_core::record::Host;
use pathscope_modes::document::Document;
use pathscope_modes::groups::Test;
use pathscope_os::clock;
use pathscope_peers::registry::PeerKind;
use pathscope_run::client::{self, CONNECT_WITHIN, Request};
use pathscope_run::records::journal::Journal;
use pathscope_run::server::{Server, Settings, Stated};
use pathscope_run::stop::Stop;

/// What comes of it to do something at the port that clients of this kind have at a server on loopback, and what a person there was told.
/// What such clients run is `tests`; everything else is as the settings say.
pub fn served<R>(
    (peer, tests): (PeerKind, Vec<Test>),
    settings: Settings,
    clients: impl FnOnce(u16) -> R,
) -> (R, Vec<String>) {
    let stated =
        vec![Stated { peer, tests, port: Some(0), ports: 1, rate: None, is_of_several: false }];
    served_as_told(peer, Settings { stated, ..settings }, clients)
}

/// The same where these settings say all, at the shared port where clients of this kind have none of their own.
pub fn served_as_told<R>(
    peer: PeerKind,
    settings: Settings,
    clients: impl FnOnce(u16) -> R,
) -> (R, Vec<String>) {
    served_there("127.0.0.1", peer, settings, clients)
}

/// Such clients, who say what they run, at a listener of their own.
fn own_listener(peer: PeerKind) -> Stated {
    Stated { peer, tests: Vec::new(), port: Some(0), ports: 1, rate: None, is_of_several: false }
}

/// The same as [`served`] at another address, where such clients say what they run.
pub fn served_at<R>(
    host: &str,
    peer: PeerKind,
    settings: Settings,
    clients: impl FnOnce(u16) -> R,
) -> (R, Vec<String>) {
    let stated = vec![own_listener(peer)];
    served_there(host, peer, Settings { stated, ..settings }, clients)
}

/// The same as [`served`] where such clients say what they run, and with the port that all kinds share behind that of theirs.
pub fn served_at_both<R>(peer: PeerKind, clients: impl FnOnce([u16; 2]) -> R) -> (R, Vec<String>) {
    let stated = vec![own_listener(peer)];
    serve("127.0.0.1", peer, Settings { stated, ..Settings::default() }, clients)
}

fn served_there<R>(
    host: &str,
    peer: PeerKind,
    settings: Settings,
    clients: impl FnOnce(u16) -> R,
) -> (R, Vec<String>) {
    serve(host, peer, settings, |[own, _]| clients(own))
}

fn serve<R>(
    host: &str,
    peer: PeerKind,
    settings: Settings,
    clients: impl FnOnce([u16; 2]) -> R,
) -> (R, Vec<String>) {
    let listen = vec![host.to_owned()];
    let server = Server::bind(Settings { listen, ..settings }).expect("a free port");
    let own = server.addresses_of(peer).next();
    let shared = server.addresses().next();
    let port = own.or(shared).expect("it listens").port();
    let ports = [port, shared.map_or(port, |shared| shared.port())];
    let lines = Mutex::new(Vec::new());
    let say = |line: &str| lines.lock().expect("nobody panics with it").push(line.to_owned());
    let stop = Stop::default();
    let come = thread::scope(|scope| {
        let serving = scope.spawn(|| server.serve(&stop, &say));
        let done = Done(&stop);
        let come = clients(ports);
        drop(done);
        serving.join().expect("it does not panic").expect("it serves");
        come
    });
    let mut lines = lines.into_inner().expect("nobody panics with it");
    // What it has served in all is told at its end, whatever comes of sessions.
    lines.retain(|line| !line.starts_with("served "));
    (come, lines)
}

/// Ends a server, also where what was to come of it is wrong: its thread is waited for.
struct Done<'server>(&'server Stop);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.request("done");
    }
}

/// What comes of a client's run of tests, one after the other, with a server of this kind at this port of loopback; and what went wrong.
pub fn run(peer: PeerKind, port: u16, tests: Vec<Test>) -> (Document, Option<String>) {
    run_at(peer, (vec!["127.0.0.1".to_owned()], port), tests)
}

/// The same with one that is at these places, at this port where one names none.
pub fn run_at(
    peer: PeerKind,
    place: (Vec<String>, u16),
    tests: Vec<Test>,
) -> (Document, Option<String>) {
    run_beside(peer, (place, None), tests)
}

/// The same with probes that a server of ours there answers, or none.
pub fn run_beside(
    peer: PeerKind,
    ((hosts, port), probe_server): ((Vec<String>, u16), Option<String>),
    tests: Vec<Test>,
) -> (Document, Option<String>) {
    let numbered = (0..).map(|number: u32| number.to_string());
    let request = Request {
        kind: peer.name().to_owned(),
        command: Vec::new(),
        here: Host::default(),
        peer,
        hosts,
        port,
        probe_server,
        family: None,
        connect_within: CONNECT_WITHIN,
        tests: numbered.zip(tests).collect::<Vec<_>>().into(),
        assertions: Vec::new(),
        afterwards: Box::new(Vec::new),
        journal: Journal::default(),
        samples: None,
        wall_unix_ns: clock::wall_unix_ns,
    };
    let (document, failure) = client::run(request, &Stop::default(), &mut |_| {});
    (document, failure.map(|(_, text)| text))
}
