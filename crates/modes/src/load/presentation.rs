//! What loads say alike to views, whatever carries them: what receivers took in an interval and in all, how evenly flows
//! shared the path, and flows one by one.

use pathscope_core::id::FlowId;
use pathscope_core::presentation::{Chart, Figure, Source, Table, Value};
use pathscope_core::quantity::{bytes, counted, duration_ns};
use pathscope_core::record::FlowError;

use super::{NoFairness, Verify};
use crate::figure::{Group, Part, PlainCell, Point, plain_table};
use crate::results::{Results, Slices};

/// Flows that are shown one by one.
const FLOWS_SHOWN: usize = 16;

/// What the receiver of a direction took in an interval.
#[derive(Debug)]
pub(crate) struct Received<'a, I> {
    /// Which direction.
    pub way: &'static str,
    /// The receiver.
    end: &'static str,
    /// What it took a second, in bits.
    rate_bps: Option<f64>,
    /// All that it says of the interval.
    pub own: Option<&'a I>,
}

/// What receivers took in an interval, up and then down, where data goes that way.
pub(crate) fn received<M: Results>(
    (is_up, is_down): (bool, bool),
    interval: Slices<'_, M>,
    received_bytes: fn(&M::Interval) -> u64,
) -> impl DoubleEndedIterator<Item = Received<'_, M::Interval>> {
    let ways =
        [("up", "server", is_up, interval.server), ("down", "client", is_down, interval.client)];
    let ways = ways.into_iter().filter(|&(_, _, is_there, _)| is_there);
    ways.map(move |(way, end, _, slice)| Received {
        way,
        end,
        rate_bps: slice.as_ref().and_then(|slice| slice.rate_bps(received_bytes)),
        own: slice.and_then(|slice| slice.own),
    })
}

impl<I> Received<'_, I> {
    /// The rate in a live row, as the figure of this name.
    pub fn cell(&self, group: &Group, name: &str) -> Figure {
        group.of(self.way, name, self.rate_bps).labelled(self.way)
    }

    /// The rate as a point over time.
    pub fn point(&self, group: &Group, name: &str) -> Point {
        let place = format!("{}.{}.received_bytes", self.end, group.name);
        let source = group.series(&Part::Side(self.way), name, &place, Chart::Area);
        let label = format!("goodput {}", self.way);
        Point { source: Source { label, ..source }, value: self.rate_bps }
    }
}

/// What a receiver took in all, and in how long a window that makes a rate, where there is one; of one that has not reported, what was
/// sent to it, if that is known.
pub(crate) fn taken(
    (sent, received): (Option<u64>, Option<u64>),
    verify: Verify,
    window_ns: Option<u64>,
) -> String {
    let Some(received) = received.map(bytes) else {
        let sent = sent.map(|sent| format!("; {} sent", bytes(sent))).unwrap_or_default();
        return format!("the receiver's report is missing{sent}");
    };
    let compared = match verify {
        Verify::Full => "verified".to_owned(),
        part => format!("received{}", part.words()),
    };
    match window_ns {
        None => format!("{received} {compared}; too few receives for a rate"),
        Some(window) => format!("{received} {compared}; window {}", duration_ns(window)),
    }
}

impl Verify {
    /// What a list of settings says of it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Full => "",
            Self::Sampled => ", one byte in 16 verified",
            Self::Off => ", not verified",
        }
    }
}

/// How evenly flows shared the path, with these words; or else why that is not known, where it should be.
pub(crate) fn fairness(
    group: &Group,
    way: &'static str,
    (index, no_index): (Option<f64>, Option<NoFairness>),
    words: String,
) -> Option<Figure> {
    let note = if index.is_some() { words } else { no_index?.text() };
    Some(group.of(way, "fairness", index).with_note(note))
}

/// What the socket of a receiver dropped.
pub(crate) fn dropped(drops: u64) -> String {
    match drops {
        0 => "none by the receiver's socket".to_owned(),
        _ => format!("the receiver's socket dropped {}", counted(drops, "buffer")),
    }
}

/// A flow as the client saw it, and as the server did where that has said.
pub(crate) type BothEnds<'a, F> = (&'a F, Option<&'a F>);

/// The first flows, one by one; nothing where there is one alone and it has not failed.
pub(crate) fn flows<'a, F>(
    title: &str,
    columns: &[PlainCell<BothEnds<'a, F>>],
    (client, server): (&'a [F], Option<&'a [F]>),
    flow: fn(&F) -> FlowId,
    failed: u64,
) -> Option<Table> {
    let is_told = client.len() > 1 || client.len() == 1 && failed > 0;
    let there = |here| server?.iter().find(|there| flow(there) == flow(here));
    let shown = client.iter().take(FLOWS_SHOWN).map(|here| (here, there(here)));
    is_told.then(|| plain_table(title, columns, shown))
}

/// What ended a flow, as the first who knows it says.
pub(crate) fn error(here: Option<&FlowError>, there: Option<&FlowError>) -> Value {
    Value::Text(here.or(there).map_or_else(String::new, |error| error.text.clone()))
}
