//! ntttcp's senders of datagrams at our server, over real sockets: whose datagrams begin flows, and that all of them are counted.

use std::io::Read as _;
use std::net::UdpSocket;
use std::sync::{Arc, Condvar, Mutex};

use pathscope_core::journal::{ConnectionProgress, Entry};
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_core::record::Caveat;
use pathscope_modes::datagrams::{DatagramArgs, DatagramsPlan};
use pathscope_modes::groups::Test;
use pathscope_modes::load::{Extent, LoadArgs};
use pathscope_peers::registry::PeerKind;
use pathscope_run::records::journal::{Sink, Wants};

use super::ntttcp::udp_words;
use super::ntttcp_served::{PATIENCE, PORTS, ask, connect, served_to};
use crate::common;

const SIZE: usize = 500;

/// Keeps what a server tells of tests while they run.
#[derive(Default)]
struct Told(Mutex<Seen>, Condvar);

#[derive(Default)]
struct Seen {
    tests_begun: usize,
    progress: Vec<ConnectionProgress>,
    troubles: Vec<String>,
}

impl Told {
    /// Waits until this is so.
    fn wait_until(&self, is_so: impl Fn(&Seen) -> bool) {
        let seen = self.0.lock().expect("nobody panics with it");
        let waited = self.1.wait_timeout_while(seen, PATIENCE, |seen| !is_so(seen));
        assert!(!waited.expect("nobody panics with it").1.timed_out(), "it did not come to that");
    }

    /// Datagrams and bytes that came on each flow; of their order nothing is said.
    fn counts(&self) -> Vec<(u64, u64)> {
        let mut counts = Vec::new();
        for told in &self.0.lock().expect("nobody panics with it").progress {
            let place = told.flow.0 as usize;
            counts.resize(counts.len().max(place + 1), (0, 0));
            let datagrams = told.datagrams.expect("they are datagrams");
            assert_eq!(datagrams.expected, None);
            counts[place].0 += datagrams.received;
            counts[place].1 += told.received_bytes;
        }
        counts
    }
}

impl Sink for Told {
    fn wants(&self) -> Wants {
        Wants { progress: true, ..Wants::default() }
    }

    fn take(&self, entry: Entry) {
        let mut seen = self.0.lock().expect("nobody panics with it");
        match entry {
            Entry::TestBegan(began) => {
                assert!(began.load.is_udp && began.load.is_up);
                seen.tests_begun += 1;
            }
            Entry::Progress(progress) => seen.progress.push(*progress),
            Entry::Trouble(trouble) => seen.troubles.push(trouble.text.clone()),
            _ => {}
        }
        drop(seen);
        self.1.notify_all();
    }

    fn settle(&self) -> Vec<Caveat> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }
}

/// A socket at this address that sends to this port of a server.
fn sender(from: &str, port: u16) -> UdpSocket {
    let socket = UdpSocket::bind((from, 0)).expect("loopback");
    socket.connect(("127.0.0.1", port)).expect("loopback");
    socket
}

fn send(socket: &UdpSocket, count: usize) {
    (0..count).for_each(|_| assert_eq!(socket.send(&[b'B'; SIZE]).expect("it leaves"), SIZE));
}

#[test]
fn each_datagram_of_a_session_that_has_begun_is_counted_and_nobody_else_s() {
    let told = Arc::new(Told::default());
    let (answers, lines) = served_to(told.clone(), |port| {
        let mut words = connect(port - 1);
        let mut answers = vec![ask(&mut words, 88), ask(&mut words, 5)];
        // What another address sends begins no flow.
        let stranger = sender("127.77.21.1", port);
        answers.push(ask(&mut words, 82));
        send(&stranger, 3);
        let flows = [port, port + 1, port].map(|port| sender("127.0.0.1", port));
        flows.iter().for_each(|flow| send(flow, 20));
        told.wait_until(|seen| seen.tests_begun == 1);
        flows.iter().for_each(|flow| send(flow, 10));
        send(&stranger, 3);
        // It begins when those of the test had been counted.
        send(&sender("127.0.0.1", port), 3);
        told.wait_until(|seen| !seen.troubles.is_empty());
        // As ntttcp's whose time was longer than what it measured.
        answers.push(ask(&mut words, 69));
        assert_eq!(words.read(&mut [0]).expect("it closes"), 0);
        answers
    });
    assert_eq!(answers, [11, 5, 82, 13]);
    assert_eq!(told.counts(), [(30, 30 * SIZE as u64); 3]);
    let [left_out, over] = &lines[..] else { panic!("{lines:?}") };
    assert!(left_out.contains("is not counted: it began later than"), "{left_out}");
    assert!(over.ends_with("session over"), "{over}");
}

#[test]
fn one_address_after_another_begins_flows_of_its_own_and_one_that_sends_none_is_told_of() {
    let told = Arc::new(Told::default());
    let ((), lines) = served_to(told.clone(), |port| {
        for tests in 1..=2 {
            let mut words = connect(port - 1);
            assert_eq!([88, 5, 82].map(|word| ask(&mut words, word)), [11, 5, 82]);
            let flow = sender("127.0.0.1", port);
            send(&flow, 7);
            told.wait_until(|seen| seen.tests_begun == tests);
            assert_eq!(ask(&mut words, 69), 13);
            assert_eq!(words.read(&mut [0]).expect("it closes"), 0);
        }
        let mut words = connect(port - 1);
        assert_eq!([88, 5, 82, 69].map(|word| ask(&mut words, word)), [11, 5, 82, 13]);
        assert_eq!(words.read(&mut [0]).expect("it closes"), 0);
    });
    assert_eq!(told.counts(), [(14, 14 * SIZE as u64)], "of both tests");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[..2].iter().all(|line| line.ends_with("session over")), "{lines:?}");
}

#[test]
fn our_sender_and_our_server_agree_on_what_can_be_known() {
    let told = Arc::new(Told::default());
    let words = LoadArgs { connections: Some(3), ..LoadArgs::usual() };
    let args = DatagramArgs { datagram: Some(Bytes(SIZE as u64)), ..udp_words() };
    let plan = DatagramsPlan {
        extent: Extent::DurationNs(Period::from_millis(500)),
        warm_up_ns: Period(0),
        rate_bps: Some(BitRate(1_000_000)),
        ..args.into_plan(words).expect("it can be run")
    };
    let test = Test::new(plan.into(), None, Period::from_millis(100));
    let ((document, failure), lines) = served_to(told.clone(), |port| {
        let places = (port..port + PORTS).map(|port| format!("127.0.0.1:{port}"));
        common::run_at(PeerKind::Ntttcp, (places.collect(), port), vec![test])
    });
    assert_eq!(failure, None);
    let [measurement] = &document.measurements[..] else { panic!("one test: {document:?}") };
    let client = measurement.client.datagrams.as_ref().expect("they are datagrams");
    let up = measurement.summary.datagrams.as_ref().and_then(|it| it.up.as_ref());
    let up = up.expect("it goes up");
    assert_eq!((up.received, up.lost, up.lost_ratio), (None, None, None));
    let counts = told.counts();
    let received: u64 = counts.iter().map(|(datagrams, _)| datagrams).sum();
    // What a slow machine dropped is in no count of either.
    assert!(counts.len() == 3 && (1..=client.sent).contains(&received), "{counts:?}");
    assert!(lines.last().is_some_and(|line| line.ends_with("session over")), "{lines:?}");
}
