//! Which tests of ours the wire has words for: whatever it cannot say to the other end is refused here, with what to do instead. Not here:
//! how it is said (`plans`).

use pathscope_flow::Transport;
use pathscope_modes::datagrams::DatagramsPlan;
use pathscope_modes::goodput::{GoodputPlan, Iterations, Pace, Shape, Shutdown};
use pathscope_modes::groups::{MAIN, Test};
use pathscope_modes::load::Pattern;
use pathscope_modes::registry::Plan;
use pathscope_modes::sockets::SocketPlan;

use super::parameters::{BLOCK_MOST, DATAGRAM_BYTES, STREAMS_MOST};
use crate::Refusal;

/// Whether a server can be asked for this test; if not, why, as a fragment of a sentence.
pub(super) fn carries(test: &Test) -> Result<(), Refusal> {
    if test.groups().iter().any(|group| group.id != MAIN) {
        return no("an iperf3 server has no place for probes beside a load: --no-probe");
    }
    match &test.plan {
        Plan::Goodput(plan) => streams(plan),
        Plan::Datagrams(plan) => datagrams(plan),
        _ => no("an iperf3 server runs loads over TCP and UDP, and nothing else: goodput"),
    }
}

fn no(sentence: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal::new("unable", sentence))
}

/// The first of these that is asked for, with what to do.
fn none_of(asked: &[(bool, &str)]) -> Result<(), Refusal> {
    asked.iter().find(|(is_asked, _)| *is_asked).map_or(Ok(()), |(_, sentence)| no(*sentence))
}

fn streams(plan: &GoodputPlan) -> Result<(), Refusal> {
    let Shape {
        iterations, time_limit_ns, shutdown, transfer_most_bytes, buffer_most_bytes, ..
    } = &plan.shape;
    let Pace { period_ns: _, burst, rate_most_bps } = plan.pace;
    // The pattern before what follows from it.
    common((plan.pattern, plan.connections), &plan.sockets, &plan.server_cpus)?;
    none_of(&[
        (
            *iterations != Iterations::Times(1),
            "an iperf3 server makes no connection anew while a test runs: leave --iterations out",
        ),
        (
            time_limit_ns.is_some(),
            "an iperf3 server is told a time or bytes, and not both: leave --time-limit out",
        ),
        (
            *shutdown != Shutdown::Graceful,
            "how connections to an iperf3 server end is not told one by one: leave --shutdown out",
        ),
        (
            transfer_most_bytes.is_some() || buffer_most_bytes.is_some() || rate_most_bps.is_some(),
            "an iperf3 server has one length and one rate for all of a test: give no ranges",
        ),
        (
            burst.is_some(),
            "an iperf3 server makes no pauses of a stated length: leave --burst-count and --burst-delay out",
        ),
        (
            plan.buffer_bytes.0 > BLOCK_MOST,
            "an iperf3 server takes and sends 1 MiB at once at the most: --buffer 1MiB, or less",
        ),
        (
            plan.sockets.not_sent_low_water_bytes.is_some(),
            "an iperf3 server is told nothing of what may wait unsent: leave --notsent-lowat out",
        ),
        (
            plan.sockets.keepalive_ns.is_some(),
            "an iperf3 server is told of no keep-alives: leave --keepalive out",
        ),
    ])
}

fn datagrams(plan: &DatagramsPlan) -> Result<(), Refusal> {
    none_of(&[(
        !DATAGRAM_BYTES.contains(&plan.datagram_bytes.0),
        "an iperf3 server takes datagrams of 16 to 65,507 bytes: give such a --datagram",
    )])?;
    common((plan.pattern, plan.connections), &plan.sockets, &plan.server_cpus)
}

fn common(
    (pattern, connections): (Pattern, u32),
    sockets: &SocketPlan,
    server_cpus: &[u32],
) -> Result<(), Refusal> {
    none_of(&[
        (
            pattern == Pattern::Pushpull,
            "an iperf3 server takes no turns: --pattern push, pull or bidir",
        ),
        (
            pattern == Pattern::Duplex,
            "each stream of an iperf3 server goes one way: --pattern bidir has as many each way",
        ),
        (
            u64::from(connections) > STREAMS_MOST,
            "an iperf3 server has 128 streams each way at the most: --connections 128, or fewer",
        ),
        (
            sockets.send_buffer_bytes != sockets.receive_buffer_bytes,
            "an iperf3 server makes both buffers of a socket alike: give --send-buffer and --receive-buffer the same, or \
             leave both out",
        ),
        (sockets.hops.is_some(), "an iperf3 server is told of no time to live: leave --ttl out"),
        (
            server_cpus.len() > 1,
            "an iperf3 server is kept on one processor, or on any: give one --server-cpu",
        ),
    ])
}

/// Whether the flows of a test carry datagrams.
pub(super) fn is_of_datagrams(test: &Test) -> bool {
    test.is_over(Transport::Datagram)
}
