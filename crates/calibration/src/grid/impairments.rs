//! Links that lose, double, reorder, overflow and change in mid-run in known ways, for each mode over UDP and each way.

use pathscope_core::quantity::Period;

use super::{Extent, words};
use crate::cell::{Asked, Cell, Conditions, Later, SAMPLES, Setting};
use crate::evidence::Way;
use crate::grid::multipath::{LINKS, PATHS};
use crate::place::{Family, Place};

/// What a link does.
struct Kind {
    name: &'static str,
    /// From the begin on, in the words of `lab set`.
    words: &'static str,
    /// In mid-run: after so many milliseconds.
    later: &'static [(u64, &'static str)],
}

const KINDS: [Kind; 10] = [
    Kind::new("0.1 % lost", "loss=0.1%"),
    Kind::new("1 % lost", "loss=1%"),
    Kind::new("10 % lost", "loss=10%"),
    Kind::new("lost in bursts", "loss=burst:1%,30%"),
    Kind::new("5 % overtaken", "reorder=5%x3"),
    Kind::new("1 % doubled", "dup=1%"),
    // A thousand datagrams of 200 bytes a second are twice what it carries.
    Kind::new("queue full", "rate=1Mbit queue=20p"),
    Kind { name: "cut for 200 ms", words: "", later: &[(400, "cut"), (600, "restore")] },
    Kind { name: "delay steps to 8 ms", words: "", later: &[(500, "delay=8ms")] },
    Kind { name: "rate steps to 1 Mbit/s", words: "", later: &[(500, "rate=1Mbit queue=20p")] },
];

impl Kind {
    const fn new(name: &'static str, words: &'static str) -> Self {
        Self { name, words, later: &[] }
    }
}

/// What a full queue is in front of.
const NARROW: (f64, u64) = (1e6, 20);

/// Datagrams a second, of all flows together.
const PER_SECOND: u64 = 1_000;
/// Payload of each datagram, flows, addresses and whether both ends send: these follow one another from cell to cell.
const SHAPES: [Shape; 5] = [
    (200, 1, Family::Four, false),
    (1_200, 8, Family::Six, true),
    (200, 50, Family::Six, false),
    (1_200, 1, Family::Four, false),
    (200, 8, Family::Four, true),
];

/// Cells for each mode and impairment: there and back, and in a quick run one of these.
pub(super) fn cells(extent: Extent) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (number, kind) in KINDS.iter().enumerate() {
        // What happens in mid-run needs a run that has a middle.
        let least = if kind.later.is_empty() { 0 } else { 1_000 };
        let millis = extent.millis().max(least);
        // A datagram is overtaken by those of its flow, so that has to have enough of them.
        let is_one = kind.name.contains("overtaken");
        let shape = |turn: usize| if is_one { SHAPES[0] } else { SHAPES[turn % SHAPES.len()] };
        for (turn, (way, name)) in [(Way::Up, "up"), (Way::Down, "down")].into_iter().enumerate() {
            let run = Run { millis, shape: shape(2 * number + turn) };
            let conditions = conditions(kind.words, way);
            let modes = [
                ("latency", latency(conditions, run)),
                ("datagrams", datagrams(way, conditions, run)),
                ("media", media(way, conditions, run)),
            ];
            for (place, (mode, cell)) in modes.into_iter().enumerate() {
                if extent != Extent::Quick || (number + place) % 2 == turn {
                    cells.push(cell.called(mode, kind.name, name).with(kind, 0, way));
                }
            }
        }
        // On the first path there, and on the second back.
        let first = Conditions { delay_ns: LINKS[0].delay_ns, ..conditions(kind.words, Way::Up) };
        let second =
            Conditions { delay_ns: LINKS[1].delay_ns, ..conditions(kind.words, Way::Down) };
        let run = Run { millis, shape: SHAPES[0] };
        let cell = multipath([first, second], run).called("multipath", kind.name, "either way");
        cells.push(cell.with(kind, 0, Way::Up).with(kind, 1, Way::Down));
    }
    cells
}

/// How long a cell is measured, and with what.
#[derive(Clone, Copy)]
struct Run {
    millis: u64,
    shape: Shape,
}

impl Run {
    /// Of so many a second, how many there are in that time.
    const fn of(self, per_second: u64) -> u64 {
        per_second * self.millis / 1_000
    }
}

/// Payload of each datagram, flows, addresses and whether both ends send.
type Shape = (u64, u64, Family, bool);

/// A link that does this one way. One that is narrow is so both ways, so that its rate is one.
fn conditions(impairment: &'static str, way: Way) -> Conditions {
    let plain = Conditions::plain();
    if impairment.starts_with("rate=") {
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
    fn called(mut self, mode: &str, kind: &str, way: &str) -> Self {
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

fn setting(axis: &str, value: &str) -> Setting {
    Setting { axis: axis.to_owned(), value: value.to_owned() }
}

fn cell(
    text: &str,
    asked: Asked,
    conditions: Vec<Conditions>,
    (family, run): (Family, Run),
) -> Cell {
    Cell {
        name: String::new(),
        settings: Vec::new(),
        place: if conditions.len() == 1 { Place::Link } else { Place::Both },
        family,
        conditions,
        later: Vec::new(),
        words: words(text),
        duration: Period::from_millis(run.millis),
        ping_bytes: None,
        has_samples: text.contains(SAMPLES),
        asked,
    }
}

fn latency(conditions: Conditions, run: Run) -> Cell {
    let (bytes, flows, family, _) = run.shape;
    let each = run.of(PER_SECOND) / flows;
    let text = format!(
        "latency {{to}} --protocol udp --rate {}/s -n {each} -c {flows} --size {bytes} --samples {SAMPLES}",
        PER_SECOND / flows
    );
    let asked = Asked { flows, number: Some(each * flows), bytes: Some(bytes), ..Asked::default() };
    cell(&text, asked, vec![conditions], (family, run))
}

fn datagrams(way: Way, conditions: Conditions, run: Run) -> Cell {
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

fn media(way: Way, conditions: Conditions, run: Run) -> Cell {
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
