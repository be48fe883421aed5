//! Points and boxes on the page, in pixels, and the text that is in a node's box.

use crate::topology::{Kind, Network, Node};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub fn plus(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y }
    }

    pub fn minus(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y }
    }

    pub fn times(self, factor: f64) -> Self {
        Self { x: self.x * factor, y: self.y * factor }
    }

    pub fn length(self) -> f64 {
        self.x.hypot(self.y)
    }

    /// Length 1 in the same direction; to the right where there is none.
    pub fn direction(self) -> Self {
        let length = self.length();
        if length > 1e-9 { self.times(1.0 / length) } else { Self { x: 1.0, y: 0.0 } }
    }

    /// Turned by a quarter.
    pub fn across(self) -> Self {
        Self { x: -self.y, y: self.x }
    }
}

/// A rectangle around its centre.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub centre: Point,
    pub width: f64,
    pub height: f64,
}

impl Area {
    /// How far two reach into each other, along each axis; negative where they do not.
    pub fn depth(self, other: Self) -> (f64, f64) {
        let apart = self.centre.minus(other.centre);
        let width = f64::midpoint(self.width, other.width);
        let height = f64::midpoint(self.height, other.height);
        (width - apart.x.abs(), height - apart.y.abs())
    }

    /// The area they share.
    pub fn shared(self, other: Self) -> f64 {
        let (x, y) = self.depth(other);
        x.max(0.0) * y.max(0.0)
    }

    pub fn holds(self, point: Point) -> bool {
        let from = point.minus(self.centre);
        from.x.abs() * 2.0 <= self.width && from.y.abs() * 2.0 <= self.height
    }

    /// The same with a margin on each side.
    pub fn with_margin(self, margin: f64) -> Self {
        Self { width: self.width + 2.0 * margin, height: self.height + 2.0 * margin, ..self }
    }
}

/// Of the letters of a node's name and of everything else.
pub(super) const NAME_SIZE: f64 = 14.0;
pub(super) const TEXT_SIZE: f64 = 11.0;
pub(super) const LINE: f64 = 15.0;
/// Of an average letter, in letter sizes; generous, since the fonts are the reader's.
const LETTER: f64 = 0.6;

/// The room that text takes.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER
}

/// What stands below a node's name: the addresses of a host, the subnets around a switch.
pub(super) fn details(network: &Network, node: usize) -> Vec<String> {
    let it = &network.nodes()[node];
    match it.kind {
        Kind::Router => Vec::new(),
        Kind::Host => addresses(it),
        Kind::Switch => {
            let link = it.interfaces.first().and_then(|port| network.links().get(port.link));
            let domain = link.map(|link| &network.domains()[link.domain]);
            let subnets = domain.into_iter().flat_map(|domain| &domain.subnets);
            subnets.map(ToString::to_string).collect()
        }
    }
}

fn addresses(node: &Node) -> Vec<String> {
    let addresses = node.interfaces.iter().flat_map(|interface| &interface.addresses);
    addresses.map(|address| address.address.to_string()).collect()
}

/// The box of a node around a point.
pub(super) fn area(network: &Network, node: usize, centre: Point) -> Area {
    let details = details(network, node);
    let it = &network.nodes()[node];
    // Bold letters are wider, and a router's box has round ends.
    let round = if it.kind == Kind::Router { NAME_SIZE } else { 0.0 };
    let name = text_width(&it.name, NAME_SIZE) * 1.1 + round;
    let widths = details.iter().map(|line| text_width(line, TEXT_SIZE));
    let width = widths.fold(name, f64::max) + 18.0;
    let height = NAME_SIZE + 16.0 + details.len() as f64 * LINE;
    Area { centre, width: width.max(48.0), height }
}
