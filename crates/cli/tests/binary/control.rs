//! A control connection that the path damages or cuts while a test runs: the run ends as if nothing had been, and says so.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{Server, run};
use crate::relay::pass_opening;

/// What happens once to the control connection, when the first data connection is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Trouble {
    /// A bit of what the client says next is flipped.
    Up,
    /// A bit of what the server says next is.
    Down,
    /// It is cut off.
    Cut,
}

/// Relays every connection to `server`, for as long as the test runs.
fn relay(server: &str, trouble: Trouble) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let server = server.to_owned();
    let is_due = Arc::new(AtomicBool::new(false));
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(&server) else { return };
            let is_due = Arc::clone(&is_due);
            std::thread::spawn(move || carry(client, server, (trouble, is_due)));
        }
    });
    address
}

fn carry(
    mut client: TcpStream,
    mut server: TcpStream,
    (trouble, is_due): (Trouble, Arc<AtomicBool>),
) {
    let Some(opening) = pass_opening(&mut client, &mut server) else { return };
    // Of flow 0.
    if opening[8] == 4 && opening[12..16] == [0; 4] {
        is_due.store(true, Ordering::Release);
    }
    let spoilt = |not: Trouble| {
        let is_spoilt = opening[8] == 1 && trouble != not;
        is_spoilt.then(|| (trouble, Arc::clone(&is_due)))
    };
    let (up, down) = (spoilt(Trouble::Down), spoilt(Trouble::Up));
    let (Ok(from_server), Ok(to_client)) = (server.try_clone(), client.try_clone()) else { return };
    std::thread::spawn(move || copy(from_server, to_client, down.as_ref()));
    copy(client, server, up.as_ref());
}

fn copy(mut from: TcpStream, mut to: TcpStream, due: Option<&(Trouble, Arc<AtomicBool>)>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if let Some((trouble, is_due)) = due
            && is_due.swap(false, Ordering::AcqRel)
        {
            if *trouble == Trouble::Cut {
                let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
                return;
            }
            buffer[count / 2] ^= 1;
        }
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}

#[test]
fn a_damaged_or_broken_control_connection_costs_no_report_and_no_verdict() {
    let server = Server::start();
    let goodput: &[&str] = &["-c", "2", "--no-probe", "--rate", "20Mbit"];
    for (kind, words) in [("goodput", goodput), ("latency", &["--protocol", "tcp"])] {
        for trouble in [Trouble::Up, Trouble::Down, Trouble::Cut] {
            let target = relay(&server.host(), trouble).to_string();
            let command = [kind, &target, "-t", "2s", "--report-every", "500ms", "--json"];
            let ran = run(&[&command, words].concat()).exits(0);
            let document = ran.document();
            let caveats: Vec<_> = document
                .caveats
                .iter()
                .filter(|caveat| caveat.name == "control_connection_renewed")
                .collect();
            assert_eq!(caveats.len(), 1, "{kind}, {trouble:?}: {}", ran.said());
            let text = &caveats[0].text;
            let is_damage = text.contains("the path damaged a message");
            assert_eq!(is_damage, trouble != Trouble::Cut, "{kind}, {trouble:?}: {text}");
            assert!(text.contains("was made anew once"), "{kind}, {trouble:?}: {text}");
            assert!(!ran.said().contains("broke the protocol"), "{}", ran.said());
            // Both ends' figures of every interval, and both reports.
            let measurement = &document.measurements[0];
            let is_told = |interval: &pathscope_modes::document::Interval| {
                interval.client.is_some() && interval.server.is_some()
            };
            assert!(measurement.intervals.len() >= 4, "{kind}, {trouble:?}: {}", ran.said());
            assert!(measurement.intervals.iter().take(4).all(is_told), "{kind}, {trouble:?}");
            if let Some(goodput) = &measurement.summary.goodput {
                assert_eq!((goodput.completed, goodput.failed), (2, 0));
                assert!(measurement.verdict.is_some(), "{}", ran.said());
            }
        }
    }
}
