//! The lines that links are drawn as, and what is written beside them: where it covers nothing else.

use super::shape::{Area, LINE, Point, TEXT_SIZE, text_width};
use super::words::{words, wrapped};
use crate::link::Conditions;
use crate::topology::{self, Network, Passage};

/// Characters in a line.
const WIDTH: usize = 24;
/// Between links that have both ends in common, at their bends; half of it between their middles.
const BEND: f64 = 150.0;
const GAP: f64 = 5.0;

/// What was found out about a link, to stand below what is known of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Note {
    /// Which link, by its place in the network.
    pub link: usize,
    /// Words that stay together in a line where there is room.
    pub words: Vec<String>,
    /// Whether it is not as it should be.
    pub is_wrong: bool,
}

/// What a line at a link is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Its name or its conditions.
    Known,
    /// A subnet.
    Subnet,
    /// A note of something as it should be.
    Found,
    /// And of something that is not.
    Wrong,
}

/// A line at a link.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub text: String,
    pub kind: Kind,
}

/// What is written at a link, and where.
pub(super) struct Label {
    pub lines: Vec<Line>,
    pub area: Area,
}

/// The lines at a link: its conditions, notes and, between routers, its subnets. Most wires have none: their
/// addresses stand in the boxes at their ends.
pub(super) fn lines(network: &Network, notes: &[Note], link: usize) -> Vec<Line> {
    let known = [names(network, link), conditions(network, link)].concat();
    let found = notes.iter().filter(|note| note.link == link).flat_map(|note| {
        let kind = if note.is_wrong { Kind::Wrong } else { Kind::Found };
        wrapped(&note.words, " ", WIDTH).into_iter().map(move |text| Line { text, kind })
    });
    let of = |kind| move |text| Line { text, kind };
    let subnets = subnets(network, link).into_iter().map(of(Kind::Subnet));
    known.into_iter().map(of(Kind::Known)).chain(found).chain(subnets).collect()
}

/// Its name, where its ends do not say which one it is.
fn names(network: &Network, link: usize) -> Vec<String> {
    let links = network.links().iter().enumerate();
    let mut alike =
        links.filter(|(other, _)| *other != link && pair(network, *other) == pair(network, link));
    alike.next().map(|_| network.links()[link].name.clone()).into_iter().collect()
}

/// The nodes at its ends, in one order for all links between them.
fn pair(network: &Network, link: usize) -> (usize, usize) {
    let [one, other] = network.links()[link].ends.map(|end| end.node);
    (one.min(other), one.max(other))
}

fn conditions(network: &Network, link: usize) -> Vec<String> {
    let link = &network.links()[link];
    let to = |end: usize| Some(network.nodes()[link.ends[end].node].name.as_str());
    match link.passage {
        Passage::Plain => Vec::new(),
        Passage::Relayed { forward, backward } if forward == backward => said(&forward, None),
        Passage::Relayed { forward, backward } => {
            [said(&forward, to(1)), said(&backward, to(0))].concat()
        }
    }
}

fn subnets(network: &Network, link: usize) -> Vec<String> {
    let link = &network.links()[link];
    let mut nodes = link.ends.iter().map(|end| &network.nodes()[end.node]);
    if nodes.any(|node| node.kind != topology::Kind::Router) {
        return Vec::new();
    }
    network.domains()[link.domain].subnets.iter().map(ToString::to_string).collect()
}

/// Rate, delay and queue are told by their units; the rest is named.
fn said(conditions: &Conditions, to: Option<&str>) -> Vec<String> {
    let word = |(key, value): (String, String)| match key.as_str() {
        "rate" | "delay" => value,
        "queue" => format!("queue {value}"),
        "jitter" => format!("± {value}"),
        _ => format!("{key} {value}"),
    };
    let mut all: Vec<String> = words(conditions).into_iter().map(word).collect();
    if let Some(to) = to {
        let first = all.first().map_or("nothing", String::as_str);
        let first = format!("to {to}: {first}");
        all.splice(..all.len().min(1), [first]);
    }
    wrapped(&all, " · ", WIDTH)
}

/// A line from one node to another, bent by a point in the middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    pub from: Point,
    pub bend: Point,
    pub to: Point,
}

impl Curve {
    /// A quadratic Bézier curve, at a share of its way.
    fn at(self, share: f64) -> Point {
        let rest = 1.0 - share;
        self.from
            .times(rest * rest)
            .plus(self.bend.times(2.0 * share * rest))
            .plus(self.to.times(share * share))
    }

    fn points(self) -> impl Iterator<Item = Point> {
        (0..=32).map(move |step| self.at(f64::from(step) / 32.0))
    }
}

/// The line of each link; those between the same two nodes are bent apart.
pub(super) fn curves(network: &Network, places: &[Point]) -> Vec<Curve> {
    let pair = |link: usize| pair(network, link);
    let links = network.links().len();
    let curve = |link: usize| {
        let (one, other) = pair(link);
        let alike: Vec<usize> = (0..links).filter(|index| pair(*index) == (one, other)).collect();
        let rank = alike.iter().position(|index| *index == link).unwrap_or(0) as f64;
        let (from, to) = (places[one], places[other]);
        let bend = (rank - (alike.len() as f64 - 1.0) / 2.0) * BEND;
        let across = to.minus(from).direction().across().times(bend);
        Curve { from, bend: from.plus(to).times(0.5).plus(across), to }
    };
    (0..links).map(curve).collect()
}

/// Where the words of each link stand, in the order of the links.
pub(super) fn labels(
    network: &Network,
    notes: &[Note],
    boxes: &[Area],
    curves: &[Curve],
) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for (link, curve) in curves.iter().enumerate() {
        let lines = lines(network, notes, link);
        if lines.is_empty() {
            continue;
        }
        let cost = |area: &Area| {
            let area = area.with_margin(2.0);
            let covered: f64 = boxes.iter().map(|other| area.shared(*other)).sum();
            let written: f64 = labels.iter().map(|other| area.shared(other.area)).sum();
            let crossed = curves.iter().flat_map(|curve| curve.points());
            let crossed = crossed.filter(|point| area.holds(*point)).count() as f64;
            covered * 4.0 + written * 4.0 + crossed * 30.0
        };
        let candidates = candidates(*curve, &lines);
        let costs =
            candidates.iter().enumerate().map(|(rank, area)| (cost(area) + rank as f64, area));
        let best = costs.min_by(|(one, _), (other, _)| one.total_cmp(other));
        if let Some(area) = best.map(|(_, area)| *area) {
            labels.push(Label { lines, area });
        }
    }
    labels
}

/// Beside the line, on either side, the middle and the upper or right side first.
fn candidates(curve: Curve, lines: &[Line]) -> Vec<Area> {
    let width = lines.iter().map(|line| text_width(&line.text, TEXT_SIZE)).fold(0.0, f64::max);
    let height = lines.len() as f64 * LINE;
    let across = curve.to.minus(curve.from).direction().across();
    let is_up = across.y < -0.3 || (across.y < 0.3 && across.x > 0.0);
    let across = if is_up { across } else { across.times(-1.0) };
    let away = across.x.abs() * width / 2.0 + across.y.abs() * height / 2.0 + GAP;
    let mut areas = Vec::new();
    for further in [1.0, 1.6] {
        for share in [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74] {
            for side in [away, -away] {
                let centre = curve.at(share).plus(across.times(side * further));
                areas.push(Area { centre, width, height });
            }
        }
    }
    areas
}
