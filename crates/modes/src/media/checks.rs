//! What has to hold of streams of frames, and what to mind of them.

use pathscope_core::quantity::{count, counted, duration_ns, total, were};
use pathscope_core::record::{Caveat, Check};

use super::findings::{MediaCaveat, MediaCheck};
use super::{Layout, MediaDirection, MediaPlan, MediaReport, MediaSummary};
use crate::end::Hosts;
use crate::results::Ends;
use crate::{checks, finding, lag};

/// Bytes of the headers of IPv6 and UDP.
const HEADERS: u64 = 40 + 8;

/// What has to hold.
pub fn checks(plan: &MediaPlan, ends: &Ends<'_, MediaPlan>) -> Vec<Check> {
    let all = verified(plan, ends).into_iter().chain([completed(plan, ends)]);
    let accounted = |client: &_, server: &_| accounted(plan, client, server);
    all.chain(checks::of_counts(ends, MediaCheck::Accounted, accounted)).collect()
}

/// Every datagram was what was sent.
fn verified(plan: &MediaPlan, ends: &Ends<'_, MediaPlan>) -> Option<Check> {
    let damaged = total(ends.reports().map(|end| end.damaged_datagrams));
    let received = total(ends.reports().map(|end| end.received_datagrams));
    let first =
        ends.reports().find_map(|end| end.first_damaged).map_or_else(String::new, |first| {
            format!(
                "; the first is datagram {} of frame {} of stream {}, from byte {} on",
                first.datagram, first.frame, first.flow, first.offset_bytes
            )
        });
    let wrong = (damaged > 0)
        .then(|| format!("{} came with wrong bytes{first}", counted(damaged, "datagram")));
    let wrong = wrong.or_else(|| {
        // What no datagram of this plan can be, in every frame.
        let other = ends.reports().find(|end| end.unlike_datagrams > 0 && end.frames.completed == 0)?;
        Some(format!(
            "{} of {} are of lengths that none has by this end's settings, and no frame had its {} bytes: the server was told \
             another rate, frame rate or largest datagram",
            count(other.unlike_datagrams),
            counted(received, "datagram"),
            count(Layout::of(plan).frame_bytes)
        ))
    });
    let unknown = checks::unknown_data(ends, (plan.is_up(), plan.is_down()));
    let right =
        format!("all bytes of {} are the bytes that were sent", counted(received, "datagram"));
    let is_told = received > 0 || damaged > 0 || unknown.is_some();
    is_told.then(|| checks::of_ends(MediaCheck::Verified, wrong, unknown, right))
}

/// Every stream came to its end at both ends.
fn completed(plan: &MediaPlan, ends: &Ends<'_, MediaPlan>) -> Check {
    let failed = ends.reports().map(|end| end.failed).fold(0, u64::max);
    let mut streams = ends.reports().flat_map(|end| &end.streams);
    let first = streams.find_map(|stream| {
        let error = stream.error.as_ref()?;
        Some(format!("; stream {}: {}", stream.flow, error.text))
    });
    let streams = plan.streams.into();
    let wrong = (failed > 0).then(|| {
        let first = first.unwrap_or_default();
        format!("{} of {} failed{first}", count(failed), counted(streams, "stream"))
    });
    let unknown = ends.server.is_none().then(|| checks::unknown_end(ends, "stream", streams));
    let right = checks::all_ended("stream", streams);
    checks::of_ends(MediaCheck::Completed, wrong, unknown, right)
}

/// Each datagram that was sent came, came damaged, or was lost.
fn accounted(plan: &MediaPlan, client: &MediaReport, server: &MediaReport) -> Check {
    let ways = [(plan.is_down(), server, client), (plan.is_up(), client, server)];
    let mut passed = true;
    let mut texts = Vec::new();
    for (_, sender, receiver) in ways.into_iter().filter(|(runs, ..)| *runs) {
        let (sent, came) = (sender.sent_datagrams, receiver.received_datagrams);
        let (spoilt, lost) = (receiver.spoilt_datagrams, receiver.lost_datagrams);
        passed &= total([came, spoilt, lost]) == sent;
        texts.push(format!(
            "of {} that {} sent, {} came, {} came damaged, {} {} lost",
            counted(sent, "datagram"),
            were(sent),
            count(came),
            count(spoilt),
            count(lost),
            were(lost)
        ));
    }
    Check::new(MediaCheck::Accounted, passed, texts.join("; "))
}

/// What to mind.
pub fn caveats(
    plan: &MediaPlan,
    summary: &MediaSummary,
    ends: &Ends<'_, MediaPlan>,
) -> Vec<Caveat> {
    let of_ways = summary.directions().flat_map(|(_, way)| {
        [(MediaCaveat::FramesUnsent, unsent(way)), (MediaCaveat::SendLag, send_lag(plan, way))]
    });
    let of_plan = [
        (MediaCaveat::Fragmented, fragments(plan, ends.hosts)),
        (MediaCaveat::EndedEarly, ended_early(plan, ends)),
    ];
    finding::caveats(of_plan.into_iter().chain(of_ways))
}

fn ended_early(plan: &MediaPlan, ends: &Ends<'_, MediaPlan>) -> Option<String> {
    let silent = total(ends.reports().map(|end| end.silent_frames));
    let all = Layout::of(plan).frames.saturating_mul(plan.streams.into());
    (silent > 0).then(|| {
        format!(
            "nothing came of the last {} of {}, as where the server was told a shorter length of its streams, or has gone",
            count(silent),
            counted(all, "frame")
        )
    })
}

fn unsent(way: &MediaDirection) -> Option<String> {
    let unsent = way.frames_unsent.filter(|&unsent| unsent > 0)?;
    Some(format!(
        "{} of {} that were due never left: the sender cannot keep this rate",
        count(unsent),
        counted(way.frames_planned, "frame")
    ))
}

fn send_lag(plan: &MediaPlan, way: &MediaDirection) -> Option<String> {
    let lag = lag::p99_ns(way.send_lag.as_ref())?;
    (lag.saturating_mul(10) > plan.buffer_depth_ns.0).then(|| {
        format!(
            "one frame in a hundred left {} or more after its time: part of the delay is the sender's own",
            duration_ns(lag)
        )
    })
}

/// Datagrams that an interface does not take whole: one lost part of it loses all of it.
fn fragments(plan: &MediaPlan, hosts: &Hosts) -> Option<String> {
    let interfaces = hosts.both().filter_map(|host| host.network.interface.as_ref());
    let (mtu, name) = interfaces
        .filter_map(|interface| Some((u64::from(interface.mtu_bytes?), interface.name.as_str())))
        .min()?;
    (plan.datagram_bytes.0 + HEADERS > mtu && plan.rate_bps.0 > 0).then(|| {
        format!(
            "datagrams of {} and their headers are more than a packet of {} B, which is what {name} takes: they travel in fragments, and one that is lost loses the whole; give --datagram {} B or less",
            plan.datagram_bytes,
            count(mtu),
            count(mtu.saturating_sub(HEADERS))
        )
    })
}
