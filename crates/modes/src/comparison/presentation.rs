//! A comparison as tables: first what all leading figures come to together, then each measurement figure by figure, and where its
//! distributions differ.

use pathscope_core::presentation::{CommandLine, Figure, Presentation, Section, Table, Value};
use pathscope_core::quantity::{count, counted};
use pathscope_core::stats::{Order, least_p};

use super::caveats::some;
use super::condition::Moved;
use super::{charts, of_run};
use crate::compared::{
    ComparedFigure, ComparedMeasurement, ComparisonDocument, Differing, Outcome, Side, Tier,
};
use crate::document::Document;

/// All that a view needs.
pub fn presentation(document: &ComparisonDocument) -> Presentation {
    let [before, after] = document.names();
    let sides = [(before, &document.before), (after, &document.after)];
    let sections = sections(document);
    Presentation {
        title: "comparison".to_owned(),
        context: sides.map(|(name, side)| Figure::setting(name, results(side))).to_vec(),
        sections,
        caveats: document.caveats.clone(),
        commands: CommandLine::known(&document.command),
        ..Presentation::default()
    }
}

/// What the sides of a run with `--interleave-with` differ by, to stand in its own result; nothing of any other, and of one that ended
/// before both sides had a run.
pub(crate) fn beside(run: &Document) -> Vec<Section> {
    let Some(document) = of_run(run) else { return Vec::new() };
    let [a, b] = document.names();
    let mut sections = sections(&document);
    for (at, section) in sections.iter_mut().enumerate() {
        section.title = match at {
            0 => format!("{a} beside {b}"),
            _ => format!("{a} beside {b}: {}", section.title),
        };
    }
    sections[0].caveats.clone_from(&document.caveats);
    sections
}

/// All measurements together, and each by itself.
fn sections(document: &ComparisonDocument) -> Vec<Section> {
    let own = document.measurements.iter().map(|it| section(document, it));
    [together(document)].into_iter().chain(own).collect()
}

/// Whose results these are.
fn results(side: &Side) -> String {
    let told = some(&side.results, ", ");
    let began = match &side.began {
        Some([first, last]) if first == last => format!("; {first}"),
        Some([first, last]) => format!("; {first} to {last}"),
        None => String::new(),
    };
    format!("{told}{began}")
}

/// What can be said of all at once.
fn together(document: &ComparisonDocument) -> Section {
    let tiers = [("", Tier::Primary), ("others, ", Tier::Leading)];
    let mut figures: Vec<Figure> = Vec::new();
    for (begin, tier) in tiers {
        for (name, outcome) in [("better", Outcome::Better), ("worse", Outcome::Worse)] {
            let moved = moved(document, tier, outcome);
            let text = Value::Text(some(&moved, "; "));
            figures
                .extend((!moved.is_empty()).then(|| Figure::new(format!("{begin}{name}"), text)));
        }
    }
    let primary = |outcomes: &[Outcome]| {
        document.of_tier(Tier::Primary).filter(|(_, it)| outcomes.contains(&it.outcome)).count()
    };
    if primary(&[Outcome::Better, Outcome::Worse]) == 0 {
        figures.insert(0, Figure::new("verdict", Value::Text(nothing_shown(document))));
    }
    if is_doubtful(document) {
        let text =
            "the runs did not take turns: what else changed meanwhile is part of every difference";
        figures.insert(0, Figure::new("with caution", Value::Text(text.to_owned())));
    }
    let labels = document.differing.iter().filter_map(|it| {
        let words = format!("{} {} {}", it.of, it.label()?, it.values());
        Some(words)
    });
    let labels: Vec<String> = labels.collect();
    let text = Value::Text(some(&labels, "; "));
    figures.extend((!labels.is_empty()).then(|| Figure::new("labels", text)));
    // What differs in the same way in several measurements is told once.
    let mut told: Vec<(String, &Differing)> = Vec::new();
    for it in document.differing.iter().filter(|it| it.label().is_none()) {
        let name = it.name();
        let is_same = |(other, before): &(String, &Differing)| {
            *other == name && before.before == it.before && before.after == it.after
        };
        if !told.iter().any(is_same) {
            told.push((name, it));
        }
    }
    let differing = told.into_iter().map(|(name, it)| {
        let values = |values: &[String]| match values {
            [] => Value::Absent,
            values => Value::Text(it.words(values).join(", ")),
        };
        vec![Value::Text(name), values(&it.before), values(&it.after)]
    });
    let [before, after] = document.names();
    let columns = ["", before, after];
    let mut tables = vec![Table::new("not the same on both sides", columns, differing)];
    tables.retain(|table| !table.rows.is_empty());
    Section {
        title: "all together".to_owned(),
        figures,
        tables,
        estimates: charts::shifts(document).into_iter().collect(),
        checks: document.checks.clone(),
        ..Section::default()
    }
}

/// The figures of a tier that came to this, and how far each moved.
fn moved(document: &ComparisonDocument, tier: Tier, outcome: Outcome) -> Vec<String> {
    let is_one = document.measurements.len() == 1;
    let shown = document.of_tier(tier).filter(|(_, figure)| figure.outcome == outcome);
    let words = shown.map(|(measurement, figure)| {
        let place = if is_one { String::new() } else { format!(" of {measurement}") };
        format!("{}{place} {}", figure.full_label(), Moved::of(figure).change())
    });
    words.collect()
}

/// That nothing is shown, of how many figures, and whether anything could have been.
fn nothing_shown(document: &ComparisonDocument) -> String {
    let judged: Vec<&ComparedFigure> = document
        .of_tier(Tier::Primary)
        .filter(|(_, it)| it.outcome != Outcome::TooFewRuns)
        .map(|(_, figure)| figure)
        .collect();
    if judged.is_empty() {
        return "nothing can be told of so few runs".to_owned();
    }
    let all = judged.len();
    let names = if all == 1 { "the one figure" } else { "the figures" };
    let said = format!("no difference is shown of {names} that the test is for");
    let could = |figure: &ComparedFigure| {
        least_p(figure.before.len(), figure.after.len()) * all as f64 <= 0.05
    };
    if judged.iter().any(|figure| could(figure)) {
        return said;
    }
    let needed = (4_usize..40).find(|runs| least_p(*runs, *runs) * all as f64 <= 0.05);
    let needed =
        needed.map_or_else(String::new, |runs| format!("; from {runs} runs of each on it is"));
    format!("{said}, and of {all} one alone could not be shown by so few runs{needed}")
}

/// Whether anything is judged of runs that did not take turns.
fn is_doubtful(document: &ComparisonDocument) -> bool {
    let is_doubtful = |it: &ComparedMeasurement| {
        it.order == Order::Blocks && it.figures.iter().any(|it| it.outcome != Outcome::TooFewRuns)
    };
    document.measurements.iter().any(is_doubtful)
}

fn section(document: &ComparisonDocument, measurement: &ComparedMeasurement) -> Section {
    let sides = document.names();
    let figures = || measurement.figures.iter();
    let told = figures().filter(|it| it.tier != Tier::Other && !is_in_percentiles(measurement, it));
    let named = told.clone().map(|figure| (figure.full_label(), figure));
    let mut tables = vec![table("", sides, measurement, named)];
    let distributions = distributions(measurement);
    let estimates = distributions.iter().filter_map(|of| charts::percentiles(measurement, of));
    let estimates = estimates.collect();
    tables.extend(distributions.into_iter().map(|of| percentiles(sides, measurement, of)));
    tables.push(others(sides, measurement));
    tables.push(certainty(told.filter(|it| it.outcome != Outcome::TooFewRuns)));
    tables.retain(|table| !table.rows.is_empty());
    Section {
        title: measurement.name.clone(),
        subtitle: runs(measurement),
        tables,
        estimates,
        ..Section::default()
    }
}

/// Of everything else what differs, those that are surest and furthest apart first, as many as are read.
fn others(sides: [&str; 2], measurement: &ComparedMeasurement) -> Table {
    const TOLD: usize = 12;
    let of_all = measurement.figures.iter().filter(|it| it.tier == Tier::Other);
    let all = of_all.clone().count();
    let is_shown =
        |it: &&ComparedFigure| !matches!(it.outcome, Outcome::NotShown | Outcome::TooFewRuns);
    let mut shown: Vec<&ComparedFigure> = of_all.filter(is_shown).collect();
    let moved = |it: &ComparedFigure| it.relative().map_or(f64::INFINITY, f64::abs);
    shown.sort_by(|one, other| {
        let by_p = one.difference.p.total_cmp(&other.difference.p);
        by_p.then(moved(other).total_cmp(&moved(one)))
    });
    let told = shown.len().min(TOLD);
    let more = if told < shown.len() { "; the document has all" } else { "" };
    let (number, all) = (count(shown.len() as u64), count(all as u64));
    let title = format!("{number} of {all} other figures differ{more}");
    table(&title, sides, measurement, shown.into_iter().take(TOLD).map(|it| (it.full_id(), it)))
}

/// How many runs there are, and in which order.
fn runs(measurement: &ComparedMeasurement) -> String {
    let [before, after] = measurement.runs;
    let order = match measurement.order {
        _ if before < 2 || after < 2 => "",
        Order::Turns => ", which took turns",
        Order::Blocks => ", which did not take turns",
    };
    format!("{before} and {}{order}", counted(u64::from(after), "run"))
}

/// The distributions of which a figure is among the first.
fn distributions(measurement: &ComparedMeasurement) -> Vec<&str> {
    let mut distributions: Vec<&str> = Vec::new();
    let told = measurement.figures.iter().filter(|figure| figure.tier != Tier::Other);
    for of in told.filter_map(|figure| figure.percentile_of.as_deref()) {
        if !distributions.contains(&of) {
            distributions.push(of);
        }
    }
    distributions
}

/// Whether it stands in a table of percentiles anyway, and is no primary one.
fn is_in_percentiles(measurement: &ComparedMeasurement, figure: &ComparedFigure) -> bool {
    let of = figure.percentile_of.as_deref();
    figure.tier != Tier::Primary && of.is_some_and(|of| distributions(measurement).contains(&of))
}

/// Where two distributions differ: at which percentiles, and how far.
fn percentiles(sides: [&str; 2], measurement: &ComparedMeasurement, distribution: &str) -> Table {
    let is_of = |figure: &&ComparedFigure| figure.percentile_of.as_deref() == Some(distribution);
    let mut all: Vec<&ComparedFigure> = measurement.figures.iter().filter(is_of).collect();
    all.sort_by(|one, other| {
        one.percent.partial_cmp(&other.percent).unwrap_or(std::cmp::Ordering::Equal)
    });
    let name = |figure: &ComparedFigure| {
        let percent = figure.percent.map_or_else(String::new, |percent| format!("p{percent}"));
        match &figure.entry {
            Some(entry) => format!("{entry} {percent}"),
            None => percent,
        }
    };
    table(
        &format!("{distribution}, percentile by percentile"),
        sides,
        measurement,
        all.into_iter().map(|it| (name(it), it)),
    )
}

fn table<'figure>(
    title: &str,
    sides: [&str; 2],
    measurement: &ComparedMeasurement,
    figures: impl IntoIterator<Item = (String, &'figure ComparedFigure)>,
) -> Table {
    let row = |(name, figure): (String, &ComparedFigure)| {
        let moved = Moved::of(figure);
        let interval = moved.interval().map_or(Value::Absent, Value::Text);
        // What some runs do not have, as a percentile of few samples, is compared among those that have it.
        let has = [figure.before.len(), figure.after.len()];
        let is_whole = has.iter().zip(measurement.runs).all(|(has, runs)| *has == runs as usize);
        let name =
            if is_whole { name } else { format!("{name} (of {} and {} runs)", has[0], has[1]) };
        vec![
            Value::Text(name),
            Value::Text(word(figure.outcome).to_owned()),
            Value::of(figure.unit, figure.before_median),
            Value::of(figure.unit, figure.after_median),
            Value::Worded(moved.number(), moved.change()),
            interval,
        ]
    };
    let [before, after] = sides;
    let columns = ["", "", before, after, "change", "95 % interval"];
    Table::new(title, columns, figures.into_iter().map(row))
}

/// What the words rest on.
fn certainty<'figure>(figures: impl IntoIterator<Item = &'figure ComparedFigure>) -> Table {
    let row = |figure: &ComparedFigure| {
        let difference = &figure.difference;
        let number = |number: f64| Value::Worded(number, probability(number));
        vec![
            Value::Text(figure.full_label()),
            Value::Worded(difference.delta, format!("{:+.2}", difference.delta)),
            number(difference.p),
            figure.p_among_all.map_or(Value::Absent, number),
            Value::Worded(difference.floor, Moved::of(figure).floor()),
        ]
    };
    let columns = ["", "effect", "p", "p among all", "told above"];
    Table::new("how sure that is", columns, figures.into_iter().map(row))
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

/// What a figure comes to, in a word; nothing where no difference is shown.
fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Better => "better",
        Outcome::Worse => "worse",
        Outcome::More => "more",
        Outcome::Less => "less",
        // What stands out is what differs; the headline says why the rest does not.
        Outcome::NotShown | Outcome::TooFewRuns => "",
        Outcome::Unknown => "unknown",
    }
}
