//! A network as a picture: one SVG file that needs nothing else, in the colours of the reader's theme.

use std::fmt::Write as _;

use super::labels::{self, Curve, Label, Note, curves, labels};
use super::layout::places;
use super::shape::{Area, LINE, NAME_SIZE, Point, TEXT_SIZE, area, details, text_width};
use crate::topology::{Kind, Network, Passage};

const MARGIN: f64 = 24.0;
const TITLE: f64 = 30.0;
const TITLE_SIZE: f64 = 18.0;

const STYLE: &str = "\
  svg { --page: #ffffff; --ink: #1b1f24; --quiet: #59636e; --wire: #9aa4af; --relayed: #0969da;
    --found: #1a7f37; --wrong: #cf222e; --host: #f6f8fa; --router: #ddf4ff; --switch: #fff8c5; --edge: #59636e; background: var(--page);
    font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --ink: #e6edf3; --quiet: #a5afba; --wire: #6b7683; --relayed: #58a6ff;
      --found: #3fb950; --wrong: #ff7b72; --host: #1a2028; --router: #12304f; --switch: #3a3110; --edge: #8b949e }
  }
  .page { fill: var(--page) }
  .wire, .relayed { fill: none; stroke: var(--wire); stroke-width: 1.5 }
  .relayed { stroke: var(--relayed); stroke-width: 3 }
  .host, .router, .switch { fill: var(--host); stroke: var(--edge) }
  .router { fill: var(--router) }
  .switch { fill: var(--switch) }
  text { fill: var(--ink); text-anchor: middle; font-size: 11px }
  .title { font-size: 18px; font-weight: 600; text-anchor: start }
  .name { font-size: 14px; font-weight: 600 }
  .detail { fill: var(--quiet) }
  .found { fill: var(--found) }
  .wrong { fill: var(--wrong); font-weight: 600 }
  .label { paint-order: stroke; stroke: var(--page); stroke-width: 4; stroke-linejoin: round }
";

/// The picture. Switches have corners, hosts round corners, routers round ends; links with conditions are
/// thick and say them, wires are thin.
pub fn svg(network: &Network) -> String {
    svg_with(network, &[])
}

/// The picture with what was found out about its links.
pub fn svg_with(network: &Network, notes: &[Note]) -> String {
    let places = places(network, notes);
    let boxes: Vec<Area> =
        places.iter().enumerate().map(|(node, place)| area(network, node, *place)).collect();
    let curves = curves(network, &places);
    let labels = labels(network, notes, &boxes, &curves);
    let (corner, width, height) = page(network, &boxes, &labels, &curves);
    let mut svg = String::new();
    let name = escaped(network.name());
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n<title>{name}</title>\n\
         <style>\n{STYLE}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"{:.0}\">{name}</text>\n",
        MARGIN + TITLE_SIZE * 0.75
    );
    let moved = |point: Point| point.minus(corner);
    for (curve, link) in curves.iter().zip(network.links()) {
        let class = if link.passage == Passage::Plain { "wire" } else { "relayed" };
        line(&mut svg, class, [curve.from, curve.bend, curve.to].map(moved));
    }
    for (node, area) in boxes.iter().enumerate() {
        draw_node(&mut svg, network, node, Area { centre: moved(area.centre), ..*area });
    }
    for label in &labels {
        let top = moved(label.area.centre).y - label.area.height / 2.0;
        for (index, line) in label.lines.iter().enumerate() {
            let y = top + (index as f64 + 0.75) * LINE;
            let class = match line.kind {
                labels::Kind::Known => "label",
                labels::Kind::Subnet => "label detail",
                labels::Kind::Found => "label found",
                labels::Kind::Wrong => "label wrong",
            };
            write_text(&mut svg, class, moved(label.area.centre).x, y, &line.text);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The upper left corner of the page, its width and its height.
fn page(
    network: &Network,
    boxes: &[Area],
    labels: &[Label],
    curves: &[Curve],
) -> (Point, f64, f64) {
    let all = boxes.iter().copied().chain(labels.iter().map(|label| label.area));
    let bends = curves.iter().map(|curve| Area { centre: curve.bend, width: 0.0, height: 0.0 });
    let all: Vec<Area> = all.chain(bends).collect();
    let least = |of: fn(&Area) -> f64| all.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Area) -> f64| all.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    let left = least(|area| area.centre.x - area.width / 2.0);
    let top = least(|area| area.centre.y - area.height / 2.0);
    let width = most(|area| area.centre.x + area.width / 2.0) - left;
    let height = most(|area| area.centre.y + area.height / 2.0) - top;
    let width = width.max(text_width(network.name(), TITLE_SIZE));
    let corner = Point { x: left - MARGIN, y: top - MARGIN - TITLE };
    (corner, (width + 2.0 * MARGIN).ceil(), (height + 2.0 * MARGIN + TITLE).ceil())
}

fn line(svg: &mut String, class: &str, [from, bend, to]: [Point; 3]) {
    let _ = writeln!(
        svg,
        "<path class=\"{class}\" d=\"M{:.0} {:.0}Q{:.0} {:.0} {:.0} {:.0}\"/>",
        from.x, from.y, bend.x, bend.y, to.x, to.y
    );
}

fn draw_node(svg: &mut String, network: &Network, node: usize, area: Area) {
    let it = &network.nodes()[node];
    let (kind, radius) = match it.kind {
        Kind::Host => ("host", 8.0),
        Kind::Router => ("router", area.height / 2.0),
        Kind::Switch => ("switch", 0.0),
    };
    let left = area.centre.x - area.width / 2.0;
    let top = area.centre.y - area.height / 2.0;
    let _ = writeln!(
        svg,
        "<rect class=\"{kind}\" x=\"{left:.0}\" y=\"{top:.0}\" width=\"{:.0}\" height=\"{:.0}\" \
         rx=\"{radius:.0}\"/>",
        area.width, area.height
    );
    let first = top + 8.0 + NAME_SIZE * 0.85;
    write_text(svg, "name", area.centre.x, first, &it.name);
    for (index, text) in details(network, node).iter().enumerate() {
        let y = first + (index as f64 + 1.0) * LINE;
        write_text(svg, "detail", area.centre.x, y, text);
    }
}

fn write_text(svg: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let text = escaped(text);
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x:.0}\" y=\"{y:.0}\">{text}</text>");
}

/// Text that stands between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const _: () = assert!(TEXT_SIZE == 11.0 && NAME_SIZE == 14.0 && TITLE_SIZE == 18.0, "as in STYLE");
