//! The cells: for each mode a covering design over its settings, and links that lose, double and reorder in known ways.

mod datagrams;
mod goodput;
mod impairments;
mod latency;
mod media;
mod multipath;
mod others;
mod places;
mod relay;
mod search;
mod shape;

use pathscope_core::quantity::Period;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::{Cell, SAMPLES, Setting};
use crate::covering::cover;
use crate::place::{Family, Place};

/// How much is done.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Half a second a cell.
    Quick,
    /// Five seconds a cell.
    #[default]
    Usual,
    /// Ten seconds a cell, and values that need them.
    Long,
    /// One that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Extent {
    /// How long each cell is measured.
    pub const fn duration(self) -> Period {
        Period::from_millis(self.millis())
    }

    const fn millis(self) -> u64 {
        match self {
            Self::Quick => 500,
            Self::Usual | Self::Unknown => 5_000,
            Self::Long => 10_000,
        }
    }

    /// Of so many a second, how many there are in that time.
    const fn of(self, per_second: u64) -> u64 {
        per_second * self.millis() / 1_000
    }
}

/// A setting and the values that it may have.
struct Axis {
    name: &'static str,
    values: &'static [&'static str],
    /// Values that only a long run has time for.
    long: &'static [&'static str],
}

impl Axis {
    const fn new(name: &'static str, values: &'static [&'static str]) -> Self {
        Self { name, values, long: &[] }
    }

    fn of(&self, extent: Extent) -> Vec<&'static str> {
        let long = if extent == Extent::Long { self.long } else { &[] };
        self.values.iter().chain(long).copied().collect()
    }
}

/// The settings of one mode, and how a choice of them becomes a cell.
struct Design {
    group: &'static str,
    axes: &'static [Axis],
    /// Whether these go together.
    is_possible: fn(&Chosen) -> bool,
    cell: fn(&Chosen, Extent) -> Cell,
}

/// A value of each axis.
struct Chosen(Vec<(&'static str, &'static str)>);

impl Chosen {
    fn get(&self, axis: &str) -> &'static str {
        self.0.iter().find(|(name, _)| *name == axis).map_or("", |(_, value)| value)
    }

    /// The value of an axis of numbers.
    fn number(&self, axis: &str) -> u64 {
        self.get(axis).parse().unwrap_or(0)
    }

    fn is(&self, axis: &str, value: &str) -> bool {
        self.get(axis) == value
    }

    fn place(&self) -> Place {
        match self.get("place") {
            "loopback" => Place::Loopback,
            "wide wire" => Place::Wide,
            "link" => Place::Link,
            "two links" => Place::Both,
            _ => Place::Wire,
        }
    }

    fn family(&self) -> Family {
        if self.is("addresses", "IPv6") { Family::Six } else { Family::Four }
    }

    fn settings(&self) -> Vec<Setting> {
        let setting = |(axis, value): &(&str, &str)| Setting {
            axis: (*axis).to_owned(),
            value: (*value).to_owned(),
        };
        self.0.iter().map(setting).collect()
    }
}

const DESIGNS: [&Design; 5] =
    [&latency::DESIGN, &goodput::DESIGN, &datagrams::DESIGN, &media::DESIGN, &multipath::DESIGN];

/// All cells of a run.
pub fn cells(extent: Extent) -> Vec<Cell> {
    let grids = DESIGNS.into_iter().flat_map(|design| of_design(design, extent));
    let others = impairments::cells(extent).into_iter().chain(places::cells(extent));
    let others = others.chain(relay::cells(extent)).chain(search::cells(extent));
    grids.chain(others).collect()
}

/// The words behind `pathscope` of each cell of a run in which pathscope measures, and the cell's name. Samples go to this file.
pub fn commands(extent: Extent, samples: &str) -> Vec<(String, Vec<String>)> {
    let own = cells(extent).into_iter().filter(|cell| !cell.is_of_another());
    let words = |cell: &Cell| cell.words.iter().map(|it| it.replace(SAMPLES, samples)).collect();
    own.map(|cell| (cell.name.clone(), words(&cell))).collect()
}

fn of_design(design: &Design, extent: Extent) -> Vec<Cell> {
    let values: Vec<Vec<&'static str>> = design.axes.iter().map(|axis| axis.of(extent)).collect();
    let sizes: Vec<usize> = values.iter().map(Vec::len).collect();
    let chosen = |choice: &[usize]| {
        let axes = design.axes.iter().zip(&values).zip(choice);
        Chosen(axes.map(|((axis, values), &value)| (axis.name, values[value])).collect())
    };
    let choices = cover(&sizes, &|choice| (design.is_possible)(&chosen(choice)));
    let cell = |(index, choice): (usize, &Vec<usize>)| {
        let chosen = chosen(choice);
        let name = format!("{} {}", design.group, index + 1);
        Cell { name, settings: chosen.settings(), ..(design.cell)(&chosen, extent) }
    };
    choices.iter().enumerate().map(cell).collect()
}

/// A command line's words.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pathscope_lab::link::Order;
    use pathscope_lab::topology::{Passage, Topology};

    use super::{Extent, cells};
    use crate::place::{LINK_ADDRESS, NETWORK, SECOND_WAY};

    #[test]
    fn every_cell_has_a_name_of_its_own_and_what_it_asks_for_can_be() {
        for extent in [Extent::Quick, Extent::Usual, Extent::Long] {
            let cells = cells(extent);
            let names: BTreeSet<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
            assert_eq!(names.len(), cells.len());
            for cell in &cells {
                assert!(cell.asked.flows > 0, "{}", cell.name);
                assert_eq!(
                    cell.conditions.len(),
                    cell.place.links(cell.family).len(),
                    "{}",
                    cell.name
                );
            }
        }
    }

    #[test]
    fn links_are_as_cells_say() {
        let network = Topology::read("calibration", NETWORK).network().expect("a network");
        for cell in cells(Extent::Long) {
            for (name, conditions) in cell.place.links(cell.family).iter().zip(&cell.conditions) {
                let (_, link) = network.link(name).expect("a link of the network");
                let Passage::Relayed { forward, backward } = &link.passage else {
                    panic!("{name} is carried by no relay");
                };
                assert_eq!([forward.delay.0, backward.delay.0], [conditions.delay_ns; 2], "{name}");
                let later = cell.later.iter().map(|later| later.words);
                let words = [conditions.up, conditions.down].into_iter().chain(later);
                for words in words.filter(|it| !it.is_empty()) {
                    Order::from_words(words.split(' ')).expect("words of 'lab set'");
                }
            }
        }
    }

    #[test]
    fn links_have_the_addresses_that_cells_go_by() {
        let network = Topology::read("calibration", NETWORK).network().expect("a network");
        let addresses = |name: &str| {
            let (_, link) = network.link(name).expect("a link of the network");
            link.ends.map(|end| {
                let interface = network.interface(end).expect("its interface");
                interface.addresses[0].address.to_string()
            })
        };
        assert_eq!(addresses("near:right"), SECOND_WAY);
        assert_eq!(addresses("near:link")[1], LINK_ADDRESS);
    }

    #[test]
    fn a_quick_run_has_few_enough_cells_for_its_time() {
        let count = cells(Extent::Quick).len();
        assert!((60..=130).contains(&count), "{count}");
    }
}
