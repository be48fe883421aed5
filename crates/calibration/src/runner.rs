//! A calibration, done: the network put up, each cell's links set and its programs started, and what they say held to the truth.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::record::{Caveat, Host, Tool};
use pathscope_experiments::runner::{Done, Ground, perform};
use pathscope_lab::harness::{Lab, Plan as LabPlan, UpError};
use pathscope_lab::link::Order;
use pathscope_lab::relay::{RelayAccount, Shortcoming};
use pathscope_lab::standing::SetOrder;
use pathscope_lab::topology::{Network, Topology};
use pathscope_modes::document::{Outcome, OutcomeState};
use pathscope_os::{clock, sockets};

use crate::cell::{Cell, Later};
use crate::document::{CalibrationDocument, CellResult};
use crate::evidence::{Evidence, Way};
use crate::grid::{self, Extent};
use crate::judge;
use crate::place::{NEAR, NETWORK};
use crate::samples::Samples;

/// An order is not carried out at its very instant.
const AFTER_ORDERS_NS: u64 = 50_000_000;
/// So often a cell is done once more.
const FURTHER_TRIES: usize = 1;
/// How a link is between cells, but for its delay.
const RESET: &str = "rate=none jitter=0ms queue=1000p loss=none dup=0% corrupt=0% reorder=none";
/// How often it is looked whether links are empty, and for how long.
const EMPTY: (Duration, u32) = (Duration::from_millis(20), 100);

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
    /// A cell has been measured; it is the last of the document's.
    Cell(&'told CalibrationDocument),
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
    let (cells, left_out) = chosen(request);
    let lab = Lab::up(&request.lab)?;
    let mut document = CalibrationDocument {
        tool: Tool { ..request.host.tool.clone() },
        command: request.command.clone(),
        started_at: request.started_at.clone(),
        host: request.host.clone(),
        extent: request.extent,
        seed: lab.standing().seed,
        planned_cells: cells.len() as u64,
        // What a kill leaves says so.
        outcome: Outcome::cut_off_after(None),
        ..CalibrationDocument::default()
    };
    if !request.only.is_empty() {
        let text = "only some of the cells were measured";
        document.caveats.push(Caveat::new("cells_chosen", text));
    }
    document.caveats.extend(left_out);
    tell(Told::Began(&document));
    let ground =
        Ground { lab: &lab, binary: request.lab.binary, stop: request.stop, at_begin: &|| Ok(()) };
    let (mut stopped, mut unruled) = (None, BTreeSet::new());
    for cell in &cells {
        stopped = (request.stop)();
        if stopped.is_some() {
            break;
        }
        let (result, halted) = measure(request, &ground, cell, began, &mut unruled);
        stopped = halted;
        if stopped.is_some() {
            break;
        }
        document.cells.push(result);
        document.duration_ns = clock::now().nanos_since(began);
        document.outcome = Outcome::cut_off_after(Some(&cell.name));
        document.rows = judge::rows(&document.cells);
        document.without_row = judge::without_row(&document.rows, &unruled);
        tell(Told::Cell(&document));
    }
    document.outcome = match stopped {
        None => Outcome::default(),
        Some(reason) => Outcome::ended(OutcomeState::Interrupted, reason),
    };
    document.duration_ns = clock::now().nanos_since(began);
    if stopped.is_none() && request.only.is_empty() {
        document.unseen = judge::unseen(&document.cells);
    }
    Ok(document)
}

/// The names of all cells that a run would have.
pub fn names(extent: Extent) -> Vec<String> {
    grid::cells(extent).into_iter().map(|cell| cell.name).collect()
}

/// The cells to be measured, and what is told of those that this machine cannot do.
fn chosen(request: &Request<'_>) -> (Vec<Cell>, Option<Caveat>) {
    let cells = grid::cells(request.extent);
    let is_name = |word: &String| cells.iter().any(|cell| &cell.name == word);
    let is_chosen = |cell: &&Cell| {
        let fits = |word: &String| {
            if is_name(word) { &cell.name == word } else { cell.name.starts_with(word) }
        };
        request.only.is_empty() || request.only.iter().any(fits)
    };
    let chosen: Vec<Cell> = cells.iter().filter(is_chosen).cloned().collect();
    // A user without rights has no kernel load what it lacks.
    let there = sockets::congestion_controls();
    let is_there = |cell: &Cell| match (cell.congestion(), &there) {
        (Some(wanted), Some(there)) => there.split_whitespace().any(|name| name == wanted),
        _ => true,
    };
    let (chosen, without): (Vec<Cell>, Vec<Cell>) = chosen.into_iter().partition(is_there);
    let caveat = without.first().map(|first| {
        let text = format!(
            "{} cells were left out, since this kernel has a congestion control of theirs not at hand; first: {}",
            without.len(),
            first.name
        );
        Caveat::new("cells_left_out", text)
    });
    (chosen, caveat)
}

/// One cell; once more where the lab itself spoilt it, or where links that lose kept it from being measured: of a control connection
/// that they are told to lose, all tries may be lost.
fn measure(
    request: &Request<'_>,
    ground: &Ground<'_>,
    cell: &Cell,
    began: Tick,
    unruled: &mut BTreeSet<String>,
) -> (CellResult, Option<&'static str>) {
    let mut earlier = Vec::new();
    loop {
        let start_ns = clock::now().nanos_since(began);
        let (mut result, stopped) = once(request, ground, cell, unruled);
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
    unruled: &mut BTreeSet<String>,
) -> (CellResult, Option<&'static str>) {
    let samples = request.folder.join("samples.csv");
    // What another cell left is none of this one's.
    let _ = fs::remove_file(&samples);
    let step = cell.step(&samples.to_string_lossy());
    let mut result = CellResult {
        name: cell.name.clone(),
        settings: cell.settings.clone(),
        links: cell.conditions.iter().flat_map(|it| [it.up, it.down]).map(str::to_owned).collect(),
        later: cell.later.iter().map(Later::to_string).collect(),
        ..CellResult::default()
    };
    let before = match set_links(ground.lab, cell) {
        Ok(account) => account,
        Err(why) => {
            result.fault = Some(format!("the links cannot be set: {why}"));
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
    result.fault.clone_from(&attempt.failure);
    let faults = attempt
        .runs
        .iter()
        .filter_map(|run| Some(format!("{}: {}", run.name, run.fault.as_ref()?)));
    let code = ran.and_then(|run| run.exit_code).filter(|code| *code != 0);
    let last = ran.and_then(|run| run.complaint.as_ref()?.lines().next_back());
    let ended = code.map(|code| {
        format!("pathscope ended with code {code}: {}", last.unwrap_or("it said nothing"))
    });
    result.fault = result.fault.or_else(|| faults.into_iter().next()).or(ended);
    let document = ran.and_then(|run| run.document.as_ref());
    let measurement = document.and_then(|document| document.measurements.first());
    let measurement = measurement.and_then(|it| serde_json::to_value(it).ok());
    let account = match settled(ground.lab) {
        Ok(account) => account.since(&before),
        Err(why) => {
            result.measurement = measurement;
            result.fault.get_or_insert(format!("what the links did is not known: {why}"));
            return (result, stopped);
        }
    };
    let names = cell.place.links(cell.family);
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
        port: request.port,
    };
    if cell.has_samples && is_whole && evidence.samples.is_none() {
        result.fault.get_or_insert("its single samples cannot be read".to_owned());
    }
    if cell.ping_bytes.is_some() && evidence.ping_ns.is_none() {
        result.fault.get_or_insert("the kernel's ping told nothing".to_owned());
    }
    if !evidence.is_told_apart() {
        result.fault.get_or_insert("the ledger's datagrams cannot be told apart".to_owned());
    }
    result.observations = judge::cell(&evidence);
    unruled.extend(judge::unruled(&measurement));
    if result.fault.is_some() || judge::is_any_outside(&result.observations) {
        // To be looked into.
        result.measurement = Some(measurement);
    }
    (result, stopped)
}

/// Sets the links of a cell, and says what they have done so far.
fn set_links(lab: &Lab, cell: &Cell) -> Result<RelayAccount, String> {
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
    settled(lab)
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

/// The account once nothing is on its way.
///
/// The relay answers before it takes what waits at its ports, so what waited at the first answer is in the second.
fn settled(lab: &Lab) -> Result<RelayAccount, String> {
    let account = || lab.account().map_err(|error| error.to_string());
    let (pause, most) = EMPTY;
    let mut last = account()?;
    for _ in 0..most {
        let now = account()?;
        let directions = now.links.iter().flat_map(|link| [&link.forward, &link.backward]);
        let is_empty = directions.into_iter().all(|it| it.truth.total.in_flight().frames == 0);
        if is_empty && now.links == last.links {
            return Ok(now);
        }
        last = now;
        // Nobody wakes it; the relay has nothing that could be waited for.
        thread::park_timeout(pause);
    }
    Err("frames are on their way for ever".to_owned())
}
