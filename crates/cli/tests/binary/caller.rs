//! A caller that speaks the protocol by docs/protocol.md and shares no code with ours: what a server does with others than
//! our client.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use pathscope_os::clock;
use pathscope_os::sockets::{self, Settings};
use serde_json::Value;

/// Nothing that is waited for takes longer, unless it hangs.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A control connection in either version.
pub struct Caller {
    control: TcpStream,
    version: u16,
    host: String,
    from: IpAddr,
    /// Numbers of version 2.
    said: u64,
    heard: u64,
    /// What the session is called, in version 2.
    pub session: Option<[u8; 16]>,
    pub token: [u8; 16],
    /// Types of all messages that have come.
    pub came: Vec<u16>,
}

impl Caller {
    /// Greets the server from this machine's first address, and has it accept this plan.
    pub fn propose(host: &str, version: u16, plan: &str) -> Self {
        let mut caller = Self::greet(host, Ipv4Addr::LOCALHOST, version);
        caller.ask(plan, "").expect("it is accepted");
        caller
    }

    /// Greets the server, calling from there.
    pub fn greet(host: &str, from: Ipv4Addr, version: u16) -> Self {
        let from = IpAddr::V4(from);
        let control = connect(host, from);
        let mut caller = Self {
            control,
            version,
            host: host.to_owned(),
            from,
            said: 0,
            heard: 0,
            session: None,
            token: [0; 16],
            came: Vec::new(),
        };
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
        caller.session = welcome["session"].as_str().map(bytes_of);
        caller
    }

    /// Proposes this plan, with these fields beside the test. Why it is refused, if it is.
    pub fn ask(&mut self, plan: &str, fields: &str) -> Result<(), Value> {
        let test = format!(
            r#"{{"test":{{"plan":{plan},"probe":null,"report_every_ns":1000000000}}{fields}}}"#
        );
        self.say(4, &test);
        let (kind, answer) = self.hear_any(&[3, 5]);
        if kind == 3 {
            return Err(answer);
        }
        self.token = bytes_of(answer["token"].as_str().expect("a token"));
        Ok(())
    }

    /// Brings a flow in from this socket: the code of the server's answer.
    pub fn attach(&self, socket: &UdpSocket, flow: u32) -> u8 {
        attach(socket, self.token, self.session, flow)
    }

    /// Brings a flow in by a connection: the code of the server's answer.
    pub fn connect(&self, flow: u32) -> (u8, TcpStream) {
        attach_stream(&self.host, self.from, (self.token, self.session), flow)
    }

    /// The control connection is lost.
    pub fn leave(&self) {
        self.control.shutdown(Shutdown::Both).expect("it stands");
    }

    /// Comes back on another one, for the first time.
    pub fn come_back(&mut self) {
        self.control = connect(&self.host, self.from);
        let mut opening = b"\xf5PSP\r\n\x1a\n\x03\0\0\0\0\0\0\x01".to_vec();
        opening.extend(self.session.expect("version 2"));
        opening.extend(self.heard.to_be_bytes());
        opening.extend([0; 4]);
        opening.extend(crc(&opening).to_be_bytes());
        self.write(&opening);
        self.hear(0x0f);
    }

    /// Starts the flows.
    pub fn start(&mut self) {
        self.say(6, "{}");
        self.hear(7);
    }

    pub fn say(&mut self, kind: u16, body: &str) {
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
    pub fn hear(&mut self, wanted: u16) -> Value {
        self.hear_any(&[wanted]).1
    }

    fn hear_any(&mut self, wanted: &[u16]) -> (u16, Value) {
        let mut body = Vec::new();
        loop {
            let (kind, has_more, part) = self.frame();
            body.extend(part);
            if has_more {
                continue;
            }
            self.came.push(kind);
            let text = String::from_utf8(std::mem::take(&mut body)).expect("text");
            match kind {
                kind if wanted.contains(&kind) => {
                    return (kind, serde_json::from_str(&text).expect("JSON"));
                }
                0x0c => self.say(0x0d, &text),
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
    pub fn consent(&self, number: u64) -> Vec<u8> {
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

/// A connection to the server from there.
pub fn connect(host: &str, from: IpAddr) -> TcpStream {
    let settings = Settings { local: Some(SocketAddr::new(from, 0)), ..Settings::default() };
    let address = host.parse().expect("an address");
    let socket = sockets::connect_tcp(address, &settings, clock::now() + PATIENCE, None);
    let stream = socket.expect("it listens").into_tcp_stream();
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

/// A UDP socket presents this for the first lane of a flow: the code of the server's answer.
pub fn attach(socket: &UdpSocket, token: [u8; 16], session: Option<[u8; 16]>, flow: u32) -> u8 {
    let mut word = b"PSAT\x01\0\0\0".to_vec();
    word.extend(flow.to_be_bytes());
    word.extend([0; 4]);
    word.extend(token);
    word.extend(u64::from(flow).to_be_bytes());
    word.resize(64, 0);
    let mut answer = [0; 64];
    for kind in [1, 3] {
        word[4] = kind;
        if let Some(session) = session.filter(|_| kind == 3) {
            let proof = proof(session, &word[..56]);
            word[56..].copy_from_slice(&proof);
            let check = crc(&[&word[..12], &word[16..]].concat());
            word[12..16].copy_from_slice(&check.to_be_bytes());
        }
        assert_eq!(answered(socket, &word, &mut answer), 32);
        word[40..56].copy_from_slice(&answer[16..32]);
    }
    answer[5]
}

/// The answer to this, of its kind. A datagram may be lost, on loopback too where the server makes a socket of its port meanwhile: it is
/// sent again, as clients do.
fn answered(socket: &UdpSocket, word: &[u8], answer: &mut [u8]) -> usize {
    let until = clock::now() + PATIENCE;
    socket.set_read_timeout(Some(Duration::from_secs(1))).expect("a socket");
    loop {
        socket.send(word).expect("a connected socket");
        while let Ok(length) = socket.recv(answer) {
            assert_eq!(&answer[..4], b"PSAT");
            if answer[4] == word[4] + 1 {
                return length;
            }
        }
        assert!(clock::now() < until, "an answer");
    }
}

/// A connection from there presents this for a flow: the code of the server's answer.
pub fn attach_stream(
    host: &str,
    from: IpAddr,
    (token, session): ([u8; 16], Option<[u8; 16]>),
    flow: u32,
) -> (u8, TcpStream) {
    let mut stream = connect(host, from);
    stream.write_all(&opening((token, session), flow)).expect("it is open");
    (answer_of(&mut stream, session.is_some()), stream)
}

/// What a connection presents for a flow.
pub fn opening((token, session): ([u8; 16], Option<[u8; 16]>), flow: u32) -> Vec<u8> {
    let mut opening = b"\xf5PSP\r\n\x1a\n".to_vec();
    opening.extend([if session.is_some() { 4 } else { 2 }, 0, 0, 0]);
    opening.extend(flow.to_be_bytes());
    opening.extend(token);
    if let Some(session) = session {
        opening.extend(proof(session, &opening));
        opening.extend([0; 4]);
        opening.extend(crc(&opening).to_be_bytes());
    }
    opening
}

/// The code of the server's answer; in version 2 it has a check.
pub fn answer_of(stream: &mut TcpStream, has_check: bool) -> u8 {
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).expect("an answer");
    let check = if has_check { answer[2] ^ 0xa5 } else { 0 };
    assert_eq!((&answer[..2], answer[3]), (&b"\xf5p"[..], check));
    answer[2]
}

fn bytes_of(digits: &str) -> [u8; 16] {
    std::array::from_fn(|at| {
        u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("hexadecimal")
    })
}

/// What proves that who says this knows the name of the session.
pub fn proof(session: [u8; 16], said: &[u8]) -> [u8; 8] {
    sip_hash(session, &[b"pathscope:socket", said].concat())
}

/// The first half of SipHash-2-4 with 128 bits of output.
fn sip_hash(key: [u8; 16], message: &[u8]) -> [u8; 8] {
    fn round([mut a, mut b, mut c, mut d]: [u64; 4]) -> [u64; 4] {
        (a, c) = (a.wrapping_add(b), c.wrapping_add(d));
        (b, d) = (b.rotate_left(13) ^ a, d.rotate_left(16) ^ c);
        a = a.rotate_left(32);
        (c, a) = (c.wrapping_add(b), a.wrapping_add(d));
        (b, d) = (b.rotate_left(17) ^ c, d.rotate_left(21) ^ a);
        [a, b, c.rotate_left(32), d]
    }
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    let (one, other) = (number(&key[..8]), number(&key[8..]));
    let text = |text: &[u8; 8]| u64::from_be_bytes(*text);
    let mut state = [
        one ^ text(b"somepseu"),
        other ^ text(b"dorandom") ^ 0xee,
        one ^ text(b"lygenera"),
        other ^ text(b"tedbytes"),
    ];
    let words = message.chunks_exact(8);
    let last = number(words.remainder()) | (message.len() as u64) << 56;
    for word in words.map(number).chain([last]) {
        state[3] ^= word;
        state = round(round(state));
        state[0] ^= word;
    }
    state[2] ^= 0xee;
    state = (0..4).fold(state, |state, _| round(state));
    (state[0] ^ state[1] ^ state[2] ^ state[3]).to_le_bytes()
}

/// A frame of version 1.
fn plain(kind: u16, body: &str) -> Vec<u8> {
    let mut frame = (body.len() as u32).to_be_bytes().to_vec();
    frame.extend(kind.to_be_bytes());
    frame.extend(body.as_bytes());
    frame
}

/// CRC-32C, bit by bit.
pub fn crc(bytes: &[u8]) -> u32 {
    let bit = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
    let byte = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| bit(sum));
    !bytes.iter().fold(!0, byte)
}

/// A socket towards the server.
pub fn socket(host: &str) -> UdpSocket {
    socket_from(Ipv4Addr::LOCALHOST, host)
}

/// One that is bound to this address.
pub fn socket_from(from: Ipv4Addr, host: &str) -> UdpSocket {
    let socket = UdpSocket::bind((from, 0)).expect("a free port");
    socket.connect(host).expect("loopback");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    socket
}
