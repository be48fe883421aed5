//! The driver with a dialogue of a few words.
use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpListener;

use pathscope_os::faults::{Call, Errno, Faults};

use super::*;

/// Says a word, and ends with the connection.
struct Speaker {
    outputs: VecDeque<Output<Self>>,
    heard: Vec<u8>,
    deadline: Tick,
}

impl Dialogue for Speaker {
    type Plan = Test;
    type Interval = EndInterval;
    type Report = EndReport;
    type Error = RunError;

    fn input(&mut self, input: Input<'_, Self>, now: Tick) {
        match input {
            Input::Received(bytes) => {
                self.heard.extend_from_slice(bytes);
                self.deadline = now + Duration::from_secs(20);
            }
            Input::ControlClosed | Input::Reconnected => {
                self.outputs.push_back(Output::End(Ok(())));
            }
            Input::Unreached => self.outputs.push_back(Output::End(Err(RunError::LeftEarly))),
            // It slept over what there was to do.
            Input::Deadline => {
                self.outputs = VecDeque::from([Output::End(Err(RunError::LeftEarly))]);
            }
            _ => {}
        }
    }

    fn output(&mut self) -> Option<Output<Self>> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Tick> {
        Some(self.deadline)
    }
}

struct Nothing;

impl End for Nothing {
    fn provide(&mut self, _: &mut RunningTest, _: &Inbox) -> Result<(), RunError> {
        Ok(())
    }
}

/// A driver of a client that says this first, and the other end of its connection, which has said `word`.
fn driver_of(
    says: Vec<Output<Speaker>>,
    word: &[u8],
    deadline: Tick,
) -> (Driver<Speaker>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let control = TcpStream::connect(address).expect("it listens");
    let (mut peer, _) = listener.accept().expect("one has come");
    peer.write_all(word).expect("there is room");
    control.peek(&mut [0]).expect("it has come");
    // What it has not read makes its close a reset.
    (&control).write_all(b"unread").expect("there is room");
    peer.peek(&mut [0]).expect("it has come");
    let speaker = Speaker { outputs: says.into(), heard: Vec::new(), deadline };
    let ends = (Role::Client, Conventions::default());
    let carrier = (Carrier::Control(control, address), None);
    let driver = Driver::new(speaker, ends, carrier, &Journal::default()).expect("a driver");
    (driver, peer)
}

#[test]
fn who_has_spoken_in_time_is_not_silent_however_late_this_end_listens() {
    let (mut driver, _peer) = driver_of(Vec::new(), b"word", clock::now());
    // Its time has come before it was seen that there is something to hear, as where a thread has very many others.
    driver.attend(false, &mut Nothing);
    assert!(matches!(driver.go_on(&mut Nothing), Turn::Until(_)), "it has not slept");
    assert_eq!(driver.dialogue.heard, b"word");
}

#[test]
fn a_connection_that_is_found_broken_by_speaking_is_closed_and_its_last_words_are_heard() {
    let says = vec![Output::Send(b"anything".to_vec())];
    let deadline = clock::now() + Duration::from_secs(20);
    let (mut driver, peer) = driver_of(says, b"farewell", deadline);
    drop(peer);
    let left = driver.drive(&mut Nothing);
    assert!(matches!(left, Left::Ended(Ok(()))), "{left:?}");
    assert_eq!(driver.dialogue.heard, b"farewell");
}

/// How a session ends whose control connection is reset before it begins, and which is to ask for the server again.
fn of_reset_connection() -> Left {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let control = TcpStream::connect(address).expect("it listens");
    (&control).write_all(b"unread").expect("there is room");
    let (peer, _) = listener.accept().expect("one has come");
    peer.peek(&mut [0]).expect("it has come");
    drop(peer);
    let outputs = VecDeque::from([Output::Reconnect]);
    let deadline = clock::now() + Duration::from_secs(20);
    let speaker = Speaker { outputs, heard: Vec::new(), deadline };
    let over = (Carrier::Control(control, address), None);
    let ends = (Role::Client, Conventions::default());
    let mut driver = Driver::new(speaker, ends, over, &Journal::default()).expect("a driver");
    driver.drive(&mut Nothing)
}

#[test]
fn a_server_that_has_reset_a_connection_at_once_is_asked_for_again() {
    let left = of_reset_connection();
    assert!(matches!(left, Left::Ended(Ok(()))), "{left:?}");
}

#[test]
fn where_a_server_cannot_be_asked_for_again_the_session_ends_with_the_reason() {
    let faults = Faults::new(Call::Begin);
    faults.fail(1..=1, Errno::AGAIN);
    match faults.within(of_reset_connection) {
        Ok(Left::Ended(Err(error))) => {
            let lost = RunError::LeftEarly;
            let text = error.to_string();
            let said = format!("{lost}; and this machine could not ask for the server again: ");
            assert!(text.starts_with(&said), "{text}");
            assert!(text.contains("cannot start a thread"), "{text}");
        }
        Ok(left) => panic!("{left:?}"),
        Err(error) => println!("skipped, because {error}"),
    }
}
