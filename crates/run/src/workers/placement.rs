//! What was left to us: which engine, how to wait, how many threads. Facts come from `os`; choosing is
//! done here, and each choice is told.

use std::sync::atomic::{AtomicUsize, Ordering};

use pathscope_core::Wait;
use pathscope_core::id::Role;
use pathscope_core::record::Substitution;
use pathscope_engines::EngineKind;
use pathscope_flow::Group;
use pathscope_modes::goodput::Pattern;
use pathscope_modes::latency::{LatencyPlan, LoadModel};
use pathscope_modes::media::{Layout, MediaPlan};
use pathscope_modes::registry::Plan;
use pathscope_os::cpus;

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

/// What a server lets the load of one test have of its processors.
#[derive(Debug)]
pub(crate) struct Share {
    /// As many as there are workers at most.
    pub cpus: usize,
    /// Where that is fewer than was asked for, or is usual.
    pub substitution: Option<Substitution>,
    /// Held as long as the workers may run.
    pub places: Option<Places>,
}

/// The share of a group of so many flows at an end that may use so many processors, where so many were named.
pub(crate) fn share_of(
    plan: &Plan,
    flows: u32,
    (role, cpus, named): (Role, usize, usize),
) -> Share {
    let allowed = cpus::allowed().len().max(1);
    // One worker carries all pings and all paths, whichever processor it is kept on.
    if matches!(plan, Plan::Latency(_) | Plan::Multipath(_)) {
        return Share { cpus, substitution: None, places: None };
    }
    let is_named = matches!(plan, Plan::Goodput(_)) && named > 0;
    let asked = if is_named { named } else { cpus };
    let most = if is_named { named.min(allowed) } else { cpus };
    let further = |cpus: usize| cpus.min(flows as usize).max(1) - 1;
    let mut share = Share { cpus: most, substitution: None, places: None };
    let mut why = "this end may use so many processors";
    if role == Role::Server {
        let room = FURTHER_WORKERS_PER_CPU * allowed;
        let places = Places::claim_left(&FURTHER_WORKERS, further(most), room);
        if places.count < further(most) {
            share.cpus = places.count + 1;
            why = "other tests have the rest of the threads that the server has for each processor";
        }
        share.places = Some(places);
    }
    let [asked, granted] = [asked, share.cpus].map(|cpus| further(cpus) + 1);
    if granted < asked {
        share.substitution = Some(Substitution {
            what: "workers".to_owned(),
            asked: asked.to_string(),
            ran: granted.to_string(),
            why: why.to_owned(),
        });
    }
    share
}

/// How the flows of a plan are run by an end that may use so many processors.
pub(crate) fn of(plan: &Plan, flows: u32, cpus: usize) -> Result<Placement, RunError> {
    match plan {
        Plan::Goodput(plan) => {
            // A pause counts from the send before it, which must not have slept.
            let changes = plan.replaces() || plan.pace.burst.is_some();
            let ways = if changes { Ways::Changing } else { Ways::of(plan.pattern) };
            of_load((flows, ways), plan.engine.as_deref(), plan.wait, cpus)
        }
        Plan::Datagrams(plan) => {
            of_load((flows, Ways::of(plan.pattern)), plan.engine.as_deref(), plan.wait, cpus)
        }
        Plan::Latency(plan) => of_pings(plan, cpus),
        Plan::Media(plan) => of_streams(plan, cpus),
        Plan::Multipath(_) => Ok(of_paths()),
    }
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
    if placement.wait == Wait::Hybrid && means.spinning == 0 {
        if asked == Wait::Hybrid {
            return Err(RunError::SpinsEnough);
        }
        if spun > SPUN_SHARE {
            sleep_instead(
                placement,
                "no more threads of this end may spin so much for this session (--allow-spin)",
            );
        }
    }
    if placement.wait != Wait::Spin {
        return Ok(None);
    }
    if placement.workers > means.spinning {
        if asked == Wait::Spin && means.spinning == 0 {
            return Err(RunError::SpinsEnough);
        }
        if means.spinning == 0 {
            sleep_instead(
                placement,
                "no more threads of this end may spin for this session (--allow-spin)",
            );
            return Ok(None);
        }
        let why = "one session may have half of this end's processors spun on";
        placement.substitutions.push(Substitution {
            what: "workers".to_owned(),
            asked: placement.workers.to_string(),
            ran: means.spinning.to_string(),
            why: why.to_owned(),
        });
        placement.workers = means.spinning;
    }
    // A lone processor may be spun on by one: whoever asks for that by name knows why.
    let most = means.cpus.max(placement.workers);
    let claimed = Places::claim(&SPINNING, placement.workers, most);
    if claimed.is_none() && asked == Wait::Spin {
        return Err(RunError::TooManySpin { cpus: means.cpus });
    }
    if claimed.is_none() {
        sleep_instead(placement, "as many threads spin at this end as it has processors");
    }
    Ok(claimed)
}

fn sleep_instead(placement: &mut Placement, why: &str) {
    placement.wait = Wait::Sleep;
    placement.substitutions.retain(|substitution| substitution.what != "wait");
    placement.substitutions.push(substitution("wait", Wait::Sleep.name(), why));
}

/// How a group of flows is run at this end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Placement {
    pub engine: EngineKind,
    pub wait: Wait,
    pub workers: usize,
    pub substitutions: Vec<Substitution>,
}

impl Placement {
    /// How many of its workers spin.
    pub fn spinning(&self) -> usize {
        if self.wait == Wait::Spin { self.workers } else { 0 }
    }
}

/// The workers of one group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupWorkers {
    pub group: Group,
    pub workers: usize,
    /// All their threads: some have more than one.
    pub threads: usize,
}

/// Which ways the flows of a load go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ways {
    /// One, from the first byte to the last.
    One,
    /// Both, one after the other or at once; or with pauses; or others come in their place.
    Changing,
}

impl Ways {
    fn of(pattern: Pattern) -> Self {
        match pattern {
            Pattern::Push | Pattern::Pull => Self::One,
            Pattern::Pushpull | Pattern::Duplex => Self::Changing,
        }
    }
}

/// A load: as many threads as there are processors, each asleep while it cannot move bytes. A thread whose only flow goes
/// one way sleeps in the very call that moves its bytes: half as many calls.
fn of_load(
    (flows, ways): (u32, Ways),
    engine: Option<&str>,
    wait: Wait,
    cpus: usize,
) -> Result<Placement, RunError> {
    let (kind, why) = if ways == Ways::One && flows as usize <= cpus {
        (EngineKind::Plain, "it does the least for a flow that has a thread to itself")
    } else {
        (EngineKind::Epoll, "it carries any number of connections")
    };
    let (engine, mut substitutions) = choose_engine(engine, kind, why)?;
    let wait = match wait {
        Wait::Auto => {
            chosen(&mut substitutions, Wait::Sleep, "a load has work to do whenever it is awake")
        }
        asked => asked,
    };
    Ok(Placement { engine, wait, workers: cpus.min(flows as usize).max(1), substitutions })
}

/// Paths: one thread that sleeps until it is time or something comes, on any of several sockets.
pub(crate) fn of_paths() -> Placement {
    let why = "it waits for several sockets and a schedule at once";
    let mut substitutions = vec![substitution("engine", EngineKind::Epoll.name(), why)];
    let wait = chosen(&mut substitutions, Wait::Sleep, "it takes little of a processor for hours");
    Placement { engine: EngineKind::Epoll, wait, workers: 1, substitutions }
}

/// Flows that one thread looks at one after the other without much delay for each.
const FEW_FLOWS: u32 = 8;

/// Pings: one thread, which spins where it can have a processor to itself and would else add its own
/// wake-ups to what it measures.
pub(crate) fn of_pings(plan: &LatencyPlan, cpus: usize) -> Result<Placement, RunError> {
    let (kind, why) = if plan.connections <= FEW_FLOWS {
        (EngineKind::Plain, "it does the least for each ping")
    } else {
        (EngineKind::Epoll, "it carries any number of connections")
    };
    let (engine, mut substitutions) = choose_engine(plan.engine.as_deref(), kind, why)?;
    let shares = !plan.client_cpus.is_empty() && plan.client_cpus == plan.server_cpus;
    let wait = match (plan.wait, plan.load_model) {
        (Wait::Auto, _) if shares => chosen(
            &mut substitutions,
            Wait::Sleep,
            "both ends are kept on a processor of the same number, which may be one",
        ),
        (Wait::Auto, LoadModel::Closed) if cpus >= 2 => {
            chosen(&mut substitutions, Wait::Spin, "this end may use two processors or more")
        }
        (Wait::Auto, LoadModel::Open { .. }) if cpus >= 2 => chosen(
            &mut substitutions,
            Wait::Hybrid,
            "it keeps a schedule without using up a processor",
        ),
        (Wait::Auto, _) => {
            chosen(&mut substitutions, Wait::Sleep, "this end may use only one processor")
        }
        (asked, _) => asked,
    };
    Ok(Placement { engine, wait, workers: 1, substitutions })
}

/// How long a thread that spins before it sleeps does so for each ping.
const SPUN_FOR_PING_NS: u64 = 50_000;

/// The share of a thread's time that it would spin for, of what comes or is due by a schedule, where it sleeps between.
pub(crate) fn spun_between_sleeps(plan: &Plan) -> f64 {
    match plan {
        Plan::Latency(LatencyPlan {
            load_model: LoadModel::Open { period_ns, .. },
            connections,
            ..
        }) => f64::from(*connections) * SPUN_FOR_PING_NS as f64 / period_ns.0.max(1) as f64,
        // Streams that would spin for more sleep, whoever asks.
        Plan::Latency(_)
        | Plan::Media(_)
        | Plan::Goodput(_)
        | Plan::Datagrams(_)
        | Plan::Multipath(_) => 0.0,
    }
}

/// What a timer costs a thread that is awake a little before it: it spins for so long.
const SPUN_NS: u64 = 170_000;
/// The share of a processor that may be spent on that.
const SPUN_SHARE: f64 = 0.2;

/// Streams of frames: as many threads as there are processors, each awake a little before a frame is due, where
/// frames are few enough for that to cost little.
pub(crate) fn of_streams(plan: &MediaPlan, cpus: usize) -> Result<Placement, RunError> {
    let (engine, mut substitutions) = choose_engine(
        plan.engine.as_deref(),
        EngineKind::Epoll,
        "it carries any number of streams",
    )?;
    let workers = cpus.min(plan.streams as usize).max(1);
    let layout = Layout::of(plan);
    let parts = if layout.is_spread() { layout.datagrams } else { 1 };
    let timers = f64::from(plan.frame_rate) * f64::from(plan.streams) * f64::from(parts);
    let spun = timers / workers as f64 * SPUN_NS as f64 / 1e9;
    let wait = match plan.wait {
        Wait::Auto if spun <= SPUN_SHARE => {
            let why = "it keeps a schedule, and spins for little of the time";
            chosen(&mut substitutions, Wait::Hybrid, why)
        }
        Wait::Auto => {
            let why = "frames are due so often that spinning before each would use up a processor";
            chosen(&mut substitutions, Wait::Sleep, why)
        }
        asked => asked,
    };
    Ok(Placement { engine, wait, workers, substitutions })
}

fn choose_engine(
    asked: Option<&str>,
    default: EngineKind,
    why: &str,
) -> Result<(EngineKind, Vec<Substitution>), RunError> {
    match asked {
        Some(name) => Ok((name.parse().map_err(RunError::UnknownEngine)?, Vec::new())),
        None => Ok((default, vec![substitution("engine", default.name(), why)])),
    }
}

fn chosen(substitutions: &mut Vec<Substitution>, wait: Wait, why: &str) -> Wait {
    substitutions.push(substitution("wait", wait.name(), why));
    wait
}

fn substitution(what: &str, ran: &str, why: &str) -> Substitution {
    Substitution {
        what: what.to_owned(),
        asked: "auto".to_owned(),
        ran: ran.to_owned(),
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Frequency, Period};
    use pathscope_modes::latency::Arrivals;

    use super::*;

    #[test]
    fn what_was_asked_for_is_what_runs() {
        let placement =
            of_load((8, Ways::One), Some("plain"), Wait::Spin, 4).expect("known engine");
        assert_eq!(
            (placement.engine, placement.wait, placement.workers),
            (EngineKind::Plain, Wait::Spin, 4)
        );
        assert!(placement.substitutions.is_empty());
        assert!(of_load((8, Ways::One), Some("warp"), Wait::Auto, 4).is_err());
    }

    #[test]
    fn places_are_taken_as_long_as_there_are_any_and_given_back() {
        static TAKEN: AtomicUsize = AtomicUsize::new(0);
        let first = Places::claim_left(&TAKEN, 3, 4);
        let second = Places::claim_left(&TAKEN, 3, 4);
        let third = Places::claim_left(&TAKEN, 3, 4);
        assert_eq!([first.count, second.count, third.count], [3, 1, 0]);
        assert!(Places::claim(&TAKEN, 1, 4).is_none());
        drop(first);
        assert_eq!(Places::claim(&TAKEN, 3, 4).map(|places| places.count), Some(3));
        assert!(Places::claim(&TAKEN, 4, 4).is_none());
        drop((second, third));
        assert_eq!(TAKEN.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_session_spins_no_more_than_it_may() {
        let spins = |wait, workers| {
            let mut placement = of_load((8, Ways::One), None, wait, workers).expect("known");
            placement.wait = Wait::Spin;
            placement
        };
        let told = |placement: &Placement, what: &str| {
            let told = placement.substitutions.iter().filter(|it| it.what == what);
            told.map(|it| (it.ran.clone(), it.why.clone())).collect::<Vec<_>>()
        };
        // Half of the processors.
        let mut placement = spins(Wait::Spin, 4);
        let means = Means { cpus: 4, spinning: 2 };
        let places = claim_spinning(&mut placement, (Wait::Spin, 0.0), means).expect("it may");
        assert!(places.is_some_and(|places| places.count == 2));
        assert_eq!((placement.workers, placement.spinning()), (2, 2));
        assert_eq!(told(&placement, "workers")[0].0, "2");
        // What was left to a server that lets nobody spin.
        let mut placement = spins(Wait::Auto, 1);
        let means = Means { cpus: 4, spinning: 0 };
        let places = claim_spinning(&mut placement, (Wait::Auto, 0.0), means).expect("it sleeps");
        assert!(places.is_none() && placement.wait == Wait::Sleep);
        let told = told(&placement, "wait");
        assert!(told.len() == 1 && told[0].1.contains("--allow-spin"), "{told:?}");
        // What was asked for by name, by a session that has its share already.
        let error = claim_spinning(&mut spins(Wait::Spin, 1), (Wait::Spin, 0.0), means);
        assert!(matches!(error, Err(RunError::SpinsEnough)));
    }

    #[test]
    fn who_may_not_spin_spins_little_between_sleeps() {
        let pings = |a_second: u64| LatencyPlan {
            load_model: LoadModel::Open {
                period_ns: Period(1_000_000_000 / a_second),
                arrivals: Arrivals::Fixed,
            },
            connections: 2,
            ..LatencyPlan::probe(Frequency(100))
        };
        let waits = |a_second, wait, spinning| {
            let plan = Plan::Latency(LatencyPlan { wait, ..pings(a_second) });
            let mut placement = of(&plan, 2, 4).expect("defaults exist");
            let asked = (wait, spun_between_sleeps(&plan));
            claim_spinning(&mut placement, asked, Means { cpus: 4, spinning })
                .map(|_| placement.wait)
        };
        // Of two flows: 4,000 pings a second for 50 µs each are a fifth of the time.
        assert_eq!(waits(2_000, Wait::Auto, 0).ok(), Some(Wait::Hybrid));
        assert_eq!(waits(2_001, Wait::Auto, 0).ok(), Some(Wait::Sleep));
        assert_eq!(waits(2_001, Wait::Auto, 1).ok(), Some(Wait::Hybrid));
        assert_eq!(waits(100, Wait::Hybrid, 1).ok(), Some(Wait::Hybrid));
        assert!(matches!(waits(100, Wait::Hybrid, 0), Err(RunError::SpinsEnough)));
    }

    #[test]
    fn what_was_left_open_is_told() {
        let placement = of_load((5, Ways::One), None, Wait::Auto, 4).expect("defaults exist");
        assert_eq!(
            (placement.engine, placement.wait, placement.workers),
            (EngineKind::Epoll, Wait::Sleep, 4)
        );
        assert_eq!(placement.substitutions.len(), 2);
    }

    #[test]
    fn a_flow_that_goes_one_way_and_has_a_thread_to_itself_sleeps_in_its_calls() {
        let engine = |flows, ways| of_load((flows, ways), None, Wait::Auto, 2).map(|it| it.engine);
        let of = |flows, pattern| engine(flows, Ways::of(pattern)).expect("defaults exist");
        assert_eq!(of(1, Pattern::Push), EngineKind::Plain);
        assert_eq!(of(2, Pattern::Pull), EngineKind::Plain);
        assert_eq!(of(3, Pattern::Pull), EngineKind::Epoll);
        assert_eq!(of(1, Pattern::Duplex), EngineKind::Epoll);
        assert_eq!(of(1, Pattern::Pushpull), EngineKind::Epoll);
    }

    #[test]
    fn a_lone_processor_is_not_spun_on() {
        let plan = LatencyPlan {
            load_model: LoadModel::Closed,
            wait: Wait::Auto,
            ..LatencyPlan::probe(Frequency(100))
        };
        assert_eq!(of_pings(&plan, 1).expect("defaults exist").wait, Wait::Sleep);
        assert_eq!(of_pings(&plan, 2).expect("defaults exist").wait, Wait::Spin);
        let plan = LatencyPlan { client_cpus: vec![1], server_cpus: vec![1], ..plan };
        assert_eq!(of_pings(&plan, 2).expect("defaults exist").wait, Wait::Sleep);
    }
}
