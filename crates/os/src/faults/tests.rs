//! Tests of `faults`: which calls fail, and that no others do.

use std::net::UdpSocket;

use super::*;

#[test]
fn the_calls_that_are_meant_fail_and_no_others() {
    let faults = Faults::new(Call::MakeSocket);
    faults.fail(2..=3, Errno::NFILE);
    let made = faults.within(|| {
        let make = |_| UdpSocket::bind("127.0.0.1:0").err().and_then(|it| it.raw_os_error());
        (0..5).map(make).collect::<Vec<_>>()
    });
    let made = match made {
        Ok(made) => made,
        Err(error) => return println!("skipped, because {error}"),
    };
    let errno = Some(libc::ENFILE);
    assert_eq!(made, [None, errno, errno, None, None]);
    assert_eq!(faults.stop(), 2);
    assert!(UdpSocket::bind("127.0.0.1:0").is_ok(), "of others none fails");
}

#[test]
fn a_call_is_known_by_its_argument_too() {
    let faults = Faults::new(Call::Duplicate);
    faults.fail(1..=1, Errno::MFILE);
    let tried = faults.within(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        // Another use of the same call.
        socket.set_nonblocking(true).expect("a socket");
        let flags = rustix::fs::fcntl_getfl(&socket).is_ok();
        let again = || socket.try_clone().err().and_then(|it| it.raw_os_error());
        (flags, again(), again())
    });
    match tried {
        Ok(tried) => assert_eq!(tried, (true, Some(libc::EMFILE), None)),
        Err(error) => println!("skipped, because {error}"),
    }
}

#[test]
fn what_is_wrong_with_the_work_is_told_as_such() {
    let faults = Faults::new(Call::MakeSocket);
    let tried = std::panic::catch_unwind(|| {
        faults.within(|| assert!(UdpSocket::bind("127.0.0.1:0").is_err(), "it is wrong"))
    });
    match tried {
        Ok(Ok(())) => panic!("nothing is said"),
        Ok(Err(error)) => println!("skipped, because {error}"),
        Err(panic) => assert_eq!(panic.downcast_ref::<&str>(), Some(&"it is wrong")),
    }
}
