//! What the relay says of itself in a cell, as figures: counts of its ledger, and how late it was; and beside it what links took by
//! captures.

use pathscope_lab::relay::DirectionAccount;
use pathscope_modes::figures::{self, Better, FigureDefinition, Found, Group, Unit};

use crate::evidence::{Evidence, TCP, UDP, Way};
use crate::others;
use crate::rule::Against;

const PAGE: &str = "method/relay.md#held-to-what-is-not-ours";

/// Figures of the relay. They are in no document of a run, and have no place there.
pub const GROUP: Group = Group {
    name: "relay",
    title: "The relay",
    order: 0,
    place: "",
    figures: &FIGURES,
    primary: &[],
};

const FIGURES: [FigureDefinition; 12] = [
    figure("offered", Unit::Count, "frames that came to a link's entrance, one way"),
    figure("offered.bytes", Unit::Bytes, "their bytes"),
    figure("delivered", Unit::Count, "frames that were handed over at its exit"),
    figure("delivered.bytes", Unit::Bytes, "their bytes"),
    figure("udp.offered", Unit::Count, "of those offered, the ones of the test over UDP"),
    figure("udp.offered.bytes", Unit::Bytes, "their bytes"),
    figure("udp.delivered", Unit::Count, "of those delivered, the ones of the test over UDP"),
    figure("udp.delivered.bytes", Unit::Bytes, "their bytes"),
    figure("tcp.delivered", Unit::Count, "of those delivered, the ones of the test over TCP"),
    figure("tcp.delivered.bytes", Unit::Bytes, "their bytes"),
    figure("one_way", Unit::Distribution, "from a link's one interface to its other"),
    figure(
        "lateness",
        Unit::Distribution,
        "how late frames were handed over, as the ledger has it",
    ),
];

/// So many samples a median and a 99th percentile need.
const LEAST_SAMPLES: [(&str, u64); 2] = [("p50", 20), ("p99", 1_000)];

const fn figure(name: &'static str, unit: Unit, meaning: &'static str) -> FigureDefinition {
    let (label, better) = (name, Better::Neither);
    FigureDefinition { name, label, place: "", unit, better, meaning, page: PAGE }
}

/// By what it is known that is not the relay, where a figure cannot be without it, whatever truth it is held to.
pub fn known_by(figure: &str) -> Option<Against> {
    let name = figure.strip_prefix(GROUP.name)?.strip_prefix('.')?;
    (name == "one_way" || name.starts_with("one_way.")).then_some(Against::Captures)
}

/// The groups of all figures that a calibration has rows of.
pub fn groups() -> impl Iterator<Item = &'static Group> {
    figures::groups().chain([&GROUP]).chain(&others::GROUPS)
}

/// Every figure of the relay that a cell has.
pub fn found(evidence: &Evidence<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (index, link) in evidence.links.iter().enumerate() {
        for (side, way) in [("up", Way::Up), ("down", Way::Down)] {
            let direction = if way == Way::Up { &link.forward } else { &link.backward };
            for (name, statistic, number) in numbers(evidence, index, way, direction) {
                let figure = FIGURES.iter().find(|it| it.name == name);
                found.extend(figure.map(|figure| Found {
                    group: &GROUP,
                    figure,
                    side: Some(side),
                    entry: Some(index),
                    name: None,
                    statistic: statistic.map(str::to_owned),
                    number,
                }));
            }
        }
    }
    found
}

type Number = (&'static str, Option<&'static str>, f64);

fn numbers(
    evidence: &Evidence<'_>,
    link: usize,
    way: Way,
    direction: &DirectionAccount,
) -> Vec<Number> {
    let mut numbers = Vec::new();
    let mut count = |[frames, bytes]: [&'static str; 2], tally: pathscope_lab::link::Tally| {
        numbers.extend([(frames, None, tally.frames as f64), (bytes, None, tally.bytes as f64)]);
    };
    let witnesses = &evidence.witnesses;
    if !witnesses.counters.is_empty() {
        let total = &direction.truth.total;
        count(["offered", "offered.bytes"], total.offered);
        count(["delivered", "delivered.bytes"], total.delivered);
    }
    if witnesses.filtered.is_some() {
        if let Some(udp) = evidence.counts(link, way, UDP) {
            count(["udp.offered", "udp.offered.bytes"], udp.offered);
            count(["udp.delivered", "udp.delivered.bytes"], udp.delivered);
        }
        if let Some(tcp) = evidence.counts(link, way, TCP) {
            count(["tcp.delivered", "tcp.delivered.bytes"], tcp.delivered);
        }
    }
    if let Some(crossing) = &witnesses.crossing {
        let took = crossing.took(way);
        let needed = |name: &str| {
            LEAST_SAMPLES.iter().find(|(its, _)| *its == name).map_or(0, |(_, needed)| *needed)
        };
        let taken = took.statistic("count").unwrap_or(0.0) as u64;
        for name in ["min", "p50", "p99"] {
            let number = took.statistic(name).filter(|_| taken >= needed(name));
            numbers.extend(number.map(|number| ("one_way", Some(name), number)));
        }
        let lateness = direction.truth.lateness.histogram();
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let late = lateness.value_at_quantile(share);
            let late = late.filter(|_| taken.min(lateness.count()) >= needed(name));
            numbers.extend(late.map(|late| ("lateness", Some(name), late as f64)));
        }
    }
    numbers
}
