//! A calibration, done: the network put up, each cell's links set and its programs started, and what they say held to the truth.
//!
//! In one file: one run from its first cell to its last.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::error::Failure;
use pathscope_core::record::{Caveat, Host, Tool};
use pathscope_experiments::document::{Attempt, RunResult};
use pathscope_experiments::runner::{Done, Ground, perform};
use pathscope_lab::harness::{Lab, Plan as LabPlan, UpError};
use pathscope_lab::link::Order;
use pathscope_lab::relay::{Counters, RelayAccount, Shortcoming};
use pathscope_lab::running::SetOrder;
use pathscope_lab::topology::{Network, Topology};
use pathscope_modes::document::{Document, Outcome, OutcomeState};
use pathscope_os::clock;
use serde_json::Value;

use crate::cell::{Cell, Later};
use crate::document::{CalibrationDocument, CellResult};
use crate::evidence::{Evidence, Way};
use crate::findings::CalibrationCaveat;
use crate::grid::{self, Extent};
use crate::judge;
use crate::others;
use crate::place::{NEAR, NETWORK};
use crate::preparation::prepare;
use crate::relay::shaped::ShapedError;
use crate::relay::watch::{Missing, Watch};
use crate::relay::{Witnesses, shaped, watch};
use crate::rule::Against;
use crate::samples::Samples;

/// An order is not carried out at its very instant.
const AFTER_ORDERS_NS: u64 = 50_000_000;
/// So often a cell is done once more.
const FURTHER_TRIES: usize = 1;
/// How a link is between cells, but for its delay.
const RESET: &str = "rate=none jitter=0ms queue=1000p loss=none dup=0% corrupt=0% reorder=none";
/// How often it is looked whether links are empty, and for how long.
const EMPTY: (Duration, u32) = (Duration::from_millis(5), 400);
/// How often what has been measured is judged as a whole and kept: what a kill costs at the most.
const KEEP_EVERY_NS: u64 = 5_000_000_000;

/// Who does it, and as what it is told.
pub struct Request<'request> {
    /// How much.
    pub extent: Extent,
    /// Cells whose names begin so; all where there is none.
    pub only: &'request [String],
    /// How the lab is put up.
    pub lab: LabPlan<'request>,
    /// Where samples of single pings are kept meanwhile.
    pub folder: &'request Path,
    /// The port of servers.
    pub port: u16,
    /// This end, as results describe it.
    pub host: Host,
    /// The command line.
    pub command: Vec<String>,
    /// When it began, RFC 3339, UTC.
    pub started_at: String,
    /// Whether somebody wants it to end, and why.
    pub stop: &'request dyn Fn() -> Option<&'static str>,
    /// A shortcoming of the lab as a sentence.
    pub sentence: fn(&Shortcoming) -> String,
}

/// What is told while it is done.
pub enum Told<'told> {
    /// The lab is up; the document says what will be done.
    Began(&'told CalibrationDocument),
    /// A cell has been measured; it is the last of the document's, whose rows are not yet those of all cells.
    Cell(&'told CalibrationDocument),
    /// The document is as whole as it can be, and to be kept.
    Kept(&'told CalibrationDocument),
}

/// The network that it is done on.
pub fn network() -> Result<Network, String> {
    Topology::read("calibration", NETWORK).network().map_err(|faults| faults.to_string())
}

/// Does all cells. The lab is down when this returns.
pub fn run(
    request: &Request<'_>,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<CalibrationDocument, UpError> {
    let began = clock::now();
    let lab = Lab::up(&request.lab)?;
    let (cells, left_out) = prepare(&lab, chosen(request));
    let mut document = CalibrationDocument {
        tool: Tool { ..request.host.tool.clone() },
        command: request.command.clone(),
        started_at: request.started_at.clone(),
        host: request.host.clone(),
        extent: request.extent,
        seed: lab.running().seed,
        planned_cells: cells.len() as u64,
        // What a kill leaves says so.
        outcome: Outcome::cut_off_after(None),
        ..CalibrationDocument::default()
    };
    if !request.only.is_empty() {
        let text = "only some of the cells were measured";
        document.caveats.push(Caveat::new(CalibrationCaveat::CellsChosen, text));
    }
    document.caveats.extend(left_out);
    tell(Told::Began(&document));
    let ground =
        Ground { lab: &lab, binary: request.lab.binary, stop: request.stop, at_begin: &|| Ok(()) };
    let (mut stopped, mut gathered) = (None, Gathered::default());
    let mut keep_at = began;
    for cell in &cells {
        stopped = (request.stop)();
        if stopped.is_some() {
            break;
        }
        let (result, halted) = measure(request, &ground, cell, began, &mut gathered);
        stopped = halted;
        if stopped.is_some() {
            break;
        }
        document.cells.push(result);
        document.duration_ns = clock::now().nanos_since(began);
        document.outcome = Outcome::cut_off_after(Some(&cell.name));
        tell(Told::Cell(&document));
        if clock::now() >= keep_at {
            judge::conclude(&mut document, &gathered.unruled);
            tell(Told::Kept(&document));
            keep_at = clock::now().plus_nanos(KEEP_EVERY_NS);
        }
    }
    judge::conclude(&mut document, &gathered.unruled);
    document.outcome = match stopped {
        None => Outcome::default(),
        Some(reason) => Outcome::ended(OutcomeState::Interrupted, reason),
    };
    document.duration_ns = clock::now().nanos_since(began);
    if stopped.is_none() && request.only.is_empty() {
        document.unseen =
            judge::unseen(&document.cells, request.extent, &gathered.missing.sources());
    }
    document.caveats.extend(gathered.missing.caveats());
    Ok(document)
}

/// What comes together beside results.
#[derive(Default)]
struct Gathered {
    /// Numbers that no rule is about.
    unruled: BTreeSet<String>,
    /// Sources that there were none of, and why.
    missing: Missing,
    /// What the links had done when they were looked at last: between two cells nothing passes them, mostly.
    account: Option<RelayAccount>,
}

/// The names of all cells that a run would have.
pub fn names(extent: Extent) -> Vec<String> {
    grid::cells(extent).into_iter().map(|cell| cell.name).collect()
}

/// The cells that are asked for.
fn chosen(request: &Request<'_>) -> Vec<Cell> {
    let cells = grid::cells(request.extent);
    let is_name = |word: &String| cells.iter().any(|cell| &cell.name == word);
    let is_chosen = |cell: &&Cell| {
        let fits = |word: &String| {
            if is_name(word) { &cell.name == word } else { cell.name.starts_with(word) }
        };
        request.only.is_empty() || request.only.iter().any(fits)
    };
    cells.iter().filter(is_chosen).cloned().collect()
}

/// One cell; once more where the lab itself spoilt it, or where links that lose kept it from being measured: of a control connection
/// that they are told to lose, all tries may be lost.
fn measure(
    request: &Request<'_>,
    ground: &Ground<'_>,
    cell: &Cell,
    began: Tick,
    gathered: &mut Gathered,
) -> (CellResult, Option<&'static str>) {
    let mut earlier = Vec::new();
    loop {
        let start_ns = clock::now().nanos_since(began);
        let (mut result, stopped) = once(request, ground, cell, gathered);
        result.attempts = earlier.len() as u32 + 1;
        result.start_ns = start_ns;
        result.duration_ns = clock::now().nanos_since(began) - start_ns;
        let fault = result.fault.as_ref().filter(|_| cell.is_impaired());
        let spoilt = result.shortcomings.first().or(fault).cloned();
        match spoilt {
            Some(why) if stopped.is_none() && earlier.len() < FURTHER_TRIES => earlier.push(why),
            _ => return (CellResult { earlier, ..result }, stopped),
        }
    }
}

fn once(
    request: &Request<'_>,
    ground: &Ground<'_>,
    cell: &Cell,
    gathered: &mut Gathered,
) -> (CellResult, Option<&'static str>) {
    let samples = request.folder.join("samples.csv");
    // What another cell left is none of this one's.
    let _ = fs::remove_file(&samples);
    let step = cell.step(&samples.to_string_lossy());
    let port = cell.program().port().unwrap_or(request.port);
    let mut result = CellResult {
        name: cell.name.clone(),
        settings: cell.settings.clone(),
        links: cell.conditions.iter().flat_map(|it| [it.up, it.down]).map(str::to_owned).collect(),
        later: cell.later.iter().map(Later::to_string).collect(),
        ..CellResult::default()
    };
    let by_kernel = by_kernel(request, ground, cell, &mut gathered.missing);
    let by_kernel = by_kernel.unwrap_or_else(|why| {
        result.fault = Some(format!("where the kernel shapes its link: {why}"));
        None
    });
    let (before, counted) = match set_links(ground.lab, cell, &mut gathered.account) {
        Ok(account) => account,
        Err(why) => {
            result.fault = Some(format!("the links cannot be set: {why}"));
            return (result, None);
        }
    };
    let watch = Watch::begin(ground.lab, cell, request.folder, port, &mut gathered.missing);
    let watch = match watch {
        Ok(watch) => watch,
        Err(why) => {
            result.fault = Some(why);
            return (result, None);
        }
    };
    let let_go = std::cell::Cell::new(None);
    let at_begin = || {
        let_go.set(Some(clock::now()));
        set_later(ground.lab, cell)
    };
    let ground = &Ground { at_begin: &at_begin, ..*ground };
    let Done { attempt, said, stopped } = perform(ground, &step);
    // Of a run that ended early the lab still has orders, which are none of the next cell's.
    let last = cell.later.iter().map(|it| it.after.0).max();
    if let Some((let_go, last)) = let_go.get().zip(last) {
        wait_until(let_go.plus_nanos(last + AFTER_ORDERS_NS));
    }
    let ran = attempt.runs.last();
    result.command = ran.map(|run| run.command.clone()).unwrap_or_default();
    result.fault = result.fault.or_else(|| fault_of(cell, &attempt));
    let document = ran.and_then(|run| run.document.as_ref());
    let measurement = match document {
        Some(document) => measured(document),
        None => said.last().and_then(|said| others::measurement(cell.program(), said)),
    };
    let (account, counters) = match settled(ground.lab, &mut gathered.account) {
        Ok((account, counters)) => (account.since(&before), counters),
        Err(why) => {
            result.measurement = measurement;
            result.fault.get_or_insert(format!("what the links did is not known: {why}"));
            return (result, stopped);
        }
    };
    let names = cell.place.links(cell.family);
    let passed = |name: &&str| Some(counters.link(name)?.since(counted.link(name)?));
    let seen = watch.end(ground.lab, cell, port, &mut gathered.missing);
    let seen = seen.unwrap_or_else(|why| {
        result.fault.get_or_insert(why);
        Witnesses::default()
    });
    let counters = names.iter().filter_map(passed).collect();
    let witnesses = Witnesses { counters, shaped: by_kernel, ..seen };
    let links: Vec<_> = names.iter().filter_map(|name| account.link(name).cloned()).collect();
    let of_links = RelayAccount { links: links.clone(), ..account };
    result.shortcomings = of_links.shortcomings().iter().map(request.sentence).collect();
    let Some(measurement) = measurement else {
        result.fault.get_or_insert("it measured nothing".to_owned());
        return (result, stopped);
    };
    let ping = said.first().filter(|_| step.runs.len() > 1);
    let ping = |id: &str| ping.and_then(|said| said.number(id));
    let text = cell.has_samples.then(|| fs::read_to_string(&samples).ok()).flatten();
    let has_caveat = |name| document.is_some_and(|it| it.caveats.iter().any(|it| it.name == name));
    // Rows that are missing make another sum.
    let is_whole = !has_caveat("samples_dropped");
    let evidence = Evidence {
        cell,
        measurement: &measurement,
        links,
        ping_ns: ping("ping.rtt.min").zip(ping("ping.rtt.mean")),
        samples: text.filter(|_| is_whole).and_then(|text| Samples::read(&text)),
        port,
        witnesses,
    };
    let lacks = lacks(&evidence, is_whole);
    result.fault = result.fault.or_else(|| lacks.map(str::to_owned));
    result.observations = judge::cell(&evidence);
    gathered.unruled.extend(judge::unruled(&measurement));
    if result.fault.is_some() || judge::is_any_outside(&result.observations) {
        // To be looked into.
        result.measurement = Some(measurement);
    }
    (result, stopped)
}

/// What is missing of what a cell should show. `is_whole`: whether each sample of it was written down.
fn lacks(evidence: &Evidence<'_>, is_whole: bool) -> Option<&'static str> {
    let cell = evidence.cell;
    let faults = [
        (
            cell.has_samples && is_whole && evidence.samples.is_none(),
            "its single samples cannot be read",
        ),
        (cell.ping_bytes.is_some() && evidence.ping_ns.is_none(), "the kernel's ping told nothing"),
        (
            !cell.is_of_another() && !evidence.is_told_apart(),
            "the ledger's datagrams cannot be told apart",
        ),
    ];
    faults.into_iter().find_map(|(is_so, fault)| is_so.then_some(fault))
}

/// Why what was measured does not count.
fn fault_of(cell: &Cell, attempt: &Attempt) -> Option<String> {
    let named = |run: &RunResult| Some(format!("{}: {}", run.name, run.fault.as_ref()?));
    let ran = attempt.runs.last()?;
    let is_failed_check =
        |code: i32| cell.is_damaged() && code == i32::from(Failure::Check.exit_code());
    let code = ran.exit_code.filter(|&code| code != 0 && !is_failed_check(code));
    let ended = code.map(|code| {
        let last = ran.complaint.as_ref().and_then(|text| text.lines().next_back());
        format!("{} ended with code {code}: {}", ran.name, last.unwrap_or("it said nothing"))
    });
    attempt.failure.clone().or_else(|| attempt.runs.iter().find_map(named)).or(ended)
}

/// What a document says: its one measurement, or a search with all its trials, whose measurements are counted there.
fn measured(document: &Document) -> Option<Value> {
    if let Some(search) = &document.rate_search {
        let search = serde_json::to_value(search).ok()?;
        return Some(serde_json::json!({ "rate_search": search }));
    }
    serde_json::to_value(document.measurements.first()?).ok()
}

/// What the programs of a cell measure where the kernel shapes the link, for cells that this is done of.
fn by_kernel(
    request: &Request<'_>,
    ground: &Ground<'_>,
    cell: &Cell,
    missing: &mut Missing,
) -> Result<Option<Value>, String> {
    if !watch::is_shaped_too(cell) || missing.sources().contains(&Against::Shaper) {
        return Ok(None);
    }
    let samples = request.folder.join("samples.csv");
    let measured = shaped::measure(&request.lab, ground, &cell.step(&samples.to_string_lossy()));
    match measured {
        Ok(measured) => Ok(Some(measured)),
        Err(ShapedError::Failed(why)) => Err(why),
        Err(ShapedError::NoShaper(why)) => {
            missing.note(Against::Shaper, why);
            Ok(None)
        }
    }
}

/// Sets the links of a cell, and says what they and their interfaces have done so far.
fn set_links(
    lab: &Lab,
    cell: &Cell,
    known: &mut Option<RelayAccount>,
) -> Result<(RelayAccount, Counters), String> {
    let mut orders = Vec::new();
    for (link, conditions) in cell.conditions.iter().enumerate() {
        let delay = format!("delay={}ms", conditions.delay_ns as f64 / 1e6);
        for (way, words) in [(Way::Up, conditions.up), (Way::Down, conditions.down)] {
            // What is cut is carried again before anything else is said of it.
            for words in ["restore", RESET, &*delay, words].into_iter().filter(|it| !it.is_empty())
            {
                orders.push(order(cell, link, way, words, 0)?);
            }
        }
    }
    if !orders.is_empty() {
        lab.set(orders).map_err(|error| error.to_string())?;
    }
    settled(lab, known)
}

fn wait_until(end: Tick) {
    loop {
        let left = end.nanos_since(clock::now());
        if left == 0 {
            return;
        }
        // Nobody wakes it.
        thread::park_timeout(Duration::from_nanos(left));
    }
}

/// Tells the lab what becomes of the links in mid-run.
fn set_later(lab: &Lab, cell: &Cell) -> Result<(), String> {
    let of = |it: &Later| order(cell, it.link, it.way, it.words, it.after.0);
    let orders: Vec<SetOrder> = cell.later.iter().map(of).collect::<Result<_, _>>()?;
    if orders.is_empty() {
        return Ok(());
    }
    lab.set(orders).map_err(|error| error.to_string())
}

fn order(
    cell: &Cell,
    link: usize,
    way: Way,
    words: &str,
    after_ns: u64,
) -> Result<SetOrder, String> {
    let links = cell.place.links(cell.family);
    let link = *links.get(link).ok_or_else(|| format!("there is no link {link}"))?;
    let from = match way {
        Way::Up => NEAR,
        Way::Down => link.split(':').next_back().unwrap_or(link),
    };
    let order = Order::from_words(words.split(' ')).map_err(|error| error.to_string())?;
    Ok(SetOrder { link: link.to_owned(), from: Some(from.to_owned()), order, after_ns })
}

/// The account once nothing is on its way, and what interfaces have counted by then: the same frames.
///
/// A whole account of many flows takes its time, so it is asked for once the links are empty, and only where anything has passed
/// since the one that is known.
fn settled(
    lab: &Lab,
    known: &mut Option<RelayAccount>,
) -> Result<(RelayAccount, Counters), String> {
    let (pause, most) = EMPTY;
    for _ in 0..most {
        let counters = lab.counters().map_err(|error| error.to_string())?;
        let is_known = known.as_ref().is_some_and(|known| counters.is_of(known));
        if counters.is_steady && !is_known {
            *known = Some(lab.account().map_err(|error| error.to_string())?);
        }
        if let Some(known) =
            known.as_ref().filter(|known| counters.is_steady && counters.is_of(known))
        {
            return Ok((known.clone(), counters));
        }
        // Nobody wakes it; the relay has nothing that could be waited for.
        thread::park_timeout(pause);
    }
    Err("frames are on their way for ever".to_owned())
}
