//! The page: first what a person asks, then charts, then everything else. Whatever is text is escaped where it is put in.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pathscope_core::error::Failure;
use pathscope_core::presentation::{Figure, Presentation, Section, Table, Value};

use super::charts::{self, ChartData};
use crate::value::{scales, shown_alone, shown_beside};
use crate::words::clean;

/// Figures that are told large, at the head of a section.
const HEADLINES: usize = 4;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
pub(super) const ECHARTS: &str = include_str!("echarts/echarts.min.js");

/// The whole page.
pub fn page(presentation: &Presentation, failure: Option<(Failure, &str)>) -> Markup {
    let sections: Vec<_> =
        presentation.sections.iter().map(|section| (section, charts::charts(section))).collect();
    let charts: Vec<&ChartData> = sections.iter().flat_map(|(_, charts)| charts).collect();
    let mut number = 0;
    html! {
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
                    @if let Some((_, sentence)) = failure {
                        p.failed role="alert" { strong { "Failed: " } (clean(sentence)) }
                    }
                    (pairs(&presentation.context))
                }
                main {
                    @for (section, charts) in &sections {
                        (self::section(section, charts, &mut number))
                    }
                    (caveats(presentation.caveats.iter().map(|caveat| caveat.text.as_str())))
                }
                footer { p { "pathscope. The charts are drawn by Apache ECharts, under the Apache License 2.0." } }
                script id="charts" type="application/json" { (PreEscaped(in_script(&charts))) }
                script { (PreEscaped(ECHARTS)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// JSON that no part of a page can end: the only character that begins a tag is written as JSON may write it.
fn in_script(charts: &[&ChartData]) -> String {
    serde_json::to_string(charts).unwrap_or_else(|_| "[]".to_owned()).replace('<', "\\u003c")
}

fn section(section: &Section, charts: &[ChartData], number: &mut usize) -> Markup {
    let failed = section.checks.iter().filter(|check| !check.passed);
    let held = section.checks.iter().filter(|check| check.passed && !check.text.is_empty());
    let (first, rest) = section.figures.split_at(section.figures.len().min(HEADLINES));
    html! {
        section {
            @if !section.title.is_empty() { h2 { (clean(&section.title)) } }
            @if !section.subtitle.is_empty() { p.subtitle { (clean(&section.subtitle)) } }
            @for check in failed {
                p.failed { strong { "✗ " (clean(&check.name.replace('_', " "))) ": " } (clean(&check.text)) }
            }
            @if !first.is_empty() { (headlines(first)) }
            @if let Some(verdict) = &section.verdict { p.verdict { "→ " (clean(&verdict.text)) } }
            @for chart in charts {
                (self::chart(chart, *number))
                ({ *number += 1; PreEscaped("") })
            }
            @if !rest.is_empty() { (table(&figures(rest))) }
            @for it in &section.tables { (table(it)) }
            @for check in held { p.held { "✓ " (clean(&check.text)) } }
            (caveats(section.caveats.iter().map(|caveat| caveat.text.as_str())))
            @for series in &section.series { (points(series)) }
            @if !section.settings.is_empty() {
                details { summary { "Settings" } (pairs(&section.settings)) }
            }
        }
    }
}

/// A place for a chart, which the script fills.
fn chart(chart: &ChartData, number: usize) -> Markup {
    html! {
        figure.chart {
            figcaption { (clean(chart.title())) }
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

fn caveats<'text>(texts: impl Iterator<Item = &'text str>) -> Markup {
    html! { @for text in texts { p.caveat { strong { "! " } (clean(text)) } } }
}

/// Figures below each other.
fn figures(figures: &[Figure]) -> Table {
    let row = |figure: &Figure| {
        let value = shown_alone(&figure.value);
        let note = figure.note.clone().unwrap_or_default();
        vec![Value::Text(figure.label.clone()), Value::Text(value), Value::Text(note)]
    };
    Table::new("figures", ["figure", "value", ""], figures.iter().map(row))
}

/// A table whose columns have one unit each, in their heads, as in the text.
fn table(table: &Table) -> Markup {
    let count = table.columns.len();
    let values: Vec<Vec<Option<&Value>>> =
        (0..count).map(|at| table.rows.iter().map(|row| row.cells.get(at)).collect()).collect();
    let scales = scales(&values);
    let head = |at: usize| {
        let name = clean(&table.columns[at].head);
        match &scales[at] {
            Some(scale) if name.is_empty() => scale.unit().to_owned(),
            Some(scale) => format!("{name}, {}", scale.unit()),
            None => name,
        }
    };
    let is_words = |value: &Value| matches!(value, Value::Text(_));
    let is_worded = |at: usize| values[at].iter().flatten().all(|value| is_words(value));
    html! {
        @if !table.rows.is_empty() {
            div.table {
                table {
                    @if !table.title.is_empty() { caption { (clean(&table.title)) } }
                    thead { tr { @for at in 0..count { th scope="col" class=[is_worded(at).then_some("words")] { (head(at)) } } } }
                    tbody {
                        @for row in &table.rows {
                            tr {
                                @for (value, scale) in row.cells.iter().zip(&scales) {
                                    td class=[is_words(value).then_some("words")] { (clean(&shown_beside(value, scale.as_ref()))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What a line of a chart is drawn from.
fn points(series: &pathscope_core::presentation::Series) -> Markup {
    use pathscope_core::figure::Unit;
    let value = |number: f64| match series.source.unit {
        Unit::BitRate => Value::BitRate(number),
        Unit::Duration => Value::Duration(number.max(0.0) as u64),
        Unit::Bytes => Value::Bytes(number.max(0.0) as u64),
        Unit::Share => Value::Ratio(number),
        Unit::PerSecond => Value::Frequency(number),
        _ => Value::Worded(number, number.to_string()),
    };
    let row = |&(at_ns, number): &(u64, Option<f64>)| {
        vec![Value::Duration(at_ns), number.map_or(Value::Absent, value)]
    };
    let label = series.source.label.as_str();
    let rows = Table::new("", ["time", label], series.points.iter().map(row));
    html! { details { summary { "Numbers: " (clean(label)) " over time" } (table(&rows)) } }
}
