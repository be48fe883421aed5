//! Whole screens and files, of entries as a run writes them down.

use pathscope_core::error::Failure;
use pathscope_core::journal::{Frames, Status, StreamStatus, Trouble};
use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts, Host};

use super::super::read;
use super::*;

const MILLISECOND: u64 = 1_000_000;

fn connection(at_ms: u64, port: u16, error: Option<FlowError>) -> Connection {
    let facts = FlowFacts {
        connection_id: Some("0f8fad5b-d9cb-469f-a165-70867728950e".to_owned()),
        local: Some(format!("10.0.0.1:{port}")),
        remote: Some("10.0.0.2:4444".to_owned()),
        sent_bytes: 1_000,
        error,
        ..FlowFacts::default()
    };
    let at_ns = at_ms * MILLISECOND;
    Connection { at_ns, time_ns: 250 * MILLISECOND, facts, ..Connection::default() }
}

fn status(at_ms: u64, sent_bytes: u64) -> Entry {
    let at_ns = at_ms * MILLISECOND;
    // From the row on that says that the connections begin.
    let length_ns = at_ns - MILLISECOND;
    Entry::Status(Box::new(Status { at_ns, length_ns, sent_bytes, ..Status::default() }))
}

/// A run of two connections, of which the second failed.
fn entries() -> Vec<Entry> {
    let error = FlowError {
        kind: FlowErrorKind::Network,
        text: "the other end reset it".to_owned(),
        errno: Some("ECONNRESET".to_owned()),
    };
    let trouble = Trouble { at_ns: 3 * MILLISECOND, text: "too many".to_owned(), session: None };
    vec![
        Entry::Opened(Box::new(connection(1, 50_001, None))),
        Entry::Opened(Box::new(connection(1, 50_002, None))),
        status(1, 0),
        Entry::Trouble(Box::new(trouble)),
        status(5_001, 5_000),
        Entry::Closed(Box::new(connection(5_100, 50_001, None))),
        Entry::Closed(Box::new(connection(5_200, 50_002, Some(error)))),
    ]
}

/// What is shown behind the settings, and what is in each file.
fn shown(
    words: &str,
    entries: &[Entry],
    failure: Option<(Failure, &str)>,
) -> (String, Vec<String>) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut screen = CtsScreen::new(read::settings(&words).expect("it is a line"));
    let mut files = vec![String::new(); screen.files().len()];
    let mut keep = |screen: &mut CtsScreen| {
        screen.take_rows().into_iter().for_each(|(place, rows)| files[place].push_str(&rows));
    };
    let mut out = Vec::new();
    let end = End::Client { hosts: &[], addresses: &[], port: 4_444, tests: &[] };
    let host = &Host::default();
    let beginning = Beginning { wall_unix_ns: 7, local_offset_s: 0, host, end };
    let begun = screen.begin(&beginning, &mut out);
    begun.expect("memory takes all");
    keep(&mut screen);
    for entry in entries {
        screen.entry(entry, &mut out).expect("memory takes all");
        keep(&mut screen);
    }
    let wall_unix_ns = 7 + 26_357 * MILLISECOND;
    let ending = Ending { document: None, failure, wall_unix_ns };
    screen.finished(&ending, &mut out).expect("memory takes all");
    keep(&mut screen);
    let text = String::from_utf8(out).expect("it is text");
    let (_, behind) = text.split_once("\n\n").expect("settings end with an empty line");
    (behind.to_owned(), files)
}

const SUMMARY: &str = "

  Historic Connection Statistics (all connections over the complete lifetime)
  -------------------------------------------------------------------------------
  SuccessfulConnections [1]   NetworkErrors [1]   ProtocolErrors [0]

  Total Bytes Recv : 0
  Total Bytes Sent : 5000
  Total Time : 26357 ms.
";
const TABLE: &str =
    " TimeSlice      SendBps      RecvBps  In-Flight  Completed  NetError  DataError
     0.001            0            0          2          0         0          0
     5.001         1000            0          2          0         0          0
     5.200            0            0          0          1         1          0
";
const TROUBLE: &str = "[0.003] too many\n";
const ERROR: &str = "[5.200] [10.0.0.1:50002 - 10.0.0.2:4444] the other end reset it\n";
const BEGUN: &str = "[0.001] TCP connection established [10.0.0.1:50001 - 10.0.0.2:4444]
[0.001] TCP connection established [10.0.0.1:50002 - 10.0.0.2:4444]
";
const ENDED: &str = "[5.100] TCP connection succeeded : [10.0.0.1:50001 - 10.0.0.2:4444] [0f8fad5b-d9cb-469f-a165-70867728950e]: \
SendBytes[1000] SendBps[4000] RecvBytes[0] RecvBps[0] Time[250 ms]
[5.200] TCP connection failed with the error ECONNRESET: the other end reset it : [10.0.0.1:50002 - 10.0.0.2:4444] \
[0f8fad5b-d9cb-469f-a165-70867728950e]: SendBytes[1000] SendBps[4000] RecvBytes[0] RecvBps[0] Time[250 ms]
";

#[test]
fn each_level_shows_what_it_always_has() {
    let at = |level: u8| {
        shown(&format!("-target:a -transfer:1000 -consoleverbosity:{level}"), &entries(), None).0
    };
    let legend = banner::legend(false);
    assert_eq!(at(0), SUMMARY);
    assert_eq!(at(1), format!("{legend}{TABLE}{SUMMARY}"));
    let (first, rest) = TABLE.split_at(TABLE.find("     5.001").expect("the second row"));
    let (second, last) = rest.split_at(rest.find("     5.200").expect("the last row"));
    assert_eq!(at(2), format!("{legend}{first}{TROUBLE}{second}{ERROR}{last}{SUMMARY}"));
    assert_eq!(at(3), format!("{BEGUN}{ENDED}{SUMMARY}"));
    assert_eq!(at(4), format!("{BEGUN}{TROUBLE}{ENDED}{SUMMARY}"));
    assert_eq!(at(5), format!("{legend}{BEGUN}{first}{TROUBLE}{second}{ENDED}{last}{SUMMARY}"));
    assert_eq!(at(6), at(5));
}

#[test]
fn the_header_comes_again_after_forty_rows() {
    let rows: Vec<Entry> = (0..81).map(|row| status(1 + 5_000 * row, 1)).collect();
    let text = shown("-target:a -consoleverbosity:1", &rows, None).0;
    assert_eq!(text.matches("TimeSlice      SendBps").count(), 3);
}

#[test]
fn files_of_csv_have_rows_and_nothing_else() {
    let words = "-target:a -transfer:1000 -statusfilename:s.csv -connectionfilename:c.CSV -errorfilename:e.txt -tcpinfofilename:t.csv";
    let files = shown(words, &entries(), None).1;
    assert_eq!(
        files[0],
        "TimeSlice,SendBps,RecvBps,In-Flight,Completed,NetError,DataError\r\n0.001,0,0,2,0,0,0\r\n5.001,1000,0,2,0,0,0\r\n\
         5.200,0,0,0,1,1,0\r\n"
    );
    let rows: Vec<&str> = files[1].lines().collect();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows[1].ends_with(",Succeeded,0f8fad5b-d9cb-469f-a165-70867728950e"), "{rows:?}");
    assert!(rows[2].contains(",ECONNRESET: the other end reset it,"), "{rows:?}");
    assert_eq!(files[2], format!("{TROUBLE}{ERROR}"));
    assert_eq!(files[3].lines().count(), 3);
}

#[test]
fn files_of_text_have_what_is_shown_and_may_be_one() {
    let words = "-target:a -transfer:1000 -consoleverbosity:0 -statusfilename:a.txt -connectionfilename:a.txt -errorfilename:a.txt";
    let files = shown(words, &entries(), None).1;
    let [file] = &files[..] else { panic!("one file, and not {}", files.len()) };
    for part in
        [banner::legend(false), "TimeSlice      SendBps", BEGUN, ENDED, TROUBLE, ERROR, SUMMARY]
    {
        assert_eq!(file.matches(part).count(), 1, "{part} is not in {file}");
    }
    assert!(file.contains("Configured Settings"), "{file}");
}

#[test]
fn what_the_end_of_the_run_cut_off_has_neither_gone_well_nor_failed() {
    let words = "-target:a -transfer:1001 -consoleverbosity:3 -connectionfilename:c.csv";
    let (text, files) = shown(words, &entries(), None);
    assert!(text.contains("SuccessfulConnections [0]   NetworkErrors [1]"), "{text}");
    assert!(!text.contains("TCP connection succeeded"), "{text}");
    assert_eq!(files[0].lines().count(), 2, "{files:?}");
}

#[test]
fn what_ended_the_run_is_an_error_of_it() {
    let failure = Some((Failure::Peer, "no server answers, anywhere"));
    let words = "-target:a -errorfilename:e.txt -connectionfilename:c.csv";
    let (text, files) = shown(words, &[], failure);
    assert!(text.starts_with("[26.357] no server answers, anywhere\n"), "{text}");
    assert!(text.contains("NetworkErrors [1]   ProtocolErrors [0]"), "{text}");
    let row =
        format!("26.357,0.0.0.0,0.0.0.0,0,0,0,0,0,no server answers; anywhere,{}\r\n", rows::NO_ID);
    let mut written = [
        format!("{}{row}", rows::CONNECTIONS),
        "[26.357] no server answers, anywhere\n".to_owned(),
    ];
    written.sort();
    let mut files = files;
    files.sort();
    assert_eq!(files, written);
    // Where there were connections, those have said how they ended.
    let (text, _) = shown("-target:a -transfer:1000", &entries(), failure);
    assert!(text.contains("NetworkErrors [1]   ProtocolErrors [0]"), "{text}");
    // What was said as it happened is not said once more.
    let failure = Some((Failure::Peer, "too many"));
    let text = shown("-target:a -transfer:1000 -consoleverbosity:2", &entries(), failure).0;
    assert_eq!(text.matches("too many").count(), 1, "{text}");
}

#[test]
fn streams_have_their_own_table_and_summary() {
    let row = |at_ms: u64, completed| {
        Entry::StreamStatus(Box::new(StreamStatus {
            at_ns: at_ms * MILLISECOND,
            length_ns: at_ms * MILLISECOND,
            received_bytes: 52_083 * completed,
            receives: true,
            streams: 1,
            frames: Frames { completed, missed: 1, ..Frames::default() },
            ..StreamStatus::default()
        }))
    };
    let stream = |at_ms: u64| {
        Box::new(Stream {
            at_ns: at_ms * MILLISECOND,
            streamed_ns: 10_000 * MILLISECOND,
            receives: true,
            facts: FlowFacts { received_bytes: 52_083 * 600, ..connection(0, 50_001, None).facts },
            frames: Frames { completed: 600, missed: 2, ..Frames::default() },
            ..Stream::default()
        })
    };
    let entries = [
        Entry::StreamOpened(stream(0)),
        Entry::StreamStatus(Box::default()),
        row(5_000, 300),
        row(10_000, 300),
        Entry::StreamClosed(stream(10_000)),
    ];
    let words = "-target:a -protocol:udp -bitspersecond:25000000 -framerate:60 -streamlength:10 -consoleverbosity:1 \
                 -statusfilename:s.csv -connectionfilename:c.csv";
    let (text, files) = shown(words, &entries, None);
    let expected = format!(
        "{} TimeSlice       Bits/Sec    Streams   Completed   Dropped   Repeated    Errors
     0.000              0          1           0         0          0         0
     5.000       24999840          1         300         1          0         0
    10.000       24999840          1         300         1          0         0


  Historic Connection Statistics (all connections over the complete lifetime)
  -------------------------------------------------------------------------------
  SuccessfulConnections [1]   NetworkErrors [0]   ProtocolErrors [0]

  Total Bytes Recv : 31249800
  Total Successful Frames : 600
  Total Dropped Frames : 2
  Total Duplicate Frames : 0
  Total Error Frames : 0
  Total Time : 26357 ms.
",
        banner::legend(true)
    );
    assert_eq!(text, expected);
    assert_eq!(files[0].lines().nth(2), Some("5.000,24999840,1,300,1,0,0"));
    assert_eq!(
        files[1].lines().nth(1),
        Some(
            "10.000,10.0.0.1:50001,10.0.0.2:4444,24999840,600,2,0,0,Succeeded,0f8fad5b-d9cb-469f-a165-70867728950e"
        )
    );
}
