//! Figures over time of all measurements of a document on one axis of time: for the page, which begins with them, and the picture, which is
//! them. Not here: which of them are drawn, and how.

use pathscope_core::presentation::{Presentation, Section, Series, SeriesPoint};

/// What sections have over time, those of one name in one line, and when each of them begins.
#[derive(Debug, Default, PartialEq)]
pub struct Joined {
    pub series: Vec<Series>,
    /// Nanoseconds and names, by rising begin.
    pub phases: Vec<(u64, String)>,
}

/// The sections that have something to draw. What stands above all measurements, such as all runs, is drawn in their place.
pub fn charted(presentation: &Presentation) -> Vec<&Section> {
    let has_any = |section: &&Section| {
        section.series.iter().any(|series| series.numbers().count() > 0)
            || section.distributions.iter().any(|shape| shape.distribution.count > 0)
            || !section.heat_maps.is_empty()
            || !section.estimates.is_empty()
    };
    let charted: Vec<&Section> = presentation.sections.iter().filter(has_any).collect();
    let above = charted.iter().find(|section| section.place.is_empty());
    above.map_or(charted.clone(), |above| vec![*above])
}

/// Whether these are different measurements of one document, and so have one time: those of several results have the same places.
pub fn share_a_time(sections: &[&Section]) -> bool {
    let is_first = |(at, section): (usize, &&Section)| {
        !section.place.is_empty() && sections[..at].iter().all(|other| other.place != section.place)
    };
    sections.iter().enumerate().all(is_first)
}

/// What these sections have over time.
pub fn joined(sections: &[&Section]) -> Joined {
    let mut all = Joined::default();
    for section in sections {
        let drawn = || section.series.iter().filter(|series| series.numbers().count() > 0);
        let begins = drawn().filter_map(|series| series.points.first());
        let begin_ns = begins.map(|point| point.start_ns).min();
        all.phases.extend(begin_ns.map(|begin_ns| (begin_ns, section.title.clone())));
        drawn().for_each(|series| add(&mut all.series, series));
    }
    all.phases.sort_by_key(|(begin_ns, _)| *begin_ns);
    all
}

/// Puts a series at the end of the line of its name, after a gap, or begins that line.
fn add(all: &mut Vec<Series>, series: &Series) {
    let (label, unit) = (&series.source.label, series.source.unit);
    let same = all.iter_mut().find(|it| (&it.source.label, it.source.unit) == (label, unit));
    let Some(same) = same else { return all.push(series.clone()) };
    let ends = same.points.last().zip(series.points.first());
    let gap = ends.map(|(last, first)| SeriesPoint::over(last.end_ns, first.start_ns, None));
    same.points.extend(gap.into_iter().chain(series.points.iter().copied()));
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::Source;

    use super::*;

    fn section(place: &str, label: &str, start_ns: u64) -> Section {
        let source = Source { label: label.to_owned(), ..Source::default() };
        let points = vec![SeriesPoint::over(start_ns, start_ns + 1, Some(1.0))];
        let series = vec![Series { source, points }];
        let (place, title) = (place.to_owned(), format!("from {start_ns}"));
        Section { place, title, series, ..Section::default() }
    }

    #[test]
    fn figures_of_one_name_are_one_line_with_a_gap_between_measurements() {
        let sections = [section("a", "RTT", 5), section("b", "goodput", 7), section("c", "RTT", 9)];
        let sections: Vec<&Section> = sections.iter().collect();
        assert!(share_a_time(&sections));
        let all = joined(&sections);
        let labels: Vec<_> = all.series.iter().map(|it| it.source.label.as_str()).collect();
        assert_eq!(labels, ["RTT", "goodput"]);
        let of = |start_ns, end_ns, value| SeriesPoint::over(start_ns, end_ns, value);
        let expected = [of(5, 6, Some(1.0)), of(6, 9, None), of(9, 10, Some(1.0))];
        assert_eq!(all.series[0].points, expected);
        let begins = [(5, "from 5"), (7, "from 7"), (9, "from 9")];
        assert_eq!(all.phases, begins.map(|(at, name)| (at, name.to_owned())));
    }

    #[test]
    fn measurements_of_several_results_share_no_time() {
        let of = |place| section(place, "RTT", 0);
        let two = [of("measurements[0]"), of("measurements[0]")];
        assert!(!share_a_time(&[&two[0], &two[1]]));
        assert!(!share_a_time(&[&of("")]));
    }
}
