//! Tests of `placement`.

use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_modes::goodput::{GoodputPlan, Pace, Shape};
use pathscope_modes::latency::{self, Arrivals, LatencyPlan, LoadModel};
use pathscope_modes::load::{Extent, Pattern, Verify};
use pathscope_modes::sockets::SocketPlan;

use super::*;

fn load(connections: u32, pattern: Pattern) -> GoodputPlan {
    GoodputPlan {
        pattern,
        connections,
        extent: Extent::DurationNs(Period::from_secs(1)),
        buffer_bytes: Bytes(1 << 10),
        push_bytes: Bytes(1),
        pull_bytes: Bytes(1),
        rate_bps: None,
        warm_up_ns: Period(0),
        verify: Verify::Full,
        congestion_control: None,
        engine: None,
        wait: Wait::Auto,
        shape: Shape::default(),
        sockets: SocketPlan::default(),
        pace: Pace::default(),
        client_cpus: Vec::new(),
        server_cpus: Vec::new(),
    }
}

/// What suits the plan, and what it asks for, at an end that may use so many processors.
fn placed(plan: &dyn Mode, cpus: usize) -> Result<Placement, RunError> {
    let suits = plan.placement(cpus);
    let most = if suits.workers == Workers::One { 1 } else { cpus };
    settled(&suits, plan.asks(), most.min(plan.flows().flows as usize))
}

#[test]
fn what_was_asked_for_is_what_runs() {
    let engine = Some("plain".to_owned());
    let plan = GoodputPlan { engine, wait: Wait::Spin, ..load(8, Pattern::Push) };
    let placement = placed(&plan, 4).expect("known engine");
    assert_eq!(
        (placement.engine, placement.wait, placement.workers),
        (EngineKind::Plain, Wait::Spin, 4)
    );
    assert!(placement.substitutions.is_empty());
    let plan = GoodputPlan { engine: Some("warp".to_owned()), ..load(8, Pattern::Push) };
    assert!(placed(&plan, 4).is_err());
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
        let plan = GoodputPlan { wait, ..load(8, Pattern::Push) };
        let mut placement = placed(&plan, workers).expect("known");
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
    let refused = claim_spinning(&mut spins(Wait::Spin, 1), (Wait::Spin, 0.0), means);
    let error = refused.expect_err("it may not spin").to_string();
    assert!(error.starts_with("as many threads spin for this session as may"), "{error}");
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
        let plan = LatencyPlan { wait, ..pings(a_second) };
        let mut placement = placed(&plan, 4).expect("defaults exist");
        let asked = (wait, plan.placement(4).spun_share);
        claim_spinning(&mut placement, asked, Means { cpus: 4, spinning }).map(|_| placement.wait)
    };
    // Of two flows: 4,000 pings a second for 50 µs each are a fifth of the time.
    assert_eq!(waits(2_000, Wait::Auto, 0).ok(), Some(Wait::Hybrid));
    assert_eq!(waits(2_001, Wait::Auto, 0).ok(), Some(Wait::Sleep));
    assert_eq!(waits(2_001, Wait::Auto, 1).ok(), Some(Wait::Hybrid));
    assert_eq!(waits(100, Wait::Hybrid, 1).ok(), Some(Wait::Hybrid));
    let error = waits(100, Wait::Hybrid, 0).expect_err("it may not spin").to_string();
    assert!(error.starts_with("as many threads spin for this session as may"), "{error}");
}

#[test]
fn what_was_left_open_is_told() {
    let placement = placed(&load(9, Pattern::Push), 4).expect("defaults exist");
    assert_eq!(
        (placement.engine, placement.wait, placement.workers),
        (EngineKind::Epoll, Wait::Sleep, 4)
    );
    assert_eq!(placement.substitutions.len(), 2);
}

#[test]
fn an_engine_that_has_connections_answered_first_is_told_and_no_other() {
    for (name, engine) in EngineKind::ALL {
        let mut placement = Placement {
            engine,
            wait: Wait::Sleep,
            workers: 1,
            is_shared: false,
            has_tables: false,
            substitutions: Vec::new(),
        };
        placement.tell_of_early_data();
        let told: Vec<_> = placement.substitutions.iter().map(|it| (&*it.what, &*it.ran)).collect();
        let expected = [("early data", "off")];
        assert_eq!(told == expected, name == "uring", "{name}: {told:?}");
        assert_eq!(told.is_empty(), name != "uring", "{name}: {told:?}");
    }
}

#[test]
fn few_streams_that_go_one_way_are_moved_by_direct_calls() {
    let of = |flows, pattern| placed(&load(flows, pattern), 2).expect("defaults exist").engine;
    assert_eq!(of(1, Pattern::Push), EngineKind::Plain);
    assert_eq!(of(8, Pattern::Pull), EngineKind::Plain);
    assert_eq!(of(9, Pattern::Pull), EngineKind::Epoll);
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
    assert_eq!(placed(&plan, 1).expect("defaults exist").wait, Wait::Sleep);
    assert_eq!(placed(&plan, 2).expect("defaults exist").wait, Wait::Spin);
    let plan = LatencyPlan { client_cpus: vec![1], server_cpus: vec![1], ..plan };
    assert_eq!(placed(&plan, 2).expect("defaults exist").wait, Wait::Sleep);
}

#[test]
fn light_tests_beyond_those_that_have_a_thread_to_themselves_share_one() {
    let light = LatencyPlan {
        extent: latency::Extent::Iterations(5),
        wait: Wait::Auto,
        ..LatencyPlan::probe(Frequency(10))
    };
    let means = Means { cpus: 2, spinning: 1 };
    let ask = |plan: &LatencyPlan, role| of(plan, 1, (role, means)).expect("it can be run");
    let most = ALONE_PER_CPU * cpus::allowed().len();
    // Other tests of this process may have some of the places meanwhile.
    let mut alone = Vec::new();
    let placement = loop {
        let (placement, held) = ask(&light, Role::Server);
        if placement.is_shared {
            break placement;
        }
        alone.push(held);
        assert!(alone.len() <= most);
    };
    assert!(!alone.is_empty());
    assert_eq!((placement.threads(&light), placement.spinning()), (0, 0));
    let told: Vec<_> = placement.substitutions.iter().map(|it| (&*it.what, &*it.ran)).collect();
    assert_eq!(told, [("engine", "epoll"), ("wait", "sleep"), ("workers", "shared")]);
    // Who asks for a thread's own by name has it, and so have those who would take its time from others, and every client.
    let closed = LatencyPlan { load_model: LoadModel::Closed, wait: Wait::Sleep, ..light.clone() };
    let many = LatencyPlan { connections: 100, ..light.clone() };
    let named = LatencyPlan { engine: Some("plain".to_owned()), ..light.clone() };
    let pinned = LatencyPlan { server_cpus: cpus::allowed()[..1].to_vec(), ..light.clone() };
    let probe = LatencyPlan::probe(Frequency(10));
    for plan in [closed, many, named, pinned, probe] {
        assert!(!ask(&plan, Role::Server).0.is_shared, "{plan:?}");
    }
    assert!(!ask(&light, Role::Client).0.is_shared);
    drop(alone);
    assert!(!ask(&light, Role::Server).0.is_shared);
}

#[test]
fn as_many_workers_have_tables_of_their_own_as_hold_all_connections_and_none_where_one_holds_them()
{
    let Some(files) = limits::open_files().filter(|&files| files < u64::from(u32::MAX) / 4) else {
        return println!("skipped, because this system tells no limit that is met");
    };
    let spread = |flows: u64, role, engine: Option<&str>| {
        let engine = engine.map(str::to_owned);
        let plan = GoodputPlan { engine, ..load(flows as u32, Pattern::Duplex) };
        let mut placement = placed(&plan, 1).expect("known engine");
        placement.spread_over_tables(&plan, flows as u32, role);
        let what = placement.substitutions.iter().map(|it| it.what.clone()).collect::<Vec<_>>();
        (placement.has_tables, placement.workers, what)
    };
    for role in [Role::Client, Role::Server] {
        assert!(!spread(files / 4, role, None).0, "{files}: {role:?}");
        let (has_tables, workers, told) = spread(2 * files, role, None);
        assert!(has_tables && (3..=4).contains(&workers), "{files}: {workers} of {role:?}");
        assert!(told.iter().any(|what| what == "workers"), "{told:?}");
        let cuts = role == Role::Client && made_at_once() < 1_000;
        assert_eq!(told.iter().any(|what| what == "connect-limit"), cuts, "{told:?}");
        // Halves have a thread each.
        assert!(!spread(2 * files, role, Some("plain")).0);
    }
    // Workers that are more than was thought of have no processors to spin on.
    let plan = LatencyPlan {
        connections: 2 * files as u32,
        load_model: LoadModel::Closed,
        wait: Wait::Auto,
        ..LatencyPlan::probe(Frequency(1))
    };
    let mut placement = placed(&plan, 2).expect("known engine");
    assert_eq!(placement.wait, Wait::Spin);
    placement.spread_over_tables(&plan, plan.connections, Role::Client);
    let told = placement.substitutions.iter().filter(|it| it.what == "wait");
    assert_eq!((placement.wait, told.count()), (Wait::Sleep, 1));
}
