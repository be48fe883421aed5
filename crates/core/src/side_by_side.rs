//! Several results as one presentation: first what they have in common, figure by figure and in one chart, then each in full.
//!
//! Not here: whether a difference means anything. Nothing is computed.

use crate::figure::Part;
use crate::presentation::{
    Boxes, Chart, Column, CommandLine, Figure, HeatMap, Picture, Presentation, Section, Series,
    Shape, Table, Timeline, Value,
};

/// Results side by side, each by its name. One alone stays as it is.
pub fn side_by_side(mut results: Vec<(String, Presentation)>) -> Presentation {
    if results.len() == 1 {
        return results.swap_remove(0).1;
    }
    let mut together = Presentation {
        title: format!("{} results side by side", results.len()),
        ..Presentation::default()
    };
    let mut titles: Vec<&str> = Vec::new();
    for (_, result) in &results {
        let new = result.sections.iter().map(|section| section.title.as_str());
        let new: Vec<&str> = new.filter(|title| !titles.contains(title)).collect();
        titles.extend(new);
    }
    let common = titles.into_iter().filter_map(|title| in_common(title, &results));
    together.sections = common.collect();
    for (name, result) in results {
        let what = Figure::new(&*name, Value::Text(result.title.clone()));
        let facts = result.context.iter().map(|it| match &it.value {
            Value::Text(text) => format!("{} {text}", it.label),
            _ => String::new(),
        });
        together.context.push(what.with_note(facts.collect::<Vec<_>>().join("; ")));
        let named =
            |section: Section| Section { title: format!("{name}: {}", section.title), ..section };
        together.sections.extend(result.sections.into_iter().map(named));
        let pictures = result.pictures.into_iter();
        together
            .pictures
            .extend(pictures.map(|it| Picture { title: format!("{name}: {}", it.title), ..it }));
        let commands = result.commands.into_iter();
        together.commands.extend(commands.map(|it| CommandLine { of: name.clone(), ..it }));
        together.caveats.extend(result.caveats.into_iter().map(|mut caveat| {
            caveat.text = format!("{name}: {}", caveat.text);
            caveat
        }));
    }
    together
}

/// What the measurements of this title have in common; none where there is one alone.
fn in_common(title: &str, results: &[(String, Presentation)]) -> Option<Section> {
    let of = |(name, result): &'_ (String, Presentation)| {
        let section = result.sections.iter().find(|section| section.title == title)?;
        Some((name.clone(), section.clone()))
    };
    let sections: Vec<(String, Section)> = results.iter().filter_map(of).collect();
    (sections.len() > 1).then(|| Section {
        title: format!("{title}, side by side"),
        tables: figures(&sections).into_iter().collect(),
        series: sections.iter().flat_map(|(name, section)| series(name, section)).collect(),
        distributions: sections.iter().flat_map(|(name, section)| shapes(name, section)).collect(),
        heat_maps: sections.iter().flat_map(|(name, section)| heat_maps(name, section)).collect(),
        timelines: sections.iter().flat_map(|(name, section)| timelines(name, section)).collect(),
        boxes: boxes(&sections),
        ..Section::default()
    })
}

/// A row for each figure that any has, a column for each result. A figure is found by its id and its part.
fn figures(sections: &[(String, Section)]) -> Option<Table> {
    let mut rows: Vec<&Figure> = Vec::new();
    for (_, section) in sections {
        for figure in section.figures.iter().filter(|figure| !figure.id.is_empty()) {
            if !rows.iter().any(|row| is_same(row, figure)) {
                rows.push(figure);
            }
        }
    }
    let row = |figure: &&Figure| {
        let value = |(_, section): &(String, Section)| {
            let found = section.figures.iter().find(|it| is_same(it, figure));
            found.map_or(Value::Absent, |found| found.value.clone())
        };
        [Value::Text(label(figure))]
            .into_iter()
            .chain(sections.iter().map(value))
            .collect::<Vec<_>>()
    };
    let heads = sections.iter().map(|(name, _)| Column::from(&**name));
    let columns = [Column::from("figure")].into_iter().chain(heads);
    (!rows.is_empty()).then(|| Table::new("figures", columns, rows.iter().map(row)))
}

/// Its label, with its side where one result has the one side alone, and another the other.
fn label(figure: &Figure) -> String {
    match figure.part {
        Part::Side(side) if !figure.label.contains(side) => format!("{} {side}", figure.label),
        _ => figure.label.clone(),
    }
}

fn is_same(one: &Figure, other: &Figure) -> bool {
    one.id == other.id && one.part == other.part
}

/// When what a section has over time begins.
fn begin_ns(section: &Section) -> u64 {
    let series = section.series.iter().filter_map(|series| series.points.first());
    let columns = section.heat_maps.iter().filter_map(|map| map.columns.first());
    let begins = series.map(|point| point.start_ns).chain(columns.map(|column| column.start_ns));
    begins.min().unwrap_or(0)
}

/// Each on a time that begins with its measurement, so that they lie above each other.
fn series(name: &str, section: &Section) -> Vec<Series> {
    let begin_ns = begin_ns(section);
    let moved = section.series.iter().cloned().map(|mut series| {
        series.source.label = format!("{name}: {}", series.source.label);
        if series.source.chart == Chart::Stack {
            // Parts of different wholes do not lie upon each other.
            series.source.chart = Chart::Line;
        }
        series.points.iter_mut().for_each(|point| point.moved_back(begin_ns));
        series
    });
    moved.collect()
}

fn shapes(name: &str, section: &Section) -> Vec<Shape> {
    let named = section.distributions.iter().cloned().map(|mut shape| {
        shape.source.label = format!("{name}: {}", shape.source.label);
        shape
    });
    named.collect()
}

/// On the same time.
fn heat_maps(name: &str, section: &Section) -> Vec<HeatMap> {
    let begin_ns = begin_ns(section);
    let moved = section.heat_maps.iter().cloned().map(|mut map| {
        map.source.label = format!("{name}: {}", map.source.label);
        for column in &mut map.columns {
            column.start_ns = column.start_ns.saturating_sub(begin_ns);
            column.end_ns = column.end_ns.saturating_sub(begin_ns);
        }
        map
    });
    moved.collect()
}

/// On the same time, below each other.
fn timelines(name: &str, section: &Section) -> Vec<Timeline> {
    let begin_ns = begin_ns(section);
    let moved = section.timelines.iter().cloned().map(|mut timeline| {
        timeline.title = format!("{name}: {}", timeline.title);
        timeline.moved_back(begin_ns);
        timeline
    });
    moved.collect()
}

/// Those of one title in one chart.
fn boxes(sections: &[(String, Section)]) -> Vec<Boxes> {
    let mut all: Vec<Boxes> = Vec::new();
    for (name, section) in sections {
        for boxes in &section.boxes {
            let rows = boxes.rows.iter().cloned().map(|mut row| {
                row.label = format!("{name}: {}", row.label);
                row
            });
            match all.iter_mut().find(|it| (&it.title, it.unit) == (&boxes.title, boxes.unit)) {
                Some(same) => same.rows.extend(rows),
                None => all.push(Boxes { rows: rows.collect(), ..boxes.clone() }),
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presentation::{HeatColumn, SeriesPoint, Source};

    fn result(titles: &[&str], rate: f64, start_ns: u64) -> Presentation {
        let section = |title: &&str| Section {
            title: (*title).to_owned(),
            figures: vec![Figure {
                id: "goodput.rate.up".to_owned(),
                ..Figure::new("goodput up", Value::BitRate(rate))
            }],
            series: vec![Series {
                source: Source { label: "goodput up".to_owned(), ..Source::default() },
                points: vec![
                    SeriesPoint::at(start_ns, Some(rate)),
                    SeriesPoint::at(start_ns + 1, None),
                ],
            }],
            heat_maps: vec![HeatMap {
                source: Source { label: "RTT".to_owned(), ..Source::default() },
                columns: vec![HeatColumn {
                    start_ns: start_ns + 2,
                    end_ns: start_ns + 9,
                    ..HeatColumn::default()
                }],
            }],
            ..Section::default()
        };
        Presentation {
            title: "goodput".to_owned(),
            sections: titles.iter().map(section).collect(),
            commands: CommandLine::known(&["pathscope".to_owned(), titles[0].to_owned()]),
            ..Presentation::default()
        }
    }

    #[test]
    fn one_result_stays_as_it_is() {
        let alone = result(&["goodput up"], 1.0, 5);
        assert_eq!(side_by_side(vec![("a".to_owned(), alone.clone())]), alone);
    }

    #[test]
    fn what_results_have_in_common_stands_before_each_of_them() {
        let results = vec![
            ("a".to_owned(), result(&["goodput up", "goodput down"], 1.0, 5)),
            ("b".to_owned(), result(&["goodput up"], 2.0, 7)),
        ];
        let together = side_by_side(results);
        let titles: Vec<_> = together.sections.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(
            titles,
            ["goodput up, side by side", "a: goodput up", "a: goodput down", "b: goodput up"]
        );
        let common = &together.sections[0];
        let cells =
            [Value::Text("goodput up".to_owned()), Value::BitRate(1.0), Value::BitRate(2.0)];
        assert_eq!(common.tables[0].rows[0].cells, cells);
        let begins: Vec<_> = common.series.iter().map(|it| it.points[0].start_ns).collect();
        assert_eq!(begins, [0, 0]);
        assert_eq!(common.series[1].source.label, "b: goodput up");
        let times =
            common.heat_maps.iter().map(|it| (it.columns[0].start_ns, it.columns[0].end_ns));
        assert_eq!(times.collect::<Vec<_>>(), [(2, 9), (2, 9)]);
        assert_eq!(common.heat_maps[1].source.label, "b: RTT");
        let typed = together.commands.iter().map(|it| (it.of.as_str(), it.words[1].as_str()));
        assert_eq!(typed.collect::<Vec<_>>(), [("a", "goodput up"), ("b", "goodput up")]);
    }
}
