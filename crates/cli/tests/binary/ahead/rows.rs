//! Connections that go ahead while somebody writes each of them down: rows and totals add up at both ends, whatever becomes of one.

use std::path::Path;

use super::*;
use crate::journal::{files, number, rows};

/// What rows of connections say together: how many there are, how many succeeded, bytes sent and received.
fn sums(path: &Path) -> [u64; 4] {
    let rows = rows(path);
    let mut flows: Vec<u64> = rows.iter().map(|row| number(row, "Flow")).collect();
    flows.sort_unstable();
    flows.dedup();
    let succeeded = rows.iter().filter(|row| row["Result"] == "Succeeded").count() as u64;
    let sum = |column| rows.iter().map(|row| number(row, column)).sum();
    [flows.len() as u64, succeeded, sum("SendBytes"), sum("RecvBytes")]
}

/// Completed and failed in the network, by the last row of status.
fn ended(path: &Path) -> [u64; 2] {
    let rows = rows(path);
    let last = rows.last().expect("there is one");
    assert_eq!(number(last, "In-Flight"), 0, "{last:?}");
    ["Completed", "NetError"].map(|column| number(last, column))
}

#[test]
fn each_has_a_row_at_both_ends_and_goes_ahead_all_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server_words, server_files) = files(folder.path(), "server");
    let (client_words, client_files) = files(folder.path(), "client");
    let server_words: Vec<&str> = server_words.iter().map(String::as_str).collect();
    let server = Server::start_with(&server_words);
    let ahead = |flow| Treat::Ahead(if u64::from(flow) < AT_ONCE { 0 } else { 64 });
    let (host, gate) = Gate::before(told_address(&server), Capability::Told, ahead);
    let words = format!("-n 64 --shutdown rude {}", client_words.join(" "));
    all_came(&churn(&host, &words), [64, 0]);
    let (went, _) = went_ahead(&gate);
    assert!(went >= IN_ALL - 2 * AT_ONCE, "{went} of {IN_ALL}");
    server.running.signal("TERM");
    server.running.finish().exits(0);
    let bytes = 64 * IN_ALL;
    assert_eq!(sums(&client_files[1]), [IN_ALL, IN_ALL, bytes, 0]);
    assert_eq!(sums(&server_files[1]), [IN_ALL, IN_ALL, 0, bytes]);
    assert_eq!((ended(&client_files[0]), ended(&server_files[0])), ([IN_ALL, 0], [IN_ALL, 0]));
    let ids = |path: &Path| {
        let rows = rows(path).into_iter();
        let mut ids: Vec<_> =
            rows.map(|row| (number(&row, "Flow"), row["ConnectionId"].clone())).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&client_files[1]), ids(&server_files[1]));
    // Each is told with both its ends.
    let addresses = |row: &crate::journal::Row| {
        ["LocalAddress", "RemoteAddress"].map(|column| row[column].parse::<SocketAddr>().is_ok())
    };
    for path in [&client_files[1], &server_files[1]] {
        assert!(rows(path).iter().all(|row| addresses(row) == [true; 2]), "{}", path.display());
    }
}

/// Its word that it is over often comes before the server's session has heard that it had come.
#[test]
fn no_connection_of_thousands_is_told_as_lost_by_a_server_that_writes_each_down() {
    const PLACES: u64 = 2;
    const EACH: u64 = 2_500;
    let folder = tempfile::tempdir().expect("a folder");
    let (words, files) = files(folder.path(), "server");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let server = Server::start_with(&words);
    let words = format!(
        "goodput {} --json --quiet --no-probe --connections {PLACES} --iterations {EACH} -n 64 --shutdown rude",
        server.host()
    );
    let ran = run(&words.split_whitespace().collect::<Vec<_>>()).exits(0);
    let all = PLACES * EACH;
    assert_eq!(counts(&ran.document()), [all, 0, 0, 0, all], "{}", ran.said());
    server.running.signal("TERM");
    server.running.finish().exits(0);
    assert_eq!(sums(&files[1]), [all, all, 0, 64 * all]);
    assert_eq!(ended(&files[0]), [all, 0]);
    assert!(rows(&files[2]).is_empty(), "no error");
}

#[test]
fn one_that_is_reset_before_its_answer_has_a_row_with_its_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let (words, files) = files(folder.path(), "client");
    let (_running, server) = quiet_server([127, 77, 22, 9]);
    let words = format!("-n 64 {}", words.join(" "));
    let (document, why) = with_one(server, (Treat::Reset, 64), &words);
    assert!(why.contains("reset"), "{why}");
    assert_eq!(counts(&document), [IN_ALL - 1, 1, 0, 0, IN_ALL]);
    assert_eq!(sums(&files[1]), [IN_ALL, IN_ALL - 1, 64 * (IN_ALL - 1), 0]);
    assert_eq!(ended(&files[0]), [IN_ALL - 1, 1]);
    let failed = rows(&files[1]).into_iter().find(|row| row["Result"] != "Succeeded");
    assert_eq!(failed.expect("one")["Errno"], "ECONNRESET");
}
