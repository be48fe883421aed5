//! The network as a drawing, with what was measured across each single link beside what was expected of it.
//!
//! Not here: what was measured across several links, or by several programs together; that stands in the tables alone, since no single
//! link is the place of it.

use pathscope_core::presentation::Picture;
use pathscope_lab::picture::{Note, svg_with};
use pathscope_lab::topology::{Network, Topology};

use crate::document::{ExperimentsDocument, FigureResult, State, Whose};
use crate::judge::words;

/// So many figures stand at a link; the tables have all.
const FIGURES_A_LINK: usize = 4;

const NOTE: &str = "At a link: its conditions, what was measured between its two ends and, in brackets, what was expected; \
                    ✗ is out of tolerance, or missing.";

/// The drawing. Nothing where the document does not have the file that states its network, as those of earlier versions, or where
/// that file is not right any more: the document may be anybody's.
pub fn picture(document: &ExperimentsDocument) -> Option<Picture> {
    let lab = &document.lab;
    let network = Topology::read(&lab.name, lab.source.as_ref()?).network().ok()?;
    let svg = svg_with(&network, &notes(document, &network));
    Some(Picture { title: format!("the network {}", lab.name), note: NOTE.to_owned(), svg })
}

/// What stands at each link, in the order of the document.
fn notes(document: &ExperimentsDocument, network: &Network) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let steps = document.experiments.iter().flat_map(|experiment| &experiment.steps);
    for figure in steps.flat_map(|step| &step.figures) {
        let Some(link) = link_of(network, figure) else { continue };
        let already = notes.iter().filter(|note| note.link == link).count();
        if let Some(note) = note(link, figure).filter(|_| already < FIGURES_A_LINK) {
            notes.push(note);
        }
    }
    notes
}

/// The link that a figure is of: the only one between the two nodes of its run. Which of several links carried a run is not known,
/// and names that can be read in two ways are no link's.
fn link_of(network: &Network, figure: &FigureResult) -> Option<usize> {
    let Whose::Run { between, .. } = &figure.of else { return None };
    let name = |node: usize| network.nodes().get(node).map_or("", |node| node.name.as_str());
    let mut found = network.links().iter().enumerate().filter(|(_, link)| {
        let [one, other] = link.ends.map(|end| name(end.node));
        [format!("{one}-{other}"), format!("{other}-{one}")].contains(between)
    });
    let (link, _) = found.next()?;
    found.next().is_none().then_some(link)
}

/// A figure in a few words; nothing where there is nothing to compare.
fn note(link: usize, figure: &FigureResult) -> Option<Note> {
    let is_wrong = matches!(figure.state, State::Outside | State::Missing);
    let mark = if is_wrong { "✗ " } else { "" };
    let expected = figure.expected.map(|expected| format!("({})", words(figure.unit, expected)));
    let measured = match figure.measured {
        Some(measured) => words(figure.unit, measured),
        None if is_wrong => "not measured".to_owned(),
        None => return None,
    };
    let first = format!("{mark}{} {measured}", figure.label);
    let words = [Some(first), Some(expected?)].into_iter().flatten().collect();
    Some(Note { link, words, is_wrong })
}

#[cfg(test)]
mod tests {
    use pathscope_modes::figures::Unit;

    use super::*;
    use crate::document::{ExperimentResult, LabFacts, StepResult};

    const NETWORK: &str = r#"
        hosts = ["a", "b", "c"]
        routers = ["r", "t"]
        [links]
        "a:r" = { rate = "10Mbit", delay = "5ms" }
        "r:b" = {}
        "r:t" = { delay = "1ms" }
        "r:t#spare" = { delay = "2ms" }
        "t:c" = {}
    "#;

    fn figure(between: &str, label: &str, measured: Option<f64>, state: State) -> FigureResult {
        FigureResult {
            label: label.to_owned(),
            of: Whose::Run { name: "ping".to_owned(), between: between.to_owned() },
            unit: Unit::Duration,
            expected: Some(10_040_000.0),
            measured,
            state,
            ..FigureResult::default()
        }
    }

    fn document(source: Option<&str>, figures: Vec<FigureResult>) -> ExperimentsDocument {
        let steps = vec![StepResult { figures, ..StepResult::default() }];
        ExperimentsDocument {
            lab: LabFacts { source: source.map(str::to_owned), ..LabFacts::default() },
            experiments: vec![ExperimentResult { steps, ..ExperimentResult::default() }],
            ..ExperimentsDocument::default()
        }
    }

    #[test]
    fn a_figure_stands_at_the_only_link_between_its_nodes() {
        let figures = vec![
            figure("a-r", "RTT", Some(10_100_000.0), State::Within),
            figure("r-a", "back", Some(12_000_000.0), State::Outside),
            figure("a-b", "over two links", Some(1.0), State::Within),
            figure("r-t", "by either", Some(1.0), State::Within),
            figure("a-r", "lost", None, State::Missing),
            figure("a-r", "not asked", None, State::NotJudged),
        ];
        let picture = picture(&document(Some(NETWORK), figures)).expect("a network");
        for text in ["RTT 10.1 ms", "(10.04 ms)", "✗ back 12 ms", "✗ lost not measured"] {
            assert!(picture.svg.contains(text), "{text}: {}", picture.svg);
        }
        for text in ["over two links", "by either", "not asked"] {
            assert!(!picture.svg.contains(text), "{text}: {}", picture.svg);
        }
    }

    #[test]
    fn a_link_has_its_first_figures_alone() {
        let figures = (0..9)
            .map(|number| figure("a-r", &format!("figure {number}"), Some(1e7), State::Within));
        let picture = picture(&document(Some(NETWORK), figures.collect())).expect("a network");
        assert!(picture.svg.contains("figure 3") && !picture.svg.contains("figure 4"));
    }

    #[test]
    fn whatever_stands_in_a_document_there_is_a_drawing_of_a_network_or_none() {
        for source in [None, Some(""), Some("hosts = 7"), Some("hosts = [\"<script>\"]"), Some("]")]
        {
            assert_eq!(picture(&document(source, Vec::new())), None, "{source:?}");
        }
        let hostile = figure("a-r", "</svg><script>", Some(1e7), State::Within);
        let picture = picture(&document(Some(NETWORK), vec![hostile])).expect("a network");
        assert!(!picture.svg.contains("<script>") && picture.svg.matches("</svg>").count() == 1);
    }
}
