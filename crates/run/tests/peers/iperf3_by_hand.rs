//! Clients of iperf3's wire that are written by hand, at our server: what the original leaves to chance, or never does. Each step waits for
//! the one before, so that what both ends count is exact. Not here: the original (`iperf3`).

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use pathscope_peers::registry::PeerKind;
use pathscope_run::server::Settings;
use serde_json::{Value, json};

use crate::common;

/// Nothing that is waited for takes longer on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);
const DATAGRAM: usize = 1_000;

const PARAM_EXCHANGE: u8 = 9;
const CREATE_STREAMS: u8 = 10;
const TEST_START: u8 = 1;
const TEST_RUNNING: u8 = 2;
const TEST_END: u8 = 4;
const EXCHANGE_RESULTS: u8 = 13;
const DISPLAY_RESULTS: u8 = 14;
const IPERF_DONE: u8 = 16;

/// A client, as far as it has come.
pub struct ByHand {
    server: SocketAddr,
    cookie: String,
    control: TcpStream,
}

impl ByHand {
    /// It has a cookie of this letter alone, and was asked for its parameters.
    pub fn begin(port: u16, letter: char) -> Self {
        let server = SocketAddr::from(([127, 0, 0, 1], port));
        let cookie = format!("{}\0", letter.to_string().repeat(36));
        let control = connect(server, &cookie);
        let mut client = Self { server, cookie, control };
        client.hears(PARAM_EXCHANGE);
        client
    }

    /// It says what it asks for.
    pub fn asks(&mut self, parameters: &Value) {
        self.says(parameters);
        self.hears(CREATE_STREAMS);
    }

    /// One more connection that says its cookie, and right behind it what is its first data.
    pub fn stream(&self, first: &[u8]) -> TcpStream {
        let mut stream = connect(self.server, &self.cookie);
        stream.write_all(first).expect("it is taken");
        stream
    }

    /// A stream over UDP that was answered.
    fn datagrams(&self) -> UdpSocket {
        let stream = UdpSocket::bind("127.0.0.1:0").expect("a port");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream.connect(self.server).expect("an address");
        stream.send(b"9876").expect("it leaves");
        let mut answer = [0; DATAGRAM];
        assert_eq!(stream.recv(&mut answer).expect("it is answered"), 4);
        stream
    }

    /// All of its streams are there, and the test runs.
    pub fn runs(&mut self) {
        self.hears(TEST_START);
        self.hears(TEST_RUNNING);
    }

    /// It ends its test, having counted these on its streams: what it sent on those up, what came on those down. What the server counted.
    pub fn ends(mut self, counts: &[(u64, u64)]) -> Value {
        self.control.write_all(&[TEST_END]).expect("it is taken");
        self.hears(EXCHANGE_RESULTS);
        let stream = |(place, &(bytes, packets)): (usize, &(u64, u64))| {
            let id = if place == 0 { 1 } else { place + 2 };
            json!({"id": id, "bytes": bytes, "retransmits": 0, "jitter": 0, "errors": 0, "packets": packets})
        };
        let streams: Vec<_> = counts.iter().enumerate().map(stream).collect();
        self.says(&json!({"cpu_util_total": 0, "cpu_util_user": 0, "cpu_util_system": 0,
            "sender_has_retransmits": 0, "streams": streams}));
        let mut length = [0; 4];
        self.control.read_exact(&mut length).expect("it answers");
        let mut said = vec![0; u32::from_be_bytes(length) as usize];
        self.control.read_exact(&mut said).expect("it answers");
        self.hears(DISPLAY_RESULTS);
        self.control.write_all(&[IPERF_DONE]).expect("it is taken");
        assert_eq!(self.control.read(&mut [0]).expect("it is closed in order"), 0);
        serde_json::from_slice(&said).expect("it is JSON")
    }

    fn says(&mut self, document: &Value) {
        let text = document.to_string();
        let length = u32::try_from(text.len()).expect("it is short");
        let said = [&length.to_be_bytes()[..], text.as_bytes()].concat();
        self.control.write_all(&said).expect("it is taken");
    }

    fn hears(&mut self, word: u8) {
        let mut heard = [0];
        self.control.read_exact(&mut heard).expect("it answers");
        assert_eq!(heard, [word]);
    }
}

fn connect(server: SocketAddr, says: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
    stream.write_all(says.as_bytes()).expect("it is taken");
    stream
}

/// What a client asks for, with these keys beside.
pub fn asked(further: &[(&str, Value)]) -> Value {
    let mut asked = json!({"omit": 0, "time": 60, "parallel": 1, "client_version": "3.12"});
    further.iter().for_each(|(key, value)| asked[*key] = value.clone());
    asked
}

/// The datagrams of a stream from this number on, with numbers of 32 bits.
fn send(stream: &UdpSocket, numbers: std::ops::RangeInclusive<u32>) {
    let mut datagram = [0; DATAGRAM];
    for number in numbers {
        datagram[8..12].copy_from_slice(&number.to_be_bytes());
        assert_eq!(stream.send(&datagram).expect("it leaves"), DATAGRAM);
    }
}

/// The numbers of this name of all streams.
fn all(results: &Value, key: &str) -> Vec<u64> {
    let streams = results["streams"].as_array().expect("it tells of streams");
    let number = |stream: &Value| stream[key].as_u64().unwrap_or_else(|| panic!("{key}: {stream}"));
    streams.iter().map(number).collect()
}

fn served<R>(clients: impl FnOnce(u16) -> R) -> (R, Vec<String>) {
    common::served_at("127.0.0.1", PeerKind::Iperf3, Settings::default(), clients)
}

#[test]
fn of_both_directions_each_brings_what_was_sent() {
    const SENT: u64 = 300_000;
    served(|port| {
        let mut client = ByHand::begin(port, 'a');
        client.asks(&asked(&[("tcp", true.into()), ("bidirectional", true.into())]));
        let mut up = client.stream(&[]);
        let mut down = client.stream(&[]);
        client.runs();
        up.write_all(&vec![7; SENT as usize]).expect("it is taken");
        let mut came = [0; 4_096];
        down.read_exact(&mut came).expect("something comes");
        let counted = all(&client.ends(&[(SENT, 0), (came.len() as u64, 0)]), "bytes");
        assert_eq!(counted[0], SENT);
        assert!(counted[1] >= came.len() as u64, "{counted:?}");

        let mut client = ByHand::begin(port, 'b');
        let parameters = [("udp", true.into()), ("bidirectional", true.into())];
        let paced = [("len", DATAGRAM.into()), ("bandwidth", 1_000_000.into())];
        client.asks(&asked(&[&parameters[..], &paced].concat()));
        let [up, down] = [client.datagrams(), client.datagrams()];
        client.runs();
        send(&up, 1..=5);
        let mut came = [0; 2 * DATAGRAM];
        assert_eq!(down.recv(&mut came).expect("something comes"), DATAGRAM);
        let results = client.ends(&[(5 * DATAGRAM as u64, 5), (DATAGRAM as u64, 1)]);
        let [bytes, packets, errors] = ["bytes", "packets", "errors"].map(|key| all(&results, key));
        assert_eq!((bytes[0], packets[0], errors[0]), (5 * DATAGRAM as u64, 5, 0), "{results}");
        assert!(packets[1] >= 1 && bytes[1] == packets[1] * DATAGRAM as u64, "{results}");
    });
}

#[test]
fn what_comes_before_the_test_starts_counts_or_is_told_as_lost() {
    const EARLY: usize = 50_000;
    served(|port| {
        let mut client = ByHand::begin(port, 'c');
        client.asks(&asked(&[("tcp", true.into()), ("parallel", 2.into())]));
        // The test cannot have started: its second stream is not there.
        let mut first = client.stream(&vec![1; EARLY]);
        let second = client.stream(&[2; 1]);
        client.runs();
        first.write_all(&vec![3; EARLY]).expect("it is taken");
        let results = client.ends(&[(2 * EARLY as u64, 0), (1, 0)]);
        assert_eq!(all(&results, "bytes"), [2 * EARLY as u64, 1], "{results}");
        drop(second);

        let mut client = ByHand::begin(port, 'd');
        let parameters = [("udp", true.into()), ("parallel", 2.into()), ("len", DATAGRAM.into())];
        client.asks(&asked(&parameters));
        let first = client.datagrams();
        send(&first, 1..=3);
        let second = client.datagrams();
        client.runs();
        send(&first, 4..=5);
        send(&second, 1..=1);
        let results = client.ends(&[(5 * DATAGRAM as u64, 5), (DATAGRAM as u64, 1)]);
        // No client sends before it hears that it may. Who does has no socket at the server yet: it may lose these, and says how many.
        assert_eq!(all(&results, "packets"), [5, 1], "{results}");
        let [bytes, lost] = ["bytes", "errors"].map(|key| all(&results, key));
        let came = bytes.iter().map(|bytes| bytes / DATAGRAM as u64);
        let both: Vec<_> = came.zip(&lost).map(|(came, lost)| came + lost).collect();
        assert_eq!((both, bytes[0] >= 2 * DATAGRAM as u64), (vec![5, 1], true), "{results}");
    });
}

#[test]
fn thousands_of_connections_with_the_cookie_of_a_test_cost_nobody_else_anything() {
    const FLOOD: usize = 2_000;
    const HALF: u64 = 1 << 20;
    served(|port| {
        let parameters = asked(&[("tcp", true.into())]);
        let mut honest = ByHand::begin(port, 'e');
        honest.asks(&parameters);
        let mut stream = honest.stream(&vec![1; HALF as usize]);
        honest.runs();

        // While a test runs that has all of its streams.
        let mut running = ByHand::begin(port, 'f');
        running.asks(&parameters);
        let own = running.stream(&[1; 9]);
        running.runs();
        let flood: Vec<_> = (0..FLOOD).map(|_| connect(running.server, &running.cookie)).collect();
        // Before a test has said how many it has: none of these has a place, but for one that may come so late that the test has.
        let mut begun = ByHand::begin(port, 'g');
        let further: Vec<_> = (0..FLOOD).map(|_| connect(begun.server, &begun.cookie)).collect();
        begun.asks(&parameters);
        let its = begun.stream(&[]);
        begun.runs();
        assert_eq!(all(&begun.ends(&[(0, 0)]), "bytes"), [0]);

        let counted = all(&running.ends(&[(9, 0)]), "bytes");
        assert_eq!(counted, [9]);
        stream.write_all(&vec![2; HALF as usize]).expect("it is taken");
        assert_eq!(all(&honest.ends(&[(2 * HALF, 0)]), "bytes"), [2 * HALF]);
        drop((own, its, flood, further));
    });
}
