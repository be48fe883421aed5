//! What a media test came to, at one end and over both.

use pathscope_core::id::FlowId;
use pathscope_core::record::FlowError;
use pathscope_core::stats::{Distribution, LatencyFigures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FrameCounts, Layout, MediaPlan};
use crate::arrivals::{LossBursts, VariationFigures};
use crate::sums::add_fields;

/// What the streams of one end did in one interval.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct MediaInterval {
    /// Streams under way at its end.
    pub streams: u64,
    /// Frames that left whole.
    pub frames_sent: u64,
    /// Datagrams handed to the kernel.
    pub sent_datagrams: u64,
    /// Their payload, headers of datagrams included.
    pub sent_bytes: u64,
    /// Datagrams that came, each counted once.
    pub received_datagrams: u64,
    /// Their payload, headers of datagrams included.
    pub received_bytes: u64,
    /// Frames whose play-out moment came in it, by how they ended, and those that became whole after theirs.
    pub frames: FrameCounts,
    /// Datagrams that came damaged.
    pub damaged_datagrams: u64,
    /// The interarrival jitter (RFC 3550), its mean over arrivals of the interval.
    pub jitter_ns: Option<f64>,
    /// Arrivals in that mean.
    pub jitter_arrivals: u64,
    /// Of frames that became whole in it: the depth of a buffer that would have had each in time.
    pub needed_depth_ns: Option<u64>,
}

impl MediaInterval {
    /// Adds the jitter that streams of another worker found, over so many arrivals.
    pub(super) fn add_jitter(&mut self, mean_ns: f64, arrivals: u64) {
        let (own, theirs) = (self.jitter_arrivals as f64, arrivals as f64);
        let sum = self.jitter_ns.unwrap_or(0.0) * own + mean_ns * theirs;
        self.jitter_arrivals = self.jitter_arrivals.saturating_add(arrivals);
        self.jitter_ns = (own + theirs > 0.0).then(|| sum / (own + theirs));
    }
}

/// What the streams of one end came to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct MediaReport {
    /// Frames that left whole.
    pub frames_sent: u64,
    /// Frames that were due and did not leave within a second after the end.
    pub unsent_frames: u64,
    /// Datagrams handed to the kernel.
    pub sent_datagrams: u64,
    /// Their payload, headers of datagrams included.
    pub sent_bytes: u64,
    /// From when a frame was due (of frames that are spread: each datagram) to when it left. The sender's own
    /// lateness.
    pub send_lag: Option<Distribution>,
    /// How the frames ended that were to be received here.
    pub frames: FrameCounts,
    /// Datagrams that came whole and right, each counted once.
    pub received_datagrams: u64,
    /// Their payload, headers of datagrams included.
    pub received_bytes: u64,
    /// Datagrams that were sent and of which nothing came.
    pub lost_datagrams: u64,
    /// Datagrams that came once more.
    pub duplicates: u64,
    /// Datagrams that came after one of a higher number (RFC 4737).
    pub reordered: u64,
    /// Datagrams that came after the play-out of their frame.
    pub late_datagrams: u64,
    /// Late frames that would have been in time, had their last datagram left when it was due.
    pub late_by_sender: u64,
    /// Datagrams that came damaged.
    pub damaged_datagrams: u64,
    /// Of those: in the header, so that they do not say which they were. Each is also one of the lost.
    pub unreadable_datagrams: u64,
    /// Datagrams that were sent and of which nothing came but something damaged.
    pub spoilt_datagrams: u64,
    /// The first damaged one that said which it was.
    pub first_damaged: Option<DamagedDatagram>,
    /// Where datagrams do not say their places in a frame: those that are of no length that one of the plan has.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlike_datagrams: u64,
    /// Where nobody says how much is sent: frames behind the last of which anything came, of streams of which anything did.
    #[serde(skip_serializing_if = "is_zero")]
    pub silent_frames: u64,
    /// Datagrams of nothing that is streamed here.
    pub foreign: u64,
    /// Datagrams of frames so far ahead of their time that there was no place for them.
    pub early: u64,
    /// Datagrams that came so late that it is not known whether they had come before.
    pub forgotten: u64,
    /// Word from the network (ICMP) that datagrams of this end did not arrive.
    pub unreachable: u64,
    /// From when a frame was due at the sender to when it was whole here, above the least of that: clocks of
    /// two machines have no common zero.
    pub delay: Option<Distribution>,
    /// How much the transit times of datagrams varied, by two definitions.
    pub variation: Option<VariationFigures>,
    /// How much those of frames varied, as ctsTraffic takes it.
    pub frame_jitter: Option<FrameJitter>,
    /// Datagrams that were lost in a row.
    pub bursts: LossBursts,
    /// The longest time in which a stream had no frame to play.
    pub longest_freeze_ns: u64,
    /// The depth of a buffer that would have had each frame in time that ever was whole.
    pub needed_depth_ns: Option<u64>,
    /// Datagrams that this end's own sockets dropped, since they came faster than they were taken; absent
    /// where the system does not say.
    pub socket_drops: Option<u64>,
    /// The first streams, one by one.
    pub streams: Vec<StreamFacts>,
    /// Streams beyond those.
    pub streams_omitted: u64,
    /// Streams that ended before their time.
    pub failed: u64,
    /// Whether datagrams do not say which of their frame they are, nor when they were due, as those of ctsTraffic: which came twice, which
    /// overtook others and how those lie that were lost is not known then, and a lost one is not told from one that came twice beside it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub are_unnumbered: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl MediaReport {
    /// Adds what was counted later; what is derived of counts, or known of streams alone, stays.
    pub(super) fn add(&mut self, later: &Self) {
        add_fields!(
            self, later;
            frames_sent, unsent_frames, sent_datagrams, sent_bytes, received_datagrams, received_bytes, duplicates,
            reordered, late_datagrams, late_by_sender, damaged_datagrams, unreadable_datagrams, spoilt_datagrams,
            unlike_datagrams, silent_frames, foreign,
            early, forgotten, unreachable,
        );
        self.frames.add(&later.frames);
        self.first_damaged = self.first_damaged.or(later.first_damaged);
        self.bursts.merge(&later.bursts);
        self.longest_freeze_ns = self.longest_freeze_ns.max(later.longest_freeze_ns);
        self.needed_depth_ns = self.needed_depth_ns.max(later.needed_depth_ns);
    }
}

/// One stream as one end saw it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct StreamFacts {
    /// Its number.
    pub flow: FlowId,
    /// A UUID that names the stream at both ends alike.
    pub connection_id: Option<String>,
    /// This end's address and port.
    pub local: Option<String>,
    /// The other end's, as seen here.
    pub remote: Option<String>,
    /// Frames that left whole.
    pub frames_sent: u64,
    /// Datagrams handed to the kernel.
    pub sent_datagrams: u64,
    /// Their payload.
    pub sent_bytes: u64,
    /// Datagrams that came, each counted once.
    pub received_datagrams: u64,
    /// Their payload.
    pub received_bytes: u64,
    /// Datagrams that were sent and of which nothing came.
    pub lost_datagrams: u64,
    /// How its frames ended.
    pub frames: FrameCounts,
    /// The longest time in which it had no frame to play.
    pub longest_freeze_ns: u64,
    /// The depth of a buffer that would have had each frame in time that ever was whole.
    pub needed_depth_ns: Option<u64>,
    /// What ended it before its time.
    pub error: Option<FlowError>,
}

/// A damaged datagram, and where it is wrong.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct DamagedDatagram {
    /// Its stream.
    pub flow: FlowId,
    /// Its frame, from 0.
    pub frame: u64,
    /// Its place in the frame, from 0.
    pub datagram: u32,
    /// The first wrong byte of the payload; its length, where it was cut off.
    pub offset_bytes: u64,
}

/// Differences of neighbouring frames, as the column `PrevToCurrentInFlightTimeJitter` of ctsTraffic has them: of
/// frames that were whole in time, by the stamps of the datagram of each that came last.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FrameJitter {
    /// Differences.
    pub count: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// The largest.
    pub max_ns: u64,
}

impl FrameJitter {
    pub(super) fn record(&mut self, change_ns: u64) {
        self.merge(&Self { count: 1, mean_ns: change_ns as f64, max_ns: change_ns });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let count = self.count.saturating_add(other.count);
        if count > 0 {
            let sum = self.mean_ns * self.count as f64 + other.mean_ns * other.count as f64;
            self.mean_ns = sum / count as f64;
        }
        self.count = count;
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// What a media test came to, over both ends.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct MediaSummary {
    /// Bytes of a frame, headers of its datagrams included.
    pub frame_bytes: u64,
    /// Datagrams of a frame.
    pub datagrams_per_frame: u32,
    /// From client to server, where the plan has that.
    pub up: Option<MediaDirection>,
    /// From server to client, where the plan has that.
    pub down: Option<MediaDirection>,
}

/// One direction over both ends.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct MediaDirection {
    /// Frames that the plan has, of all streams.
    pub frames_planned: u64,
    /// Frames that left whole; absent where the sender has not reported.
    pub frames_sent: Option<u64>,
    /// Frames that were due and never left.
    pub frames_unsent: Option<u64>,
    /// How they ended; absent where the receiver has not reported.
    pub frames: Option<FrameCounts>,
    /// Of the frames that were to be played, the share that was there in time.
    pub played_ratio: Option<f64>,
    /// Payload that came whole and right, over the time that its frames took to send by the plan, in bits a
    /// second, all streams together.
    pub received_bps: Option<f64>,
    /// Datagrams that the sender handed to its kernel.
    pub sent_datagrams: Option<u64>,
    /// Datagrams that came whole and right, each counted once.
    pub received_datagrams: Option<u64>,
    /// Datagrams of which nothing came.
    pub lost_datagrams: Option<u64>,
    /// Of those: dropped by the receiver's own sockets, which had no room.
    pub lost_in_socket: Option<u64>,
    /// Of those: lost before they reached it.
    pub lost_in_network: Option<u64>,
    /// Of those: came with a header so damaged that it does not say which they were.
    pub lost_unreadable: Option<u64>,
    /// Datagrams that came damaged.
    pub damaged_datagrams: Option<u64>,
    /// Datagrams that came once more.
    pub duplicates: Option<u64>,
    /// Datagrams that came after one of a higher number.
    pub reordered: Option<u64>,
    /// Datagrams that were lost in a row.
    pub bursts: Option<LossBursts>,
    /// From when a frame was due at the sender to when it was whole at the receiver, above the least of that.
    pub delay: Option<LatencyFigures>,
    /// How much transit times of datagrams varied.
    pub variation: Option<VariationFigures>,
    /// How much those of frames varied.
    pub frame_jitter: Option<FrameJitter>,
    /// The longest time in which a stream had no frame to play.
    pub longest_freeze_ns: Option<u64>,
    /// The depth of a buffer that would have had each frame in time that ever was whole.
    pub needed_depth_ns: Option<u64>,
    /// From when a frame was due to when it left.
    pub send_lag: Option<LatencyFigures>,
    /// Late frames that the sender's own lateness made late.
    pub late_by_sender: Option<u64>,
    /// Streams that ended before their time, at either end.
    pub failed: u64,
}

impl MediaSummary {
    /// From what both ends said; `server` is absent where it was lost.
    pub fn of(plan: &MediaPlan, client: &MediaReport, server: Option<&MediaReport>) -> Self {
        let layout = Layout::of(plan);
        let of = |sender, receiver| MediaDirection::of(plan, &layout, sender, receiver);
        Self {
            frame_bytes: layout.frame_bytes,
            datagrams_per_frame: layout.datagrams,
            up: plan.is_up().then(|| of(Some(client), server)),
            down: plan.is_down().then(|| of(server, Some(client))),
        }
    }

    /// The directions that there are, with their names.
    pub fn directions(&self) -> impl Iterator<Item = (&'static str, &MediaDirection)> {
        let named = [("down", &self.down), ("up", &self.up)];
        named.into_iter().filter_map(|(name, way)| Some((name, way.as_ref()?)))
    }
}

impl MediaDirection {
    fn of(
        plan: &MediaPlan,
        layout: &Layout,
        sender: Option<&MediaReport>,
        receiver: Option<&MediaReport>,
    ) -> Self {
        let figures = |stored: &Distribution| Some(LatencyFigures::of(&stored.histogram()));
        let failed = [sender, receiver].into_iter().flatten().map(|end| end.failed).max();
        let of_sender = Self {
            frames_planned: layout.frames.saturating_mul(plan.streams.into()),
            frames_sent: sender.map(|sender| sender.frames_sent),
            frames_unsent: sender.map(|sender| sender.unsent_frames),
            sent_datagrams: sender.map(|sender| sender.sent_datagrams),
            send_lag: sender.and_then(|sender| sender.send_lag.as_ref()).and_then(figures),
            failed: failed.unwrap_or(0),
            ..Self::default()
        };
        let Some(receiver) = receiver else { return of_sender };
        let is_numbered = !receiver.are_unnumbered;
        let (frames, lost) = (receiver.frames, receiver.lost_datagrams);
        let judged = frames.judged();
        // What came with a damaged header did not get lost on the way.
        let unreadable = receiver.unreadable_datagrams.min(lost);
        let in_socket = receiver.socket_drops.map(|drops| drops.min(lost - unreadable));
        // Streams send side by side: their time is that of the frames of one of them.
        let ended = judged.saturating_add(frames.cut);
        let per_stream = ended as f64 / f64::from(plan.streams.max(1));
        let seconds = per_stream / f64::from(layout.frame_rate);
        Self {
            frames: Some(frames),
            played_ratio: (judged > 0).then(|| frames.played() as f64 / judged as f64),
            received_bps: (seconds > 0.0).then(|| receiver.received_bytes as f64 * 8.0 / seconds),
            received_datagrams: Some(receiver.received_datagrams),
            lost_datagrams: Some(lost),
            lost_in_socket: in_socket,
            lost_in_network: in_socket.map(|drops| lost - unreadable - drops),
            lost_unreadable: Some(unreadable),
            damaged_datagrams: Some(receiver.damaged_datagrams),
            duplicates: is_numbered.then_some(receiver.duplicates),
            reordered: is_numbered.then_some(receiver.reordered),
            bursts: is_numbered.then(|| receiver.bursts.clone()),
            delay: receiver.delay.as_ref().and_then(figures),
            variation: receiver.variation.clone(),
            frame_jitter: receiver.frame_jitter,
            longest_freeze_ns: Some(receiver.longest_freeze_ns),
            needed_depth_ns: receiver.needed_depth_ns,
            late_by_sender: is_numbered.then_some(receiver.late_by_sender),
            ..of_sender
        }
    }
}
