//! An end that is killed, or told to end, while connections follow one another at full speed: the other tells what is known, within its
//! time, and a server serves the next client.

use std::time::Duration;

use pathscope_modes::document::OutcomeState;
use pathscope_os::clock;

use super::{AT_ONCE, counts, quiet_server};
use crate::common::{Running, document_in, pathscope, run};

/// Words of a run that goes on until it is ended, which writes its result to this file.
fn endless(host: &str, file: &str) -> Vec<String> {
    let words = format!(
        "goodput {host} --no-probe --connections {AT_ONCE} --iterations forever -n 64 --time-limit 60s --shutdown rude \
         --report-every 100ms --json-stream -o {file}"
    );
    words.split_whitespace().map(str::to_owned).collect()
}

fn start(words: &[String]) -> Running {
    Running::start(pathscope(&words.iter().map(String::as_str).collect::<Vec<_>>()))
}

#[test]
fn a_server_that_is_killed_amid_churn_is_told_and_every_connection_counted() {
    for shown in ["\"index\":0,", "\"index\":5,"] {
        let (server, address) = quiet_server([127, 77, 22, 9]);
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.json");
        let words = endless(&address.to_string(), file.to_str().expect("plain"));
        let mut client = start(&words);
        client.await_stdout(shown);
        server.signal("KILL");
        let ran = client.finish().exits(3);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.said());
        drop(server);
        let document = document_in(&file);
        assert_eq!(document.outcome.state, OutcomeState::Failed, "{}", ran.said());
        let [completed, failed, cut, unknown, attempted] = counts(&document);
        assert_eq!(completed + failed + cut + unknown, attempted, "{}", ran.said());
        assert!(attempted > AT_ONCE, "they followed one another: {}", ran.said());
    }
}

#[test]
fn a_client_that_is_killed_amid_churn_leaves_the_server_to_the_next() {
    let (_server, address) = quiet_server([127, 77, 22, 10]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let words = endless(&address.to_string(), file.to_str().expect("plain"));
    for shown in ["\"index\":0,", "\"index\":3,"] {
        let mut client = start(&words);
        client.await_stdout(shown);
        client.signal("KILL");
        drop(client.finish());
        let next = format!(
            "goodput {address} --json --quiet --no-probe --connections 2 --iterations 100 -n 64"
        );
        let ran = run(&next.split_whitespace().collect::<Vec<_>>()).exits(0);
        assert_eq!(counts(&ran.document()), [200, 0, 0, 0, 200], "{}", ran.said());
    }
}

/// A connection that is made as the server is told waits for an answer, which has its 10 s.
#[test]
fn a_server_that_is_told_to_end_amid_churn_answers_who_comes_and_ends() {
    const MOST: Duration = Duration::from_secs(8);
    let (server, address) = quiet_server([127, 77, 22, 11]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let words = endless(&address.to_string(), file.to_str().expect("plain"));
    let mut client = start(&words);
    client.await_stdout("\"index\":5,");
    let told = clock::now();
    server.signal("TERM");
    let served = server.finish().exits(0);
    let ran = client.finish().exits(3);
    let took = clock::now().since(told);
    assert!(took < MOST, "{took:?}: {}\n{}", served.said(), ran.said());
    let document = document_in(&file);
    assert_eq!(document.outcome.state, OutcomeState::Failed, "{}", ran.said());
    let [completed, failed, cut, unknown, attempted] = counts(&document);
    assert_eq!(completed + failed + cut + unknown, attempted, "{}", ran.said());
    // Whoever is not taken any more is told so, and no connection of the test is left without a word.
    let errors = &document.measurements[0].summary.goodput.as_ref().expect("it is goodput").errnos;
    assert!(errors.iter().all(|count| count.errno != "ETIMEDOUT"), "{errors:?}");
}
