//! Clocks that jump while pings are on their way: the one that everything is measured by, which should not and does
//! where a machine is suspended or moved, and the wall clock, by which the kernel stamps.

use std::time::Duration;

use pathscope_core::id::{FlowId, Role, Token};
use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_core::{Tick, Wait};
use pathscope_engines::{Blocking, EngineKind, Kernel, SystemCalls, Terms, Trouble, worker_inbox};
use pathscope_flow::{Batches, Machine, Transport};
use pathscope_modes::latency::{
    Arrivals, EchoFlow, Extent, LatencyPlan, LatencyReport, LoadModel, PingFlow, Timestamps,
};
use pathscope_modes::pattern::SessionKey;
use pathscope_os::Socket;
use pathscope_os::stamps::{self, Handover};

use crate::common::{loopback, work};

const PINGS: u64 = 200;
const HOUR_NS: i64 = 3_600_000_000_000;
const MINUTE_NS: u64 = 60_000_000_000;

/// The kernel, with clocks that jump once, after so many readings or stamps.
#[derive(Clone, Copy, Debug, Default)]
struct Jumping {
    clock_ns: i64,
    wall_ns: i64,
    after: u64,
    readings: u64,
    stamps: u64,
}

impl Jumping {
    fn wall(&mut self, wall_ns: u64) -> u64 {
        self.stamps += 1;
        let by = if self.stamps > self.after { self.wall_ns } else { 0 };
        wall_ns.saturating_add_signed(by)
    }
}

impl SystemCalls for Jumping {
    fn now(&mut self) -> Tick {
        self.readings += 1;
        let by = if self.readings > self.after { self.clock_ns } else { 0 };
        Tick::from_nanos(Kernel.now().as_nanos().saturating_add_signed(by))
    }

    fn receive_stamped(
        &mut self,
        socket: &Socket,
        room: &mut [u8],
        blocking: Blocking,
    ) -> Result<(usize, Option<u64>), Trouble> {
        let (received, wall_ns) = Kernel.receive_stamped(socket, room, blocking)?;
        Ok((received, wall_ns.map(|wall_ns| self.wall(wall_ns))))
    }

    fn handover(&mut self, socket: &Socket) -> Result<Option<Handover>, Trouble> {
        let handover = Kernel.handover(socket)?;
        Ok(handover.map(|it| Handover { wall_ns: self.wall(it.wall_ns), ..it }))
    }
}

fn plan(load_model: LoadModel, timestamps: Timestamps) -> LatencyPlan {
    LatencyPlan {
        load_model,
        timestamps,
        extent: Extent::Iterations(PINGS),
        size_bytes: Bytes(88),
        ..LatencyPlan::probe(Frequency(1))
    }
}

/// On what terms both ends run.
fn terms(plan: &LatencyPlan) -> (EngineKind, Terms) {
    let terms = Terms {
        transport: Transport::Datagram,
        wait: Wait::Sleep,
        start: Kernel.now(),
        begin: Tick::ZERO,
        report_every: Duration::ZERO,
        receive_buffer_bytes: 64 << 10,
        counts_lost: false,
        stamps: plan.timestamps == Timestamps::Kernel,
        batches: Batches::One,
    };
    (EngineKind::Plain, terms)
}

/// Pings over loopback, from an end whose clocks jump.
fn ping(plan: &LatencyPlan, calls: Jumping) -> LatencyReport {
    let (here, there) = loopback();
    let key = SessionKey::from(Token([5; 16]));
    if plan.timestamps == Timestamps::Kernel {
        // Also what comes before its worker begins is stamped.
        let socket = Socket::from(there.try_clone().expect("a file"));
        stamps::enable(&socket).expect("Linux stamps");
    }
    let (server_remote, server_inbox) = worker_inbox().expect("a worker_inbox");
    let (_remote, inbox) = worker_inbox().expect("a worker_inbox");
    let server_plan = plan.clone();
    let server = std::thread::spawn(move || {
        let flow = EchoFlow::new(&server_plan, key, FlowId(0));
        drop(work(
            (&server_plan, Role::Server),
            (flow, there),
            server_inbox,
            terms(&server_plan),
            Kernel,
        ));
    });
    let client = PingFlow::new(plan, key, FlowId(0));
    let (client, tally) = work((plan, Role::Client), (client, here), inbox, terms(plan), calls);
    drop(server_remote);
    server.join().expect("it does not panic");
    assert_eq!(client.error(), None, "{calls:?}");
    tally.report(None)
}

#[test]
fn pings_are_counted_right_though_the_clock_jumps() {
    let period_ns = Period(100_000);
    let open = LoadModel::Open { period_ns, arrivals: Arrivals::Fixed };
    for load_model in [LoadModel::Closed, open] {
        for clock_ns in [HOUR_NS, -20_000_000] {
            let plan = plan(load_model, Timestamps::User);
            let report = ping(&plan, Jumping { clock_ns, after: 250, ..Jumping::default() });
            let name = format!("{load_model:?} {clock_ns}");
            // Echoes that are awaited as an hour has passed at once may be lost; none is counted twice.
            assert_eq!((report.sent, report.received + report.lost), (PINGS, PINGS), "{name}");
            assert_eq!((report.corrupt, report.duplicates, report.foreign), (0, 0, 0), "{name}");
            let rtt = report.rtt.expect("round trips");
            assert_eq!(rtt.count, report.received, "{name}");
        }
    }
}

#[test]
fn a_step_of_the_wall_clock_costs_stamps_and_no_round_trip() {
    for wall_ns in [HOUR_NS, -1_000_000_000] {
        let plan = plan(LoadModel::Closed, Timestamps::Kernel);
        let report = ping(&plan, Jumping { wall_ns, after: 101, ..Jumping::default() });
        assert_eq!((report.sent, report.received), (PINGS, PINGS), "{wall_ns}");
        let parts = report.parts.expect("they were asked for");
        // Two stamps for each ping here: fifty pings before the step. After it, the kernel's times lie an hour or a
        // second from ours.
        assert!((45..=51).contains(&parts.pings), "{wall_ns}: {}", parts.pings);
        assert!(parts.implausible >= 140, "{wall_ns}: {}", parts.implausible);
        let longest = (report.rtt.and_then(|rtt| rtt.max_ns), parts.wire.max_ns);
        assert!(longest.0 < Some(MINUTE_NS) && longest.1 < Some(MINUTE_NS), "{longest:?}");
    }
}
