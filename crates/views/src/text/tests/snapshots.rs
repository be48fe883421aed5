//! Whole results as people see them.
//!
//! In one file: one list of what people see.

use insta::assert_snapshot;
use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::presentation::{Figure, Presentation, Section};
use pathscope_core::record::{Caveat, Verdict};

use super::samples;
use crate::registry::Format;
use crate::view::{Charset, Color, Detail, Live, Options};
use crate::words;

const RESULT_ONLY: Options = Options {
    columns: 80,
    color: Color::Never,
    charset: Charset::Unicode,
    live: Live::Hidden,
    detail: Detail::Usual,
};

fn finished<'event>(
    presentation: &'event Presentation,
    failure: Option<(Failure, &'event str)>,
) -> Event<'event> {
    Event::Finished { presentation, record: &(), failure }
}

fn show(options: Options, events: &[Event<'_>]) -> String {
    let mut out = Vec::new();
    let mut view = Format::Text.view(options, &mut out);
    for &event in events {
        view.event(event).expect("a vector takes every byte");
    }
    drop(view);
    String::from_utf8(out).expect("text is UTF-8")
}

#[test]
fn goodput() {
    let presentation = samples::of(samples::goodput());
    assert_snapshot!(show(RESULT_ONLY, &[finished(&presentation, None)]), @r"
    goodput up to 10.0.0.2 ─────────────────────────────────────────────────────────
      server  10.0.0.2:5210 (pathscope 0.1.0, 8 processors)
      client  10.0.0.1 (pathscope 0.1.0, 2 processors)
      clock   CLOCK_MONOTONIC from tsc, 22 ns a reading

    goodput up  8 TCP connections, push, 10 s, every byte verified
      goodput         72.15 Gbit/s  8.912 to 9.134 Gbit/s a connection
      received        84.02 GiB
      fairness         99.8 %       Jain's index
      connections         8         0 failed
      retransmits     1,234
      sender CPU       97.1 %       of one processor
      receiver CPU     60.4 %
      RTT p50         812.4 µs      804.3–828.6 (95 %); under this load
      RTT p99       1,930   µs      1,911–1,969 (95 %)
      RTT p99.9     needs 10,000 samples

      goodput  ▇█████▅███  40.00 to 72.15 Gbit/s
      RTT p50  ▂▄▄▄▄▄█▄▄▄  512.0 to 2,100 µs

      → The sender's processor held it back.
        sender CPU 97 % of one processor · receiver CPU 60 % · 1 % of the time
        stopped by the window
      ✓ all 90,213,124,096 bytes were as they must be
    ");
}

#[test]
fn latency_with_and_without_enough_samples() {
    let presentation = samples::of(samples::latency());
    let options = Options { detail: Detail::Full, ..RESULT_ONLY };
    assert_snapshot!(show(options, &[finished(&presentation, None)]), @r"
    latency to 10.0.0.2 ────────────────────────────────────────────────────────────
      server  10.0.0.2:5210 (pathscope 0.1.0, 8 processors)
      client  10.0.0.1 (pathscope 0.1.0, 2 processors)
      clock   CLOCK_MONOTONIC from tsc, 22 ns a reading

    latency  UDP, 64 B, a ping every 10 ms for 10 s, open loop
      RTT p50              24.10 µs  23.86–24.58 (95 %)
      RTT p90              31.55 µs  31.23–32.18 (95 %)
      RTT p99              61.31 µs  60.70–62.54 (95 %)
      RTT p99.9         needs 10,000 samples  997 taken
      RTT max           2,310    µs
      pings                1,000
      lost                     3     2 on the way there, 1 on the way back
      lost of sent           0.3 %
      server residence  –

      RTT
      ≤    34.94 µs  ████████████████████████████████   91.9 %          916
      ≤    63.59 µs  ██▊                                 8.0 %           80
      ≤   115.7  µs                                      0.0 %            0
      ≤   210.6  µs                                      0.0 %            0
      ≤   383.3  µs                                      0.0 %            0
      ≤   697.6  µs                                      0.0 %            0
      ≤ 1,270    µs                                      0.0 %            0
      ≤ 2,310    µs  ▏                                   0.1 %            1

      ! 3 pings were never answered
        remedy: compare with a run without load; open the server's UDP port

      command
        pathscope goodput 10.0.0.2
    ");
}

#[test]
fn survey() {
    let presentation = samples::survey();
    assert_snapshot!(show(RESULT_ONLY, &[finished(&presentation, None)]), @r"
    survey of 10.0.0.2 ─────────────────────────────────────────────────────────────
      server  10.0.0.2:5210 (pathscope 0.1.0, 8 processors)
      client  10.0.0.1 (pathscope 0.1.0, 2 processors)
      clock   CLOCK_MONOTONIC from tsc, 22 ns a reading

    at a glance  goodput of 8 TCP connections; RTT of UDP probes beside each load
      step    goodput up  goodput down   RTT p50   RTT p99     RTT p99.9  lost
                  Gbit/s        Gbit/s        µs        µs            µs
      idle             –             –     24.10     61.31         118.0     0
      up           72.15             –    812.4   1,930          2,204       0
      down             –         9.412    790.1   1,804          2,150       2
      duplex       35.02         8.900  1,620     3,811     needs 10,000    11

      → The sender's processor held it back.
        sender CPU 97 % of one processor · receiver CPU 60 % · 1 % of the time
        stopped by the window

    idle  UDP, 64 B, a ping every 10 ms for 10 s, open loop
      RTT p50              24.10 µs  23.86–24.58 (95 %)
      RTT p90              31.55 µs  31.23–32.18 (95 %)
      RTT p99              61.31 µs  60.70–62.54 (95 %)
      RTT p99.9         needs 10,000 samples  997 taken
      RTT max           2,310    µs
      pings                1,000
      lost                     3     2 on the way there, 1 on the way back
      lost of sent           0.3 %
      server residence  –
      ! 3 pings were never answered

    goodput up  8 TCP connections, push, 10 s, every byte verified
      goodput         72.15 Gbit/s  8.912 to 9.134 Gbit/s a connection
      received        84.02 GiB
      fairness         99.8 %       Jain's index
      connections         8         0 failed
      retransmits     1,234
      sender CPU       97.1 %       of one processor
      receiver CPU     60.4 %
      RTT p50         812.4 µs      804.3–828.6 (95 %); under this load
      RTT p99       1,930   µs      1,911–1,969 (95 %)
      RTT p99.9     needs 10,000 samples

      goodput  ▇█████▅███  40.00 to 72.15 Gbit/s
      RTT p50  ▂▄▄▄▄▄█▄▄▄  512.0 to 2,100 µs

      → The sender's processor held it back.
        sender CPU 97 % of one processor · receiver CPU 60 % · 1 % of the time
        stopped by the window
      ✓ all 90,213,124,096 bytes were as they must be

      ! sender and receiver of the probes shared 2 processors with the load: latency
        under load includes waiting for a processor
    ");
}

#[test]
fn a_table_too_wide_is_stacked_then_cut_into_blocks() {
    let presentation = Presentation {
        sections: samples::survey().sections[..1].to_vec(),
        ..Presentation::default()
    };
    let options = Options { columns: 60, ..RESULT_ONLY };
    assert_snapshot!(show(options, &[finished(&presentation, None)]), @r"
    at a glance  goodput of 8 TCP connections; RTT of UDP probes
                 beside each load
              goodput  goodput
      step         up     down   RTT p50   RTT p99     RTT p99.9
               Gbit/s   Gbit/s        µs        µs            µs
      idle          –        –     24.10     61.31         118.0
      up        72.15        –    812.4   1,930          2,204
      down          –    9.412    790.1   1,804          2,150
      duplex    35.02    8.900  1,620     3,811     needs 10,000

      step    lost
      idle       0
      up         0
      down       2
      duplex    11

      → The sender's processor held it back.
        sender CPU 97 % of one processor · receiver CPU 60 % ·
        1 % of the time stopped by the window
    ");
    let options = Options { columns: 30, ..RESULT_ONLY };
    assert_snapshot!(show(options, &[finished(&presentation, None)]), @r"
    at a glance
          goodput of 8 TCP
          connections; RTT of UDP
          probes beside each load
              goodput  goodput
      step         up     down
               Gbit/s   Gbit/s
      idle          –        –
      up        72.15        –
      down          –    9.412
      duplex    35.02    8.900

      step     RTT p50   RTT p99
                    µs        µs
      idle       24.10     61.31
      up        812.4   1,930
      down      790.1   1,804
      duplex  1,620     3,811

      step       RTT p99.9  lost
                        µs
      idle           118.0     0
      up           2,204       0
      down         2,150       2
      duplex  needs 10,000    11

      → The sender's processor
        held it back.
        sender CPU 97 % of one
        processor · receiver CPU
        60 % · 1 % of the time
        stopped by the window
    ");
}

#[test]
fn connections_one_by_one() {
    let presentation = samples::connections("");
    assert_snapshot!(show(RESULT_ONLY, &[finished(&presentation, None)]), @r"
    connections
    flow    sent  received       up  down     RTT  retransmits
             GiB       GiB   Mbit/s            µs
       0  10.63          0  9,134       –  822.1             0
       1  10.37          0  8,912       –  802.1         1,100
       2   0.931         0    800.0     –   72.00        2,200
    ");
    let presentation = samples::connections("connection reset by peer after 1.2 s");
    assert_snapshot!(show(RESULT_ONLY, &[finished(&presentation, None)]), @r"
    connections
    flow    sent  received       up  down     RTT  retransmits
             GiB       GiB   Mbit/s            µs
       0  10.63          0  9,134       –  822.1             0
       1  10.37          0  8,912       –  802.1         1,100
       2   0.931         0    800.0     –   72.00        2,200

    flow  error
       0
       1
       2  connection reset by peer after 1.2 s
    ");
}

#[test]
fn corruption() {
    let presentation = samples::corrupted();
    let failure = Some((Failure::Check, "1 byte of 90,213,124,096 was wrong"));
    assert_snapshot!(show(RESULT_ONLY, &[finished(&presentation, failure)]), @r"
    goodput up to 10.0.0.2 ─────────────────────────────────────────────────────────
      server  10.0.0.2:5210 (pathscope 0.1.0, 8 processors)
      client  10.0.0.1 (pathscope 0.1.0, 2 processors)
      clock   CLOCK_MONOTONIC from tsc, 22 ns a reading

    goodput up  8 TCP connections, push, 10 s, every byte verified
      ✗ FAILED  verified: 1 of 90,213,124,096 bytes was wrong: flow 3, offset
                41,213,005, 1 byte, 2 bits flipped
      goodput   72.15 Gbit/s  8.912 to 9.134 Gbit/s a connection
      received  84.02 GiB
      fairness   99.8 %       Jain's index
      ✓ both ends counted the same bytes

    check failed: 1 byte of 90,213,124,096 was wrong
    ");
}

#[test]
fn rows_as_they_pass() {
    let presentation = Presentation { sections: Vec::new(), ..samples::survey() };
    let rows = samples::rows();
    let note = Caveat {
        name: "loopback".to_owned(),
        text: "no network was crossed: both ends are one machine".to_owned(),
        remedy: Some("none in a live row".to_owned()),
    };
    let mut events = vec![Event::Started { presentation: &presentation, record: &() }];
    events.extend(rows.iter().map(|row| Event::Interval {
        measurement: "",
        server: None,
        row,
        record: &(),
    }));
    events.insert(3, Event::Note(&note));
    events.push(finished(&presentation, Some((Failure::Interrupted, "the first 10 s were saved"))));
    let options = Options { live: Live::Shown, ..RESULT_ONLY };
    assert_snapshot!(show(options, &events), @r"
    survey of 10.0.0.2 ─────────────────────────────────────────────────────────────
      server  10.0.0.2:5210 (pathscope 0.1.0, 8 processors)
      client  10.0.0.1 (pathscope 0.1.0, 2 processors)
      clock   CLOCK_MONOTONIC from tsc, 22 ns a reading

    idle
          time      RTT p50      RTT p99     lost
           1 s     24.10 µs  needs 1,000        0
           2 s     24.30 µs  needs 1,000        0
      ! no network was crossed: both ends are one machine

    goodput up
          time            up      RTT p50   RTT max  retransmits
           1 s  61.22 Gbit/s     needs 20  1.204 ms           12
           2 s  72.15 Gbit/s     812.4 µs  2.408 ms            0
           3 s  3.100 Mbit/s       250 ms  3.612 ms        1,234
           4 s      0 Gbit/s            –  4.816 ms            0
          10 s  0.812 Gbit/s     790.1 µs  12.04 ms            0

    survey of 10.0.0.2 ─────────────────────────────────────────────────────────────

      ! sender and receiver of the probes shared 2 processors with the load: latency
        under load includes waiting for a processor

    ended early: the first 10 s were saved
    ");
}

#[test]
fn a_run_that_came_to_nothing_says_why_once() {
    let sentence = "cannot find the address of 10.0.0.2: it has none";
    let mut after = Presentation { sections: Vec::new(), caveats: Vec::new(), ..samples::survey() };
    let before = Presentation { title: after.title.clone(), ..Presentation::default() };
    after.context.push(Figure::new("ended early", samples::text(sentence)));
    let events = [
        Event::Started { presentation: &before, record: &() },
        finished(&after, Some((Failure::Peer, sentence))),
    ];
    let options = Options { live: Live::Shown, ..RESULT_ONLY };
    assert_snapshot!(show(options, &events), @r"
    survey of 10.0.0.2 ─────────────────────────────────────────────────────────────
      server  10.0.0.2:5210 (pathscope 0.1.0, 8 processors)
      client  10.0.0.1 (pathscope 0.1.0, 2 processors)
      clock   CLOCK_MONOTONIC from tsc, 22 ns a reading

    no result: cannot find the address of 10.0.0.2: it has none
    ");
    assert_eq!(show(RESULT_ONLY, &events), show(options, &events));
}

#[test]
fn trials_as_they_are_judged() {
    let rows = samples::trials();
    let events: Vec<_> = rows.iter().map(|row| Event::Trial { row, record: &() }).collect();
    assert_eq!(show(RESULT_ONLY, &events), "");
    let options = Options { live: Live::Shown, ..RESULT_ONLY };
    assert_snapshot!(show(options, &events), @r"
    highest rate without loss
        trial         asked          sent      received     lost  what became of it
            1             –  2.763 Gbit/s  97.19 Mbit/s  476,086   lost on the path
            2  97.19 Mbit/s  97.19 Mbit/s  96.50 Mbit/s       51    lost; once more
            3  97.19 Mbit/s  97.19 Mbit/s  97.19 Mbit/s        0             passed
            4  97.19 Mbit/s  97.19 Mbit/s  97.18 Mbit/s        0               held
      trial         asked          sent      received       lost  what became of it
         12  12.35 Gbit/s  12.35 Gbit/s  812.5 Mbit/s  1,476,086   lost in a socket
    ");
    // The widest head: a rate was asked for in the first row.
    for first in 0..rows.len() {
        let shown = show(options, &events[first..]);
        assert!(shown.lines().all(|line| words::width(line) <= 80), "{shown}");
    }
}

#[test]
fn of_the_evidence_only_what_decided_is_shown_unless_all_is_wanted() {
    let verdict = samples::goodput().verdict.expect("it has one");
    let presentation = |verdict: Verdict| Presentation {
        sections: vec![Section { verdict: Some(verdict), ..Section::default() }],
        ..Presentation::default()
    };
    let (unmarked, marked) = (
        presentation(verdict.clone()),
        presentation(verdict.decided_by(&["sender_cpu_share", "receive_window_share"])),
    );
    assert_snapshot!(show(RESULT_ONLY, &[finished(&marked, None)]), @r"
      → The sender's processor held it back.
        sender CPU 97 % of one processor · 1 % of the time stopped by the window
    ");
    let options = Options { detail: Detail::Full, ..RESULT_ONLY };
    let all = show(options, &[finished(&marked, None)]);
    assert_snapshot!(all, @r"
      → The sender's processor held it back.
        sender CPU 97 % of one processor · receiver CPU 60 % · 1 % of the time
        stopped by the window
        remedy: more connections on more processors
    ");
    // A result of an earlier version marks none.
    assert!(all.starts_with(show(RESULT_ONLY, &[finished(&unmarked, None)]).trim_end()), "{all}");
}

#[test]
fn color_marks_what_must_not_be_missed() {
    let presentation = samples::corrupted();
    let plain = show(RESULT_ONLY, &[finished(&presentation, None)]);
    let options = Options { color: Color::Always, ..RESULT_ONLY };
    let colored = show(options, &[finished(&presentation, None)]);
    assert!(colored.contains("\u{1b}[1;31m✗ FAILED\u{1b}[0m"), "{colored}");
    let mut stripped = colored;
    for parameters in ["0", "1", "2", "32", "33", "1;31"] {
        stripped = stripped.replace(&format!("\u{1b}[{parameters}m"), "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn ascii_stands_where_the_locale_has_no_more() {
    let presentation = samples::of(samples::goodput());
    let options = Options { charset: Charset::Ascii, ..RESULT_ONLY };
    let shown = show(options, &[finished(&presentation, None)]);
    let from = shown.find("  RTT p50").expect("the percentiles are shown");
    assert!(shown.is_ascii(), "{shown}");
    assert_snapshot!(shown[from..], @r"
    RTT p50         812.4 us      804.3-828.6 (95 %); under this load
    RTT p99       1,930   us      1,911-1,969 (95 %)
    RTT p99.9     needs 10,000 samples

    goodput  *#####=###  40.00 to 72.15 Gbit/s
    RTT p50  .-----#---  512.0 to 2,100 us

    > The sender's processor held it back.
      sender CPU 97 % of one processor | receiver CPU 60 % | 1 % of the time
      stopped by the window
    + all 90,213,124,096 bytes were as they must be
    ");
}

#[test]
fn hidden_rows_leave_the_result_alone() {
    let presentation = samples::survey();
    let rows = samples::rows();
    let note = Caveat {
        name: "loopback".to_owned(),
        text: "no network was crossed".to_owned(),
        remedy: None,
    };
    let events = [
        Event::Started { presentation: &presentation, record: &() },
        Event::Interval { measurement: "", server: None, row: &rows[0], record: &() },
        Event::Note(&note),
    ];
    assert_eq!(show(RESULT_ONLY, &events), "");
}
