//! What has to hold of streams of frames, and what to mind of them.

use pathscope_core::quantity::{count, counted, duration_ns, total, were};
use pathscope_core::record::{Caveat, Check};

use super::findings::{MediaCaveat, MediaCheck};
use super::{MediaPlan, MediaReport, MediaSummary};
use crate::end::Hosts;
use crate::lag;
use crate::results::{UNKNOWN_DATA, unknown_end};

/// Bytes of the headers of IPv6 and UDP.
const HEADERS: u64 = 40 + 8;

/// What has to hold.
pub fn checks(plan: &MediaPlan, client: &MediaReport, server: Option<&MediaReport>) -> Vec<Check> {
    let mut checks = verified(plan, client, server).into_iter().collect::<Vec<_>>();
    checks.push(lived(plan, client, server));
    checks.extend(server.map(|server| accounted(plan, client, server)));
    checks
}

/// Every datagram was what was sent.
fn verified(plan: &MediaPlan, client: &MediaReport, server: Option<&MediaReport>) -> Option<Check> {
    let ends = || [Some(client), server].into_iter().flatten();
    let damaged = total(ends().map(|end| end.damaged_datagrams));
    let received = total(ends().map(|end| end.received_datagrams));
    let first = ends().find_map(|end| end.first_damaged).map_or_else(String::new, |first| {
        format!(
            "; the first is datagram {} of frame {} of stream {}, from byte {} on",
            first.datagram, first.frame, first.flow, first.offset_bytes
        )
    });
    let is_unknown = server.is_none() && damaged == 0 && plan.is_up();
    let text = if is_unknown {
        UNKNOWN_DATA.to_owned()
    } else if damaged == 0 {
        format!("all bytes of {} are the bytes that were sent", counted(received, "datagram"))
    } else {
        format!("{} came with wrong bytes{first}", counted(damaged, "datagram"))
    };
    let name = "verified".to_owned();
    let passed = damaged == 0 && !is_unknown;
    (received > 0 || damaged > 0 || is_unknown).then_some(Check { name, passed, text })
}

/// Every stream came to its end at both ends.
fn lived(plan: &MediaPlan, client: &MediaReport, server: Option<&MediaReport>) -> Check {
    let failed = client.failed.max(server.map_or(0, |server| server.failed));
    let mut errors = [Some(client), server].into_iter().flatten().flat_map(|end| &end.streams);
    let first = errors.find_map(|stream| Some((stream.flow, stream.error.as_ref()?)));
    let first =
        first.map_or_else(String::new, |(flow, error)| format!("; stream {flow}: {}", error.text));
    let text = match (failed, plan.streams) {
        (0, streams) if server.is_none() => unknown_end("stream", streams),
        (0, 1) => "the stream came to its end".to_owned(),
        (0, streams) => format!("all {} streams came to their end", count(streams.into())),
        (failed, streams) => {
            format!("{} of {} failed{first}", count(failed), counted(streams.into(), "stream"))
        }
    };
    Check::new(MediaCheck::Completed, failed == 0 && server.is_some(), text)
}

/// Each datagram that was sent came, came damaged, or was lost.
fn accounted(plan: &MediaPlan, client: &MediaReport, server: &MediaReport) -> Check {
    let ways = [(plan.is_down(), server, client), (plan.is_up(), client, server)];
    let mut passed = true;
    let mut texts = Vec::new();
    for (_, sender, receiver) in ways.into_iter().filter(|(runs, ..)| *runs) {
        let (sent, came) = (sender.sent_datagrams, receiver.received_datagrams);
        let sum =
            came.saturating_add(receiver.spoilt_datagrams).saturating_add(receiver.lost_datagrams);
        passed &= sum == sent;
        texts.push(format!(
            "of {} that {} sent, {} came, {} came damaged, {} {} lost",
            counted(sent, "datagram"),
            were(sent),
            count(came),
            count(receiver.spoilt_datagrams),
            count(receiver.lost_datagrams),
            were(receiver.lost_datagrams)
        ));
    }
    Check::new(MediaCheck::Accounted, passed, texts.join("; "))
}

/// What to mind.
pub fn caveats(plan: &MediaPlan, summary: &MediaSummary, hosts: &Hosts) -> Vec<Caveat> {
    let mut caveats: Vec<Caveat> = fragments(plan, hosts).into_iter().collect();
    for (_, way) in summary.directions() {
        if let Some(unsent) = way.frames_unsent.filter(|&unsent| unsent > 0) {
            let text = format!(
                "{} of {} that were due never left: the sender cannot keep this rate",
                count(unsent),
                counted(way.frames_planned, "frame")
            );
            caveats.push(Caveat::new(MediaCaveat::FramesUnsent, text));
        }
        let lag = lag::p99_ns(way.send_lag.as_ref());
        let late = lag.filter(|&lag| lag.saturating_mul(10) > plan.buffer_depth_ns.0);
        caveats.extend(late.map(|lag| {
            let text = format!(
                "one frame in a hundred left {} or more after its time: part of the delay is the sender's own",
                duration_ns(lag)
            );
            Caveat::new(MediaCaveat::SendLag, text)
        }));
    }
    caveats
}

/// Datagrams that an interface does not take whole: one lost part of it loses all of it.
fn fragments(plan: &MediaPlan, hosts: &Hosts) -> Option<Caveat> {
    let interfaces = hosts.both().filter_map(|host| host.network.interface.as_ref());
    let least = interfaces
        .filter_map(|interface| Some((u64::from(interface.mtu_bytes?), interface.name.as_str())))
        .min()?;
    (plan.datagram_bytes.0 + HEADERS > least.0 && plan.rate_bps.0 > 0).then(|| {
        let text = format!(
            "datagrams of {} and their headers are more than a packet of {} B, which is what {} takes: they travel in fragments, and one that is lost loses the whole; give --datagram {} B or less",
            plan.datagram_bytes,
            count(least.0),
            least.1,
            count(least.0.saturating_sub(HEADERS))
        );
        Caveat::new(MediaCaveat::Fragmented, text)
    })
}
