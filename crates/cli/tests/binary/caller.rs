//! A caller that speaks the protocol by docs/protocol.md and shares no code with ours: what a server does with others than
//! our client.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use serde_json::Value;

/// Nothing that is waited for takes longer, unless it hangs.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A control connection in either version.
pub struct Caller {
    control: TcpStream,
    version: u16,
    /// Numbers of version 2.
    said: u64,
    heard: u64,
    token: [u8; 16],
}

impl Caller {
    /// Greets the server, and has it accept this plan.
    pub fn propose(host: &str, version: u16, plan: &str) -> Self {
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
    pub fn attach(&self, socket: &UdpSocket, flow: u32) -> u8 {
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
pub fn socket(host: &str) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect(host).expect("loopback");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    socket
}
