//! Tests of `server`: listeners that cannot be watched for now. What becomes of a server whose other calls fail is tested with whole
//! runs.

use std::io::Write;
use std::thread;

use pathscope_os::faults::{Call, Errno, Faults};

use super::*;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server leaves its listener alone for a moment, and has no memory to watch it afterwards; then it has.
fn watch_again(failing: &Faults) -> Result<(), RunError> {
    let settings = Settings { listen: vec!["127.0.0.1".to_owned()], ..Settings::default() };
    let server = Server::bind(settings)?;
    let address = server.addresses().next().expect("it listens");
    let (stop, log_limit, say) = (Stop::default(), LogLimit::default(), |_: &str| {});
    let log = ServerLog { say: &say, warn: None, log_limit: &log_limit };
    thread::scope(|scope| {
        let mut serving = Serving::new(&server, scope, &stop, log)?;
        let now = clock::now();
        serving.stop_listening(now);
        failing.fail(1..=1, Errno::NOMEM);
        serving.listen_again(now);
        assert_eq!((failing.stop(), serving.full_until), (1, Some(now + FULL)));
        serving.listen_again(now + FULL);
        assert_eq!(serving.full_until, None);
        let mut caller = TcpStream::connect(address).expect("it listens");
        caller.write_all(b"anything").expect("it is heard");
        let (mut ready, until): (Vec<Ready>, _) = (Vec::new(), now + PATIENCE);
        while !ready.iter().any(|it| it.key == FIRST_LISTENER) {
            assert!(clock::now() < until, "the listener is not watched");
            serving.poller.wait(&mut ready, Some(PATIENCE))?;
            serving.waker.drain();
        }
        Ok(())
    })
}

#[test]
fn a_server_that_cannot_watch_its_listeners_for_now_tries_again() {
    let faults = Faults::new(Call::Watch);
    let failing = faults.clone();
    match faults.within(move || watch_again(&failing)) {
        Ok(done) => done.expect("it serves"),
        Err(error) => println!("skipped, because {error}"),
    }
}
