//! What a server sends to somebody who asks for it no more. The callers here speak the protocol by docs/protocol.md and
//! share no code with ours.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use pathscope_os::clock;
use serde_json::Value;

use crate::common::Server;

/// Nothing that is waited for takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);
/// A stream of a thousand datagrams a second that has paused for so long is over.
const OVER: Duration = Duration::from_secs(2);

/// A minute of a thousand datagrams of 200 bytes a second.
const DATAGRAMS: &str = r#"{"datagrams":{"pattern":"pull","connections":1,
    "extent":{"duration_ns":60000000000},"datagram_bytes":200,"rate_bps":1600000,"warm_up_ns":0,
    "verify":"full","engine":null,"wait":"auto"}}"#;
/// A minute of fifty frames a second, of twenty datagrams each.
const MEDIA: &str = r#"{"media":{"profile":null,"direction":"down","rate_bps":1600000,"frame_rate":50,
    "buffer_depth_ns":100000000,"duration_ns":60000000000,"streams":1,"datagram_bytes":200,
    "pacing":"spread","engine":null,"wait":"auto"}}"#;

/// A control connection in either version.
struct Caller {
    control: TcpStream,
    version: u16,
    /// Numbers of version 2.
    said: u64,
    heard: u64,
    token: [u8; 16],
}

impl Caller {
    /// Greets the server, and has it accept this plan.
    fn propose(host: &str, version: u16, plan: &str) -> Self {
        let control = TcpStream::connect(host).expect("it listens");
        control.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut caller = Self { control, version, said: 0, heard: 0, token: [0; 16] };
        let hello = plain(1, r#"{"security":["none"],"host":{}}"#);
        let mut opening = b"\xf5PSP\r\n\x1a\n\x01\0\0\0".to_vec();
        opening.extend([1_u16, version].map(u16::to_be_bytes).concat());
        if version == 1 {
            opening.extend([0; 16]);
        } else {
            opening.extend((hello.len() as u32).to_be_bytes());
            opening.extend(crc(&hello).to_be_bytes());
            opening.extend([0; 4]);
            opening.extend(crc(&opening).to_be_bytes());
        }
        caller.write(&[opening, hello].concat());
        let welcome = caller.hear(2);
        assert_eq!(welcome["version"], version, "{welcome}");
        let test =
            format!(r#"{{"test":{{"plan":{plan},"probe":null,"report_every_ns":1000000000}}}}"#);
        caller.say(4, &test);
        let accept = caller.hear(5);
        let digits = accept["token"].as_str().expect("a token");
        for (byte, at) in caller.token.iter_mut().zip((0..32).step_by(2)) {
            *byte = u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal");
        }
        caller
    }

    /// Brings a flow in from this socket: the code of the server's answer.
    fn attach(&self, socket: &UdpSocket, flow: u32) -> u8 {
        let mut word = b"PSAT\x01\0\0\0".to_vec();
        word.extend(flow.to_be_bytes());
        word.extend([0; 4]);
        word.extend(self.token);
        word.extend(u64::from(flow).to_be_bytes());
        word.resize(64, 0);
        let mut answer = [0; 64];
        for kind in [1, 3] {
            word[4] = kind;
            socket.send(&word).expect("a connected socket");
            assert_eq!(socket.recv(&mut answer).expect("an answer"), 32);
            assert_eq!((&answer[..4], answer[4]), (&b"PSAT"[..], kind + 1));
            word[40..56].copy_from_slice(&answer[16..32]);
        }
        answer[5]
    }

    /// Starts the flows.
    fn start(&mut self) {
        self.say(6, "{}");
        self.hear(7);
    }

    fn say(&mut self, kind: u16, body: &str) {
        if self.version == 1 {
            return self.write(&plain(kind, body));
        }
        let is_numbered = !matches!(kind, 0x0c..=0x0f);
        self.said += u64::from(is_numbered);
        let number = if is_numbered { self.said } else { 0 };
        let mut frame = b"\xf52\0\0".to_vec();
        frame.extend([kind, body.len() as u16].map(u16::to_be_bytes).concat());
        frame.extend([number, self.heard].map(u64::to_be_bytes).concat());
        frame.extend(crc(&frame).to_be_bytes());
        frame.extend(body.as_bytes());
        frame.extend(crc(&frame).to_be_bytes());
        self.write(&frame);
    }

    /// The next message of this type. Pings are answered, and all others passed over.
    fn hear(&mut self, wanted: u16) -> Value {
        let mut body = Vec::new();
        loop {
            let (kind, has_more, part) = self.frame();
            body.extend(part);
            if has_more {
                continue;
            }
            let text = String::from_utf8(std::mem::take(&mut body)).expect("text");
            match kind {
                0x0c => self.say(0x0d, &text),
                kind if kind == wanted => return serde_json::from_str(&text).expect("JSON"),
                3 => panic!("refused: {text}"),
                _ => {}
            }
        }
    }

    fn frame(&mut self) -> (u16, bool, Vec<u8>) {
        let two = |bytes: &[u8]| u16::from_be_bytes([bytes[0], bytes[1]]);
        if self.version == 1 {
            let head = self.read(6);
            let len = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
            return (two(&head[4..]), false, self.read(len as usize));
        }
        let head = self.read(28);
        assert_eq!(head[..2], *b"\xf52");
        let number: [u8; 8] = head[8..16].try_into().expect("eight bytes");
        self.heard = self.heard.max(u64::from_be_bytes(number));
        let mut body = self.read(usize::from(two(&head[6..])) + 4);
        body.truncate(body.len() - 4);
        (two(&head[4..]), head[2] == 1, body)
    }

    fn read(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.control.read_exact(&mut bytes).expect("the server speaks");
        bytes
    }

    fn write(&mut self, bytes: &[u8]) {
        self.control.write_all(bytes).expect("the server listens");
    }

    /// Word that this end wants the server's stream of flow 0.
    fn consent(&self, number: u64) -> Vec<u8> {
        let token: [u8; 8] = self.token[8..].try_into().expect("eight bytes");
        let first = u64::from_le_bytes(*b"PSCN\0\0\0\x80");
        let words = [first, u64::from_le_bytes(token), number, 0, 40];
        let digest = words.iter().fold(0x5053_4447_u64, |digest, word| {
            let mixed = (digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ mixed >> 32
        });
        let check = ((digest ^ digest >> 32) << 32) + 40;
        words[..4].iter().chain([&check]).flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// A frame of version 1.
fn plain(kind: u16, body: &str) -> Vec<u8> {
    let mut frame = (body.len() as u32).to_be_bytes().to_vec();
    frame.extend(kind.to_be_bytes());
    frame.extend(body.as_bytes());
    frame
}

/// CRC-32C, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let bit = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
    let byte = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| bit(sum));
    !bytes.iter().fold(!0, byte)
}

/// A socket towards the server.
fn socket(host: &str) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect(host).expect("loopback");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    socket
}

/// Takes a stream until it pauses, or for so long. Asks for it as long as this is said. For how long it came.
fn take(socket: &UdpSocket, asks_for: Duration, caller: &mut Caller) -> Duration {
    socket.set_read_timeout(Some(OVER)).expect("a socket");
    let began = clock::now();
    let (mut buffer, mut last, mut said) = ([0; 2_048], began, 0);
    while clock::now().since(began) < PATIENCE {
        let since = clock::now().since(began);
        if since < asks_for && since >= Duration::from_millis(250) * said {
            // The stream may have ended, and its socket be closed.
            let _ = socket.send(&caller.consent(said.into()));
            said += 1;
            // Nor is the control connection to fall silent.
            caller.say(0x0c, r#"{"id":7}"#);
        }
        match socket.recv(&mut buffer) {
            Ok(_) => last = clock::now(),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    last.since(began)
}

#[test]
fn a_stream_ends_seconds_after_it_was_last_asked_for() {
    let server = Server::start();
    let host = server.host();
    let stream = |plan: &str, asks_for| {
        let mut caller = Caller::propose(&host, 2, plan);
        let socket = socket(&host);
        assert_eq!(caller.attach(&socket, 0), 0);
        caller.start();
        let came_for = take(&socket, asks_for, &mut caller);
        let report = caller.hear(9).to_string();
        assert!(report.contains("the client has not asked for its datagrams for 5"), "{report}");
        came_for
    };
    std::thread::scope(|scope| {
        let asked_for = Duration::from_secs(7);
        let asked = scope.spawn(move || stream(DATAGRAMS, asked_for));
        for plan in [DATAGRAMS, MEDIA] {
            scope.spawn(move || {
                let came_for = stream(plan, Duration::ZERO);
                assert!(came_for < Duration::from_secs(9), "{came_for:?}");
            });
        }
        let came_for = asked.join().expect("it was checked");
        assert!(
            (asked_for..asked_for + Duration::from_secs(9)).contains(&came_for),
            "{came_for:?}"
        );
    });
}

#[test]
fn a_stream_ends_within_a_second_where_nobody_has_the_port_open_any_more() {
    let server = Server::start();
    let host = &server.host();
    std::thread::scope(|scope| {
        for (version, plan) in [(1, DATAGRAMS), (1, MEDIA), (2, DATAGRAMS), (2, MEDIA)] {
            scope.spawn(move || {
                let mut caller = Caller::propose(host, version, plan);
                let socket = socket(host);
                assert_eq!(caller.attach(&socket, 0), 0);
                caller.start();
                for _ in 0..20 {
                    socket.recv(&mut [0; 2_048]).expect("it streams");
                }
                let closed = clock::now();
                drop(socket);
                let report = caller.hear(9).to_string();
                let took = clock::now().since(closed);
                assert!(report.contains("the client's machine refuses its datagrams"), "{report}");
                // A second, and what it takes to tell; less than it goes on where nothing is answered.
                assert!(took < Duration::from_secs(4), "{took:?}");
            });
        }
    });
}

#[test]
fn two_flows_of_one_test_do_not_come_from_one_port() {
    let server = Server::start();
    let two = DATAGRAMS.replace(r#""connections":1"#, r#""connections":2"#);
    let caller = Caller::propose(&server.host(), 2, &two);
    let [one, other] = [(); 2].map(|()| socket(&server.host()));
    assert_eq!((caller.attach(&one, 0), caller.attach(&one, 1)), (0, 6));
    // Asked again, since an answer may be lost; and from a port of its own.
    assert_eq!((caller.attach(&one, 0), caller.attach(&other, 1)), (0, 0));
}
