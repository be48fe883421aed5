//! The raw stamps of `MultipathLatencyAnalyzer` (`-output:FILE`), whose layout `pathscope multipath --samples` shares: a row for
//! each number, and in it for each path when it left, when the server sent the echo, and when that came.
//!
//! ```text
//! Sequence number, Primary Send timestamp (microsec), Primary Echo timestamp (microsec), Primary Receive …, Secondary …
//! 0, 1000, 77001, 6210, 1012, 77400, 9400
//! 1, 1020, -1, -1, -1, -1, -1
//! ```
//!
//! -1: that did not happen. The echo's stamp is of the server's clock, and enters no figure.

use pathscope_core::Tick;
use pathscope_core::presentation::Section;
use pathscope_core::quantity::{count, counted, duration_ns, shown};
use serde_json::{Value, json};

use super::findings::ForeignCaveat;
use super::{Fault, Form, Read, columns, rows};
use crate::finding::caveats;
use crate::multipath::{MOST_PATHS, Replay, Stamps};

const NUMBER: &str = "Sequence number";
/// What each path has, after its name.
const STAMPED: [&str; 3] =
    [" Send timestamp (microsec)", " Echo timestamp (microsec)", " Receive timestamp (microsec)"];
/// What documents have and stamps do not tell.
const UNKNOWN: [&str; 17] = [
    "sent_bytes",
    "rate_bps",
    "sending_ns",
    "send_lag",
    "unsent",
    "foreign",
    "error",
    "transitions",
    "transitions_omitted",
    "resumptions",
    "duplicates",
    "late",
    "refused",
    "corrupt",
    "lost_forward",
    "lost_return",
    "socket_drops",
];

/// The stamps of each number.
pub(super) const STAMPS: Form = Form {
    tool: "MultipathLatencyAnalyzer",
    holds: "stamps of datagrams on each path",
    is_one: |text| {
        let mut columns = columns(text);
        columns.next() == Some(NUMBER)
            && columns.next().is_some_and(|column| column.ends_with(STAMPED[0]))
    },
    read,
};

fn read(text: &str) -> Result<Read, Fault> {
    let names = paths(text).map_err(|why| Fault::Line { line: 1, why })?;
    let mut stamps = Vec::new();
    let (mut first, mut last) = (None, None);
    for (line, row) in rows(text)? {
        let number = add_row(row, names.len(), last, &mut stamps);
        let number = number.map_err(|why| Fault::Line { line, why })?;
        first.get_or_insert(number);
        last = Some(number);
    }
    let Some((first, last)) = first.zip(last) else {
        return Err(Fault::Whole("it holds no datagram".to_owned()));
    };
    let numbers = (stamps.len() / names.len()) as u64;
    let missing = last - first + 1 - numbers;
    Ok(judged(&Replay::of(&names, &stamps), (numbers, missing), names.len()))
}

/// The paths that the first line names, as we call them.
fn paths(text: &str) -> Result<Vec<String>, String> {
    let columns: Vec<&str> = columns(text).skip(1).collect();
    let of = |columns: &[&str]| {
        let name = columns.first()?.strip_suffix(STAMPED[0])?;
        let is_whole = columns.iter().zip(STAMPED).all(|(column, stamped)| {
            column.strip_suffix(stamped) == Some(name) && columns.len() == STAMPED.len()
        });
        is_whole.then(|| name.to_lowercase())
    };
    let names: Option<Vec<String>> = columns.chunks(STAMPED.len()).map(of).collect();
    let names = names.ok_or_else(|| {
        "its columns are not send, echo and receive of one path after the other".to_owned()
    })?;
    if names.len() > usize::from(MOST_PATHS) {
        return Err(format!("it has {} paths, and {MOST_PATHS} are the most", names.len()));
    }
    Ok(names)
}

/// Adds what a row says of each path, and returns its number.
fn add_row(
    row: &str,
    paths: usize,
    last: Option<u64>,
    stamps: &mut Vec<Stamps>,
) -> Result<u64, String> {
    let mut cells = row.split(',').map(str::trim);
    let number = cells.next().unwrap_or_default();
    let number: u64 =
        number.parse().map_err(|_| format!("'{}' is no sequence number", shown(number)))?;
    if last.is_some_and(|last| number <= last) {
        return Err(format!("{number} comes after a higher number: these are rows of two tests"));
    }
    for _ in 0..paths {
        let mut next = || stamp(cells.next());
        let (sent, echoed, received) = (next()?, next()?, next()?);
        if received != Tick::NEVER && (sent == Tick::NEVER || received < sent) {
            return Err(format!("number {number} was received before it was sent"));
        }
        stamps.push(Stamps { sent, echoed, received });
    }
    match cells.next() {
        None => Ok(number),
        Some(_) => Err(format!("it has more than {} values", 1 + STAMPED.len() * paths)),
    }
}

fn stamp(cell: Option<&str>) -> Result<Tick, String> {
    let cell = cell.ok_or("it has too few values: a row was cut off")?;
    if cell == "-1" {
        return Ok(Tick::NEVER);
    }
    let microseconds = cell.parse().ok().and_then(|it: u64| it.checked_mul(1_000));
    microseconds.map(Tick::from_nanos).ok_or_else(|| {
        format!("'{}' is no stamp: that is a number of microseconds, or -1", shown(cell))
    })
}

fn judged(replay: &Replay, (numbers, missing): (u64, u64), paths: usize) -> Read {
    let gap = format!(
        "{} between the first number and the last have no row: they are in no figure",
        count(missing)
    );
    let told = [
        (ForeignCaveat::WholeMicroseconds, Some("stamps are whole microseconds: a latency may be wrong by up to 1 µs".to_owned())),
        (ForeignCaveat::NumbersMissing, (missing > 0).then_some(gap)),
        (ForeignCaveat::NotInTheFile, Some("hosts, settings, the size of datagrams, and copies, damage or refusals are not in the file; a number counts as due when it first left".to_owned())),
    ];
    let sending = duration_ns(replay.sending_ns);
    let section = Section {
        subtitle: format!(
            "{} over {}, {sending}",
            counted(numbers, "datagram"),
            counted(paths as u64, "path")
        ),
        caveats: caveats(told),
        ..replay.section()
    };
    Read {
        name: "multipath",
        section,
        summary: json!({ "multipath": known(json!(replay.summary)) }),
        client: json!({ "multipath": known(json!(replay.report)) }),
    }
}

/// Without what stamps do not tell, wherever it stands.
fn known(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, _)| !UNKNOWN.contains(&name.as_str()));
            Value::Object(fields.map(|(name, value)| (name, known(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(known).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::Value;

    use super::super::tests::{fault, read};
    use crate::multipath::StampRows;
    use crate::samples::SampleRows as _;

    fn head(paths: u8) -> String {
        StampRows::new(paths).head()
    }

    #[test]
    fn two_paths_are_read_as_its_own_definitions_have_it() {
        // Answered on both, the secondary first; lost on the primary; lost on both; no secondary.
        let rows = "0, 1000, 77001, 6000, 1010, 77400, 5000\n1, 2000, -1, -1, 2010, 78000, 9010\n\
            2, 3000, -1, -1, 3010, -1, -1\n3, 4000, 79000, 7000, -1, -1, -1\n";
        let result = read(&format!("{}{rows}", head(2)));
        let summary = &result.measurements[0].summary["multipath"];
        for (place, expected) in [("sent", 4), ("received", 3), ("lost", 1), ("prevented", 1)] {
            assert_eq!(summary[place], expected, "{place}");
        }
        // Send to first receive: 4,000 + 7,010 + 3,000 µs.
        assert_eq!(summary["effective"]["mean_ns"], 14_010_000.0 / 3.0);
        assert_eq!(summary["waiting_saved_ns"], 1_000_000);
        assert_eq!(summary["paths"][0]["latency"]["mean_ns"], 4_000_000.0);
        assert_eq!(
            (&summary["paths"][1]["sent"], &summary["paths"][1]["first"]),
            (&3.into(), &2.into())
        );
        for unknown in ["rate_bps", "sent_bytes", "send_lag"] {
            assert!(summary.get(unknown).is_none(), "{unknown}");
        }
        let section = &result.presentation().sections[0];
        assert_eq!(
            (section.title.as_str(), section.subtitle.as_str()),
            ("multipath", "4 datagrams over 2 paths, 3 ms")
        );
        let prevented = section.figures.iter().find(|it| it.id == "multipath.prevented");
        assert_eq!(prevented.map(|it| &it.value), Some(&Value::Count(1)));
    }

    #[test]
    fn rows_that_are_missing_are_told_and_files_of_windows_are_read() {
        let text = format!("\u{feff}{}5, 1, 2, 3\n9, 10, 11, 12\n", head(1)).replace('\n', "\r\n");
        let caveats = &read(&text).measurements[0].caveats;
        let missing = caveats.iter().find(|it| it.name == "numbers_missing").expect("three");
        assert!(missing.text.starts_with("3 between"), "{}", missing.text);
    }

    #[test]
    fn a_damaged_file_is_refused_with_the_line_and_why() {
        let rows = |rows: &str| fault(&format!("{}{rows}", head(1)));
        let tool = "not a whole file of MultipathLatencyAnalyzer: ";
        assert_eq!(
            rows("0, 1, 2, 3\n1, 1,"),
            format!("{tool}line 3: it ends in the middle: the file was cut off")
        );
        for (text, why) in [
            ("0, 1, 2\n", "line 2: it has too few values: a row was cut off"),
            ("0, 1, 2, 3, 4\n", "line 2: it has more than 4 values"),
            ("0, 1, 2, 3\n0, 1, 2, 3\n", "line 3: 0 comes after a higher number"),
            ("0, 5, 2, 3\n", "line 2: number 0 was received before it was sent"),
            ("0, -1, 2, 3\n", "line 2: number 0 was received before it was sent"),
            ("0, -7, 2, 3\n", "line 2: '-7' is no stamp"),
            ("x, 1, 2, 3\n", "line 2: 'x' is no sequence number"),
            ("0, 1, 2, 99999999999999999999\n", "is no stamp"),
            ("", "it holds no datagram"),
        ] {
            assert!(rows(text).contains(why), "{text}: {}", rows(text));
        }
        let odd = head(1).replace(" Echo", " Other");
        assert!(fault(&odd).contains("line 1: its columns are not send, echo and receive"));
        assert!(
            fault(&format!("{}\n", head(9).trim_end())).contains("9 paths, and 8 are the most")
        );
    }
}
