//! What a plan asks of its sockets, as settings of the system, and what of that was cut. Where connections come from is
//! `origins`'.

use crate::findings::RunCaveat;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::{Bytes, Period, bytes};
use pathscope_core::record::{Caveat, SocketFacts};
use pathscope_flow::GroupId;
use pathscope_modes::groups::Test;
use pathscope_modes::registry::Plan;
use pathscope_os::sockets::Settings;
use pathscope_peers::attach::Seat;

/// What is asked of the sockets of a group, at either end. Probes beside a load go as the system sends them, whatever their plan
/// states: it may be a stranger's.
pub(crate) fn settings_of(test: &Test, group: GroupId) -> Settings {
    let plan = test.plan_of(group);
    let asks = plan.asks();
    let sockets = asks.sockets.filter(|_| !test.is_probe(group));
    let Some(sockets) = sockets else { return Settings::default() };
    // Plans keep all of these within what the types hold.
    let size = |bytes: Option<Bytes>| bytes.and_then(|bytes| usize::try_from(bytes.0).ok());
    let small = |bytes: Option<Bytes>| bytes.and_then(|bytes| u32::try_from(bytes.0).ok());
    Settings {
        congestion_control: asks.congestion_control.map(str::to_owned),
        send_buffer_bytes: size(sockets.send_buffer_bytes),
        receive_buffer_bytes: size(sockets.receive_buffer_bytes),
        dscp: sockets.dscp,
        hops: sockets.hops,
        not_sent_low_water_bytes: small(sockets.not_sent_low_water_bytes),
        segment_bytes: small(sockets.segment_bytes),
        keepalive: sockets.keepalive_ns.map(Period::duration),
        user_timeout: sockets.user_timeout_ns.map(Period::duration),
        flow_label: sockets.flow_label,
        nagle: sockets.nagle,
        interface: sockets.interface.clone(),
        ..Settings::default()
    }
}

/// The same of the socket of one TCP connection, which may be held to a rate of its own.
pub(crate) fn settings_at(seat: Seat, role: Role, test: &Test) -> Settings {
    let pacing_bytes_per_second = pacing(&test.plan_of(seat.group), role, seat.flow);
    Settings { pacing_bytes_per_second, ..settings_of(test, seat.group) }
}

/// Buffers that the kernel made smaller than was asked for. It counts its own overhead in, as much again.
pub(crate) fn cut_buffers(
    role: Role,
    asked: &Settings,
    facts: &SocketFacts,
) -> impl Iterator<Item = Caveat> + use<> {
    let buffers = [
        ("send", asked.send_buffer_bytes, facts.send_buffer_bytes, "net.core.wmem_max"),
        ("receive", asked.receive_buffer_bytes, facts.receive_buffer_bytes, "net.core.rmem_max"),
    ];
    buffers.into_iter().filter_map(move |(name, asked, granted, limit)| {
        let (asked, granted) = (asked? as u64, granted? / 2);
        (granted < asked).then(|| buffer_cut(role, (name, limit), (asked, granted)))
    })
}

/// A buffer of this name that the system's limit made smaller.
pub(crate) fn buffer_cut(
    role: Role,
    (name, limit): (&str, &str),
    (asked_bytes, granted_bytes): (u64, u64),
) -> Caveat {
    let end = if role == Role::Client { "client" } else { "server" };
    let text = format!(
        "a {name} buffer of {} was asked for, and the {end}'s kernel granted {}: raise {limit} there",
        bytes(asked_bytes),
        bytes(granted_bytes)
    );
    Caveat::new(RunCaveat::BufferCut, text)
}

/// What the kernel of a sender is held to, so that what a rate allows at once leaves evenly. A quarter above the
/// rate, which the flow itself keeps: it could not make up for a pause otherwise.
fn pacing(plan: &Plan, role: Role, flow: FlowId) -> Option<u32> {
    let rate = plan.even_rate(role, flow)?;
    u32::try_from(rate.0 / 8 + rate.0 / 32).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_cut_where_half_of_what_is_charged_is_less_than_was_asked_for() {
        let told = |asked: [Option<usize>; 2], granted: [Option<u64>; 2]| {
            let settings = Settings {
                send_buffer_bytes: asked[0],
                receive_buffer_bytes: asked[1],
                ..Settings::default()
            };
            let facts = SocketFacts {
                send_buffer_bytes: granted[0],
                receive_buffer_bytes: granted[1],
                ..SocketFacts::default()
            };
            let caveats = cut_buffers(Role::Server, &settings, &facts);
            caveats.map(|caveat| caveat.text).collect::<Vec<_>>()
        };
        let mib = 1 << 20;
        for (asked, granted) in [
            ([None, None], [Some(1), Some(1)]),
            ([Some(mib), Some(mib)], [Some(2 << 20), Some(3 << 20)]),
            // A system that does not say.
            ([Some(mib), Some(mib)], [None, None]),
        ] {
            assert_eq!(told(asked, granted), [""; 0], "{asked:?} {granted:?}");
        }
        assert_eq!(
            told([Some(mib), Some(8 * mib)], [Some(1 << 20), Some(8 << 20)]),
            [
                "a send buffer of 1 MiB was asked for, and the server's kernel granted 512 KiB: raise \
                 net.core.wmem_max there",
                "a receive buffer of 8 MiB was asked for, and the server's kernel granted 4 MiB: raise \
                 net.core.rmem_max there",
            ]
        );
    }
}
