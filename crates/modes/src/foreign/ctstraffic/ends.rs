//! Rows of connections and streams as they ended.
//!
//! ```text
//! TimeSlice,LocalAddress,RemoteAddress,SendBytes,SendBps,RecvBytes,RecvBps,TimeMs,Result,ConnectionId
//! TimeSlice,LocalAddress,RemoteAddress,Bits/Sec,Completed,Dropped,Repeated,Errors,Result,ConnectionId
//! ```

use pathscope_core::figure::Part;
use pathscope_core::id::FlowId;
use pathscope_core::presentation::{Bars, Figure, Section};
use pathscope_core::quantity::counted;
use pathscope_core::stats::median;
use serde_json::{Value, json};

use super::super::findings::ForeignCaveat;
use super::{Fault, Form, TOOL, UNKNOWN, at, cells, has, number, status, time};
use crate::finding::caveats;
use crate::foreign::Read;
use crate::load::bars::{Shares, bars};
use crate::load::{FlowRate, RateSums};
use crate::{goodput, media};

/// What a connection came to that did not fail.
const WELL: &str = "Succeeded";

/// Those of connections.
pub const CONNECTIONS: Form = Form {
    tool: TOOL,
    holds: "rows of connections",
    is_one: |text| {
        has(
            text,
            &[
                "TimeSlice",
                "LocalAddress",
                "RemoteAddress",
                "SendBytes",
                "SendBps",
                "RecvBytes",
                "RecvBps",
                "TimeMs",
                "Result",
                "ConnectionId",
            ],
        )
    },
    read: connections,
};

/// Those of streams.
pub const STREAMS: Form = Form {
    tool: TOOL,
    holds: "rows of streams",
    is_one: |text| {
        has(
            text,
            &[
                "TimeSlice",
                "LocalAddress",
                "RemoteAddress",
                "Bits/Sec",
                "Completed",
                "Dropped",
                "Repeated",
                "Errors",
                "Result",
                "ConnectionId",
            ],
        )
    },
    read: streams,
};

/// One direction of all connections.
#[derive(Default)]
pub(super) struct Way {
    bytes: u64,
    rates: Vec<FlowRate>,
    sums: RateSums,
}

impl Way {
    /// A connection more, whose rate is none where it was too short for one.
    pub(super) fn add(
        &mut self,
        flow: u32,
        bytes: u64,
        bytes_per_second: u64,
        is_long_enough: bool,
    ) {
        self.bytes = self.bytes.saturating_add(bytes);
        if is_long_enough {
            let received_bps = bytes_per_second as f64 * 8.0;
            self.rates.push(FlowRate { flow: FlowId(flow), received_bps });
            self.sums.record(received_bps);
        }
    }
}

fn connections(text: &str) -> Result<Read, Fault> {
    let (mut up, mut down) = (Way::default(), Way::default());
    let (mut completed, mut failed) = (0_u64, 0_u64);
    for (flow, row) in (0_u32..).zip(cells::<10>(text)?) {
        let (line, [end, _, _, sent, send_rate, received, receive_rate, took, result, _]) = row?;
        time(end, 1e9).map_err(at(line))?;
        let [sent, send_rate, received, receive_rate, took] =
            numbers([sent, send_rate, received, receive_rate, took]).map_err(at(line))?;
        if result != WELL {
            failed += 1;
            continue;
        }
        completed += 1;
        up.add(flow, sent, send_rate, took > 0);
        down.add(flow, received, receive_rate, took > 0);
    }
    if completed + failed == 0 {
        return Err(Fault::Whole("it holds no connection".to_owned()));
    }
    let group = &goodput::figures::GROUP;
    let mut figures = vec![group.figure("completed", completed)];
    figures.extend(group.counted(&Part::Whole, [("failed", failed, "")]));
    let mut summary = json!({ "completed": completed, "failed": failed });
    let mut all_bars = Vec::new();
    for (way, told) in [("up", up), ("down", down)] {
        let (of_way, of_summary, drawn) = of_way(way, told);
        figures.extend(of_way);
        all_bars.extend(drawn);
        if let Some(told) = of_summary {
            summary[way] = told;
        }
    }
    let section = Section {
        subtitle: counted(completed + failed, "connection"),
        figures,
        bars: all_bars,
        caveats: caveats([(ForeignCaveat::NotInTheFile, Some(UNKNOWN.to_owned()))]),
        ..Section::default()
    };
    Ok(Read { name: "goodput", section, summary: json!({ "goodput": summary }), client: json!({}) })
}

/// What a direction of connections came to; nothing where nothing flowed.
pub(super) fn of_way(way: &'static str, told: Way) -> (Vec<Figure>, Option<Value>, Option<Bars>) {
    let group = &goodput::figures::GROUP;
    let Way { bytes, rates, sums } = told;
    if bytes == 0 {
        return (Vec::new(), None, None);
    }
    let mut sorted: Vec<f64> = rates.iter().map(|rate| rate.received_bps).collect();
    sorted.sort_by(f64::total_cmp);
    let (slowest, middle, fastest) =
        (sorted.first().copied(), median(&sorted), sorted.last().copied());
    let fairness = sums.fairness().filter(|_| sorted.len() > 1);
    let moved = if way == "up" { "sent" } else { "received" };
    let figures = vec![
        group.of(way, moved, bytes),
        group.of(way, "slowest", slowest),
        group.of(way, "median", middle),
        group.of(way, "fastest", fastest),
        group.of(way, "fairness", fairness),
    ];
    let summary = json!({
        format!("{moved}_bytes"): bytes, "slowest_bps": slowest, "median_bps": middle, "fastest_bps": fastest,
        "fairness": fairness,
    });
    let shares = Shares { thing: "connection", rates, sums, median_bps: middle, fairness };
    (figures, Some(summary), bars(group, way, shares))
}

fn streams(text: &str) -> Result<Read, Fault> {
    let group = &media::figures::GROUP;
    let mut frames = [0_u64; 4];
    let (mut ended, mut failed, mut bits) = (0_u64, 0_u64, 0_u64);
    for row in cells::<10>(text)? {
        let (line, [end, _, _, rate, completed, dropped, repeated, errors, result, _]) = row?;
        time(end, 1e9).map_err(at(line))?;
        let [rate, more @ ..] =
            numbers([rate, completed, dropped, repeated, errors]).map_err(at(line))?;
        for (sum, more) in frames.iter_mut().zip(more) {
            *sum = sum.saturating_add(more);
        }
        bits = bits.saturating_add(rate);
        ended += 1;
        failed += u64::from(result != WELL);
    }
    if ended == 0 {
        return Err(Fault::Whole("it holds no stream".to_owned()));
    }
    let mean = bits as f64 / ended as f64;
    let (of_frames, mut down) = status::frames(frames);
    down["failed"] = json!(failed);
    let rate =
        Figure::new("mean rate of a stream", pathscope_core::presentation::Value::BitRate(mean));
    let mut figures: Vec<Figure> = of_frames;
    figures.push(rate);
    figures.extend(group.counted(&Part::Side("down"), [("failed", failed, "")]));
    let section = Section {
        subtitle: counted(ended, "stream"),
        figures,
        caveats: caveats([(ForeignCaveat::NotInTheFile, Some(UNKNOWN.to_owned()))]),
        ..Section::default()
    };
    Ok(Read {
        name: "media",
        section,
        summary: json!({ "media": { "down": down } }),
        client: json!({}),
    })
}

pub(super) fn numbers<const MANY: usize>(cells: [&str; MANY]) -> Result<[u64; MANY], String> {
    let mut read = [0; MANY];
    for (place, cell) in read.iter_mut().zip(cells) {
        *place = number(cell)?;
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::Value;

    use crate::foreign::tests::{fault, read};

    const HEAD: &str = "TimeSlice,LocalAddress,RemoteAddress,SendBytes,SendBps,RecvBytes,RecvBps,TimeMs,Result,ConnectionId\n";
    const STREAMS: &str = "TimeSlice,LocalAddress,RemoteAddress,Bits/Sec,Completed,Dropped,Repeated,Errors,Result,ConnectionId\n\
        60.1,10.0.0.1:5,10.0.0.2:4444,25000000,3590,10,0,0,Succeeded,a\n\
        60.2,10.0.0.1:6,10.0.0.2:4444,24000000,3500,90,0,0,ErrorNotAllDataTransferred,b\n";

    fn figure(text: &str, id: &str) -> Value {
        let figures = read(text).presentation().sections.remove(0).figures;
        figures.iter().find(|it| it.id == id).map_or(Value::Absent, |it| it.value.clone())
    }

    #[test]
    fn connections_are_fair_or_not_and_those_that_failed_have_no_rate() {
        let rows = "1.0,10.0.0.1:5,[::1]:4444,1000,1000,0,0,1000,Succeeded,a\n\
            2.0,10.0.0.1:6,[::1]:4444,1000,500,0,0,2000,Succeeded,b\n\
            2.0,10.0.0.1:7,[::1]:4444,64,0,0,0,0,Succeeded,c\n\
            3.0,10.0.0.1:8,[::1]:4444,5,5,0,0,1000,10054: An existing connection was forcibly closed,d\n";
        let text = format!("{HEAD}{rows}");
        for (id, value) in [
            ("goodput.completed", Value::Count(3)),
            ("goodput.failed", Value::Count(1)),
            ("goodput.sent.up", Value::Bytes(2_064)),
            ("goodput.slowest.up", Value::BitRate(4_000.0)),
            ("goodput.fastest.up", Value::BitRate(8_000.0)),
            ("goodput.received.down", Value::Absent),
        ] {
            assert_eq!(figure(&text, id), value, "{id}");
        }
        // (8 + 4)² / (2 · (8² + 4²)).
        assert_eq!(read(&text).measurements[0].summary["goodput"]["up"]["fairness"], 0.9);
        assert_eq!(read(&text).presentation().sections[0].bars.len(), 1);
    }

    #[test]
    fn streams_are_summed_up() {
        assert_eq!(figure(STREAMS, "media.frames.completed.down"), Value::Count(7_090));
        assert_eq!(figure(STREAMS, "media.frames.missed.down"), Value::Count(100));
        assert_eq!(figure(STREAMS, "media.failed.down"), Value::Count(1));
    }

    #[test]
    fn a_damaged_file_is_refused_with_the_line_and_why() {
        assert!(fault(HEAD).ends_with("it holds no connection"));
        let error = fault(&format!("{HEAD}1.0,a,b,1,1,0,0,1,it ended, early,c\n"));
        assert!(error.contains("line 2: it has 11 values and has to have 10"), "{error}");
        let error = fault(&format!("{HEAD}1.0,a,b,much,1,0,0,1,Succeeded,c\n"));
        assert!(error.contains("line 2: 'much' is no whole number"), "{error}");
    }
}
