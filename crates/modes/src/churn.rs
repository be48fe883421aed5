//! Connections that follow one another, each by when it began and how long it took. Which of them are told is `times`' affair;
//! when they failed is among the figures over time.

use pathscope_core::figure::Part;
use pathscope_core::presentation::{Chart, Dots, Scatter};
use pathscope_core::quantity::{count, counted};
use pathscope_core::record::FlowErrorKind;

use crate::document::Measurement;
use crate::figure::notes;
use crate::figures::ENDS;
use crate::times::{ConnectionTime, ConnectionTimes};

/// A kind of connection: what it is called, which are of it, and whether that is trouble.
type Kind = (&'static str, fn(&ConnectionTime) -> bool, bool);

const KINDS: [Kind; 4] = [
    ("completed", |time| time.failed.is_none() && !time.cut, false),
    ("cut by the end of the run", |time| time.failed.is_none() && time.cut, false),
    ("failed: network", |time| time.failed == Some(FlowErrorKind::Network), true),
    (
        "failed: data or protocol",
        |time| time.failed.is_some_and(|kind| kind != FlowErrorKind::Network),
        true,
    ),
];

/// Those of a measurement, in the document's time; none where no times are told.
pub(crate) fn scatters(measurement: &Measurement) -> Option<Scatter> {
    let times = measurement.test.plan.times_of(&measurement.client)?;
    scatter(times, measurement.start_ns)
}

fn scatter(times: &ConnectionTimes, start_ns: u64) -> Option<Scatter> {
    let point =
        |time: &ConnectionTime| (start_ns.saturating_add(time.began_ns), time.took_ns as f64);
    let kinds = KINDS.iter().map(|&(label, is_it, is_trouble)| {
        let points = times.told.iter().filter(|time| is_it(time)).map(point).collect();
        Dots { label: label.to_owned(), is_trouble, points }
    });
    let kinds: Vec<Dots> = kinds.filter(|dots| !dots.points.is_empty()).collect();
    let failed = times.told.iter().filter(|time| time.failed.is_some()).count() as u64;
    let ended = times.told.len() as u64 - failed;
    let place = "client.goodput.times.told[].took_ns";
    let source = ENDS.series(&Part::Side("client"), "connection", place, Chart::Line);
    (!kinds.is_empty()).then(|| Scatter {
        title: "connections by when they began, and how long each took".to_owned(),
        source,
        kinds,
        note: notes([
            part(ended, times.ended, "that did not fail"),
            part(failed, times.failed, "that failed"),
        ]),
    })
}

/// How many of how many are told; nothing where there are none.
fn part(told: u64, all: u64, which: &str) -> Option<String> {
    let words = match (told, all) {
        (_, 1) => format!("the 1 connection {which}"),
        _ if told < all => {
            format!("{} of {} {which}, drawn by chance", count(told), counted(all, "connection"))
        }
        _ => format!("all {} {which}", counted(all, "connection")),
    };
    (all > 0).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_told_apart_and_it_is_said_how_many_are_told() {
        let time = |began_ns, failed, cut| ConnectionTime {
            began_ns,
            took_ns: 7,
            failed,
            cut,
            ..ConnectionTime::default()
        };
        let told = vec![
            time(1, None, false),
            time(2, Some(FlowErrorKind::Network), false),
            time(3, None, true),
            time(4, Some(FlowErrorKind::Data), false),
            time(5, Some(FlowErrorKind::Protocol), true),
        ];
        let times = ConnectionTimes { ended: 40_000, failed: 3, told, request: None };
        let scatter = scatter(&times, 100).expect("five");
        assert_eq!(
            scatter.note,
            "2 of 40,000 connections that did not fail, drawn by chance; all 3 connections that failed"
        );
        let kinds =
            scatter.kinds.iter().map(|dots| (&*dots.label, dots.is_trouble, &dots.points[..]));
        let wanted = [
            ("completed", false, &[(101, 7.0)][..]),
            ("cut by the end of the run", false, &[(103, 7.0)]),
            ("failed: network", true, &[(102, 7.0)]),
            ("failed: data or protocol", true, &[(104, 7.0), (105, 7.0)]),
        ];
        assert_eq!(kinds.collect::<Vec<_>>(), wanted);
        assert_eq!(scatter.source.id, "end.connection.client");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(scatter(&ConnectionTimes::default(), 0), None);
        assert_eq!(part(1, 1, "that failed").as_deref(), Some("the 1 connection that failed"));
    }
}
