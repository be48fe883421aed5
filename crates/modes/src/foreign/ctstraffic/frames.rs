//! Rows of frames, as they were to be played: when each left and came by the clocks of two machines, and how its time in flight differs
//! from that of the first and of the one before.
//!
//! ```text
//! SequenceNumber,SenderQpc,SenderQpf,ReceiverQpc,ReceiverQpf,RelativeInFlightTimeMs,PrevToCurrentInFlightTimeJitter
//! 1,655360000,655360000000,123456,10000000,0.000,0.000
//! 2,0,0,0,0,0.000,0.000
//! ```
//!
//! A frame that was dropped has zeros; one of which datagrams came twice has no row. Stamps are not read: the times made of them stand
//! beside them.

use pathscope_core::figure::Part;
use pathscope_core::presentation::{Chart, Section};
use pathscope_core::quantity::{counted, shown};
use pathscope_core::stats::{LatencyHistogram, Percentile};
use serde_json::json;

use super::super::findings::ForeignCaveat;
use super::{Fault, Form, TOOL, UNKNOWN, at, cells, has, number, status};
use crate::finding::caveats;
use crate::foreign::Read;
use crate::media;

/// Those of frames.
pub const FRAMES: Form = Form {
    tool: TOOL,
    holds: "rows of frames",
    is_one: |text| {
        has(
            text,
            &[
                "SequenceNumber",
                "SenderQpc",
                "SenderQpf",
                "ReceiverQpc",
                "ReceiverQpf",
                "RelativeInFlightTimeMs",
                "PrevToCurrentInFlightTimeJitter",
            ],
        )
    },
    read,
};

/// Milliseconds with a sign, in nanoseconds; no more than a month, which no stream waits for a frame.
fn milliseconds(cell: &str) -> Result<i64, String> {
    const MOST: f64 = 31.0 * 86_400.0 * 1e3;
    let value = cell.parse::<f64>().ok().filter(|value| value.is_finite() && value.abs() <= MOST);
    let value = value.ok_or_else(|| format!("'{}' is no time in flight", shown(cell)))?;
    Ok((value * 1e6).round() as i64)
}

fn read(text: &str) -> Result<Read, Fault> {
    let mut dropped = 0_u64;
    let mut relative: Vec<i64> = Vec::new();
    let (mut sum, mut most) = (0_u64, 0_u64);
    for row in cells::<7>(text)? {
        let (line, [frame, _, frequency, _, _, flight, change]) = row?;
        number(frame).map_err(at(line))?;
        let flight = milliseconds(flight).map_err(at(line))?;
        let change = milliseconds(change).map_err(at(line))?.unsigned_abs();
        if frequency == "0" {
            dropped += 1;
            continue;
        }
        // The first has none before it.
        if !relative.is_empty() {
            sum = sum.saturating_add(change);
            most = most.max(change);
        }
        relative.push(flight);
    }
    let completed = relative.len() as u64;
    if completed + dropped == 0 {
        return Err(Fault::Whole("it holds no frame".to_owned()));
    }
    let group = &media::figures::GROUP;
    let (mut figures, mut down) = status::frames([completed, dropped, 0, 0]);
    let differences = completed.saturating_sub(1);
    if let Some(mean) = sum.checked_div(differences) {
        figures.push(group.of("down", "frame_jitter", mean));
        figures.push(group.of("down", "frame_jitter.max", most));
        down["frame_jitter"] = json!({ "count": differences, "mean_ns": mean, "max_ns": most });
    }
    let least = relative.iter().copied().min().unwrap_or(0);
    let mut delays = LatencyHistogram::new();
    relative.iter().for_each(|&flight| delays.record(flight.abs_diff(least)));
    let mut shapes = Vec::new();
    if !delays.is_empty() {
        for (name, percent) in [("delay.p50", 50.0), ("delay.p99", 99.0)] {
            figures.push(group.of("down", name, Percentile::of(&delays, percent)));
        }
        figures.push(group.of("down", "delay.max", delays.max_ns()));
        let place = ("delay", "client.media.delay", "");
        let mut shape = group.shape(&Part::Side("down"), place, &delays.distribution());
        (shape.source.sample_column, shape.source.chart) = (None, Chart::Histogram);
        shapes.push(shape);
    }
    let unknown = format!("frames of which datagrams came twice have no row; {UNKNOWN}");
    let section = Section {
        subtitle: counted(completed + dropped, "frame"),
        figures,
        distributions: shapes,
        caveats: caveats([(ForeignCaveat::NotInTheFile, Some(unknown))]),
        ..Section::default()
    };
    let client = json!({ "media": { "delay": delays.distribution() } });
    Ok(Read { name: "media", section, summary: json!({ "media": { "down": down } }), client })
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::Value;

    use crate::foreign::tests::{fault, read};

    const HEAD: &str = "SequenceNumber,SenderQpc,SenderQpf,ReceiverQpc,ReceiverQpf,RelativeInFlightTimeMs,PrevToCurrentInFlightTimeJitter\r\n";

    fn figure(text: &str, id: &str) -> Value {
        let figures = read(text).presentation().sections.remove(0).figures;
        figures.iter().find(|it| it.id == id).map_or(Value::Absent, |it| it.value.clone())
    }

    #[test]
    fn what_was_dropped_counts_and_has_no_time() {
        let rows = "1,5,655360000000,7,10000000,0.000,0.000\r\n2,6,655360000000,8,10000000,-2.500,2.500\r\n\
            3,0,0,0,0,0.000,0.000\r\n4,7,655360000000,9,10000000,1.500,4.000\r\n";
        let text = format!("{HEAD}{rows}");
        for (id, value) in [
            ("media.frames.completed.down", Value::Count(3)),
            ("media.frames.missed.down", Value::Count(1)),
            ("media.frame_jitter.down", Value::Duration(3_250_000)),
            ("media.frame_jitter.max.down", Value::Duration(4_000_000)),
            ("media.delay.down.max", Value::Duration(4_000_000)),
        ] {
            assert_eq!(figure(&text, id), value, "{id}");
        }
        assert_eq!(read(&text).presentation().sections[0].distributions.len(), 1);
    }

    #[test]
    fn a_damaged_file_is_refused_with_the_line_and_why() {
        assert!(fault(HEAD).ends_with("it holds no frame"));
        let error = fault(&format!("{HEAD}1,5,6,7,8,soon,0\r\n"));
        assert!(error.contains("line 2: 'soon' is no time in flight"), "{error}");
        let error = fault(&format!("{HEAD}1,5,6,7,8,1e300,0\r\n"));
        assert!(error.contains("'1e300' is no time in flight"), "{error}");
    }
}
