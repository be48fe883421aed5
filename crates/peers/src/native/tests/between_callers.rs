//! What a caller can do to a test that is another's, whose token he knows: as far as one dialogue decides it. Which
//! session gives way to whom is decided where all sessions are known.

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::record::Host;
use pathscope_flow::{Credentials, Dialogue as _, Input, Output, Resumed};

use super::pair::{Fault, Pair, Seen};
use crate::dialogue::{ServerDialogue as _, ServerSettings};
use crate::limits::Limits;
use crate::native::frame::Frame;
use crate::native::link::Link;
use crate::native::message::{Hello, Message, Propose};
use crate::native::{Greeting, HelloCheck, Server, VERSIONS, fixtures};

const NOW: Tick = Tick::ZERO;
const KNOWN: Token = Token([7; 16]);
const NAME: Token = Token([8; 16]);

/// A client of a server that has just greeted it, in this version.
struct Caller {
    server: Server,
    link: Option<Link>,
}

impl Caller {
    fn greet(version: u16) -> Self {
        let settings = ServerSettings {
            rate: None,
            is_of_several: false,
            identity: None,
            host: Host::default(),
            limits: Limits::default(),
            congestion_controls: Vec::new(),
            wants_ends: false,
            stated: None,
        };
        let hello = Hello { security: vec!["none".to_owned()], ..Hello::default() };
        let hello = Message::Hello(Box::new(hello)).encode().expect("it is short");
        let check = (version > 1).then(|| HelloCheck::of(&hello));
        let greeting = Greeting { versions: VERSIONS, hello: check };
        let mut server = Server::new(settings, greeting, Ok(()), [5; 16], NOW);
        server.input(Input::Received(&hello), NOW);
        let link = (version > 1).then(|| Link::new(NAME));
        let mut caller = Self { server, link };
        caller.outputs();
        caller
    }

    /// What the server does about this proposal: the test that it prepares, and all that it says.
    fn propose(&mut self, propose: Propose) -> (Option<(Credentials, Option<Resumed>)>, String) {
        let frame = Message::Propose(propose).frame().expect("it is short");
        let bytes = self.link.as_mut().map_or_else(|| frame.encode(), |link| link.say(&frame));
        self.server.input(Input::Received(&bytes), NOW);
        self.outputs()
    }

    fn outputs(&mut self) -> (Option<(Credentials, Option<Resumed>)>, String) {
        let (mut prepared, mut said) = (None, String::new());
        while let Some(output) = self.server.output() {
            match output {
                Output::Prepare { credentials, resumed, .. } => {
                    prepared = Some((credentials, resumed));
                }
                Output::Send(bytes) => said += &String::from_utf8_lossy(&bytes),
                _ => {}
            }
        }
        (prepared, said)
    }
}

#[test]
fn a_server_draws_the_token_of_a_test_that_is_resumed() {
    let mut drawn = Vec::new();
    for session in [None, Some(NAME)] {
        let mut caller = Caller::greet(2);
        let resumed = Resumed { token: KNOWN, session };
        let (prepared, said) = caller.propose(Propose::again(&fixtures::paths(), resumed));
        let (credentials, told) = prepared.expect(&said);
        assert_eq!((told, credentials.session), (Some(resumed), caller.server.session()));
        assert_ne!(credentials.token, KNOWN);
        drawn.push(credentials.token);
        // As it does for any other test, and never twice.
        caller.server.input(Input::Unable { code: "unable", sentence: "no" }, NOW);
        let (prepared, said) = caller.propose(Propose::new(&fixtures::paths()));
        let (credentials, told) = prepared.expect(&said);
        assert_eq!(told, None);
        assert!(!drawn.contains(&credentials.token), "{credentials:?}");
    }
}

#[test]
fn version_1_resumes_with_the_token_that_its_flows_have_and_names_no_session() {
    let mut caller = Caller::greet(1);
    // A name means nothing there.
    let resumed = Resumed { token: KNOWN, session: Some(NAME) };
    let (prepared, said) = caller.propose(Propose::again(&fixtures::paths(), resumed));
    let credentials = Credentials { token: KNOWN, session: None, goes_ahead: false };
    let expected = (credentials, Some(Resumed { token: KNOWN, session: None }));
    assert_eq!(prepared, Some(expected), "{said}");
}

#[test]
fn a_token_that_no_server_has_drawn_is_refused() {
    for version in [1, 2] {
        let mut caller = Caller::greet(version);
        let resumed = Resumed { token: Token([0; 16]), session: None };
        let (prepared, said) = caller.propose(Propose::again(&fixtures::paths(), resumed));
        assert_eq!(prepared, None, "version {version}");
        assert!(said.contains("\"invalid\"") && said.contains("all zeros"), "{said}");
        // The session is as it was.
        assert!(caller.propose(Propose::new(&fixtures::paths())).0.is_some(), "version {version}");
    }
}

/// What the server of now was asked to prepare.
fn prepared(pair: &Pair) -> (Token, Option<Resumed>) {
    let resumed = pair.server.seen.iter().find_map(|seen| match seen {
        Seen::Resumes(resumed) => Some(*resumed),
        _ => None,
    });
    let token = pair.server.seen.iter().find_map(|seen| match seen {
        Seen::Prepare(token) => Some(*token),
        _ => None,
    });
    (token.expect("it has prepared a test"), resumed)
}

#[test]
fn a_client_names_the_session_that_it_had_and_takes_over_what_the_next_one_draws() {
    let mut pair = Pair::new(&[fixtures::paths()]);
    (pair.client.flows_end, pair.back_after_ns) = (false, Some(1_000_000_000));
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    let began = pair.client.seen.iter().find_map(|seen| match seen {
        Seen::Open(token, _) => Some(*token),
        _ => None,
    });
    let began = began.expect("it has opened its flows");
    for times in 1..=3 {
        let session = pair.server.dialogue.session();
        pair.server.fault = Some((0, Fault::Cut));
        pair.run_until(|pair| pair.client.count(&Seen::Resumed) == times);
        // The token of the beginning, which what is on its way bears, and the name of the session before.
        let (token, resumed) = prepared(&pair);
        assert_eq!(resumed, Some(Resumed { token: began, session }), "{times}");
        let credentials =
            Credentials { token, session: pair.server.dialogue.session(), goes_ahead: true };
        assert_eq!(pair.client.rejoins().last(), Some(&credentials), "{times}");
        assert_ne!((token, credentials.session), (began, session), "{times}");
    }
}

#[test]
fn a_session_that_took_a_test_up_and_was_lost_before_it_began_is_the_one_that_is_named() {
    let mut pair = Pair::new(&[fixtures::paths()]);
    (pair.client.flows_end, pair.back_after_ns) = (false, Some(1_000_000_000));
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    pair.server.fault = Some((0, Fault::Cut));
    pair.run_until(|pair| pair.client.rejoins().len() == 1);
    let session = pair.server.dialogue.session();
    assert_eq!(pair.client.count(&Seen::Resumed), 0);
    pair.server.fault = Some((0, Fault::Cut));
    pair.run_until(|pair| pair.client.rejoins().len() == 2);
    let (_, resumed) = prepared(&pair);
    assert_eq!(resumed.and_then(|resumed| resumed.session), session);
}

/// Frames of both versions say a proposal alike.
#[test]
fn a_proposal_that_names_no_session_has_no_field_for_it() {
    let body = |propose| {
        let Frame { body, .. } = Message::Propose(propose).frame().expect("it is short");
        String::from_utf8(body).expect("JSON is text")
    };
    let named = Resumed { token: KNOWN, session: Some(NAME) };
    assert!(body(Propose::again(&fixtures::paths(), named)).contains("\"session\":\"0808"));
    let plain = Resumed { token: KNOWN, session: None };
    assert!(!body(Propose::again(&fixtures::paths(), plain)).contains("\"session\""));
}
