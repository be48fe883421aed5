//! Rows of what the kernel said of connections when they ended.
//!
//! ```text
//! TimeSlice,LocalAddress,RemoteAddress,ConnectionId,SendBytes,SendBps,RecvBytes,RecvBps,TimeMs,BytesReordered,BytesRetransmitted,…,Mss,…
//! ```
//!
//! What a system does not count stands empty. How connections ended is not in it.

use pathscope_core::presentation::{Figure, Section, Value};
use pathscope_core::quantity::counted;
use pathscope_core::stats::median;
use serde_json::json;

use super::super::findings::ForeignCaveat;
use super::ends::{self, Way};
use super::{Fault, Form, TOOL, UNKNOWN, at, cells, has, number, time};
use crate::finding::caveats;
use crate::foreign::Read;

const COLUMNS: [&str; 20] = [
    "TimeSlice",
    "LocalAddress",
    "RemoteAddress",
    "ConnectionId",
    "SendBytes",
    "SendBps",
    "RecvBytes",
    "RecvBps",
    "TimeMs",
    "BytesReordered",
    "BytesRetransmitted",
    "SynRetransmitted",
    "DupAcksIn",
    "MinRttUs",
    "Mss",
    "TimeoutEpisodes",
    "FastRetransmit",
    "SndLimBytesCwnd",
    "SndLimBytesRwin",
    "SndLimBytesSnd",
];

/// The one form.
pub const TCP_INFO: Form = Form {
    tool: TOOL,
    holds: "rows of what TCP counted of connections",
    is_one: |text| has(text, &COLUMNS),
    read,
};

/// Where these columns stand.
const RETRANSMITTED: usize = 10;
const MIN_RTT_US: usize = 13;

fn read(text: &str) -> Result<Read, Fault> {
    let (mut up, mut down) = (Way::default(), Way::default());
    let (mut retransmitted, mut round_trips) = (None::<u64>, Vec::new());
    let mut connections = 0_u32;
    for row in cells::<20>(text)? {
        let (line, row) = row?;
        time(row[0], 1e9).map_err(at(line))?;
        let [sent, send_rate, received, receive_rate, took] =
            ends::numbers([row[4], row[5], row[6], row[7], row[8]]).map_err(at(line))?;
        up.add(connections, sent, send_rate, took > 0);
        down.add(connections, received, receive_rate, took > 0);
        let counted = |place: usize| match row[place] {
            "" => Ok(None),
            cell => number(cell).map(Some).map_err(at(line)),
        };
        if let Some(bytes) = counted(RETRANSMITTED)? {
            retransmitted = Some(retransmitted.unwrap_or(0).saturating_add(bytes));
        }
        round_trips.extend(counted(MIN_RTT_US)?.map(|least| least as f64 * 1_000.0));
        connections = connections.saturating_add(1);
    }
    if connections == 0 {
        return Err(Fault::Whole("it holds no connection".to_owned()));
    }
    round_trips.sort_by(f64::total_cmp);
    let (mut figures, mut all_bars, mut summary) = (Vec::new(), Vec::new(), json!({}));
    for (way, told) in [("up", up), ("down", down)] {
        let (of_way, of_summary, drawn) = ends::of_way(way, told);
        figures.extend(of_way);
        all_bars.extend(drawn);
        if let Some(told) = of_summary {
            summary[way] = told;
        }
    }
    let of_kernel = [
        ("bytes sent again", retransmitted.map(Value::Bytes)),
        ("least round trip, median", median(&round_trips).map(|it| Value::Duration(it as u64))),
    ];
    let told = of_kernel.into_iter().filter_map(|(label, value)| Some((label, value?)));
    figures.extend(told.map(|(label, value)| Figure::new(label, value)));
    let section = Section {
        subtitle: counted(u64::from(connections), "connection"),
        figures,
        bars: all_bars,
        caveats: caveats([(ForeignCaveat::NotInTheFile, Some(UNKNOWN.to_owned()))]),
        ..Section::default()
    };
    Ok(Read { name: "goodput", section, summary: json!({ "goodput": summary }), client: json!({}) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::tests::{fault, read};

    fn rows(rows: &str) -> String {
        format!("{}\n{rows}", COLUMNS.join(","))
    }

    #[test]
    fn what_the_kernel_said_of_connections_is_summed_up_and_what_it_did_not_is_absent() {
        let text = rows(
            "0.1,10.0.0.1:1,10.0.0.2:2,a,1000,8000,0,0,100,,1448,,,5,1448,0,,,,\n\
             0.2,10.0.0.1:3,10.0.0.2:2,b,3000,4000,0,0,100,,0,,,15,1448,0,,,,\n",
        );
        let section = read(&text).presentation().sections.remove(0);
        assert_eq!(section.subtitle, "2 connections");
        let figure = |label: &str| {
            let found = section.figures.iter().find(|it| it.label == label || it.id == label);
            found.map(|it| it.value.clone())
        };
        assert_eq!(figure("bytes sent again"), Some(Value::Bytes(1_448)));
        assert_eq!(figure("least round trip, median"), Some(Value::Duration(10_000)));
        assert_eq!(figure("goodput.sent.up"), Some(Value::Bytes(4_000)));
        let silent = rows("0.1,a:1,b:2,a,1000,8000,0,0,100,,,,,,,,,,,\n");
        let section = read(&silent).presentation().sections.remove(0);
        assert!(section.figures.iter().all(|it| !it.label.contains("again")));
    }

    #[test]
    fn a_damaged_file_is_refused_with_the_line_and_why() {
        assert!(
            fault(&rows("")).ends_with("it holds no row")
                || fault(&rows("")).contains("no connection")
        );
        let bad = rows("0.1,a:1,b:2,a,1000,8000,0,0,100,,x,,,,,,,,,\n");
        assert!(fault(&bad).contains("line 2: 'x' is no whole number"));
    }
}
