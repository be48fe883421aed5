//! What a server prints of tests that are known byte for byte, of one after the other and of two at once.

use std::ffi::OsString;

use pathscope_core::id::FlowId;
use pathscope_core::journal::{DatagramProgress, LoadFacts};
use pathscope_core::record::{Host, Printed, Remarks, SocketFacts, WorkerUsage};

use super::super::asked::Asked;
use super::super::streams::tests::{connection, progress};
use super::super::{read, rows};
use super::*;

const PUSH: LoadFacts = LoadFacts {
    is_udp: false,
    is_up: true,
    is_down: false,
    is_split: false,
    connections: 1,
    block_bytes: 131_072,
    warm_up_ns: 0,
    duration_ns: Some(1_000_000_000),
    transfer_bytes: None,
    rate_bps: None,
    dscp: None,
    send_buffer_bytes: None,
    segment_bytes: None,
};

/// What is told of a test of one client.
fn began(session: &str, load: LoadFacts) -> Entry {
    let session = session.to_owned();
    Entry::TestBegan(Box::new(TestBegan { load, session, ..TestBegan::default() }))
}

fn opened(session: &str) -> Entry {
    let mut connection = connection(0);
    connection.session = session.to_owned();
    Entry::Opened(Box::new(connection))
}

fn moved(session: &str, bytes: u64, datagrams: Option<DatagramProgress>) -> Entry {
    let mut progress = progress(0, [0, 1_000], bytes, None);
    (progress.session, progress.datagrams) = (session.to_owned(), datagrams);
    Entry::Progress(Box::new(progress))
}

fn over(session: &str, sent: Option<u64>) -> Entry {
    let (at_ns, session) = (1_000_000_000, session.to_owned());
    let sent_there = sent.map(|sent| (FlowId(0), sent)).into_iter().collect();
    Entry::TestOver(Box::new(TestOver { at_ns, sent_there, session, ..TestOver::default() }))
}

fn printed(line: &str, entries: &[Entry]) -> String {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let Ok(Asked::Server(server)) = read::read(&words) else { panic!("{line} is a server's") };
    let mut screen = ServerScreen::new(*server);
    let (mut text, host) = (Vec::new(), Host::default());
    let end = End::Server { addresses: &[] };
    let beginning = Beginning { wall_unix_ns: 0, local_offset_s: 0, host: &host, end };
    screen.begin(&beginning, &mut text).expect("memory takes it");
    entries.iter().for_each(|entry| screen.entry(entry, &mut text).expect("memory takes it"));
    let ending = Ending { document: None, failure: None, wall_unix_ns: 0 };
    screen.finished(&ending, &mut text).expect("memory takes it");
    String::from_utf8(text).expect("it is text")
}

fn block(port: u32, megabytes: &str, rate: &str) -> String {
    let blanks = " ".repeat(18);
    format!(
        "Accepted connection from 10.0.0.{port}, port 4{port}\n\
         [  5] local 127.0.0.1 port 40000 connected to 127.0.0.1 port 5201\n\
         [ ID] Interval           Transfer     Bitrate\n\
         [  5]   0.00-1.00   sec  {megabytes} MBytes  {rate} Mbits/sec{blanks}\n\
         - - - - - - - - - - - - - - - - - - - - - - - - -\n\
         [ ID] Interval           Transfer     Bitrate\n\
         [  5]   0.00-1.00   sec  {megabytes} MBytes  {rate} Mbits/sec{blanks}receiver\n"
    )
}

fn awaits(number: u32) -> String {
    format!("{LINE}\nServer listening on 5201 (test #{number})\n{LINE}\n")
}

#[test]
fn each_test_is_shown_as_it_goes() {
    let who = "10.0.0.1:41";
    let entries = [began(who, PUSH), opened(who), moved(who, 1_310_720, None), over(who, None)];
    assert_eq!(printed("-s", &entries), [awaits(1), block(1, "1.25", "10.5"), awaits(2)].concat());
}

#[test]
fn where_several_are_there_it_is_said_whose_rows_follow() {
    let (one, two) = ("10.0.0.1:41", "10.0.0.2:42");
    // A row is shown when it is over, but the last of a test with what ends it.
    let long = LoadFacts { duration_ns: Some(3_000_000_000), ..PUSH };
    let entries = [
        began(one, long),
        opened(one),
        began(two, long),
        moved(one, 1_310_720, None),
        opened(two),
        moved(two, 12_582_912, None),
        over(two, None),
        over(one, None),
    ];
    let shown = printed("-s", &entries);
    let lines: Vec<&str> = shown.lines().filter(|line| !line.starts_with("[  5] local")).collect();
    let said = |place: usize| lines[place].split(", port").next().unwrap_or_default().trim_end();
    let said: Vec<&str> = (3..lines.len()).map(said).collect();
    let rows = ["  1.25 MBytes  10.5 Mbits/sec", "  12.0 MBytes   101 Mbits/sec"];
    let rows = rows.map(|row| format!("[  5]   0.00-1.00   sec{row}"));
    let head = "[ ID] Interval           Transfer     Bitrate";
    let separator = rows::SEPARATOR;
    let receiver = |place: usize| format!("{}{}receiver", rows[place], " ".repeat(18));
    let expected = [
        "Accepted connection from 10.0.0.1",
        head,
        "Client 10.0.0.2",
        "Accepted connection from 10.0.0.2",
        "Client 10.0.0.1",
        &rows[0],
        "Client 10.0.0.2",
        head,
        &rows[1],
        separator,
        head,
        &receiver(1),
        "Client 10.0.0.1",
        separator,
        head,
        &receiver(0),
        LINE,
        "Server listening on 5201 (test #3)",
        LINE,
    ];
    assert_eq!(said, expected, "{shown}");
}

#[test]
fn what_became_of_a_client_that_failed_is_said_and_at_the_end_nobody_is_awaited() {
    let who = "10.0.0.1:41";
    let text = "the client has gone".to_owned();
    let trouble = Trouble { at_ns: 0, text, session: Some(who.to_owned()) };
    let trouble = Entry::Trouble(Box::new(trouble));
    let entries = [began(who, PUSH), opened(who), trouble];
    let shown = printed("-s", &entries);
    let line = "iperf3: error - client 10.0.0.1, port 41: the client has gone\n";
    assert!(shown.contains(line), "{shown}");
    // Its rows end with the server.
    assert!(shown.ends_with("receiver\n"), "{shown}");
    let events = printed("-s --json-stream", &entries);
    let error = "\"event\":\"error\",\"data\":\"client 10.0.0.1, port 41: the client has gone\",";
    assert!(events.contains(error), "{events}");
}

#[test]
fn programs_find_why_a_test_failed_once_in_its_document_and_of_one_that_never_began_too() {
    let who = "10.0.0.1:41";
    let (text, session) = ("the client has gone".to_owned(), Some(who.to_owned()));
    let trouble = Entry::Trouble(Box::new(Trouble { at_ns: 0, text: text.clone(), session }));
    let (failure, session) = (Some(text), who.to_owned());
    let over = Entry::TestOver(Box::new(TestOver { failure, session, ..TestOver::default() }));
    let test = [began(who, PUSH), opened(who), over, trouble.clone()];
    let json = printed("-s -J", &test);
    assert_eq!(json.matches("\"start\":\t{").count(), 1, "{json}");
    let error = "\"error\":\t\"the client has gone\"";
    assert_eq!((json.contains(error), json.matches("\"error\"").count()), (true, 1), "{json}");
    let events = printed("-s --json-stream", &test);
    let names = events.lines().filter_map(|line| line.split('"').nth(3));
    assert_eq!(names.collect::<Vec<_>>(), ["start", "error", "end"], "{events}");
    // A client that never had a test has a document of its own.
    let json = printed("-s -J", std::slice::from_ref(&trouble));
    assert!(
        json.contains("port 41: the client has gone\"") && json.contains("\"end\":\t{\n"),
        "{json}"
    );
    // People are told where it happens.
    assert_eq!(printed("-s", &test).matches("the client has gone").count(), 1);
}

#[test]
fn programs_find_processors_and_sockets_of_this_end_in_a_document() {
    let who = "10.0.0.1:41";
    let worker = WorkerUsage {
        elapsed_ns: 2_000_000_000,
        user_ns: 40_000_000,
        system_ns: 20_000_000,
        ..WorkerUsage::default()
    };
    let sockets = SocketFacts {
        segment_bytes: Some(1_448),
        receive_buffer_bytes: Some(131_072),
        congestion_control: Some("cubic".to_owned()),
        ..SocketFacts::default()
    };
    let (workers, sockets, session) = (vec![worker], Some(sockets), who.to_owned());
    let over = TestOver { workers, sockets, session, ..TestOver::default() };
    let of = |load| {
        let moved = moved(who, 1_310_720, None);
        let over = Entry::TestOver(Box::new(over.clone()));
        printed("-s -J", &[began(who, load), opened(who), moved, over])
    };
    let asked =
        of(LoadFacts { send_buffer_bytes: Some(65_536), segment_bytes: Some(1_000), ..PUSH });
    assert!(asked.contains("\"sock_bufsize\":\t65536,"), "{asked}");
    assert!(asked.contains("\"tcp_mss\":\t1000,"), "{asked}");
    assert!(!asked.contains("tcp_mss_default"), "{asked}");
    let json = of(PUSH);
    for part in [
        "\"sock_bufsize\":\t0,",
        "\"tcp_mss_default\":\t1448,",
        "\"rcvbuf_actual\":\t131072,",
        "\"host_total\":\t3,",
        "\"remote_total\":\t0,",
        "\"is_remote_known\":\tfalse",
        "\"receiver_tcp_congestion\":\t\"cubic\"",
    ] {
        assert!(json.contains(part), "{part} in {json}");
    }
    assert!(!json.contains("sender_tcp_congestion"));
}

#[test]
fn of_datagrams_what_never_came_is_told_and_where_none_came_that_is_all() {
    let load = LoadFacts { is_udp: true, block_bytes: 1_000, ..PUSH };
    let datagrams = DatagramProgress {
        received: 90,
        expected: Some(100),
        duplicates: 2,
        reordered: 3,
        jitter_ns: Some(17_000),
        ..DatagramProgress::default()
    };
    let who = "10.0.0.1:41";
    let of = |datagrams: DatagramProgress, sent| {
        let bytes = datagrams.received * 1_000;
        [began(who, load), opened(who), moved(who, bytes, Some(datagrams)), over(who, sent)]
    };
    let shown = printed("-s", &of(datagrams, None));
    assert!(shown.contains("Jitter    Lost/Total Datagrams\n"), "{shown}");
    assert_eq!(shown.matches("0.017 ms  10/100 (10%)").count(), 2, "{shown}");
    // Where the client says how many it sent, what never came is all the rest.
    let none = printed("-s", &of(DatagramProgress::default(), Some(77)));
    assert!(none.contains("0.000 ms  77/77 (100%)  receiver"), "{none}");
    let most = printed("-s", &of(datagrams, Some(102)));
    assert!(most.contains("12/102 (12%)  receiver"), "{most}");
    // What was sent in the warm-up is not lost behind it.
    let warm = LoadFacts { warm_up_ns: 1_000_000_000, ..load };
    let Entry::Progress(mut later) = moved(who, 50_000, Some(datagrams)) else {
        panic!("progress")
    };
    (later.start_ns, later.end_ns) = (1_000_000_000, 2_000_000_000);
    let entries = [
        began(who, warm),
        opened(who),
        moved(
            who,
            100_000,
            Some(DatagramProgress { received: 100, expected: Some(100), ..datagrams }),
        ),
        Entry::Progress(later),
        over(who, Some(200)),
    ];
    let shown = printed("-s", &entries);
    assert!(shown.contains("10/100 (10%)  receiver"), "{shown}");
    let json = printed("-s -J", &of(datagrams, None));
    for part in [
        "\"accepted_connection\":\t{\n\t\t\t\"host\":\t\"10.0.0.1\",\n\t\t\t\"port\":\t41\n",
        "\"lost_packets\":\t10,",
        "\"lost_percent\":\t10,",
        "\"out_of_order\":\t3,",
        "\"duplicates\":\t2",
        "\"sum_received\":",
        "\"sum_sent\":",
    ] {
        assert!(json.contains(part), "{part} in {json}");
    }
    // A server that is to serve one awaits no other.
    assert_eq!(printed("-s1", &of(datagrams, None)).matches("Server listening").count(), 1);
    let events = printed("-s --json-stream", &of(datagrams, None));
    let names = ["start", "interval", "end"].map(|it| format!("{{\"event\":\"{it}\","));
    assert!(events.lines().zip(&names).all(|(line, name)| line.starts_with(name)), "{events}");
    assert_eq!(events.lines().count(), 3);
}

/// What a client is told of its test that asks for it.
fn told(line: &str, entries: &[Entry]) -> Printed {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let Ok(Asked::Server(server)) = read::read(&words) else { panic!("{line} is a server's") };
    let (host, end) = (Host::default(), End::Server { addresses: &[] });
    let beginning = Beginning { wall_unix_ns: 0, local_offset_s: 0, host: &host, end };
    let mut scribe = scribes(&server)(&beginning);
    entries.iter().for_each(|entry| scribe.hear(entry));
    scribe.printed().expect("it has heard of a test")
}

#[test]
fn a_client_that_asks_is_told_the_lines_of_its_test_and_no_other_of_the_server() {
    let who = "10.0.0.1:41";
    let entries = [began(who, PUSH), opened(who), moved(who, 1_310_720, None), over(who, None)];
    assert_eq!(told("-s", &entries), Printed::Text(block(1, "1.25", "10.5")));
    // Of a server for programs it is the document, whatever the title of the test is.
    let remarks = Remarks {
        title: Some("a title".to_owned()),
        extra_data: Some("{}".to_owned()),
        wants_output: true,
    };
    let began = TestBegan { load: PUSH, remarks, session: who.to_owned(), ..TestBegan::default() };
    let began = Entry::TestBegan(Box::new(began));
    for line in ["-s -J", "-s --json-stream"] {
        let told = told(line, &[&[began.clone()][..], &entries[1..]].concat());
        let Printed::Json(json) = &told else { panic!("{told:?}") };
        assert_eq!((&json["title"], &json["extra_data"]), (&"a title".into(), &"{}".into()));
        assert_eq!(json["end"]["sum_received"]["bytes"], 1_310_720, "{json}");
        assert_eq!(json["intervals"].as_array().map(Vec::len), Some(1), "{json}");
    }
}

#[test]
fn what_a_client_is_told_has_so_many_rows_and_says_how_many_intervals_it_lacks() {
    let who = "10.0.0.1:41";
    let load = LoadFacts { duration_ns: None, ..PUSH };
    let row = |second: u64| {
        let mut progress = progress(0, [second * 1_000, (second + 1) * 1_000], 1_000, None);
        progress.session = who.to_owned();
        Entry::Progress(Box::new(progress))
    };
    let rows = (0..1_003).map(row);
    let begin = [began(who, load), opened(who)];
    let entries: Vec<Entry> = begin.into_iter().chain(rows).chain([over(who, None)]).collect();
    let Printed::Text(text) = told("-s", &entries) else { panic!("lines") };
    assert_eq!(text.matches("1000 Bytes").count(), 1_000);
    assert!(text.contains("(intervals that are left out here: 3)\n"), "{text}");
    assert!(text.contains("0.00-1003.00 sec"), "{text}");
    let Printed::Json(json) = told("-s -J", &entries) else { panic!("a document") };
    assert_eq!(json["intervals"].as_array().map(Vec::len), Some(1_000));
    assert_eq!(json["pathscope"]["intervals_left_out"], 3, "{json}");
    assert_eq!(json["end"]["sum_received"]["bytes"], 1_003_000, "{json}");
    assert!(json.to_string().len() < 500_000, "{}", json.to_string().len());
}
