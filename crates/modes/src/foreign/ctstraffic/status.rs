//! Rows of status: what there was in each slice of time.
//!
//! ```text
//! TimeSlice,SendBps,RecvBps,In-Flight,Completed,NetError,DataError      TimeSlice,Bits/Sec,Streams,Completed,Dropped,Repeated,Errors
//! 0.001,2,0,8,0,0,0                                                      5,290,1,240,0,0,0
//! 5.002,2635514317,124,8,8,0,0                                           10,24999840,1,300,0,0,0
//! ```
//!
//! Rates are of the slice that ends then. Those of the first row are over the time that the machine was up, and count for nothing; how
//! connections ended is counted from the begin, frames in their slice.

use pathscope_core::figure::Part;
use pathscope_core::presentation::{Chart, Figure, Section, Series, SeriesPoint};
use pathscope_core::quantity::{count, counted, duration_ns};
use serde_json::json;

use super::super::findings::ForeignCaveat;
use super::{Fault, Form, TOOL, UNKNOWN, at, cells, has, number, time};
use crate::figure::Group;
use crate::finding::caveats;
use crate::foreign::Read;
use crate::{goodput, media};

const SECOND_NS: f64 = 1e9;

/// Those of connections.
pub const CONNECTIONS: Form = Form {
    tool: TOOL,
    holds: "rows of status of connections",
    is_one: |text| {
        has(
            text,
            &["TimeSlice", "SendBps", "RecvBps", "In-Flight", "Completed", "NetError", "DataError"],
        )
    },
    read: connections,
};

/// Those of streams.
pub const STREAMS: Form = Form {
    tool: TOOL,
    holds: "rows of status of streams",
    is_one: |text| {
        has(
            text,
            &["TimeSlice", "Bits/Sec", "Streams", "Completed", "Dropped", "Repeated", "Errors"],
        )
    },
    read: streams,
};

/// A row, and when its slice began.
struct Slice {
    start_ns: u64,
    end_ns: u64,
    numbers: [u64; 6],
}

fn slices(text: &str) -> Result<Vec<Slice>, Fault> {
    let mut slices: Vec<Slice> = Vec::new();
    for row in cells::<7>(text)? {
        let (line, [end, numbers @ ..]) = row?;
        let end_ns = time(end, SECOND_NS).map_err(at(line))?;
        let start_ns = slices.last().map_or(0, |last| last.end_ns);
        if end_ns < start_ns {
            return Err(at(line)(
                "it comes before the row above it: these are rows of two runs".to_owned(),
            ));
        }
        let mut read = [0; 6];
        for (place, cell) in read.iter_mut().zip(numbers) {
            *place = number(cell).map_err(at(line))?;
        }
        slices.push(Slice { start_ns, end_ns, numbers: read });
    }
    if slices.is_empty() {
        return Err(Fault::Whole("it holds no row".to_owned()));
    }
    Ok(slices)
}

/// The rates of a column, as bits a second: over time, and their mean from the first slice in which something flowed to the last, since rows go
/// on while nobody is there and while what has come is played; nothing where nothing ever flowed.
fn rates(slices: &[Slice], column: usize, bits: f64) -> Option<(Vec<SeriesPoint>, f64)> {
    // The first row has no slice of its own.
    let rated = slices.iter().skip(1);
    let points = rated.map(|slice| {
        let rate = slice.numbers[column] as f64 * bits;
        SeriesPoint::over(slice.start_ns, slice.end_ns, Some(rate))
    });
    let points: Vec<SeriesPoint> = points.collect();
    let flows = |point: &SeriesPoint| point.value.is_some_and(|rate| rate > 0.0);
    let (first, last) = (points.iter().position(flows)?, points.iter().rposition(flows)?);
    let length = |point: &SeriesPoint| (point.end_ns - point.start_ns) as f64;
    let moving = &points[first..=last];
    let all: f64 = moving.iter().map(length).sum();
    let bits = moving.iter().map(|point| point.value.unwrap_or(0.0) * length(point)).sum::<f64>();
    (all > 0.0).then(|| (points, bits / all))
}

fn series(group: &Group, (way, name): (&'static str, &str), points: Vec<SeriesPoint>) -> Series {
    let mut source = group.source(&Part::Side(way), name);
    source.chart = Chart::Area;
    Series { source, points }
}

fn told() -> Vec<pathscope_core::record::Caveat> {
    caveats([
        (
            ForeignCaveat::FirstSlice,
            Some(
                "rates of the first row are over another time than its slice; they are left out"
                    .to_owned(),
            ),
        ),
        (ForeignCaveat::NotInTheFile, Some(UNKNOWN.to_owned())),
    ])
}

/// How long the rows tell of, and what of.
fn subtitle(slices: &[Slice], thing: &str, most: u64) -> String {
    let length_ns = slices.last().map_or(0, |last| last.end_ns);
    format!(
        "{}, {} at once at most, {}",
        counted(slices.len() as u64, "row"),
        counted(most, thing),
        duration_ns(length_ns)
    )
}

fn connections(text: &str) -> Result<Read, Fault> {
    let group = &goodput::figures::GROUP;
    let slices = slices(text)?;
    let [.., completed, network, data] = slices.last().map_or([0; 6], |last| last.numbers);
    let most = slices.iter().map(|slice| slice.numbers[2]).max().unwrap_or(0);
    let (mut figures, mut over_time) = (Vec::new(), Vec::new());
    let mut summary =
        json!({ "completed": completed, "failures": { "network": network, "data": data } });
    for (way, column) in [("up", 0), ("down", 1)] {
        let Some((points, mean)) = rates(&slices, column, 8.0) else { continue };
        figures.push(group.of(way, "rate", mean));
        summary[way] = json!({ "goodput_bps": mean });
        over_time.push(series(group, (way, "rate"), points));
    }
    figures.push(group.figure("completed", completed));
    figures.extend(
        group.counted(
            &Part::Whole,
            [("failures.network", network, ""), ("failures.data", data, "")],
        ),
    );
    let section = Section {
        subtitle: subtitle(&slices, "connection", most),
        figures,
        series: over_time,
        caveats: told(),
        ..Section::default()
    };
    Ok(Read { name: "goodput", section, summary: json!({ "goodput": summary }), client: json!({}) })
}

fn streams(text: &str) -> Result<Read, Fault> {
    let group = &media::figures::GROUP;
    let slices = slices(text)?;
    let sum = |column: usize| {
        slices.iter().fold(0_u64, |sum, slice| sum.saturating_add(slice.numbers[column]))
    };
    let [completed, dropped, repeated, errors] = [2, 3, 4, 5].map(sum);
    let most = slices.iter().map(|slice| slice.numbers[1]).max().unwrap_or(0);
    let (figures, down) = frames([completed, dropped, repeated, errors]);
    let rate = rates(&slices, 0, 1.0);
    let rated: Option<Figure> =
        rate.as_ref().map(|(_, mean)| group.of("down", "received_rate", *mean));
    let mut down = down;
    if let Some((_, mean)) = &rate {
        down["received_bps"] = json!(mean);
    }
    let over_time = rate.map(|(points, _)| series(group, ("down", "received_rate"), points));
    let dropped_over_time = slices.iter().map(|slice| {
        SeriesPoint::over(slice.start_ns, slice.end_ns, Some(slice.numbers[3] as f64))
    });
    let mut missed = series(group, ("down", "frames.missed"), dropped_over_time.collect());
    missed.source.chart = Chart::Stack;
    let section = Section {
        subtitle: format!(
            "{}, {} frames",
            subtitle(&slices, "stream", most),
            count(completed.saturating_add(dropped))
        ),
        figures: rated.into_iter().chain(figures).collect(),
        series: over_time.into_iter().chain([missed]).collect(),
        caveats: told(),
        ..Section::default()
    };
    Ok(Read {
        name: "media",
        section,
        summary: json!({ "media": { "down": down } }),
        client: json!({}),
    })
}

/// How frames ended, as figures and as documents have it: completed, dropped, repeated and in error.
pub fn frames(
    [completed, dropped, repeated, errors]: [u64; 4],
) -> (Vec<Figure>, serde_json::Value) {
    let group = &media::figures::GROUP;
    let played = completed.saturating_add(repeated);
    let all = played.saturating_add(dropped).saturating_add(errors);
    let share = (all > 0).then(|| played as f64 / all as f64);
    let mut figures = vec![
        group.of("down", "played_share", share),
        group.of("down", "frames.completed", completed),
    ];
    figures.extend(group.counted(
        &Part::Side("down"),
        [
            ("frames.missed", dropped, ""),
            ("frames.repeated", repeated, ""),
            ("frames.erroneous", errors, ""),
        ],
    ));
    let frames = json!({
        "completed": completed, "missed": dropped, "repeated": repeated, "erroneous": errors,
    });
    (figures, json!({ "played_ratio": share, "frames": frames }))
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::Value;

    use crate::foreign::tests::{fault, read};

    const CONNECTIONS: &str = "TimeSlice,SendBps,RecvBps,In-Flight,Completed,NetError,DataError\n\
        0.001,2,0,8,0,0,0\n5.002,2635514317,124,8,8,0,0\n10.003,2519781898,171,8,19,1,2\n";
    const STREAMS: &str = "TimeSlice,Bits/Sec,Streams,Completed,Dropped,Repeated,Errors\r\n\
        5,290,1,240,0,0,0\r\n10,24999840,1,290,8,1,1\r\n15.5,24000000,0,300,0,0,0\r\n";

    fn figure(text: &str, id: &str) -> Value {
        let figures = read(text).presentation().sections.remove(0).figures;
        figures.iter().find(|it| it.id == id).map_or(Value::Absent, |it| it.value.clone())
    }

    #[test]
    fn rates_are_of_all_slices_but_the_first() {
        let Value::BitRate(up) = figure(CONNECTIONS, "goodput.rate.up") else { panic!("a rate") };
        assert!((up / (8.0 * 2_577_648_107.5) - 1.0).abs() < 1e-9, "{up}");
        assert_eq!(figure(CONNECTIONS, "goodput.completed"), Value::Count(19));
        assert_eq!(figure(CONNECTIONS, "goodput.failures.network"), Value::Count(1));
        assert_eq!(figure(CONNECTIONS, "goodput.failures.data"), Value::Count(2));
        let section = read(CONNECTIONS).presentation().sections.remove(0);
        assert_eq!(section.subtitle, "3 rows, 8 connections at once at most, 10 s");
        assert_eq!(section.series.len(), 2);
        assert_eq!(section.series[0].points.len(), 2);
    }

    #[test]
    fn frames_are_summed_up_over_their_slices() {
        for (id, value) in [
            ("media.frames.completed.down", Value::Count(830)),
            ("media.frames.missed.down", Value::Count(8)),
            ("media.frames.repeated.down", Value::Count(1)),
            ("media.frames.erroneous.down", Value::Count(1)),
            ("media.played_share.down", Value::Ratio(831.0 / 840.0)),
        ] {
            assert_eq!(figure(STREAMS, id), value, "{id}");
        }
        let Value::BitRate(rate) = figure(STREAMS, "media.received_rate.down") else {
            panic!("a rate")
        };
        assert!((rate - (24_999_840.0 * 5.0 + 24e6 * 5.5) / 10.5).abs() < 1.0, "{rate}");
    }

    #[test]
    fn rows_before_and_behind_what_flowed_lower_no_rate() {
        let [first, rows @ ..] = &STREAMS.lines().collect::<Vec<_>>()[..] else {
            panic!("it has rows")
        };
        let idle = format!(
            "{first}\n1,0,0,0,0,0,0\n2,0,0,0,0,0,0\n{}\n20,0,0,0,0,0,0\n25,0,0,0,0,0,0\n",
            rows.join("\n")
        );
        let Value::BitRate(rate) = figure(&idle, "media.received_rate.down") else {
            panic!("a rate")
        };
        let moved = 290.0 * 3.0 + 24_999_840.0 * 5.0 + 24e6 * 5.5;
        assert!((rate - moved / 13.5).abs() < 1.0, "{rate}");
    }

    #[test]
    fn a_damaged_file_is_refused_with_the_line_and_why() {
        let rows = |rows: &str| {
            fault(&format!("{}{rows}", CONNECTIONS.lines().next().expect("one").to_owned() + "\n"))
        };
        assert!(rows("").ends_with("it holds no row"));
        assert!(rows("1,0,0,0,0,0\n").contains("line 2: it has 6 values and has to have 7"));
        assert!(rows("1,0,0,0,0,0,-1\n").contains("line 2: '-1' is no whole number"));
        assert!(rows("soon,0,0,0,0,0,0\n").contains("line 2: 'soon' is no time"));
        assert!(rows("2,0,0,0,0,0,0\n1,0,0,0,0,0,0\n").contains("line 3: it comes before"));
        assert!(rows("1,0,0,0,0,0,0\n2,0").contains("the file was cut off"));
        assert!(!rows("1,0,0,0,0,0,\u{1b}[31m\n").contains('\u{1b}'));
    }
}
