//! Results as modes state them.

use pathscope_core::figure::{Better, Unit};
use pathscope_core::presentation::{
    CommandLine, Figure, Presentation, Row, Section, Series, SeriesPoint, Shape, Source, Table,
    Value,
};
use pathscope_core::record::{Caveat, Check, Evidence, Limit, Verdict};
use pathscope_core::stats::{Bucket, Distribution, Percentile, samples_needed};

pub fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub fn percentile(percent: f64, microseconds: f64) -> Value {
    let value_ns = (microseconds * 1_000.0) as u64;
    Value::Percentile(Percentile {
        percent,
        value_ns: Some(value_ns),
        low_ns: Some(value_ns - value_ns / 100),
        high_ns: Some(value_ns + value_ns / 50),
        samples_needed: samples_needed(percent),
    })
}

pub fn too_few(percent: f64) -> Value {
    Value::Percentile(Percentile {
        percent,
        value_ns: None,
        low_ns: None,
        high_ns: None,
        samples_needed: samples_needed(percent),
    })
}

fn check(name: &str, passed: bool, text: &str) -> Check {
    let passed = Some(passed);
    Check { name: name.to_owned(), passed, text: text.to_owned(), remedy: None }
}

fn evidence(name: &str, value: f64, text: &str) -> Evidence {
    Evidence::new(name, value, text)
}

fn context() -> Vec<Figure> {
    vec![
        Figure::new("server", text("10.0.0.2:5210")).with_note("pathscope 0.1.0, 8 processors"),
        Figure::new("client", text("10.0.0.1")).with_note("pathscope 0.1.0, 2 processors"),
        Figure::new("clock", text("CLOCK_MONOTONIC from tsc, 22 ns a reading")),
    ]
}

fn over_ten_seconds(label: &str, unit: Unit, values: [Option<f64>; 10]) -> Series {
    let second = |at: u64| at * 1_000_000_000;
    let points = (1..)
        .zip(values)
        .map(|(at, value)| SeriesPoint::over(second(at), second(at + 1), value))
        .collect();
    let better = if unit == Unit::BitRate { Better::Higher } else { Better::Lower };
    let source = Source { label: label.to_owned(), unit, better, ..Source::default() };
    Series { source, points }
}

pub fn goodput() -> Section {
    let rates = [61.22, 68.4, 70.9, 71.1, 71.3, 72.15, 40.0, 71.9, 72.0, 71.8];
    Section {
        title: "goodput up".to_owned(),
        subtitle: "8 TCP connections, push, 10 s, every byte verified".to_owned(),
        figures: vec![
            Figure::new("goodput", Value::BitRate(72.15e9))
                .with_note("8.912 to 9.134 Gbit/s a connection"),
            Figure::new("received", Value::Bytes(90_213_124_096)),
            Figure::new("fairness", Value::Ratio(0.998)).with_note("Jain's index"),
            Figure::new("connections", Value::Count(8)).with_note("0 failed"),
            Figure::new("retransmits", Value::Count(1_234)),
            Figure::new("sender CPU", Value::Ratio(0.971)).with_note("of one processor"),
            Figure::new("receiver CPU", Value::Ratio(0.604)),
            Figure::new("RTT p50", percentile(50.0, 812.4)).of("RTT").with_note("under this load"),
            Figure::new("RTT p99", percentile(99.0, 1_930.0)).of("RTT"),
            Figure::new("RTT p99.9", too_few(99.9)).of("RTT"),
        ],
        series: vec![
            over_ten_seconds("goodput", Unit::BitRate, rates.map(|rate| Some(rate * 1e9))),
            over_ten_seconds(
                "RTT p50",
                Unit::Duration,
                [512.0, 800.0, 812.0, 815.0, 820.0, 812.0, 2_100.0, 810.0, 811.0, 809.0]
                    .map(|microseconds| Some(microseconds * 1e3)),
            ),
        ],
        checks: vec![check("verified", true, "all 90,213,124,096 bytes were as they must be")],
        verdict: Some(Verdict {
            limit: Limit::SenderCpu,
            sure: Some(true),
            text: "The sender's processor held it back.".to_owned(),
            evidence: vec![
                evidence("sender_cpu_share", 0.971, "sender CPU 97 % of one processor"),
                evidence("receiver_cpu_share", 0.604, "receiver CPU 60 %"),
                evidence("receive_window_share", 0.01, "1 % of the time stopped by the window"),
            ],
            remedy: Some("more connections on more processors".to_owned()),
        }),
        ..Section::default()
    }
}

pub fn latency() -> Section {
    Section {
        title: "latency".to_owned(),
        subtitle: "UDP, 64 B, a ping every 10 ms for 10 s, open loop".to_owned(),
        figures: vec![
            Figure::new("RTT p50", percentile(50.0, 24.1)).of("RTT"),
            Figure::new("RTT p90", percentile(90.0, 31.55)).of("RTT"),
            Figure::new("RTT p99", percentile(99.0, 61.31)).of("RTT"),
            Figure::new("RTT p99.9", too_few(99.9)).of("RTT").with_note("997 taken"),
            Figure::new("RTT max", Value::Duration(2_310_404)).of("RTT"),
            Figure::new("pings", Value::Count(1_000)),
            Figure::new("lost", Value::Count(3)).with_note("2 on the way there, 1 on the way back"),
            Figure::new("lost of sent", Value::Ratio(0.003)),
            Figure::new("server residence", Value::Absent),
        ],
        distributions: vec![Shape {
            source: Source { label: "RTT".to_owned(), ..Source::default() },
            distribution: distribution(),
        }],
        caveats: vec![Caveat {
            name: "probe_unanswered".to_owned(),
            text: "3 pings were never answered".to_owned(),
            remedy: Some("compare with a run without load; open the server's UDP port".to_owned()),
        }],
        ..Section::default()
    }
}

fn distribution() -> Distribution {
    let buckets =
        [(19_200, 12), (22_000, 301), (24_100, 402), (31_550, 201), (61_310, 80), (2_310_404, 1)]
            .map(|(upper_ns, count)| Bucket { upper_ns, count });
    Distribution { count: 997, buckets: buckets.to_vec(), ..Distribution::default() }
}

fn step(name: &str, up: Option<f64>, down: Option<f64>, rtt: [Value; 3], lost: u64) -> Vec<Value> {
    let rate =
        |gigabits: Option<f64>| gigabits.map_or(Value::Absent, |rate| Value::BitRate(rate * 1e9));
    let [p50, p99, p999] = rtt;
    vec![text(name), rate(up), rate(down), p50, p99, p999, Value::Count(lost)]
}

pub fn survey() -> Presentation {
    let heads = ["step", "goodput up", "goodput down", "RTT p50", "RTT p99", "RTT p99.9", "lost"];
    let rtt =
        |p50, p99, p999| [percentile(50.0, p50), percentile(99.0, p99), percentile(99.9, p999)];
    let summary = Table::new(
        "",
        heads,
        vec![
            step("idle", None, None, rtt(24.1, 61.31, 118.0), 0),
            step("up", Some(72.15), None, rtt(812.4, 1_930.0, 2_204.0), 0),
            step("down", None, Some(9.412), rtt(790.1, 1_804.0, 2_150.0), 2),
            step(
                "duplex",
                Some(35.02),
                Some(8.9),
                [percentile(50.0, 1_620.0), percentile(99.0, 3_811.0), too_few(99.9)],
                11,
            ),
        ],
    );
    Presentation {
        title: "survey of 10.0.0.2".to_owned(),
        context: context(),
        sections: vec![
            Section {
                title: "at a glance".to_owned(),
                subtitle: "goodput of 8 TCP connections; RTT of UDP probes beside each load"
                    .to_owned(),
                tables: vec![summary],
                verdict: goodput().verdict,
                ..Section::default()
            },
            Section { title: "idle".to_owned(), ..latency() },
            goodput(),
        ],
        caveats: vec![Caveat { name: "few_processors".to_owned(), text: "sender and receiver of the probes shared 2 processors with the load: latency under load includes waiting for a processor".to_owned(), remedy: None }],
        ..Presentation::default()
    }
}

pub fn of(section: Section) -> Presentation {
    Presentation {
        title: format!("{} to 10.0.0.2", section.title),
        context: context(),
        sections: vec![section],
        caveats: Vec::new(),
        commands: CommandLine::known(&["pathscope", "goodput", "10.0.0.2"].map(str::to_owned)),
        ..Presentation::default()
    }
}

/// One connection a row, the last one with an error if there is one.
pub fn connections(error: &str) -> Presentation {
    let heads = ["flow", "sent", "received", "up", "down", "RTT", "retransmits", "error"];
    let row = |flow: u64, rate: f64, error: &str| {
        vec![
            Value::Count(flow),
            Value::Bytes((rate * 1.25e9) as u64),
            Value::Bytes(0),
            Value::BitRate(rate * 1e9),
            Value::Absent,
            Value::Duration((rate * 90_000.0) as u64),
            Value::Count(flow * 1_100),
            text(error),
        ]
    };
    let rows = vec![row(0, 9.134, ""), row(1, 8.912, ""), row(2, 0.8, error)];
    let table = Table::new("connections", heads, rows);
    Presentation {
        sections: vec![Section { tables: vec![table], ..Section::default() }],
        ..Presentation::default()
    }
}

pub fn corrupted() -> Presentation {
    let mut section = goodput();
    section.checks = vec![
        check(
            "verified",
            false,
            "1 of 90,213,124,096 bytes was wrong: flow 3, offset 41,213,005, 1 byte, 2 bits flipped",
        ),
        check("counts_agree", true, "both ends counted the same bytes"),
    ];
    section.verdict = None;
    section.series.clear();
    section.figures.truncate(3);
    of(section)
}

pub fn rows() -> Vec<Row> {
    let up = |second: u64, rate: f64, p50: Value, retransmits| Row {
        section: "goodput up".to_owned(),
        cells: vec![
            Figure::new("time", Value::Duration(second * 1_000_000_000)),
            Figure::new("up", Value::BitRate(rate)),
            Figure::new("RTT p50", p50).of("RTT"),
            Figure::new("RTT max", Value::Duration(second * 1_204_000)).of("RTT"),
            Figure::new("retransmits", Value::Count(retransmits)),
        ],
    };
    let idle = |second: u64, p50: Value| Row {
        section: "idle".to_owned(),
        cells: vec![
            Figure::new("time", Value::Duration(second * 1_000_000_000)),
            Figure::new("RTT p50", p50).of("RTT"),
            Figure::new("RTT p99", too_few(99.0)).of("RTT"),
            Figure::new("lost", Value::Count(0)),
        ],
    };
    vec![
        idle(1, percentile(50.0, 24.1)),
        idle(2, percentile(50.0, 24.3)),
        up(1, 61.22e9, too_few(50.0), 12),
        up(2, 72.15e9, percentile(50.0, 812.4), 0),
        up(3, 3.1e6, percentile(50.0, 250_000.0), 1_234),
        up(4, 0.0, Value::Absent, 0),
        up(10, 812e6, percentile(50.0, 790.1), 0),
    ]
}

/// Trials of a search for a rate.
pub fn trials() -> Vec<Row> {
    let trial = |number: u64, asked: Value, sent: f64, received: f64, lost: u64, word: &str| Row {
        section: "highest rate without loss".to_owned(),
        cells: vec![
            Figure::new("trial", Value::Count(number)),
            Figure::new("asked", asked),
            Figure::new("sent", Value::BitRate(sent)),
            Figure::new("received", Value::BitRate(received)),
            Figure::new("lost", Value::Count(lost)),
            Figure::new("what became of it", text(word)),
        ],
    };
    let rate = Value::BitRate;
    vec![
        trial(1, Value::Absent, 2.763e9, 97.19e6, 476_086, "lost on the path"),
        trial(2, rate(97.19e6), 97.19e6, 96.5e6, 51, "lost; once more"),
        trial(3, rate(97.19e6), 97.19e6, 97.19e6, 0, "passed"),
        trial(4, rate(97.19e6), 97.19e6, 97.18e6, 0, "held"),
        trial(12, rate(12.345e9), 12.345e9, 812.53e6, 1_476_086, "lost in a socket"),
    ]
}
