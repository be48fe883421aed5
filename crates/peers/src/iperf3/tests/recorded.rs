//! Each end of ours against what the other end of the original has said: whole tests of 3.12 with itself, as a program between the two wrote
//! down what its control connection said. One line is one word: who said it, and the cookie, a state in hexadecimal, or a document. What was
//! said is said again to an end of ours, which has to answer with words of the same kinds, in the same order. Not here: what the bytes of
//! single words are (`transcripts`).

use pathscope_core::id::{FlowId, Role};
use pathscope_flow::{GroupId, Input, Phase, Totals};
use pathscope_modes::datagrams::DatagramsReport;
use pathscope_modes::load::GoodputReport;

use super::*;
use crate::dialogue::ClientDialogue as _;
use crate::iperf3::framing::document;
use crate::iperf3::parameters::Parameters;
use crate::iperf3::plans;

const RECORDED: [(&str, &str); 6] = [
    ("-n 64K -P 2", include_str!("recorded/3.12-push.txt")),
    ("-n 64K -R", include_str!("recorded/3.12-pull.txt")),
    ("-n 64K --bidir", include_str!("recorded/3.12-bidir.txt")),
    ("-t 1 -O 1", include_str!("recorded/3.12-omit.txt")),
    ("-u -n 10K -l 1000 -b 10M", include_str!("recorded/3.12-datagrams-push.txt")),
    (
        "-u -R -n 10K -l 1000 -b 10M --udp-counters-64bit",
        include_str!("recorded/3.12-datagrams-pull.txt"),
    ),
];

/// One word of a recording.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Word {
    Cookie,
    State(u8),
    Document(String),
}

impl Word {
    /// The word of a line, and whether the client said it.
    fn of(line: &str) -> (bool, Self) {
        let (who, said) = line.split_once(' ').expect("who, and what");
        let word = match u8::from_str_radix(said, 16) {
            Ok(state) => Self::State(state),
            Err(_) if said.starts_with("cookie ") => Self::Cookie,
            Err(_) => Self::Document(said.to_owned()),
        };
        (who == "client", word)
    }

    /// What of it an end of ours has to say, too.
    fn kind(&self) -> String {
        match self {
            Self::Cookie => "cookie".to_owned(),
            Self::State(state) => format!("{state:02x}"),
            Self::Document(_) => "document".to_owned(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Cookie => Vec::new(),
            Self::State(state) => vec![*state],
            Self::Document(text) => document(text.as_bytes()),
        }
    }
}

/// The words of one side, by kind.
fn kinds(words: &[(bool, Word)], by_client: bool) -> Vec<String> {
    words.iter().filter(|(of, _)| *of == by_client).map(|(_, word)| word.kind()).collect()
}

/// The same of bytes that an end of ours has said. No document begins with another byte than 0, and no state is that.
fn kinds_of(mut said: &[u8]) -> Vec<String> {
    let mut kinds = Vec::new();
    while let Some(&first) = said.first() {
        let (kind, length) = match first {
            0 => {
                let length = said.first_chunk().copied().map(u32::from_be_bytes);
                ("document".to_owned(), 4 + length.expect("it is whole") as usize)
            }
            letter if letter.is_ascii_lowercase() => ("cookie".to_owned(), 37),
            state => (format!("{state:02x}"), 1),
        };
        kinds.push(kind);
        said = said.get(length..).expect("it is whole");
    }
    kinds
}

/// An end of ours in a test, whose flows do at once what they are to do.
struct Playing<D> {
    end: D,
    test: Test,
    role: Role,
    said: Vec<u8>,
    heard: Option<Box<EndReport>>,
    is_over: bool,
    has_ended: bool,
}

impl<D> Playing<D>
where
    D: Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error = PeerError>,
{
    fn new(end: D, test: Test, role: Role) -> Self {
        let (said, heard) = (Vec::new(), None);
        Self { end, test, role, said, heard, is_over: false, has_ended: false }
    }

    fn hears(&mut self, bytes: &[u8]) {
        self.end.input(Input::Received(bytes), NOW);
        self.go_on();
    }

    fn go_on(&mut self) {
        while let Some(output) = self.end.output() {
            match output {
                Output::Send(bytes) => self.said.extend(bytes),
                Output::Prepare { plan, .. } => {
                    assert_eq!(*plan, self.test);
                    self.end.input(Input::Prepared(Vec::new()), NOW);
                    self.attach();
                }
                Output::Open { .. } => self.attach(),
                Output::Start if self.role == Role::Client => self.finish(),
                // At a server the first end of flows is that of the test.
                Output::Tell { flow: None, .. } => self.over(),
                Output::PeerReport(report) => self.heard = Some(report),
                Output::End(ended) => {
                    assert!(ended.is_ok(), "{:?}", ended.err());
                    self.has_ended = true;
                }
                _ => {}
            }
        }
    }

    fn flows(&self) -> u32 {
        self.test.groups()[0].flows
    }

    fn attach(&mut self) {
        for flow in (0..self.flows()).map(FlowId) {
            self.end.input(Input::Attached { group: GroupId(0), flow }, NOW);
        }
    }

    /// Each flow of a client has sent all that it was to, or received it.
    fn finish(&mut self) {
        for flow in (0..self.flows()).map(FlowId) {
            let sends = plans::sender(&self.test, flow) == Role::Client;
            let phase = if sends { Phase::Done } else { Phase::Settled };
            let (group, totals) = (GroupId(0), Totals::default());
            self.end.input(Input::Phase { group, flow, phase, totals }, NOW);
        }
        if (0..self.flows()).all(|flow| plans::sender(&self.test, FlowId(flow)) == Role::Client) {
            self.over();
        }
    }

    /// Its flows are over, once.
    fn over(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        // What it counted is no affair of these tests.
        let counted = EndReport { elapsed_ns: SECOND_NS, ..EndReport::default() };
        let report = Box::new(match &self.test.plan {
            Plan::Datagrams(_) => {
                EndReport { datagrams: Some(DatagramsReport::default()), ..counted }
            }
            _ => EndReport { goodput: Some(GoodputReport::default()), ..counted },
        });
        self.end.input(Input::Over(report), NOW);
    }
}

/// The bytes of all streams that a document tells of.
fn bytes_of(document: &str) -> u64 {
    let results: serde_json::Value = serde_json::from_str(document).expect("it is JSON");
    let streams = results["streams"].as_array().expect("it tells of streams");
    streams.iter().map(|stream| stream["bytes"].as_u64().expect("a number")).sum()
}

/// What a report of the other end says that it sent and received.
fn moved(report: &EndReport) -> u64 {
    let streams = report.goodput.as_ref().map(|own| own.sent_bytes + own.received_bytes);
    let datagrams = report.datagrams.as_ref().map(|own| own.sent_bytes + own.received_bytes);
    streams.or(datagrams).expect("of a load")
}

#[test]
fn each_end_of_ours_answers_the_original_as_its_own_other_end_does() {
    for (options, text) in RECORDED {
        let words: Vec<_> = text.lines().map(Word::of).collect();
        let documents = |by_client| {
            let of = words.iter().filter(move |(of, _)| *of == by_client);
            of.filter_map(|(_, word)| match word {
                Word::Document(text) => Some(text.as_str()),
                _ => None,
            })
        };
        let asked = documents(true).next().expect("its parameters");
        let parameters = Parameters::read(asked.as_bytes()).expect("they are read");
        let granted = plans::granted(&parameters, &settings(Limits::NONE));
        let test = granted.expect("it is granted");

        let mut ours = Playing::new(server(Limits::NONE), test.clone(), Role::Server);
        ours.go_on();
        words
            .iter()
            .filter(|(by_client, _)| *by_client)
            .for_each(|(_, word)| ours.hears(&word.bytes()));
        assert_eq!(kinds_of(&ours.said), kinds(&words, false), "a server, {options}");
        assert!(ours.has_ended, "a server, {options}");
        let heard = ours.heard.expect("its client has reported");
        let theirs = documents(true).nth(1).expect("its results");
        assert_eq!(moved(&heard), bytes_of(theirs), "a server, {options}");

        let mut ours = Playing::new(client(), test.clone(), Role::Client);
        ours.end.propose(test, NOW);
        ours.go_on();
        words
            .iter()
            .filter(|(by_client, _)| !by_client)
            .for_each(|(_, word)| ours.hears(&word.bytes()));
        assert_eq!(kinds_of(&ours.said), kinds(&words, true), "a client, {options}");
        ours.end.finish(NOW);
        ours.end.input(Input::ControlClosed, NOW);
        ours.go_on();
        assert!(ours.has_ended, "a client, {options}");
        let heard = ours.heard.expect("its server has reported");
        let theirs = documents(false).next().expect("its results");
        assert_eq!(moved(&heard), bytes_of(theirs), "a client, {options}");
    }
}
