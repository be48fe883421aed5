//! A calibration as tables: a row for each figure and truth, then what did not count.

use pathscope_core::presentation::{CommandLine, Figure, Presentation, Section, Table, Value};
use pathscope_core::record::Check;
use pathscope_modes::figures::Unit;

use crate::amount::number;
use crate::document::{Allowed, CalibrationDocument, RowResult};
use crate::grid::Extent;
use crate::relay_figures::groups;
use crate::rules::without;

/// The title of what belongs to no group that is known.
const OTHERS: &str = "Others";

/// All that a view needs.
pub fn presentation(document: &CalibrationDocument) -> Presentation {
    let ended = document.outcome.reason.as_ref();
    let ended = ended.map(|reason| Figure::setting("ended_early", reason));
    let groups = groups().filter_map(|group| section(document, Some(group.name), group.title));
    // Of a version that knows more of them.
    let others = section(document, None, OTHERS);
    let last = [without_rows(document), cells(document), in_short(document)].into_iter().flatten();
    Presentation {
        title: title(document),
        context: context(document).into_iter().chain(ended).collect(),
        sections: groups.chain(others).chain(last).collect(),
        caveats: document.caveats.clone(),
        commands: CommandLine::known(&document.command),
        ..Presentation::default()
    }
}

/// What will be done, before anything was.
pub fn announcement(document: &CalibrationDocument) -> Presentation {
    Presentation { title: title(document), context: context(document), ..Presentation::default() }
}

fn title(document: &CalibrationDocument) -> String {
    let extent = match document.extent {
        Extent::Quick => ", quick",
        Extent::Usual | Extent::Unknown => "",
        Extent::Long => ", long",
    };
    format!("calibration{extent}")
}

fn context(document: &CalibrationDocument) -> Vec<Figure> {
    let text = |id: &str, text: String| Figure::setting(id, text);
    let host = &document.host;
    let cpus = host.cpus_online.map_or_else(String::new, |cpus| format!(", {cpus} processors"));
    let duration = document.extent.duration();
    vec![
        text("cells", format!("{}, some {duration} each", document.planned_cells)),
        text("machine", format!("{}{cpus}, {}", host.name, host.kernel)),
        text("seed", document.seed.to_string()).labelled("links' seed"),
        text("began", document.started_at.clone()),
    ]
}

fn section(document: &CalibrationDocument, group: Option<&str>, title: &str) -> Option<Section> {
    let rows = rows_of(document, group);
    if rows.is_empty() {
        return None;
    }
    let columns = [
        "figure",
        "held to",
        "compared",
        "greatest truth",
        "least error",
        "median",
        "greatest",
        "allowed",
        "noticed",
        "",
    ];
    let table = Table::new("", columns, rows.iter().map(|row| cells_of(row)));
    let outside = rows.iter().filter(|row| row.outside_count > 0);
    let checks: Vec<Check> = outside
        .map(|row| Check {
            name: "figure".to_owned(),
            passed: Some(false),
            text: row.sentence(),
            remedy: None,
        })
        .collect();
    Some(Section { title: title.to_owned(), tables: vec![table], checks, ..Section::default() })
}

/// The rows of a group; without one those of no group that this version knows.
fn rows_of<'document>(
    document: &'document CalibrationDocument,
    group: Option<&str>,
) -> Vec<&'document RowResult> {
    let of = |row: &RowResult| {
        let first = row.figure.split('.').next();
        groups().map(|group| group.name).find(|name| Some(*name) == first)
    };
    document.rows.iter().filter(|row| of(row) == group).collect()
}

/// How many rows each group has, and how many of them hold: last, so that it is what is left on a screen.
fn in_short(document: &CalibrationDocument) -> Option<Section> {
    let groups = groups().map(|group| (Some(group.name), group.title));
    let rows = groups.chain([(None, OTHERS)]).filter_map(|(group, title)| {
        let mut rows = rows_of(document, group);
        rows.retain(|row| row.below.or(row.above).is_some());
        let failing = rows.iter().filter(|row| row.outside_count > 0).count();
        let compared = rows.iter().map(|row| row.observations).sum();
        (!rows.is_empty()).then(|| {
            vec![
                Value::Text(title.to_owned()),
                Value::Count(rows.len() as u64),
                Value::Count(compared),
                Value::Count((rows.len() - failing) as u64),
                Value::Text(if failing == 0 { "holds" } else { "FAILS" }.to_owned()),
            ]
        })
    });
    let columns = ["", "rows", "numbers compared", "rows that hold", ""];
    let table = Table::new("", columns, rows);
    let title = "In short".to_owned();
    (!table.rows.is_empty()).then(|| Section { title, tables: vec![table], ..Section::default() })
}

fn cells_of(row: &RowResult) -> Vec<Value> {
    let error = |error: f64| Value::Text(signed(row.unit, error));
    vec![
        Value::Text(row.figure.clone()),
        Value::Text(row.against.words().to_owned()),
        Value::Count(row.observations),
        Value::Text(number(row.unit, row.greatest_truth)),
        error(row.least_error),
        error(row.median_error),
        error(row.greatest_error),
        Value::Text(allowed(row)),
        Value::Text(noticed(row)),
        Value::Text(outcome(row).to_owned()),
    ]
}

/// What came of a row. What may be off by anything is not judged.
fn outcome(row: &RowResult) -> &'static str {
    match (row.below.or(row.above), row.outside_count) {
        (None, _) => "–",
        (Some(_), 0) => "holds",
        (Some(_), _) => "FAILS",
    }
}

fn cells(document: &CalibrationDocument) -> Option<Section> {
    let checks = document.cells.iter().filter_map(|cell| {
        let why = cell.fault.as_ref().or_else(|| cell.shortcomings.first())?;
        let text = format!("{}: {why}", cell.name);
        Some(Check { name: "cell".to_owned(), passed: Some(false), text, remedy: None })
    });
    let unseen = document.unseen.iter().map(|it| {
        let text = format!("no cell has shown {it}");
        Check { name: "row".to_owned(), passed: Some(false), text, remedy: None }
    });
    let counted = document.cells.iter().filter(|cell| cell.counts()).count();
    let figure = |label: &str, count: usize| Figure::new(label, Value::Count(count as u64));
    (!document.cells.is_empty()).then(|| Section {
        title: "Cells".to_owned(),
        figures: vec![
            figure("measured", document.cells.len()),
            figure("that count", counted),
            figure("figures and numbers that no row is about", document.without_row.len()),
        ],
        checks: checks.chain(unseen).collect(),
        ..Section::default()
    })
}

/// The figures that no row is about, and why.
fn without_rows(document: &CalibrationDocument) -> Option<Section> {
    let of_earlier;
    // Earlier documents leave it to who shows them.
    let reasons = if document.without_reasons.is_empty() {
        of_earlier = without::reasons(&document.without_row);
        &of_earlier
    } else {
        &document.without_reasons
    };
    let rows = reasons.iter().map(|it| {
        let several = if it.figures.ends_with('.') { "…" } else { "" };
        let figures = format!("{}{several}", it.figures);
        vec![Value::Text(figures), Value::Text(it.reason.clone())]
    });
    let table = Table::new("", ["figure", "why no row is about it"], rows);
    let title = "Figures without a truth".to_owned();
    (!table.rows.is_empty()).then(|| Section { title, tables: vec![table], ..Section::default() })
}

/// For how many of the numbers whose truth was moved that was noticed.
fn noticed(row: &RowResult) -> String {
    match row.moved {
        0 => "–".to_owned(),
        moved if row.noticed == moved => "all".to_owned(),
        moved => format!("{} of {moved}", row.noticed),
    }
}

/// What a row may be off.
fn allowed(row: &RowResult) -> String {
    let one = |allowed: Allowed| match allowed {
        Allowed::Absolute(distance) => number(row.unit, distance),
        Allowed::Relative(share) => quantity_percent(share),
    };
    match (row.below, row.above) {
        (Some(below), Some(above)) if below == above => match below {
            Allowed::Absolute(0.0) => "none".to_owned(),
            _ => format!("± {}", one(below)),
        },
        (Some(below), Some(above)) => format!("-{} to +{}", one(below), one(above)),
        (Some(Allowed::Absolute(0.0)), None) => "not below".to_owned(),
        (None, Some(Allowed::Absolute(0.0))) => "not above".to_owned(),
        (Some(below), None) => format!("-{} or more", one(below)),
        (None, Some(above)) => format!("+{} or less", one(above)),
        (None, None) => "any".to_owned(),
    }
}

fn quantity_percent(share: f64) -> String {
    // As it was written: a share of 0.000001 is no 0.00009999 %.
    let percent = (share * 1e8).round() / 1e6;
    format!("{percent} %")
}

fn signed(unit: Unit, error: f64) -> String {
    let text = number(unit, error.abs());
    if text == "0" {
        return text;
    }
    let sign = if error < 0.0 { '-' } else { '+' };
    format!("{sign}{text}")
}
