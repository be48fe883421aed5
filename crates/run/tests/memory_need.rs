//! What a plan says that a server needs for it is no less than what is allocated, and not many times as much. And what a
//! message becomes while it is read.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role, Token};
use pathscope_flow::{Machine, Shared};
use pathscope_modes::datagrams::{DatagramFlow, DatagramShared};
use pathscope_modes::goodput::{GoodputFlow, GoodputShared};
use pathscope_modes::groups::Test;
use pathscope_modes::latency::{EchoFlow, LatencyShared};
use pathscope_modes::media::{MediaFlow, MediaShared};
use pathscope_modes::multipath::{MultipathEcho, MultipathEchoShared};
use pathscope_modes::pattern::SessionKey;
use pathscope_modes::registry::Plan;
use pathscope_os::memory::counting::Counting;
use pathscope_peers::native::frame::{Frame, MessageType};
use pathscope_peers::native::message::Message;

#[global_allocator]
static COUNTING: Counting = Counting::new();

/// What is allocated for these flows, for what they have in common, and for two tallies that are on their way.
fn allocated<M: Machine>(
    flow: impl Fn(u32) -> M,
    flows: u32,
    mut shared: M::Shared,
    before: usize,
) -> usize {
    let flows: Vec<M> = (0..flows).map(flow).collect();
    let tallies = [(); 2].map(|()| shared.report(Tick::ZERO));
    let took = COUNTING.held() - before;
    drop((flows, shared, tallies));
    took
}

fn took(plan: &Plan, flows: u32) -> usize {
    let key = SessionKey::from(Token([7; 16]));
    let role = Role::Server;
    let before = COUNTING.held();
    let id = FlowId;
    match plan {
        Plan::Goodput(plan) => allocated(
            |flow| GoodputFlow::new(plan, role, key, id(flow)),
            flows,
            GoodputShared::new(plan),
            before,
        ),
        Plan::Latency(plan) => allocated(
            |flow| EchoFlow::new(plan, key, id(flow)),
            flows,
            LatencyShared::new(plan, role),
            before,
        ),
        Plan::Datagrams(plan) => allocated(
            |flow| DatagramFlow::new(plan, role, key, id(flow)),
            flows,
            DatagramShared::new(plan, role),
            before,
        ),
        Plan::Media(plan) => allocated(
            |flow| MediaFlow::new(plan, role, key, id(flow)),
            flows,
            MediaShared::new(plan, role),
            before,
        ),
        Plan::Multipath(plan) => allocated(
            |flow| MultipathEcho::new(plan, key, id(flow)),
            flows,
            MultipathEchoShared::new(plan),
            before,
        ),
    }
}

/// Plans as they stand on the wire.
fn plans() -> Vec<Plan> {
    let mut plans = Vec::new();
    let mut put = |text: String| {
        plans.push(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}")));
    };
    for flows in [1, 8, 500] {
        put(format!(
            r#"{{"goodput":{{"pattern":"duplex","connections":{flows},"extent":{{"duration_ns":10000000000}},"buffer_bytes":65536,"push_bytes":1048576,"pull_bytes":1048576,"rate_bps":null,"warm_up_ns":0,"verify":"full","congestion_control":null,"engine":null,"wait":"auto"}}}}"#
        ));
        for (protocol, size) in [("udp", 64), ("tcp", 4), ("udp", 60_000)] {
            put(format!(
                r#"{{"latency":{{"protocol":"{protocol}","connections":{flows},"load_model":{{"open":{{"period_ns":100000}}}},"extent":{{"iterations":100}},"size_bytes":{size},"warm_up_ns":0,"engine":null,"wait":"auto"}}}}"#
            ));
        }
        put(format!(
            r#"{{"latency":{{"protocol":"udp","connections":{flows},"timestamps":"kernel","load_model":"closed","extent":{{"iterations":100}},"size_bytes":88,"warm_up_ns":0,"engine":null,"wait":"auto"}}}}"#
        ));
        for pattern in ["push", "pull", "duplex"] {
            put(format!(
                r#"{{"datagrams":{{"pattern":"{pattern}","connections":{flows},"extent":{{"duration_ns":10000000000}},"datagram_bytes":1400,"rate_bps":null,"warm_up_ns":0,"verify":"full","engine":null,"wait":"auto","offload":"auto"}}}}"#
            ));
        }
        for direction in ["up", "down"] {
            for depth in [50_000_000_u64, 60_000_000_000] {
                put(format!(
                    r#"{{"media":{{"direction":"{direction}","streams":{flows},"rate_bps":1000000,"frame_rate":60,"duration_ns":600000000000,"buffer_depth_ns":{depth},"datagram_bytes":1200,"pacing":"spread","engine":null,"wait":"auto"}}}}"#
                ));
            }
        }
    }
    // More than have windows of full size.
    for protocol in ["tcp", "udp"] {
        put(format!(
            r#"{{"latency":{{"protocol":"{protocol}","connections":50000,"load_model":"closed","extent":{{"iterations":100}},"size_bytes":64,"warm_up_ns":0,"engine":null,"wait":"auto"}}}}"#
        ));
    }
    for lanes in [1, 8] {
        put(format!(
            r#"{{"multipath":{{"rate_bps":1000000,"grouping":30,"datagram_bytes":1024,"duration_ns":10000000000,"lanes":{lanes},"late_by_ns":20000000}}}}"#
        ));
    }
    plans
}

/// What is allocated is counted for the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The most that is allocated while a body of this length is read, full of rows that are as short as they may be.
fn read(bytes: usize) -> usize {
    let row = r#"{"flow":1,"x":11111111}"#;
    let rows = vec![row; bytes / (row.len() + 1) - 4].join(",");
    // A row has to be a little longer on average: what is left out of a list is not counted.
    let rows: String = rows.split_inclusive("},").take(32_000).collect();
    let rows = rows.trim_end_matches(',');
    let body = format!(r#"{{"goodput":{{"flows":[{rows}]}}}}"#);
    let body = format!("{body}{}", " ".repeat(bytes.saturating_sub(body.len()))).into_bytes();
    let frame = Frame { kind: MessageType::REPORT, body };
    let before = COUNTING.held();
    COUNTING.take_most();
    let message = Message::decode(&frame).unwrap_or_else(|error| panic!("{error}"));
    let most = COUNTING.take_most() - before;
    assert!(matches!(message, Some(Message::Report(_))));
    most
}

#[test]
fn a_long_message_becomes_at_most_24_mib_and_a_short_one_little() {
    let _alone = alone();
    let [long, short] = [1 << 20, 16 << 10].map(read);
    assert!((8 << 20..=24 << 20).contains(&long), "{long}");
    assert!(short <= 1 << 20, "{short}");
}

#[test]
fn a_plan_needs_what_it_says() {
    let _alone = alone();
    let plans = plans();
    // What is made once for all.
    assert!(plans.iter().all(|plan| took(plan, 1) > 0));
    for plan in &plans {
        let test = Test::new(plan.clone(), None, pathscope_core::quantity::Period::from_secs(1));
        let flows = test.groups()[0].flows;
        let took = took(plan, flows) as u64;
        let said = plan.server_memory().of(flows.into(), 1);
        assert!(said >= took, "{plan:?}: {took} of {said}");
        assert!(said <= 4 * took.max(16 << 10), "{plan:?}: {took} of {said}");
    }
}
