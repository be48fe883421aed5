//! Experiments as tables: a row for each step, or for each pair of nodes where a step has several, with what was expected,
//! what others have published and what was measured beside each other.

use pathscope_core::presentation::{CommandLine, Figure, Presentation, Section, Table, Value};
use pathscope_core::record::Check;
use pathscope_modes::figures::Unit;

use crate::document::{
    ExperimentResult, ExperimentsDocument, FigureResult, State, StepResult, Whose,
};
use crate::map;

/// All that a view needs.
pub fn presentation(document: &ExperimentsDocument) -> Presentation {
    let ended = document.outcome.reason.as_ref();
    let ended = ended.map(|reason| Figure::setting("ended_early", reason));
    Presentation {
        title: title(document),
        context: context(document).into_iter().chain(ended).collect(),
        pictures: map::picture(document).into_iter().collect(),
        sections: document.experiments.iter().map(section).collect(),
        caveats: document.caveats.clone(),
        commands: CommandLine::known(&document.command),
    }
}

/// What will be done, before anything was.
pub fn announcement(document: &ExperimentsDocument) -> Presentation {
    Presentation { title: title(document), context: context(document), ..Presentation::default() }
}

fn title(document: &ExperimentsDocument) -> String {
    format!("experiments on {}", document.lab.name)
}

fn context(document: &ExperimentsDocument) -> Vec<Figure> {
    let lab = &document.lab;
    let mut context = vec![Figure::setting("network", &lab.summary)];
    context.extend(lab.links.iter().map(|link| Figure::setting("link", link)));
    if !lab.links.is_empty() {
        context.push(Figure::setting("shaped_by", format!("{}, seed {}", lab.shaper, lab.seed)));
    }
    let host = &document.host;
    let cpus = host.cpus_online.map_or_else(String::new, |cpus| format!(", {cpus} processors"));
    context.push(Figure::setting("machine", format!("{}{cpus}, {}", host.name, host.kernel)));
    context.push(Figure::setting("began", &document.started_at));
    context
}

fn section(experiment: &ExperimentResult) -> Section {
    let title = if experiment.title == experiment.name {
        experiment.name.clone()
    } else {
        format!("{}: {}", experiment.name, experiment.title)
    };
    Section {
        title,
        tables: table(experiment).into_iter().collect(),
        checks: experiment.steps.iter().flat_map(checks).collect(),
        ..Section::default()
    }
}

/// What did not come out in a step; where all did, how much that was.
fn checks(step: &StepResult) -> Vec<Check> {
    let check =
        |passed, text| Check { name: step.name.clone(), passed: Some(passed), text, remedy: None };
    let faults = step.faults();
    if !faults.is_empty() {
        return faults.into_iter().map(|text| check(false, text)).collect();
    }
    let judged = step.figures.iter().filter(|figure| figure.state == State::Within).count();
    let sentence = match judged {
        0 => "done; nothing was to be judged".to_owned(),
        1 => "1 figure as expected".to_owned(),
        judged => format!("{judged} figures as expected"),
    };
    vec![check(true, format!("{}: {sentence}", step.name))]
}

/// A row's name and its figures.
struct Row<'step> {
    name: String,
    figures: Vec<&'step FigureResult>,
}

/// A figure for each pair of nodes, then sums and indices of all.
fn rows(step: &StepResult) -> Vec<Row<'_>> {
    let mut rows: Vec<(String, Vec<&FigureResult>)> = Vec::new();
    for figure in &step.figures {
        let place = match &figure.of {
            Whose::Run { between, .. } => between.clone(),
            Whose::Sum | Whose::Jain | Whose::Unknown => "all".to_owned(),
        };
        // The same figure of a second run between the same nodes has a row of its own.
        let has_room = |(name, figures): &&mut (String, Vec<&FigureResult>)| {
            *name == place && !figures.iter().any(|other| heads(other) == heads(figure))
        };
        match rows.iter_mut().find(has_room) {
            Some((_, figures)) => figures.push(figure),
            None => rows.push((place, vec![figure])),
        }
    }
    rows.sort_by_key(|(place, _)| place == "all");
    let is_one = rows.len() == 1;
    let name = |place: String| {
        if is_one || step.name == place {
            step.name.clone()
        } else {
            format!("{} {place}", step.name)
        }
    };
    rows.into_iter().map(|(place, figures)| Row { name: name(place), figures }).collect()
}

/// What the columns of a figure are called.
fn heads(figure: &FigureResult) -> String {
    match figure.of {
        Whose::Run { .. } | Whose::Unknown => figure.label.clone(),
        Whose::Sum => format!("{} (sum)", figure.label).replace("(sum) (sum)", "(sum)"),
        Whose::Jain => "Jain's index".to_owned(),
    }
}

/// One of a figure's numbers.
type Number = fn(&FigureResult) -> Option<f64>;

fn table(experiment: &ExperimentResult) -> Option<Table> {
    let rows: Vec<Row<'_>> = experiment.steps.iter().flat_map(rows).collect();
    let mut kinds: Vec<String> = Vec::new();
    for figure in rows.iter().flat_map(|row| &row.figures) {
        let head = heads(figure);
        if !kinds.contains(&head) {
            kinds.push(head);
        }
    }
    if kinds.is_empty() {
        return None;
    }
    let mut columns = vec!["step".to_owned()];
    let mut cells: Vec<Vec<Value>> =
        rows.iter().map(|row| vec![Value::Text(row.name.clone())]).collect();
    for kind in &kinds {
        let found: Vec<Option<&FigureResult>> = rows
            .iter()
            .map(|row| row.figures.iter().copied().find(|figure| &heads(figure) == kind))
            .collect();
        let parts: [(&str, Number); 3] = [
            ("expected", |figure| figure.expected),
            ("published", |figure| figure.published),
            ("measured", |figure| figure.measured),
        ];
        for (part, number) in parts {
            let numbers: Vec<Option<(Unit, f64)>> = found
                .iter()
                .map(|figure| figure.and_then(|it| Some((it.unit, number(it)?))))
                .collect();
            if part != "measured" && numbers.iter().all(Option::is_none) {
                continue;
            }
            columns.push(format!("{kind} {part}"));
            for ((row, number), figure) in cells.iter_mut().zip(numbers).zip(&found) {
                row.push(match (number, figure) {
                    (Some((unit, number)), _) => value(unit, number),
                    // A row that has no such figure says nothing of it.
                    (None, None) => Value::Text(String::new()),
                    (None, Some(_)) => Value::Absent,
                });
            }
        }
        let differences: Vec<Option<String>> =
            found.iter().map(|figure| figure.and_then(difference)).collect();
        if differences.iter().any(Option::is_some) {
            columns.push(format!("{kind} off"));
            for (row, difference) in cells.iter_mut().zip(differences) {
                row.push(Value::Text(difference.unwrap_or_default()));
            }
        }
    }
    Some(Table::new("", columns, cells))
}

/// How far what was measured is from what was expected: of a share in points, of all else in percent of what was expected.
fn difference(figure: &FigureResult) -> Option<String> {
    let (expected, measured) = figure.expected.zip(figure.measured)?;
    let off = measured - expected;
    if figure.unit == Unit::Share {
        return Some(format!("{:+.2} points", 100.0 * off));
    }
    (expected != 0.0).then(|| format!("{:+.2} %", 100.0 * off / expected))
}

fn value(unit: Unit, number: f64) -> Value {
    match unit {
        Unit::BitRate => Value::BitRate(number),
        Unit::PerSecond => Value::Frequency(number),
        Unit::Bytes => Value::Bytes(number.max(0.0).round() as u64),
        Unit::Count => Value::Count(number.max(0.0).round() as u64),
        Unit::Duration | Unit::Distribution | Unit::Percentiles => {
            Value::Duration(number.max(0.0).round() as u64)
        }
        Unit::Share => Value::Ratio(number),
        Unit::Number | Unit::Dbm | Unit::Megahertz => Value::Text(format!("{number:.3}")),
    }
}
