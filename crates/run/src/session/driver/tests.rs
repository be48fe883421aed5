//! The driver with a dialogue of a few words.
use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpListener;

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

    fn input(&mut self, input: Input<'_, Self>, _: Tick) {
        match input {
            Input::Received(bytes) => self.heard.extend_from_slice(bytes),
            Input::ControlClosed => self.outputs.push_back(Output::End(Ok(()))),
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

#[test]
fn a_connection_that_is_found_broken_by_speaking_is_closed_and_its_last_words_are_heard() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let mut control = TcpStream::connect(address).expect("it listens");
    let (mut peer, _) = listener.accept().expect("one has come");
    peer.write_all(b"farewell").expect("there is room");
    // What it has not read makes its close a reset.
    control.write_all(b"unread").expect("there is room");
    let mut byte = [0];
    peer.peek(&mut byte).expect("it has come");
    drop(peer);

    let speaker = Speaker {
        outputs: VecDeque::from([Output::Send(b"anything".to_vec())]),
        heard: Vec::new(),
        deadline: clock::now() + Duration::from_secs(20),
    };
    let ends = (Role::Client, Conventions::default());
    let carrier = (Carrier::Control(control), None);
    let mut driver = Driver::new(speaker, ends, carrier, &Journal::default()).expect("a driver");
    let left = driver.drive(&mut Nothing);
    assert!(matches!(left, Left::Ended(Ok(()))), "{left:?}");
    assert_eq!(driver.dialogue.heard, b"farewell");
}
