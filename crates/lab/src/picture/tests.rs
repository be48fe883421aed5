//! Pictures of the labs that are shipped, and of networks that are harder to draw.

use pathscope_core::quantity::Period;
use proptest::prelude::*;

use super::labels::{curves, labels};
use super::layout::places;
use super::shape::{Area, area};
use super::{Note, svg, svg_with, text};
use crate::topology::{Network, Topology};

const LABS: [&str; 6] = [
    include_str!("../../../../labs/dumbbell.toml"),
    include_str!("../../../../labs/lossy.toml"),
    include_str!("../../../../labs/portfolio.toml"),
    include_str!("../../../../labs/satellite.toml"),
    include_str!("../../../../labs/two-hosts.toml"),
    include_str!("../../../../labs/wifi-and-wire.toml"),
];

fn lab(index: usize) -> Network {
    Topology::read("x.toml", LABS[index]).network().unwrap_or_else(|faults| panic!("{faults}"))
}

/// The boxes of all nodes, then those of all labels.
fn areas(network: &Network) -> Vec<Area> {
    areas_with(network, &[])
}

fn areas_with(network: &Network, notes: &[Note]) -> Vec<Area> {
    let places = places(network, notes);
    let boxes = places.iter().enumerate().map(|(node, place)| area(network, node, *place));
    let mut areas: Vec<Area> = boxes.collect();
    let labels = labels(network, notes, &areas, &curves(network, &places));
    areas.extend(labels.iter().map(|label| label.area));
    areas
}

fn covered(areas: &[Area]) -> usize {
    let pairs = (0..areas.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    pairs.filter(|(one, other)| areas[*one].shared(areas[*other]) > 0.0).count()
}

#[test]
fn the_portfolio_as_text() {
    insta::assert_snapshot!(text(&lab(2)));
}

#[test]
fn the_portfolio_as_a_picture() {
    insta::assert_snapshot!(svg(&lab(2)));
}

#[test]
fn both_directions_and_long_conditions_as_text() {
    insta::assert_snapshot!(text(&lab(3)));
}

#[test]
fn labs_fit_80_columns_and_nothing_in_their_pictures_covers_anything_else() {
    for index in 0..LABS.len() {
        let network = lab(index);
        let widest = text(&network).lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{}: {widest:?}", network.name());
        assert_eq!(covered(&areas(&network)), 0, "{}", network.name());
    }
}

#[test]
fn what_was_found_out_about_links_stands_at_them_and_covers_nothing() {
    let note = |link, words: &[&str], is_wrong| Note {
        link,
        words: words.iter().map(|&word| word.to_owned()).collect(),
        is_wrong,
    };
    for index in 0..LABS.len() {
        let network = lab(index);
        let notes: Vec<Note> = (0..network.links().len())
            .flat_map(|link| {
                let rtt = note(link, &["RTT 20.23 ms", "(20.04 ms)"], false);
                [rtt, note(link, &["✗ goodput <b> 8.24 Mbit/s", "(38.26 Mbit/s)"], true)]
            })
            .collect();
        let picture = svg_with(&network, &notes);
        let links = network.links().len();
        assert_eq!(picture.matches("class=\"label found\"").count(), links, "it fits a line");
        assert_eq!(picture.matches("class=\"label wrong\"").count(), 2 * links, "it takes two");
        assert!(picture.contains("✗ goodput &lt;b&gt; 8.24") && !picture.contains("<b>"));
        assert_eq!(covered(&areas_with(&network, &notes)), 0, "{}", network.name());
    }
}

#[test]
fn names_are_no_markup() {
    let network = Topology::named("a < b & c").host("a").network().expect("one host is a network");
    assert!(svg(&network).contains("<title>a &lt; b &amp; c</title>"));
}

#[test]
fn many_hosts_around_a_switch_stand_apart() {
    let mut star = Topology::named("star").switch("s").router("r").link("s", "r");
    for index in 0..100 {
        let name = format!("h{index}");
        star = star.host(&name).link(&name, "s");
    }
    assert_eq!(covered(&areas(&star.network().expect("it is right"))), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_network_has_a_picture(
        pairs in prop::collection::vec((0..12_usize, 0..12_usize, any::<bool>()), 0..24),
    ) {
        let names: Vec<String> = (0..12).map(|index| format!("r{index}")).collect();
        let start = Topology::named("chance").isolated();
        let nodes = names.iter().fold(start, |topology, name| topology.router(name));
        let topology = pairs.into_iter().fold(nodes, |topology, (one, other, is_slow)| {
            if one == other {
                return topology;
            }
            let linked = topology.link(&names[one], &names[other]);
            if is_slow { linked.delay(Period::from_millis(1)) } else { linked }
        });
        let Ok(network) = topology.network() else { return Ok(()) };
        let picture = svg(&network);
        prop_assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        prop_assert_eq!(picture.matches("<path ").count(), network.links().len());
        prop_assert_eq!(picture, svg(&network));
        let boxes = &areas(&network)[..network.nodes().len()];
        prop_assert_eq!(covered(boxes), 0);
    }
}
