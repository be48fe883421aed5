//! What was left to us: which engine, how to wait, how many threads. Facts come from `os`; choosing is
//! done here, and each choice is told.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicUsize, Ordering};

use pathscope_core::Wait;
use pathscope_core::id::Role;
use pathscope_core::record::Substitution;
use pathscope_engines::{EngineKind, registry};
use pathscope_flow::Transport;
use pathscope_modes::mode::{Asks, Mode};
use pathscope_modes::placement::{self, Placement as Suits, SPUN_SHARE, Workers};
use pathscope_os::{cpus, limits};

use crate::error::RunError;

/// Threads of this process that spin, or are about to. More of them than processors would measure each
/// other, and a stranger could use a server up.
static SPINNING: AtomicUsize = AtomicUsize::new(0);

/// Workers beyond the first of each group, of all tests that this process serves. Strangers could fill it with threads
/// otherwise, that all run.
static FURTHER_WORKERS: AtomicUsize = AtomicUsize::new(0);

/// So many further workers there are at most for each processor: several tests at once have as many as there are
/// processors each, and any number of them does not have any number of threads.
pub(crate) const FURTHER_WORKERS_PER_CPU: usize = 4;

/// Light tests whose flows have a thread to themselves, of all that this process serves.
static ALONE: AtomicUsize = AtomicUsize::new(0);

/// So many of them there are at most for each processor: with few clients nobody's flows wait for those of others, and with thousands
/// threads do not wait for each other.
const ALONE_PER_CPU: usize = 4;

/// What is held for a group as long as its workers may run.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// What it has of the places of this process: for further workers, for threads that spin, and for a thread to itself.
    _places: [Option<Places>; 3],
}

/// Some of the places that this process has for its threads, given back when dropped.
#[derive(Debug)]
pub(crate) struct Places {
    taken: &'static AtomicUsize,
    count: usize,
}

impl Places {
    /// So many, or none where more than so many were taken then in all.
    fn claim(taken: &'static AtomicUsize, count: usize, most: usize) -> Option<Self> {
        let claim = |taken: usize| Some(taken + count).filter(|&sum| sum <= most);
        let claimed = taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, claim);
        claimed.ok().map(|_| Self { taken, count })
    }

    /// So many, or those that are left.
    fn claim_left(taken: &'static AtomicUsize, count: usize, most: usize) -> Self {
        let granted = |taken: usize| count.min(most.saturating_sub(taken));
        let claim = |taken: usize| Some(taken + granted(taken));
        let before = taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, claim);
        Self { taken, count: before.map_or(0, granted) }
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.count, Ordering::SeqCst);
    }
}

/// The processors of a group of so many flows at an end that may use so many, where so many were named: as many as there are
/// workers at most. With the places that hold them as long as the workers may run, and what is told where they are fewer than
/// was asked for, or is usual.
fn share_of(
    wanted: Workers,
    flows: u32,
    (role, cpus, named): (Role, usize, usize),
) -> (usize, Option<Places>, Option<Substitution>) {
    let allowed = cpus::allowed().len().max(1);
    let (asked, most) = match wanted {
        Workers::One => return (1, None, None),
        Workers::EachNamedProcessor if named > 0 => (named, named.min(allowed)),
        Workers::EachNamedProcessor | Workers::EachProcessor => (cpus, cpus),
    };
    let workers = |cpus: usize| cpus.min(flows as usize).max(1);
    let (further, room) = (workers(most) - 1, FURTHER_WORKERS_PER_CPU * allowed);
    let is_server = role == Role::Server;
    let places = is_server.then(|| Places::claim_left(&FURTHER_WORKERS, further, room));
    let (cpus, why) = match places.as_ref().filter(|places| places.count < further) {
        None => (most, "this end may use so many processors"),
        Some(few) => (
            few.count + 1,
            "other tests have the rest of the threads that the server has for each processor",
        ),
    };
    let [asked, granted] = [asked, cpus].map(workers);
    let fewer = || substitution("workers", &asked.to_string(), &granted.to_string(), why);
    (cpus, places, (granted < asked).then(fewer))
}

/// How the flows of a plan are run by an end of such means, and the places that they take of what this process has for
/// its threads.
pub(crate) fn of(
    plan: &dyn Mode,
    flows: u32,
    (role, means): (Role, Means),
) -> Result<(Placement, Held), RunError> {
    let asks = plan.asks();
    let alone = if role == Role::Server && may_share(plan) {
        let most = ALONE_PER_CPU * cpus::allowed().len().max(1);
        let alone = Places::claim(&ALONE, 1, most);
        if alone.is_none() {
            return Ok((beside_others(asks), Held::default()));
        }
        alone
    } else {
        None
    };
    let workers = plan.placement(means.cpus).workers;
    let named = asks.cpus_of(role).len();
    let (cpus, places, fewer) = share_of(workers, flows, (role, means.cpus, named));
    // What suits may be another with the processors that it gets.
    let suits = plan.placement(if workers == Workers::One { means.cpus } else { cpus });
    let mut placement = settled(&suits, asks, cpus.min(flows as usize).max(1))?;
    placement.substitutions.extend(fewer);
    let spinning = claim_spinning(&mut placement, (asks.wait, suits.spun_share), means)?;
    Ok((placement, Held { _places: [places, spinning, alone] }))
}

/// Whether a thread may run flows of this plan beside those of other tests: they are light, and nothing was asked for that
/// only a thread of their own can have.
fn may_share(plan: &dyn Mode) -> bool {
    let Asks { engine, wait, cpus, .. } = plan.asks();
    plan.is_light()
        && engine.is_none_or(|name| name == registry::SHARED.name())
        && matches!(wait, Wait::Auto | Wait::Sleep)
        && cpus.iter().all(|cpus| cpus.is_empty())
}

/// How flows run on a thread that has those of other tests, too.
fn beside_others(asks: Asks<'_>) -> Placement {
    let why = "the server has more tests than threads, and one of them runs the flows of several light tests";
    let left_to_us = [
        ("engine", registry::SHARED.name(), asks.engine.is_none()),
        ("wait", Wait::Sleep.name(), asks.wait == Wait::Auto),
    ];
    let chosen = left_to_us.into_iter().filter(|&(_, _, is_left)| is_left);
    let mut substitutions: Vec<_> =
        chosen.map(|(what, ran, _)| substitution(what, "auto", ran, why)).collect();
    substitutions.push(substitution("workers", "1", "shared", why));
    Placement {
        engine: registry::SHARED,
        wait: Wait::Sleep,
        workers: 1,
        is_shared: true,
        has_tables: false,
        substitutions,
    }
}

/// What was asked for, and what suits where nothing was.
fn settled(suits: &Suits, asks: Asks<'_>, workers: usize) -> Result<Placement, RunError> {
    let mut substitutions = Vec::new();
    let engine = match (asks.engine, suits.engine) {
        (Some(name), _) => {
            let engine: EngineKind = name.parse().map_err(RunError::Unsupported)?;
            engine.available().map_err(RunError::Unsupported)?;
            engine
        }
        (None, (kind, why)) => {
            let engine = match kind {
                placement::EngineKind::Direct => registry::DIRECT,
                placement::EngineKind::Polling => registry::POLLING,
            };
            substitutions.push(substitution("engine", "auto", engine.name(), why));
            engine
        }
    };
    let wait = match (asks.wait, suits.wait) {
        (Wait::Auto, (wait, why)) => {
            substitutions.push(substitution("wait", "auto", wait.name(), why));
            wait
        }
        (asked, _) => asked,
    };
    Ok(Placement { engine, wait, workers, is_shared: false, has_tables: false, substitutions })
}

/// What an end has for the workers of a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    /// Processors.
    pub cpus: usize,
    /// So many of its workers may spin; 0: none, since its operator does not allow it.
    pub spinning: usize,
}

/// Takes the right to spin for a placement that does. What was left to us sleeps where too many spin
/// already; what was asked for by name is refused. One that would spin between sleeps for `spun` of its time does
/// so where that is little, or it may spin.
pub(crate) fn claim_spinning(
    placement: &mut Placement,
    (asked, spun): (Wait, f64),
    means: Means,
) -> Result<Option<Places>, RunError> {
    let withheld = match placement.wait {
        Wait::Hybrid => {
            Some("no more threads of this end may spin so much for this session (--allow-spin)")
        }
        Wait::Spin => Some("no more threads of this end may spin for this session (--allow-spin)"),
        _ => None,
    };
    if let Some(why) = withheld.filter(|_| means.spinning == 0) {
        if asked == placement.wait {
            let text = "as many threads spin for this session as may for one: half of the server's processors, or none \
                        without --allow-spin; ask for --wait sleep";
            return Err(RunError::Unsupported(text.to_owned()));
        }
        if placement.wait == Wait::Spin || spun > SPUN_SHARE {
            sleep_instead(placement, why);
        }
    }
    if placement.wait != Wait::Spin {
        return Ok(None);
    }
    if placement.workers > means.spinning {
        let why = "one session may have half of this end's processors spun on";
        let [asked, ran] = [placement.workers, means.spinning].map(|count| count.to_string());
        placement.substitutions.push(substitution("workers", &asked, &ran, why));
        placement.workers = means.spinning;
    }
    // A lone processor may be spun on by one: whoever asks for that by name knows why.
    let most = means.cpus.max(placement.workers);
    let claimed = Places::claim(&SPINNING, placement.workers, most);
    if claimed.is_none() && asked == Wait::Spin {
        return Err(RunError::Unsupported(format!(
            "{} threads spin here already, and it has no more processors; ask for --wait sleep, or try again later",
            means.cpus
        )));
    }
    if claimed.is_none() {
        sleep_instead(placement, "as many threads spin at this end as it has processors");
    }
    Ok(claimed)
}

fn sleep_instead(placement: &mut Placement, why: &str) {
    placement.wait = Wait::Sleep;
    placement.substitutions.retain(|substitution| substitution.what != "wait");
    placement.substitutions.push(substitution("wait", "auto", Wait::Sleep.name(), why));
}

/// How a group of flows is run at this end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Placement {
    pub engine: EngineKind,
    pub wait: Wait,
    pub workers: usize,
    /// Whether its one worker is a part of a thread that other tests have parts of, too.
    pub is_shared: bool,
    /// Whether each has a table of descriptors to itself, which holds the sockets of its flows.
    pub has_tables: bool,
    pub substitutions: Vec<Substitution>,
}

/// Files that are kept for everything but tests and connections that have not said yet what they are for.
pub(crate) const FILES_KEPT: u64 = 1_024;

/// Of all files, the tenths that tests may take.
const TENTHS_OF_TESTS: u64 = 7;

/// What the tests of a server that may open so many files may take. Of few, half.
pub(crate) fn files_of_tests(files: u64) -> u64 {
    (files - FILES_KEPT.min(files / 2)).min(files / 10 * TENTHS_OF_TESTS)
}

/// Of what one table of descriptors holds, as many are for other things.
const TABLE_KEPT: u64 = 64;

/// And one in so many is for a connection in the making, before it is handed to who holds it. The other end's table may be as small, and has
/// few places for those that have not said yet what they are for.
const MADE_AT_ONCE_SHARE: u64 = 32;

/// How many connections are in the making at once where they are held in tables of workers' own.
pub(crate) fn made_at_once() -> u64 {
    limits::open_files().map_or(u64::MAX, |files| files / MADE_AT_ONCE_SHARE).max(1)
}

impl Placement {
    /// Where there are more connections than this process may have open: each worker gets a table of descriptors to itself, and there are as
    /// many of them as hold all. Where somebody has asked for an engine that needs several threads, nothing is changed.
    pub fn spread_over_tables(&mut self, plan: &dyn Mode, flows: u32, role: Role) {
        let files = limits::open_files().unwrap_or(u64::MAX);
        let own = match role {
            Role::Client => files.saturating_sub(TABLE_KEPT),
            Role::Server => files_of_tests(files),
        };
        let most = files.saturating_sub(TABLE_KEPT).max(1);
        let is_possible = !self.is_shared && !self.is_in_halves(plan) && files > 2 * TABLE_KEPT;
        if u64::from(flows) <= own || !is_possible {
            return;
        }
        self.has_tables = true;
        let (asked, at_once) = (u64::from(plan.connect_limit()), made_at_once());
        let is_connected = plan.flows().transport == Transport::Stream;
        if is_connected && role == Role::Client && at_once < asked {
            let why =
                "they are made in the table of descriptors that all threads share (ulimit -n)";
            let [asked, ran] = [asked, at_once].map(|count| count.to_string());
            self.substitutions.push(substitution("connect-limit", &asked, &ran, why));
        }
        let needed = u64::from(flows).div_ceil(most) as usize;
        if needed > self.workers {
            let why = "each has a table of descriptors to itself, which holds so many connections (ulimit -n)";
            let [asked, ran] = [self.workers, needed].map(|count| count.to_string());
            self.substitutions.push(substitution("workers", &asked, &ran, why));
            self.workers = needed;
            if matches!(self.wait, Wait::Spin | Wait::Hybrid) {
                let why = "there are as many workers as tables of descriptors, and more than processors to spin on";
                self.substitutions.retain(|substitution| substitution.what != "wait");
                self.substitutions.push(substitution("wait", self.wait.name(), "sleep", why));
                self.wait = Wait::Sleep;
            }
        }
    }

    /// Of connections that follow one another, to a server that takes their first bytes with their opening: where the engine has each
    /// answered first, that is told.
    pub fn tell_of_early_data(&mut self) {
        if !self.engine.speaks_prefaces() {
            let why = "by this engine no connection sends before its opening is answered";
            self.substitutions.push(substitution("early data", "auto", "off", why));
        }
    }

    /// How many of its workers spin.
    pub fn spinning(&self) -> usize {
        if self.wait == Wait::Spin { self.workers } else { 0 }
    }

    /// Whether a worker hands the halves of its flows to threads of their own: blocking calls both ways need one for each.
    pub fn is_in_halves(&self, plan: &dyn Mode) -> bool {
        self.engine.runs_halves() && self.wait == Wait::Sleep && plan.has_halves()
    }

    /// How many threads all its workers are, that are theirs alone.
    pub fn threads(&self, plan: &dyn Mode) -> usize {
        if self.is_shared {
            return 0;
        }
        self.workers * if self.is_in_halves(plan) { 3 } else { 1 }
    }
}

fn substitution(what: &str, asked: &str, ran: &str, why: &str) -> Substitution {
    let [what, asked, ran, why] = [what, asked, ran, why].map(str::to_owned);
    Substitution { what, asked, ran, why }
}
