//! An end that is gone in mid-run: what the other says of it counts what happened, and not the time in which it waited.

use crate::common::{Running, Server, pathscope};
use crate::journal::{files, number, rows};

#[test]
fn connections_that_a_second_stop_leaves_behind_have_not_failed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (words, paths) = files(folder.path(), "client");
    let file = folder.path().join("run.json");
    let server = Server::start();
    let host = server.host();
    let test = ["goodput", &host, "-c", "2", "-t", "60s", "--report-every", "100ms", "-o"];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let file_word = [file.to_str().expect("plain")];
    let mut client = Running::start(pathscope(&[&test[..], &file_word, &words].concat()));
    client.await_stdout("bit/s");
    // It stands still, and says nothing more.
    server.running.signal("STOP");
    client.signal("INT");
    client.await_stderr("second");
    client.signal("INT");
    let ran = client.finish().exits(130);
    server.running.signal("CONT");
    let document = crate::common::document_in(&file);
    let summary = document.measurements[0].summary.goodput.as_ref().expect("it is goodput");
    assert_eq!((summary.failed, summary.unknown), (0, 2), "{}", ran.said());
    let rows = rows(&paths[1]);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in &rows {
        assert!(row["Result"].contains("the run was stopped before"), "{row:?}");
        assert_eq!(row["ErrorKind"], "unknown", "{row:?}");
    }
    let status = crate::journal::rows(&paths[0]);
    let last = status.last().expect("rows");
    let failed = ["NetError", "DataError", "ProtocolError"].map(|column| number(last, column));
    assert_eq!(failed, [0, 0, 0], "{last:?}");
}
