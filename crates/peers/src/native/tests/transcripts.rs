//! Each end against what the other end of an older version has said: recorded sessions, said again word by word.
//!
//! A transcript holds all messages of one session's control connection, in the order in which they came. One end is of
//! this version: it is fed what the other end said, and where the recording has a word of its own side it has to say one of
//! the same kind, with everything in it that the older version said. So the older end would have understood it. Which
//! sessions there are, and how they were recorded, says `transcripts/README.md`.

use std::collections::VecDeque;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Token};
use pathscope_flow::{Input, Output, Phase};
use pathscope_modes::groups::Test;
use serde_json::Value;

use super::pair::AnyDialogue;
use crate::PeerError;
use crate::dialogue::{ClientDialogue as _, ServerSettings};
use crate::native::frame::{BODY_MOST, Decoder, Frame, MessageType};
use crate::native::link::Link;
use crate::native::message::{FlowTotal, Message, Propose};
use crate::native::{Client, Opening, Server};

/// A recorded session of each kind of test, by the version that both ends spoke.
const TRANSCRIPTS: [(u8, &str, &str); 12] = [
    (1, "goodput", include_str!("transcripts/1-goodput.txt")),
    (1, "connections", include_str!("transcripts/1-connections.txt")),
    (1, "latency", include_str!("transcripts/1-latency.txt")),
    (1, "datagrams", include_str!("transcripts/1-datagrams.txt")),
    (1, "media", include_str!("transcripts/1-media.txt")),
    (1, "multipath", include_str!("transcripts/1-multipath.txt")),
    (2, "goodput", include_str!("transcripts/2-goodput.txt")),
    (2, "connections", include_str!("transcripts/2-connections.txt")),
    (2, "latency", include_str!("transcripts/2-latency.txt")),
    (2, "datagrams", include_str!("transcripts/2-datagrams.txt")),
    (2, "media", include_str!("transcripts/2-media.txt")),
    (2, "multipath", include_str!("transcripts/2-multipath.txt")),
];

/// Each dialogue is asked for what it gathers before it says it, so many times at most.
const PATIENCE: usize = 20;

/// What one end said.
#[derive(Clone, Debug)]
struct Word {
    by_client: bool,
    frame: Frame,
}

impl Word {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.frame.body).expect("messages of these versions are JSON")
    }

    fn message(&self) -> Message {
        let message = Message::decode(&self.frame).expect("it is read");
        message.expect("it is known")
    }
}

/// A recorded session: what its client opened with, and all that was said.
struct Transcript {
    opening: Opening,
    words: Vec<Word>,
}

impl Transcript {
    fn read(text: &str) -> Self {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let opening = lines.next().and_then(|line| line.strip_prefix("opening "));
        let opening: Vec<u8> = bytes(opening.expect("the opening comes first"));
        let opening = Opening::decode(opening.as_slice()).expect("an older opening is known");
        Self { opening, words: lines.map(word).collect() }
    }

    /// The body of the only message of this kind, as the older version said it.
    fn first(&self, kind: MessageType) -> Message {
        let word = self.words.iter().find(|word| word.frame.kind == kind);
        word.expect("each session has one").message()
    }

    fn test(&self) -> Test {
        match self.first(MessageType::PROPOSE) {
            Message::Propose(propose) => Propose::test(&propose).expect("this version knows it"),
            other => panic!("{other:?}"),
        }
    }
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(&hexadecimal[at..at + 2], 16).expect("hexadecimal");
    (0..hexadecimal.len()).step_by(2).map(pair).collect()
}

fn word(line: &str) -> Word {
    let mut parts = line.splitn(3, ' ');
    let mut part = || parts.next().expect("who, what, and the body");
    let (who, name, body) = (part(), part(), part());
    let mut kinds = (0..0x20).flat_map(|low| [MessageType(low), MessageType(0x8000 | low)]);
    let kind = kinds.find(|kind| kind.name() == Some(name)).expect("a known name");
    Word { by_client: who == "client", frame: Frame { kind, body: body.as_bytes().to_vec() } }
}

/// The older end, as far as there is one: it says what was recorded, in frames of its version.
enum Older {
    One(Decoder),
    /// After the hello, which is a frame of version 1.
    Two(Box<Link>, Decoder),
}

impl Older {
    fn new(version: u8) -> Self {
        match version {
            1 => Self::One(Decoder::default()),
            _ => Self::Two(Box::new(Link::new(Token([0; 16]))), Decoder::default()),
        }
    }

    fn say(&mut self, frame: &Frame) -> Vec<u8> {
        match self {
            Self::Two(link, _) if frame.kind != MessageType::HELLO => link.say(frame),
            _ => frame.encode(),
        }
    }

    /// The messages in what this version's end said.
    fn hear(&mut self, mut bytes: &[u8]) -> Vec<Frame> {
        let mut heard = Vec::new();
        loop {
            let is_numbered = bytes.first() == Some(&0xf5);
            let frame = match self {
                Self::Two(link, _) if is_numbered => {
                    link.next(&mut bytes, BODY_MOST).expect("whole and in order")
                }
                Self::One(decoder) | Self::Two(_, decoder) => {
                    decoder.next(&mut bytes, BODY_MOST).expect("well formed")
                }
            };
            let Some(frame) = frame else { return heard };
            heard.push(frame);
        }
    }
}

/// One end of this version, against the other of a recorded session.
struct Replay<D: AnyDialogue> {
    dialogue: D,
    is_client: bool,
    older: Older,
    test: Test,
    said: VecDeque<Frame>,
    started: bool,
    tests_over: usize,
    ended: Option<Result<(), PeerError>>,
    now: Tick,
}

impl<D: AnyDialogue> Replay<D> {
    fn new(dialogue: D, is_client: bool, version: u8, test: Test) -> Self {
        let older = Older::new(version);
        let said = VecDeque::new();
        let (started, tests_over, ended, now) = (false, 0, None, Tick::from_nanos(1));
        Self { dialogue, is_client, older, test, said, started, tests_over, ended, now }
    }

    fn input(&mut self, input: Input<'_, D>) {
        self.dialogue.input(input, self.now);
        self.settle();
    }

    /// Carries out what this end asks for.
    fn settle(&mut self) {
        while let Some(output) = self.dialogue.output() {
            match output {
                Output::Send(bytes) if Opening::decode(bytes.as_slice()).is_ok() => {}
                Output::Send(bytes) => self.said.extend(self.older.hear(&bytes)),
                Output::Open { plan, credentials, .. } => {
                    assert_eq!(*plan, self.test);
                    assert!(!credentials.goes_ahead, "no older server takes that");
                    self.attach();
                }
                Output::Prepare { plan, .. } => {
                    assert_eq!(*plan, self.test);
                    self.dialogue.input(Input::Prepared(Vec::new()), self.now);
                    self.attach();
                }
                Output::Start => self.started = true,
                Output::TestOver => self.tests_over += 1,
                Output::End(outcome) => self.ended = Some(outcome),
                _ => {}
            }
        }
    }

    fn attach(&mut self) {
        for group in self.test.groups() {
            for flow in group.first.0..group.first.0 + group.flows {
                let flow = Input::Attached { group: group.id, flow: FlowId(flow) };
                self.dialogue.input(flow, self.now);
            }
        }
    }

    /// What makes this end say what its side said then.
    fn provoke(&mut self, message: Message) {
        match message {
            Message::Interval(interval) => self.input(Input::Interval(interval)),
            Message::Totals(totals) => {
                for FlowTotal { group, flow, total } in totals {
                    let totals = pathscope_flow::Totals { sent: total, received: 0 };
                    self.input(Input::Phase { group, flow, phase: Phase::SendingDone, totals });
                }
            }
            Message::Ended(ends) => {
                for end in ends {
                    let (group, flow, totals) = (end.group, end.flow, end.totals());
                    let failure = end.into_failure();
                    self.input(Input::Ended { group, flow, totals, failure });
                }
            }
            Message::Report(report) => self.input(Input::Over(report)),
            _ => {}
        }
    }

    /// The next message that this end has said, those about the line apart.
    fn next_said(&mut self) -> Frame {
        self.settle();
        for _ in 0..PATIENCE {
            while let Some(frame) = self.said.pop_front() {
                if !frame.kind.is_about_the_line() {
                    return frame;
                }
            }
            let deadline = self.dialogue.deadline().expect("it has something to say");
            self.now = self.now.max(deadline);
            self.input(Input::Deadline);
        }
        panic!("it says nothing");
    }

    /// The other end has heard all of it, and closes.
    fn part(&mut self) {
        if let Older::Two(link, _) = &mut self.older {
            let heard = link.utter(Frame { kind: MessageType::ACK, body: b"{}".to_vec() });
            self.input(Input::Received(&heard));
        }
        if self.ended.is_none() {
            self.input(Input::ControlClosed);
        }
    }

    fn run(&mut self, words: &[Word]) {
        for word in words {
            if word.by_client != self.is_client {
                let bytes = self.older.say(&word.frame);
                self.input(Input::Received(&bytes));
                continue;
            }
            self.provoke(word.message());
            let said = self.next_said();
            let said_kind = said.kind;
            let text = String::from_utf8_lossy(&said.body);
            assert_eq!(said_kind, word.frame.kind, "{text} in the place of {}", word.json());
            let said: Value = serde_json::from_slice(&said.body).expect("JSON, for an older end");
            let is_measured = matches!(
                said_kind,
                MessageType::INTERVAL
                    | MessageType::ENDED
                    | MessageType::REPORT
                    | MessageType::TOTALS
            );
            says_all(&said, &word.json(), is_measured, &mut vec![said_kind.to_string()]);
        }
    }
}

/// Whether what this version says has everything that the older version said, under the same names: of the same kind, and
/// of the same value where that is what flows did.
fn says_all(new: &Value, old: &Value, is_measured: bool, path: &mut Vec<String>) {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            for (name, old) in old {
                path.push(name.clone());
                let Some(new) = new.get(name) else { panic!("{path:?} is missing, it was {old}") };
                says_all(new, old, is_measured, path);
                path.pop();
            }
        }
        (Value::Array(new), Value::Array(old)) => {
            assert!(!is_measured || new.len() == old.len(), "{path:?} was {old:?} and is {new:?}");
            for (new, old) in new.iter().zip(old) {
                says_all(new, old, is_measured, path);
            }
        }
        _ if is_measured => assert_eq!(new, old, "{path:?}"),
        _ => {
            let kind = std::mem::discriminant::<Value>;
            assert_eq!(kind(new), kind(old), "{path:?} was {old} and is {new}");
        }
    }
}

/// Both ends of this version, one after the other, against the other end of the recorded session.
fn replay_both((version, name, text): (u8, &str, &str)) {
    let transcript = Transcript::read(text);
    let (test, words) = (transcript.test(), &transcript.words);
    let now = Tick::from_nanos(1);

    let Message::Hello(hello) = transcript.first(MessageType::HELLO) else { panic!("{name}") };
    let mut client = Client::new(hello.host, now);
    client.propose(test.clone(), now);
    client.finish(now);
    let mut client = Replay::new(client, true, version, test.clone());
    client.run(words);
    assert!(client.started && client.tests_over == 1, "{version} {name}: the client's test");

    let Message::Welcome(welcome) = transcript.first(MessageType::WELCOME) else {
        panic!("{name}")
    };
    let settings = ServerSettings {
        host: welcome.host,
        limits: welcome.limits,
        congestion_controls: Vec::new(),
        wants_ends: true,
        stated: None,
        rate: None,
        is_of_several: false,
        identity: None,
    };
    let Opening::Control(greeting) = transcript.opening else { panic!("{name}") };
    let server = Server::new(settings, greeting, Ok(()), [1; 16], now);
    let mut server = Replay::new(server, false, version, test);
    server.run(words);
    assert!(server.started && server.tests_over == 1, "{version} {name}: the server's test");

    client.part();
    server.part();
    for ended in [client.ended, server.ended] {
        assert!(matches!(ended, Some(Ok(()))), "{version} {name}: {ended:?}");
    }
}

#[test]
fn a_session_with_either_end_of_an_older_version_runs_to_its_good_end() {
    for transcript in TRANSCRIPTS {
        replay_both(transcript);
    }
}
