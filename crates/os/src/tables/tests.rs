//! Threads with tables of their own: what is handed over is open there and nowhere else.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::*;
use crate::faults::{Call, Errno, Faults};
use crate::readiness::{Interest, Poller};

const PATIENCE: Duration = Duration::from_secs(30);

fn connected() -> (TcpStream, Socket) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("it is bound");
    let far = TcpStream::connect(address).expect("it listens");
    let (near, _) = listener.accept().expect("somebody connects");
    far.set_read_timeout(Some(PATIENCE)).expect("a socket");
    (far, near.into())
}

/// What the kernel calls the socket of a descriptor of this thread; nothing if it is open no more.
fn socket_of(descriptor: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/thread-self/fd/{descriptor}")).ok()
}

#[test]
fn a_socket_is_open_where_it_was_handed_to_and_nowhere_else() {
    let waker = Waker::new().expect("a waker");
    let (outside, _other) = connected();
    let number_outside = outside.as_raw_fd();
    let (tell, told) = channel();
    let calls = waker.clone();
    let table = Table::start("apart", vec![waker.clone()], move |inside| {
        // What is open outside is not open here.
        let path = format!("/proc/thread-self/fd/{number_outside}");
        let _ = tell.send(std::fs::read_link(path).is_err().to_string());
        let mut held = Vec::new();
        loop {
            match inside.next() {
                Handed::Socket(number, socket) => {
                    let _ = tell.send(format!("{number} {:?}", socket.local_addr().ok()));
                    held.push(socket);
                }
                Handed::Call => calls.wake(),
                Handed::Lost(number) => panic!("{number} found no room"),
                Handed::Over => return,
            }
        }
    });
    let table = match table {
        Ok(table) => table,
        Err(error) => return println!("skipped, because {error}"),
    };
    let next = || told.recv_timeout(PATIENCE).expect("it tells");
    assert_eq!(next(), "true");
    let (mut far, near) = connected();
    let address = near.local_addr().ok();
    table.give(7, near).expect("it is there");
    assert_eq!(next(), format!("7 {address:?}"));
    table.call().expect("it is there");
    let poller = Poller::new().expect("a poller");
    poller.add(&waker, 1, Interest::INPUT).expect("a waker");
    let mut ready = Vec::new();
    poller.wait(&mut ready, Some(PATIENCE)).expect("a poller");
    assert_eq!(ready.len(), 1, "its calls reach the outside");
    // It is open as long as the thread is there, and no longer.
    far.set_nonblocking(true).expect("a socket");
    let error = far.read(&mut [0]).expect_err("nothing has come");
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    far.set_nonblocking(false).expect("a socket");
    drop(table);
    assert_eq!(far.read(&mut [0]).expect("it is closed"), 0);
}

#[test]
fn those_that_are_handed_over_together_come_one_after_the_other_before_whatever_follows() {
    const COUNT: u32 = 2 * AT_ONCE as u32 + 3;
    let (tell, told) = channel();
    let table = Table::start("apart", Vec::new(), move |inside| {
        // Each is open, and another one.
        let mut held = Vec::new();
        while let Handed::Socket(number, socket) = inside.next() {
            let _ = tell.send((number, socket.local_addr().ok()));
            held.push(socket);
        }
        let _ = tell.send((COUNT, None));
        assert!(inside.next_if_there().is_none_or(|next| matches!(next, Handed::Over)));
    });
    let table = match table {
        Ok(table) => table,
        Err(error) => return println!("skipped, because {error}"),
    };
    let (peers, sockets): (Vec<_>, Vec<_>) = (0..COUNT).map(|_| connected()).unzip();
    let expected: Vec<_> = (0..).zip(&sockets).map(|(n, it)| (n, it.local_addr().ok())).collect();
    table.give_all((0..).zip(sockets).collect()).expect("it is there");
    table.call().expect("it is there");
    let come: Vec<_> =
        (0..=COUNT).map(|_| told.recv_timeout(PATIENCE).expect("it tells")).collect();
    assert_eq!(come[..COUNT as usize], expected);
    assert_eq!(come[COUNT as usize], (COUNT, None), "then the call");
    drop((table, peers));
}

#[test]
fn each_table_has_room_for_as_many_as_the_first() {
    // Two in each table for a socket outside, which is closed at once.
    let (tell, told) = channel();
    let start = || {
        let tell = tell.clone();
        Table::start("apart", Vec::new(), move |inside| {
            let mut held = Vec::new();
            while let Handed::Socket(_, socket) = inside.next() {
                held.push(socket);
            }
            let _ = tell.send(held.len());
        })
    };
    let mut tables = Vec::new();
    for _ in 0..2 {
        match start() {
            Ok(table) => tables.push(table),
            Err(error) => return println!("skipped, because {error}"),
        }
    }
    let mut peers = Vec::new();
    let mut handed = Vec::new();
    for number in 0..20 {
        let (far, near) = connected();
        peers.push(far);
        handed.push(socket_of(near.as_fd().as_raw_fd()).expect("it is open"));
        tables[number % 2].give(number as u32, near).expect("it is there");
    }
    // None of them is open here any more, under any number: other tests open others meanwhile.
    let left: Vec<_> = std::fs::read_dir("/proc/thread-self/fd")
        .expect("it runs")
        .filter_map(|entry| socket_of(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .filter(|socket| handed.contains(socket))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    drop(tables);
    let held: usize = (0..2).map(|_| told.recv_timeout(PATIENCE).expect("it ends")).sum();
    assert_eq!(held, 20);
}

#[test]
fn a_socket_is_handed_over_once_the_system_has_room_and_else_it_is_told() {
    let faults = Faults::new(Call::Send);
    let failing = faults.clone();
    let work = move || {
        let (tell, told) = channel();
        let table = Table::start("apart", Vec::new(), move |inside| {
            loop {
                let _ = tell.send(match inside.next() {
                    Handed::Socket(number, _) => format!("socket {number}"),
                    Handed::Call => "call".to_owned(),
                    Handed::Lost(_) | Handed::Over => return,
                });
            }
        })?;
        let next = || told.recv_timeout(PATIENCE).expect("it tells");
        for (number, errno) in (0..).zip([Errno::INTR, Errno::TOOMANYREFS, Errno::NOBUFS]) {
            let (_far, near) = connected();
            failing.fail(1..=3, errno);
            table.give(number, near).expect("there is room at last");
            assert_eq!(failing.stop(), 3);
            assert_eq!(next(), format!("socket {number}"));
            failing.fail(1..=3, errno);
            table.call().expect("there is room at last");
            assert_eq!((failing.stop(), next()), (3, "call".to_owned()));
        }
        let (_far, near) = connected();
        failing.fail(1..=u64::MAX, Errno::TOOMANYREFS);
        let error = table.give(9, near).expect_err("there is none").to_string();
        assert!(error.contains("ulimit -n"), "{error}");
        failing.stop();
        Ok::<_, OsError>(())
    };
    if let Err(error) = faults.within(work).and_then(|done| done) {
        println!("skipped, because {error}");
    }
}
