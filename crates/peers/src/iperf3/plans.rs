//! A test of ours in the words of a client's parameters, and theirs as a plan of ours. What the words do not have is refused before
//! (`carried`), or runs otherwise and is told.

use pathscope_core::Wait;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_core::record::Substitution;
use pathscope_modes::datagrams::{DatagramsPlan, Offload};
use pathscope_modes::goodput::{GoodputPlan, Pace, Shape};
use pathscope_modes::groups::Test;
use pathscope_modes::limits::TRANSFER;
use pathscope_modes::load::{Extent, Pattern, Verify, period_of_whole_blocks};
use pathscope_modes::registry::Plan;
use pathscope_modes::sockets::SocketPlan;

use super::Iperf3;
use super::errors::{DURATION, Declined};
use super::parameters::{Carrier, Parameters, TIME_MOST, Way};
use crate::dialogue::ServerSettings;
use crate::peer::Peer;

/// Bytes of a send over TCP where nobody says how many.
const BLOCK: u64 = 128 << 10;
/// Bytes of a datagram where nobody says how many: what an Ethernet carries whole.
const DATAGRAM: u64 = 1_460;
/// From one report to the next: what clients ask for themselves is not told.
const REPORT_EVERY: Period = Period::from_secs(1);
const SECOND_NS: u64 = 1_000_000_000;
/// Bits of the type of service that are no code point.
const NO_CODE_POINT: u32 = 2;

/// A test as a server can be told it: warm-ups are whole seconds there, and what both ends send has none, since then no end would know what
/// the other had sent. What runs otherwise than asked is told.
pub(super) fn fitted(mut test: Test) -> (Test, Vec<Substitution>) {
    let (pattern, warm_up) = match &mut test.plan {
        Plan::Goodput(plan) => (plan.pattern, &mut plan.warm_up_ns),
        Plan::Datagrams(plan) => (plan.pattern, &mut plan.warm_up_ns),
        _ => return (test, Vec::new()),
    };
    let whole =
        Period(if pattern == Pattern::Push { warm_up.0 / SECOND_NS * SECOND_NS } else { 0 });
    // What this end alone receives it leaves out itself.
    if whole == *warm_up || pattern == Pattern::Pull {
        return (test, Vec::new());
    }
    let substitution = Substitution {
        what: "warm-up".to_owned(),
        asked: warm_up.to_string(),
        ran: if whole.0 == 0 { "none".to_owned() } else { whole.to_string() },
        why: if pattern == Pattern::Bidir {
            "with a warm-up an iperf3 server does not say how much it has sent in all".to_owned()
        } else {
            "an iperf3 server leaves out whole seconds (--warm-up 1s)".to_owned()
        },
    };
    *warm_up = whole;
    (test, vec![substitution])
}

/// Seconds that a server leaves out of what it counts, and for how many more the test lasts; of one that ends by bytes, and of one that
/// lasts longer than can be said, 0: its client ends it. What this end
/// receives it leaves out itself, so that the server's count of what it sent is of all.
fn times(extent: Extent, (pattern, warm_up): (Pattern, Period)) -> (u64, u64) {
    let omit = if pattern == Pattern::Push { warm_up.0 / SECOND_NS } else { 0 };
    match extent {
        Extent::DurationNs(duration) => {
            let seconds = duration.0.saturating_sub(omit * SECOND_NS).div_ceil(SECOND_NS);
            (omit, if seconds > TIME_MOST { 0 } else { seconds })
        }
        Extent::TransferBytes(_) => (0, 0),
    }
}

/// Who sends on a flow.
pub(super) fn sender(test: &Test, flow: FlowId) -> Role {
    let (pattern, connections) = match &test.plan {
        Plan::Goodput(plan) => (plan.pattern, plan.connections),
        Plan::Datagrams(plan) => (plan.pattern, plan.connections),
        _ => return Role::Client,
    };
    let is_up = pattern.sends_on(Role::Client, flow, connections);
    if is_up { Role::Client } else { Role::Server }
}

/// Whether an end receives anything in a test.
pub(super) fn receives(test: &Test, role: Role) -> bool {
    match &test.plan {
        Plan::Goodput(plan) => plan.pattern.sends(role.peer()),
        Plan::Datagrams(plan) => plan.pattern.sends(role.peer()),
        _ => false,
    }
}

/// What this end says as a client to have this test, which is one that is [carried](super::carried::carries).
pub(super) fn said(test: &Test, version: &str) -> Parameters {
    let way = |pattern| match pattern {
        Pattern::Pull => Way::Reverse,
        Pattern::Bidir => Way::Both,
        _ => Way::Forward,
    };
    let all = |extent, connections: u32| match extent {
        Extent::TransferBytes(Bytes(each)) => each.saturating_mul(connections.into()),
        Extent::DurationNs(_) => 0,
    };
    let of_sockets = |sockets: &SocketPlan, cpus: &[u32]| Parameters {
        window: sockets.send_buffer_bytes.map(|buffer| buffer.0),
        mss: sockets.segment_bytes.map(|segment| segment.0),
        tos: sockets.dscp.map(|dscp| u64::from(dscp) << NO_CODE_POINT).filter(|&tos| tos > 0),
        flowlabel: sockets.flow_label.map(u64::from),
        server_affinity: cpus.first().copied().map(u64::from),
        client_version: Some(version.to_owned()),
        ..Parameters::default()
    };
    match &test.plan {
        Plan::Goodput(plan) => {
            let (omit, time) = times(plan.extent, (plan.pattern, plan.warm_up_ns));
            Parameters {
                carrier: Carrier::Tcp,
                way: way(plan.pattern),
                omit,
                time,
                num: all(plan.extent, plan.connections),
                parallel: Some(plan.connections.into()),
                nodelay: !plan.sockets.nagle,
                len: Some(plan.buffer_bytes.0),
                bandwidth: plan.rate_bps.map(|rate| rate.0),
                congestion: plan.congestion_control.clone(),
                ..of_sockets(&plan.sockets, &plan.server_cpus)
            }
        }
        Plan::Datagrams(plan) => {
            let (omit, time) = times(plan.extent, (plan.pattern, plan.warm_up_ns));
            Parameters {
                carrier: Carrier::Udp,
                way: way(plan.pattern),
                omit,
                time,
                num: all(plan.extent, plan.connections),
                parallel: Some(plan.connections.into()),
                len: Some(plan.datagram_bytes.0),
                bandwidth: plan.rate_bps.map(|rate| rate.0),
                wide: true,
                dont_fragment: !plan.may_fragment,
                ..of_sockets(&plan.sockets, &plan.server_cpus)
            }
        }
        _ => Parameters::default(),
    }
}

/// What a server that listens for all has done to a test's connections once they are there, and a server of one test before: of what a
/// client can ask for, the window alone is other then. `-N` holds from then on, and of `-M` each end keeps what its client offers.
pub(super) fn substituted(test: &Test) -> Vec<Substitution> {
    let Plan::Goodput(plan) = &test.plan else { return Vec::new() };
    let window = plan.sockets.receive_buffer_bytes.map(|window| Substitution {
        what: "window".to_owned(),
        asked: window.to_string(),
        ran: "so much once the connection is there".to_owned(),
        why: "the port is that of all clients, and has the system's buffers while connections are made: a window beyond what the system \
              scales to by itself stays as it is"
            .to_owned(),
    });
    window.into_iter().collect()
}

/// How long a test lasts at the most that its client ends.
pub(super) fn longest(settings: &ServerSettings) -> Period {
    settings.limits.duration_ns.unwrap_or(Period::from_secs(TIME_MOST))
}

/// The test that a client asks for, as far as this server grants it.
pub(super) fn granted(
    parameters: &Parameters,
    settings: &ServerSettings,
) -> Result<Test, Declined> {
    let longest = longest(settings);
    let is_timed = parameters.time > 0 && parameters.num == 0 && parameters.blockcount == 0;
    let seconds = parameters.time + parameters.omit;
    // One that its client ends otherwise lasts as long as any may.
    let duration = if is_timed { Period::from_secs(seconds) } else { longest };
    let warm_up = Period::from_secs(parameters.omit);
    if warm_up >= duration {
        return Err(Declined::new(DURATION, "the whole test would be its warm-up"));
    }
    let pattern = match parameters.way {
        Way::Forward => Pattern::Push,
        Way::Reverse => Pattern::Pull,
        Way::Both => Pattern::Bidir,
    };
    let connections = u32::try_from(parameters.parallel.unwrap_or(1)).unwrap_or(u32::MAX);
    let rate = [parameters.bandwidth, parameters.fqrate].into_iter().flatten().min().map(BitRate);
    let sockets = SocketPlan {
        dscp: parameters.tos.and_then(|tos| u8::try_from(tos >> NO_CODE_POINT).ok()),
        send_buffer_bytes: parameters.window.map(Bytes),
        receive_buffer_bytes: parameters.window.map(Bytes),
        ..SocketPlan::default()
    };
    let cpus = parameters.server_affinity.and_then(|cpu| u32::try_from(cpu).ok());
    let usual = if parameters.carrier == Carrier::Udp { DATAGRAM } else { BLOCK };
    let block = parameters.len.unwrap_or(usual);
    // It ends with the sum of all, of which each connection has a share. What is left out before that is not known here.
    let share = |all: u64| all.div_ceil(u64::from(connections.max(1)));
    let each = Bytes(match parameters.num {
        0 => share(parameters.blockcount).saturating_mul(block),
        bytes => share(bytes),
    });
    let is_counted = TRANSFER.contains(&each) && parameters.omit == 0;
    let extent =
        if is_counted { Extent::TransferBytes(each) } else { Extent::DurationNs(duration) };
    let plan: Plan = match parameters.carrier {
        Carrier::Tcp | Carrier::Sctp => GoodputPlan {
            pattern,
            connections,
            extent,
            buffer_bytes: Bytes(block),
            push_bytes: Bytes(1 << 20),
            pull_bytes: Bytes(1 << 20),
            rate_bps: rate,
            warm_up_ns: warm_up,
            verify: Verify::Off,
            congestion_control: parameters.congestion.clone(),
            engine: None,
            wait: Wait::Auto,
            shape: Shape::default(),
            sockets: SocketPlan {
                nagle: !parameters.nodelay,
                segment_bytes: parameters.mss.map(Bytes),
                ..sockets
            },
            // Clients since 3.16 count whole blocks alone.
            pace: Pace {
                period_ns: rate.and_then(|rate| period_of_whole_blocks(rate, block, 1)),
                ..Pace::default()
            },
            client_cpus: Vec::new(),
            server_cpus: cpus.into_iter().collect(),
        }
        .into(),
        Carrier::Udp => DatagramsPlan {
            pattern,
            connections,
            extent,
            datagram_bytes: Bytes(block),
            rate_bps: rate,
            warm_up_ns: warm_up,
            verify: Verify::Off,
            offload: Offload::Auto,
            may_fragment: !parameters.dont_fragment,
            engine: None,
            wait: Wait::Auto,
            sockets,
            client_cpus: Vec::new(),
            server_cpus: cpus.into_iter().collect(),
        }
        .into(),
    };
    let test = Test::new(plan, None, REPORT_EVERY);
    within(parameters, &test, settings)?;
    Ok(test)
}

/// Whether this server runs such a test for this client.
fn within(parameters: &Parameters, test: &Test, settings: &ServerSettings) -> Result<(), Declined> {
    let framing = <Iperf3 as Peer>::CONVENTIONS.framing;
    settings.limits.check_of(test, framing).map_err(Declined::of)?;
    let streams = parameters.parallel.unwrap_or(1);
    let all = |each: u64, streams: u64| BitRate(each.saturating_mul(streams));
    let asked = [parameters.bandwidth, parameters.fqrate].into_iter().flatten();
    if parameters.carrier == Carrier::Udp && receives(test, Role::Client) {
        // Nothing is said while data flow: who has asked once gets them until it ends the test, or its connection does.
        let all = asked.clone().min().map(|each| all(each, streams));
        settings.limits.check_datagram_rate(all).map_err(Declined::of)?;
    }
    // No rate at all may still keep to the limit: that is seen while it runs.
    let both = if parameters.way == Way::Both { streams.saturating_mul(2) } else { streams };
    if let (Some(limit), Some(each)) = (settings.rate, asked.max()) {
        limit.check(all(each, both)).map_err(Declined::of)?;
    }
    let withheld = settings.limits.withheld;
    withheld.check(test, &settings.congestion_controls).map_err(Declined::of)
}
