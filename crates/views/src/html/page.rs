//! The page: first what a person asks, then charts, then everything else. Whatever is text is escaped where it is put in.

use std::collections::{BTreeMap, BTreeSet};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pathscope_core::error::Failure;
use pathscope_core::presentation::{
    Background, CommandLine, Figure, HeatColumn, HeatMap, Presentation, Section, Series,
    SeriesPoint, Stretch, Table, Timeline, Value,
};
use pathscope_core::record::Caveat;
use pathscope_core::shell::command_line;
use pathscope_core::stats::half_octave_edge_ns;

use super::charts::{self, ChartData};
use super::{bars, pictures, scatter};
use crate::findings::{ending, evidence, or_name, unknown, words_of};
use crate::grid::Grid;
use crate::value::shown_alone;
use crate::view::Detail;
use crate::words::clean;

/// Figures that are told large, at the head of a section.
const HEADLINES: usize = 4;

const STYLE: &str = include_str!("page.css");
/// The last of them begins to draw.
const SCRIPT: &str = concat!(
    include_str!("over_time.js"),
    include_str!("distributions.js"),
    include_str!("heat.js"),
    include_str!("bars.js"),
    include_str!("scatter.js"),
    include_str!("stretches.js"),
    include_str!("boxes.js"),
    include_str!("estimates.js"),
    include_str!("page.js")
);
pub(super) const ECHARTS: &str = include_str!("echarts/echarts.min.js");

/// The whole page.
pub fn page(presentation: &Presentation, failure: Option<(Failure, &str)>) -> String {
    let sections: Vec<_> = presentation.sections.iter().map(Drawn::of).collect();
    let together = charts::together(presentation);
    let each = sections.iter().flat_map(Drawn::all);
    let charts: Vec<&ChartData> = together.iter().chain(each).collect();
    let mut numbers = 0..;
    let has_result = !presentation.sections.is_empty();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (clean(&presentation.title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (clean(&presentation.title)) }
                    @if let Some((failure, sentence)) = failure {
                        p.failed role="alert" { strong { (ending(failure, has_result)) ": " } (clean(sentence)) }
                    }
                    (pairs(&presentation.context))
                    (pictures::pictures(&presentation.pictures))
                }
                main {
                    @for (it, number) in together.iter().zip(numbers.by_ref()) { (chart(it, number)) }
                    @for drawn in &sections { (section(drawn, &mut numbers)) }
                    (caveats(&presentation.caveats))
                    (commands(&presentation.commands))
                }
                footer { p { "pathscope. The charts are drawn by Apache ECharts, under the Apache License 2.0." } }
                script id="charts" type="application/json" { (PreEscaped(in_script(&charts))) }
                script { (PreEscaped(ECHARTS)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// What was typed, to be copied: a click selects all of it, also where no script runs.
fn commands(commands: &[CommandLine]) -> Markup {
    html! {
        @if !commands.is_empty() {
            section {
                h2 { "Repeat it" }
                @for command in commands {
                    @if !command.of.is_empty() { p.subtitle { (clean(&command.of)) } }
                    pre.command { code { (clean(&command_line(&command.words))) } }
                }
            }
        }
    }
}

/// JSON that no part of a page can end: the only character that begins a tag is written as JSON may write it.
fn in_script(charts: &[&ChartData]) -> String {
    serde_json::to_string(charts).unwrap_or_else(|_| "[]".to_owned()).replace('<', "\\u003c")
}

/// A section with its charts: those of what was measured, and one for each background.
struct Drawn<'a> {
    section: &'a Section,
    charts: Vec<ChartData>,
    backgrounds: Vec<(&'a Background, Option<ChartData>)>,
}

impl<'a> Drawn<'a> {
    fn of(section: &'a Section) -> Self {
        let backgrounds = section.backgrounds.iter();
        let backgrounds = backgrounds.map(|it| (it, charts::background(section, it))).collect();
        Self { section, charts: charts::charts(section), backgrounds }
    }

    /// In the order in which they stand on the page.
    fn all(&self) -> impl Iterator<Item = &ChartData> {
        self.charts.iter().chain(self.backgrounds.iter().filter_map(|(_, chart)| chart.as_ref()))
    }
}

/// What a person asks first, then all figures, then what else was seen meanwhile, then the numbers behind it all. Charts take their
/// numbers in the order in which they come.
fn section(
    Drawn { section, charts, backgrounds }: &Drawn<'_>,
    numbers: &mut impl Iterator<Item = usize>,
) -> Markup {
    let failed = section.checks.iter().filter(|check| check.has_failed());
    let held = section.checks.iter().filter(|check| check.has_held());
    let open = section.checks.iter().filter(|check| check.is_unknown());
    let (first, rest) = section.figures.split_at(section.figures.len().min(HEADLINES));
    html! {
        section {
            @if !section.title.is_empty() { h2 { (clean(&section.title)) } }
            @if !section.subtitle.is_empty() { p.subtitle { (clean(&section.subtitle)) } }
            @for check in failed {
                p.failed { strong { "✗ " (clean(&words_of(&check.name))) ": " } (clean(&check.text)) (remedy(check.remedy.as_deref())) }
            }
            @if !first.is_empty() { (headlines(first)) }
            @if let Some(verdict) = &section.verdict {
                p.verdict { "→ " (clean(&verdict.text)) }
                p.note { (clean(&evidence(verdict, Detail::Usual))) (remedy(verdict.remedy.as_deref())) }
            }
            @for (chart, number) in charts.iter().zip(numbers.by_ref()) { (self::chart(chart, number)) }
            @if !rest.is_empty() { (figures(rest)) }
            @for it in &section.tables { (table(it)) }
            @for check in held { p.held { "✓ " (clean(&or_name(&check.text, &check.name))) } }
            @for check in open { p.note { "? " (clean(&unknown(check))) } }
            (caveats(&section.caveats))
            @for (background, drawn) in backgrounds {
                @for (chart, number) in drawn.iter().zip(numbers.by_ref()) { (self::chart(chart, number)) }
                @for it in &background.statistics { (table(it)) }
            }
            @let backgrounds = section.backgrounds.iter().flat_map(|it| &it.series);
            @let backgrounds = backgrounds.filter(|it| !section.series.contains(it));
            @for series in section.series.iter().chain(backgrounds) { (points(series)) }
            @for map in &section.heat_maps { (counts(map)) }
            @for timeline in &section.timelines { (stretches(timeline)) }
            @for it in &section.bars { (numbers_of(&it.title, &bars::table(it))) }
            @for it in &section.scatters { (numbers_of(&it.title, &scatter::table(it))) }
            @if !section.settings.is_empty() {
                details.settings { summary { "Settings" } (pairs(&section.settings)) }
            }
        }
    }
}

/// A place for a chart, which the script fills.
fn chart(chart: &ChartData, number: usize) -> Markup {
    html! {
        figure.chart {
            figcaption { (clean(chart.title())) }
            @if !chart.note().is_empty() { p.note { (chart.note()) } }
            div.controls id={ "controls-" (number) } {}
            div.canvas id={ "chart-" (number) } tabindex="0" role="img" aria-label=(clean(chart.title())) {}
            p.selected id={ "selected-" (number) } aria-live="polite" {}
        }
    }
}

fn headlines(figures: &[Figure]) -> Markup {
    html! {
        dl.headlines {
            @for figure in figures {
                div {
                    dt { (clean(&figure.label)) }
                    dd { (clean(&shown_alone(&figure.value))) }
                    @if let Some(note) = &figure.note { dd.note { (clean(note)) } }
                }
            }
        }
    }
}

fn pairs(figures: &[Figure]) -> Markup {
    html! {
        dl.pairs {
            @for figure in figures {
                dt { (clean(&figure.label)) }
                dd {
                    (clean(&shown_alone(&figure.value)))
                    @if let Some(note) = &figure.note { span.note { " " (clean(note)) } }
                }
            }
        }
    }
}

fn caveats(caveats: &[Caveat]) -> Markup {
    html! {
        @for caveat in caveats {
            p.caveat {
                strong { "! " } (clean(&or_name(&caveat.text, &caveat.name)))
                (remedy(caveat.remedy.as_deref()))
            }
        }
    }
}

/// What to do about what stands above.
fn remedy(remedy: Option<&str>) -> Markup {
    let remedy = remedy.filter(|remedy| !remedy.trim().is_empty());
    html! { @if let Some(remedy) = remedy { span.remedy { "Remedy: " (clean(remedy)) } } }
}

/// Figures below each other. A number stays beside its unit.
fn figures(figures: &[Figure]) -> Markup {
    html! {
        div.table {
            table {
                caption { "figures" }
                thead { tr { th.words scope="col" { "figure" } th.words scope="col" { "value" } th.words scope="col" {} } }
                tbody {
                    @for figure in figures {
                        @let is_number = figure.value.number().is_some();
                        tr {
                            td.words { (clean(&figure.label)) }
                            td.words.number[is_number] { (clean(&shown_alone(&figure.value))) }
                            td.words { (clean(figure.note.as_deref().unwrap_or_default())) }
                        }
                    }
                }
            }
        }
    }
}

/// A table whose columns have one unit each, in their heads, as in the text.
fn table(table: &Table) -> Markup {
    let Some(Grid { heads, is_words, rows }) = Grid::of(table) else { return html! {} };
    let class = |at: usize| is_words[at].then_some("words");
    html! {
        div.table {
            table {
                @if !table.title.is_empty() { caption { (clean(&table.title)) } }
                thead { tr { @for (at, head) in heads.iter().enumerate() { th scope="col" class=[class(at)] { (clean(head)) } } } }
                tbody {
                    @for row in &rows {
                        tr { @for (at, cell) in row.iter().enumerate() { td class=[class(at)] { (clean(cell)) } } }
                    }
                }
            }
        }
    }
}

/// What a line of a chart is drawn from.
fn points(series: &Series) -> Markup {
    let has_length = series.points.iter().any(|point| point.end_ns > point.start_ns);
    let row = |point: &SeriesPoint| {
        let value =
            point.value.map_or(Value::Absent, |number| Value::of(series.source.unit, number));
        let end = has_length.then_some(Value::Duration(point.end_ns));
        [Value::Duration(point.start_ns)].into_iter().chain(end).chain([value]).collect::<Vec<_>>()
    };
    let label = series.source.label.as_str();
    let heads = if has_length { vec!["from", "until", label] } else { vec!["time", label] };
    let rows = Table::new("", heads, series.points.iter().map(row));
    numbers_of(&format!("{label} over time"), &rows)
}

/// What a timeline is drawn from, all of it: the tables before it may tell the first alone.
fn stretches(timeline: &Timeline) -> Markup {
    let row = |label: &str, stretch: &Stretch| {
        let times = [stretch.start_ns, stretch.end_ns].map(Value::Duration);
        let words = [&stretch.what, &stretch.note].map(|words| Value::Text(words.clone()));
        let cells = [Value::Text(label.to_owned())].into_iter().chain(times).chain(words);
        cells.collect::<Vec<_>>()
    };
    let all = timeline.rows.iter();
    let all = all.flat_map(|it| it.stretches.iter().map(|stretch| row(&it.label, stretch)));
    let rows = Table::new("", ["", "from", "until", "what", "more"], all);
    numbers_of(&timeline.title, &rows)
}

/// What a chart is drawn from that is called so.
fn numbers_of(title: &str, numbers: &Table) -> Markup {
    html! { details { summary { "Numbers: " (clean(title)) } (table(numbers)) } }
}

/// What a heat map is drawn from: a column for each range that holds something.
fn counts(map: &HeatMap) -> Markup {
    let filled = map.columns.iter().flat_map(|column| column.counts.filled());
    let ranges: BTreeSet<usize> = filled.map(|(range, _)| range).collect();
    let from = |range: &usize| {
        format!("{} on", shown_alone(&Value::Duration(half_octave_edge_ns(*range))))
    };
    let heads = ["from", "until"].map(str::to_owned).into_iter().chain(ranges.iter().map(from));
    let row = |column: &HeatColumn| {
        let counts: BTreeMap<usize, u64> = column.counts.filled().collect();
        let count = |range| Value::Count(counts.get(range).copied().unwrap_or(0));
        let times = [column.start_ns, column.end_ns].map(Value::Duration);
        times.into_iter().chain(ranges.iter().map(count)).collect::<Vec<_>>()
    };
    let rows = Table::new("", heads, map.columns.iter().map(row));
    let label = &map.source.label;
    numbers_of(&format!("{label} over time, how many took from how long on"), &rows)
}
