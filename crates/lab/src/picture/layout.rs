//! Where nodes stand: as far from each other as there are links between them.
//!
//! Stress majorization (Gansner, Koren and North, Graph Drawing 2004) from a radial tree, which has no
//! crossing where the network has none; then the picture is turned to lie broad, and boxes that cover each
//! other are pushed apart. No chance in it, and a bound on each step.

use super::labels::{self, Note};
use super::shape::{Area, Point, area};
use crate::topology::Network;

const SHORT: f64 = 108.0;
/// Room for what is written at a link, beside the boxes at its ends.
const LONG: f64 = 215.0;
/// Room on a circle around a node, for each of its neighbours.
const CROWD: f64 = 11.0;
const ROUNDS: usize = 300;
const PUSHES: usize = 200;
const MARGIN: f64 = 8.0;

/// The centre of each node, in pixels, around no point in particular.
pub(super) fn places(network: &Network, notes: &[Note]) -> Vec<Point> {
    let distances = distances(network, notes);
    let mut places = radial(network, &distances);
    for _ in 0..ROUNDS {
        relax(&mut places, &distances);
    }
    turn(&mut places);
    for _ in 0..PUSHES {
        if !push_apart(network, &mut places) {
            break;
        }
    }
    // Whole pixels, so that what is level is drawn level.
    places.iter().map(|place| Point { x: place.x.round(), y: place.y.round() }).collect()
}

/// The way between any two nodes along links; the longest and some more where there is none.
fn distances(network: &Network, notes: &[Note]) -> Vec<Vec<f64>> {
    let count = network.nodes().len();
    let mut distances = vec![vec![f64::INFINITY; count]; count];
    for (index, link) in network.links().iter().enumerate() {
        let needed = if labels::lines(network, notes, index).is_empty() { SHORT } else { LONG };
        let [one, other] = link.ends.map(|end| end.node);
        let degree = |node: usize| network.nodes()[node].interfaces.len() as f64;
        let length = needed.max(degree(one).max(degree(other)) * CROWD);
        let length = distances[one][other].min(length);
        (distances[one][other], distances[other][one]) = (length, length);
    }
    for (node, row) in distances.iter_mut().enumerate() {
        row[node] = 0.0;
    }
    // Floyd and Warshall.
    for through in 0..count {
        let from_there = distances[through].clone();
        for row in &mut distances {
            let to_there = row[through];
            for (way, rest) in row.iter_mut().zip(&from_there) {
                *way = way.min(to_there + rest);
            }
        }
    }
    let finite = distances.iter().flatten().copied().filter(|way| way.is_finite());
    let beyond = finite.fold(0.0, f64::max) + LONG;
    distances.iter_mut().flatten().filter(|way| way.is_infinite()).for_each(|way| *way = beyond);
    distances
}

/// Around the node in the middle: each branch of the tree of shortest ways has a sector as wide as it has
/// leaves.
fn radial(network: &Network, distances: &[Vec<f64>]) -> Vec<Point> {
    let count = network.nodes().len();
    let reach = |node: usize| distances[node].iter().copied().fold(0.0, f64::max);
    let root = (0..count).min_by(|one, other| reach(*one).total_cmp(&reach(*other))).unwrap_or(0);
    let (order, parents) = tree(network, root);
    let mut leaves = vec![0_usize; count];
    for &node in order.iter().rev() {
        leaves[node] = leaves[node].max(1);
        if node != root {
            leaves[parents[node]] += leaves[node];
        }
    }
    let mut places = vec![Point { x: 0.0, y: 0.0 }; count];
    // Where the next child of each node begins, in leaves.
    let mut next = vec![0; count];
    let turn = std::f64::consts::TAU / leaves.get(root).copied().unwrap_or(1) as f64;
    for &node in order.iter().skip(1) {
        let from = next[parents[node]];
        next[parents[node]] += leaves[node];
        next[node] = from;
        let angle = (from as f64 + leaves[node] as f64 / 2.0) * turn;
        let distance = distances[root][node];
        places[node] = Point { x: distance * angle.cos(), y: distance * angle.sin() };
    }
    places
}

/// All nodes from the root outwards, and the parent of each; what nothing joins hangs on the root.
fn tree(network: &Network, root: usize) -> (Vec<usize>, Vec<usize>) {
    let count = network.nodes().len();
    let mut parents = vec![root; count];
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    for start in std::iter::once(root).chain(0..count) {
        if start >= count || std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut done = order.len();
        order.push(start);
        while let Some(&node) = order.get(done) {
            done += 1;
            for interface in &network.nodes()[node].interfaces {
                for end in network.links()[interface.link].ends {
                    if !std::mem::replace(&mut seen[end.node], true) {
                        parents[end.node] = node;
                        order.push(end.node);
                    }
                }
            }
        }
    }
    (order, parents)
}

/// Moves each node to where the others, weighted by nearness, want it.
fn relax(places: &mut [Point], distances: &[Vec<f64>]) {
    for node in 0..places.len() {
        let mut sum = Point { x: 0.0, y: 0.0 };
        let mut weights = 0.0;
        for (other, &wanted) in distances[node].iter().enumerate() {
            if other == node {
                continue;
            }
            let weight = 1.0 / (wanted * wanted);
            let direction = places[node].minus(places[other]).direction();
            sum = sum.plus(places[other].plus(direction.times(wanted)).times(weight));
            weights += weight;
        }
        if weights > 0.0 {
            places[node] = sum.times(1.0 / weights);
        }
    }
}

/// The longest extent lies level, and the first node left and above.
fn turn(places: &mut [Point]) {
    let Some(first) = places.first().copied() else { return };
    let count = places.len() as f64;
    let sum = places.iter().fold(Point { x: 0.0, y: 0.0 }, |sum, place| sum.plus(*place));
    let middle = sum.times(1.0 / count);
    let moment =
        |of: fn(Point) -> f64| -> f64 { places.iter().map(|place| of(place.minus(middle))).sum() };
    let (xx, yy, xy) =
        (moment(|at| at.x * at.x), moment(|at| at.y * at.y), moment(|at| at.x * at.y));
    let (sine, cosine) = (-0.5 * (2.0 * xy).atan2(xx - yy)).sin_cos();
    let turned = |place: Point| {
        let from = place.minus(middle);
        Point { x: from.x * cosine - from.y * sine, y: from.x * sine + from.y * cosine }
    };
    let first = turned(first);
    let (mirror_x, mirror_y) = (first.x > 0.5, first.y > 0.5);
    for place in places {
        let Point { x, y } = turned(*place);
        *place = Point { x: if mirror_x { -x } else { x }, y: if mirror_y { -y } else { y } };
    }
}

/// Moves boxes that cover each other apart, along the shorter way; whether there were any.
fn push_apart(network: &Network, places: &mut [Point]) -> bool {
    let mut moved = false;
    for one in 0..places.len() {
        for other in 0..one {
            let box_of = |node: usize, places: &[Point]| -> Area {
                area(network, node, places[node]).with_margin(MARGIN)
            };
            let (x, y) = box_of(one, places).depth(box_of(other, places));
            if x <= 0.0 || y <= 0.0 {
                continue;
            }
            moved = true;
            let apart = places[one].minus(places[other]);
            let half = x.min(y) / 2.0 + 0.5;
            let step = if x < y {
                Point { x: half.copysign(apart.x), y: 0.0 }
            } else {
                Point { x: 0.0, y: half.copysign(apart.y) }
            };
            places[one] = places[one].plus(step);
            places[other] = places[other].minus(step);
        }
    }
    moved
}
