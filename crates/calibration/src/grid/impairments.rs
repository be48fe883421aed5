//! Links that lose, double, reorder, damage, overflow and change in mid-run in known ways: for each mode, for probes beside an overload, and for
//! other programs, each way.

use pathscope_core::quantity::Period;

use super::shape::{PER_SECOND, Run, Shape, cell, setting};
use super::{Extent, others};
use crate::cell::{Asked, Cell, Conditions, Later, SAMPLES};
use crate::evidence::Way;
use crate::grid::multipath::{LINKS, PATHS};
use crate::place::Family;

/// What a link does.
struct Kind {
    name: &'static str,
    /// From the begin on, in the words of `lab set`.
    words: &'static str,
    /// The same on a line that one stream can fill.
    line: &'static str,
    /// In mid-run: after so many milliseconds.
    later: &'static [(u64, &'static str)],
    /// The modes that meet it in a quick run: those that tell most of it.
    quick: &'static [&'static str],
}

/// One with these words from the begin on, what becomes of it in mid-run, and the modes of a quick run.
macro_rules! kind {
    ($name:literal, $words:literal, $later:expr, $quick:expr) => {
        Kind {
            name: $name,
            words: $words,
            line: concat!("rate=20Mbit queue=100p ", $words),
            later: $later,
            quick: $quick,
        }
    };
}

const KINDS: [Kind; 11] = [
    // Of the few datagrams of a quick run hardly any is lost.
    kind!("0.1 % lost", "loss=0.1%", &[], &[]),
    kind!("1 % lost", "loss=1%", &[], &["datagrams", "media"]),
    kind!("10 % lost", "loss=10%", &[], &["latency", "multipath", "goodput"]),
    kind!("lost in bursts", "loss=burst:1%,30%", &[], &["datagrams", "media", "multipath"]),
    kind!("5 % overtaken", "reorder=5%x3", &[], &["latency", "datagrams", "media", "multipath"]),
    kind!("1 % doubled", "dup=1%", &[], &["latency", "datagrams", "media", "multipath"]),
    // A thousand datagrams of 200 bytes a second are twice what it carries.
    Kind {
        line: "rate=1Mbit queue=20p",
        ..kind!(
            "queue full",
            "rate=1Mbit queue=20p",
            &[],
            &["latency", "datagrams", "media", "goodput"]
        )
    },
    kind!(
        "cut for 200 ms",
        "",
        &[(400, "cut"), (600, "restore")],
        &["latency", "media", "multipath", "goodput"]
    ),
    kind!("delay steps to 8 ms", "", &[(500, "delay=8ms")], &["latency", "media"]),
    // Only in the midst, where nothing is said over the control connection.
    kind!(
        "2 % damaged",
        "",
        &[(300, "corrupt=2%"), (800, "corrupt=0%")],
        &["latency", "datagrams", "media", "multipath"]
    ),
    kind!(
        "rate steps to 1 Mbit/s",
        "",
        &[(500, "rate=1Mbit queue=20p")],
        &["datagrams", "goodput"]
    ),
];

/// What damages: a stream ends with the first damage.
const DAMAGED: &str = "2 % damaged";
/// What takes more than it can carry.
const FULL: &str = "queue full";

/// What a full queue is in front of.
const NARROW: (f64, u64) = (1e6, 20);
/// What streams fill otherwise.
pub(super) const LINE_BPS: f64 = 20e6;

/// Payload of each datagram, flows, addresses and whether both ends send: these follow one another from cell to cell.
const SHAPES: [Shape; 5] = [
    (200, 1, Family::Four, false),
    (1_200, 8, Family::Six, true),
    (200, 50, Family::Six, false),
    (1_200, 1, Family::Four, false),
    (200, 8, Family::Four, true),
];

/// Cells for each mode and impairment: there and back; in a quick run one of these, and some of the modes.
pub(super) fn cells(extent: Extent) -> Vec<Cell> {
    KINDS.iter().enumerate().flat_map(|(number, kind)| of_kind(kind, number, extent)).collect()
}

fn of_kind(kind: &Kind, number: usize, extent: Extent) -> Vec<Cell> {
    let is_quick = extent == Extent::Quick;
    let is_met = |mode: &str| !is_quick || kind.quick.contains(&mode);
    // What happens in mid-run needs a run that has a middle.
    let least = if kind.later.is_empty() { 0 } else { 1_000 };
    let millis = extent.millis().max(least);
    let mut cells = Vec::new();
    for (turn, (way, name)) in [(Way::Up, "up"), (Way::Down, "down")].into_iter().enumerate() {
        // A datagram is overtaken by those of its flow, so that has to have enough of them.
        let is_one = kind.name.contains("overtaken");
        let shape = SHAPES[if is_one { 0 } else { (2 * number + turn) % SHAPES.len() }];
        let run = Run { millis, shape };
        let conditions = conditions(kind.words, way);
        let modes = [
            ("latency", Some(latency(conditions, run))),
            ("datagrams", Some(datagrams(way, conditions, run))),
            ("media", Some(media(way, conditions, run))),
            ("goodput", (kind.name != DAMAGED).then(|| goodput(way, kind, number))),
        ];
        for (place, (mode, cell)) in modes.into_iter().enumerate() {
            let is_its_turn = !is_quick || (number + place) % 2 == turn;
            let cell = cell.filter(|_| is_met(mode) && is_its_turn);
            cells.extend(cell.map(|cell| cell.called(mode, kind.name, name).with(kind, 0, way)));
        }
    }
    if kind.name == FULL {
        let cell = beside_probes(conditions(kind.words, Way::Up), extent);
        let cell = cell.called("datagrams beside probes", kind.name, "up");
        cells.push(cell.with(kind, 0, Way::Up));
    }
    if !is_quick && kind.later.is_empty() {
        let [up, down] = [Way::Up, Way::Down].map(|way| conditions(kind.words, way));
        let named = |cell: Cell| Cell { name: format!("{}, {}", cell.name, kind.name), ..cell };
        cells.extend(others::cells(up, down).into_iter().map(named));
    }
    if is_met("multipath") {
        // On the first path there, and on the second back.
        let [first, second] = [(0, Way::Up), (1, Way::Down)].map(|(link, way)| Conditions {
            delay_ns: LINKS[link].delay_ns,
            ..conditions(kind.words, way)
        });
        let run = Run { millis, shape: SHAPES[0] };
        let cell = multipath([first, second], run).called("multipath", kind.name, "either way");
        cells.push(cell.with(kind, 0, Way::Up).with(kind, 1, Way::Down));
    }
    cells
}

/// A link that does this one way. One that is narrow is so both ways, so that its rate is one.
fn conditions(impairment: &'static str, way: Way) -> Conditions {
    let plain = Conditions::plain();
    if impairment.starts_with("rate=1Mbit") {
        let (rate, packets) = NARROW;
        let (rate_bps, queue_packets) = (Some(rate), Some(packets));
        return Conditions { up: impairment, down: impairment, rate_bps, queue_packets, ..plain };
    }
    match way {
        Way::Up => Conditions { up: impairment, ..plain },
        Way::Down => Conditions { down: impairment, ..plain },
    }
}

impl Cell {
    pub(super) fn called(mut self, mode: &str, kind: &str, way: &str) -> Self {
        self.name = format!("{mode}, {kind}, {way}");
        self.settings.extend([setting("impairment", kind), setting("way", way)]);
        self
    }

    /// With what becomes of one of its links in mid-run.
    fn with(mut self, kind: &Kind, link: usize, way: Way) -> Self {
        let later = |&(millis, words): &(u64, &'static str)| Later {
            after: Period::from_millis(millis),
            link,
            way,
            words,
        };
        self.later.extend(kind.later.iter().map(later));
        self
    }
}

pub(super) fn latency(conditions: Conditions, run: Run) -> Cell {
    let (bytes, flows, family, _) = run.shape;
    let each = run.of(PER_SECOND) / flows;
    let text = format!(
        "latency {{to}} --protocol udp --rate {}/s -n {each} -c {flows} --size {bytes} --samples {SAMPLES}",
        PER_SECOND / flows
    );
    let asked = Asked { flows, number: Some(each * flows), bytes: Some(bytes), ..Asked::default() };
    cell(&text, asked, vec![conditions], (family, run))
}

pub(super) fn datagrams(way: Way, conditions: Conditions, run: Run) -> Cell {
    let (bytes, flows, family, is_both) = run.shape;
    let each = run.of(PER_SECOND) / flows;
    let (pattern, ways) = match (is_both, way) {
        (true, _) => ("duplex", 2),
        (false, Way::Up) => ("push", 1),
        (false, Way::Down) => ("pull", 1),
    };
    let rate = PER_SECOND * bytes * 8;
    let text = format!(
        "goodput {{to}} --protocol udp --pattern {pattern} --total-rate {rate}bit --datagram {bytes} -n {} -c {flows} --no-probe",
        each * bytes * ways
    );
    let asked = Asked {
        flows,
        number: Some(each * flows),
        bytes: Some(bytes),
        rate_bps: Some(rate as f64),
        ..Asked::default()
    };
    let mut cell = cell(&text, asked, vec![conditions], (family, run));
    cell.settings.push(setting("pattern", pattern));
    cell
}

/// More than the line carries, and probes that meet its queue.
fn beside_probes(conditions: Conditions, extent: Extent) -> Cell {
    const BYTES: u64 = 200;
    // Of a quarter of these something comes back, and a median needs 20.
    const PROBES: &str = "200/s";
    let millis = extent.millis().max(1_000);
    let rate = PER_SECOND * BYTES * 8;
    let number = PER_SECOND * millis / 1_000;
    let text = format!(
        "goodput {{to}} --protocol udp --pattern push --total-rate {rate}bit --datagram {BYTES} -n {} --probe-rate {PROBES}",
        number * BYTES
    );
    let asked = Asked {
        flows: 1,
        number: Some(number),
        bytes: Some(BYTES),
        rate_bps: Some(rate as f64),
        ..Asked::default()
    };
    let run = Run { millis, shape: SHAPES[0] };
    let mut cell = cell(&text, asked, vec![conditions], (Family::Four, run));
    cell.settings.extend([setting("pattern", "push"), setting("probes", PROBES)]);
    cell
}

/// Streams over a line that does this one way, theirs.
fn goodput(way: Way, kind: &Kind, number: usize) -> Cell {
    let conditions = Conditions {
        rate_bps: Some(if kind.name == FULL { NARROW.0 } else { LINE_BPS }),
        ..conditions(kind.line.trim_end(), way)
    };
    streams(way, conditions, number)
}

/// Streams over a line of these conditions; how many and how controlled follows from a number.
pub(super) fn streams(way: Way, conditions: Conditions, number: usize) -> Cell {
    const CONTROLS: [&str; 3] = ["cubic", "reno", "bbr"];
    const MILLIS: u64 = 1_000;
    let control = CONTROLS[number % CONTROLS.len()];
    let flows = if number.is_multiple_of(2) { 1 } else { 8 };
    let family = if number % 4 < 2 { Family::Four } else { Family::Six };
    let pattern = if way == Way::Up { "push" } else { "pull" };
    let text = format!(
        "goodput {{to}} --pattern {pattern} -c {flows} --congestion {control} -t {MILLIS}ms --no-probe"
    );
    let asked = Asked { flows, ..Asked::default() };
    let run = Run { millis: MILLIS, shape: SHAPES[0] };
    let mut cell = cell(&text, asked, vec![conditions], (family, run));
    cell.settings.extend([setting("pattern", pattern), setting("congestion", control)]);
    cell
}

pub(super) fn media(way: Way, conditions: Conditions, run: Run) -> Cell {
    let (bytes, _, family, is_both) = run.shape;
    let direction = match (is_both, way) {
        (true, _) => "both",
        (false, Way::Up) => "up",
        (false, Way::Down) => "down",
    };
    let text = format!(
        "media {{to}} --direction {direction} --rate {}bit --frame-rate 200 --datagram {bytes} -t {}ms{}",
        PER_SECOND * bytes * 8,
        run.millis,
        if direction == "up" { "" } else { " --jitter-file {samples}" }
    );
    let asked =
        Asked { flows: 1, number: Some(run.of(200)), bytes: Some(bytes), ..Asked::default() };
    let mut cell = cell(&text, asked, vec![conditions], (family, run));
    cell.settings.push(setting("datagrams a frame", "5"));
    cell
}

fn multipath(conditions: [Conditions; 2], run: Run) -> Cell {
    const BYTES: u64 = 200;
    let [primary, secondary] = PATHS;
    let text = format!(
        "multipath {{to}} --path {primary} --path {secondary} --rate {}bit --datagram {BYTES} -t {}ms --samples {SAMPLES}",
        PER_SECOND * BYTES * 8,
        run.millis
    );
    let asked = Asked { flows: 2, bytes: Some(BYTES), ..Asked::default() };
    cell(&text, asked, conditions.to_vec(), (Family::Four, run))
}
