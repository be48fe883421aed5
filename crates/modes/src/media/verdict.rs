//! Whether the path carries this stream, and if not, who is to blame.
//!
//! Rules, in this order; the first that holds is the verdict, and the figures of all are its evidence: every
//! frame was there in time; the sender left frames out, or made more of them late than the network; the
//! receiver's own sockets dropped more than the network; the network lost; the network was late. Of two
//! directions the worse one is explained.

use pathscope_core::quantity::{count, counted, duration_ns, ratio};
use pathscope_core::record::{Evidence, Limit, Verdict};

use super::{FrameCounts, MediaDirection, MediaPlan, MediaSummary};

/// The verdict on a test of `plan`; `None` where an end has not reported.
pub fn verdict(plan: &MediaPlan, summary: &MediaSummary) -> Option<Verdict> {
    let worst = summary.directions().max_by(|(_, one), (_, other)| bad(one).cmp(&bad(other)))?;
    let facts = Facts::of(worst.1)?;
    let name = match (worst.0, plan.is_up() && plan.is_down()) {
        (_, false) => String::new(),
        (name, true) => format!("{name}: "),
    };
    let limit = facts.limit();
    Some(Verdict {
        limit,
        text: format!("{name}{}", facts.text(plan, limit)),
        evidence: facts.evidence(),
    })
}

/// Frames that were not played.
fn bad(way: &MediaDirection) -> u64 {
    let frames = way.frames.unwrap_or_default();
    let unsent = way.frames_unsent.unwrap_or(0);
    not_played(frames).saturating_add(unsent)
}

/// Of the frames that were sent.
fn not_played(frames: FrameCounts) -> u64 {
    frames.missed.saturating_sub(frames.unsent).saturating_add(frames.erroneous)
}

/// What a verdict rests on.
#[derive(Debug)]
struct Facts {
    judged: u64,
    not_played: u64,
    dropped: u64,
    erroneous: u64,
    late: u64,
    late_by_sender: u64,
    unsent: u64,
    sent: u64,
    lost: u64,
    in_socket: u64,
    damaged: u64,
    lag_p99_ns: Option<u64>,
    lag_most_ns: Option<u64>,
    depth_ns: Option<u64>,
}

impl Facts {
    fn of(way: &MediaDirection) -> Option<Self> {
        let frames = way.frames?;
        let lag = way.send_lag.as_ref();
        Some(Self {
            judged: frames.judged(),
            not_played: not_played(frames),
            dropped: frames.dropped(),
            erroneous: frames.erroneous,
            late: frames.late,
            late_by_sender: way.late_by_sender.unwrap_or(0),
            unsent: way.frames_unsent?,
            sent: way.sent_datagrams?,
            lost: way.lost_datagrams?,
            in_socket: way.lost_in_socket.unwrap_or(0),
            damaged: way.damaged_datagrams.unwrap_or(0),
            lag_p99_ns: lag.and_then(|lag| lag.percentile(99.0)?.value_ns),
            lag_most_ns: lag.and_then(|lag| lag.max_ns),
            depth_ns: way.needed_depth_ns,
        })
    }

    fn limit(&self) -> Limit {
        let late_on_the_way = self.late.saturating_sub(self.late_by_sender);
        match self {
            _ if self.judged == 0 && self.unsent == 0 => Limit::Undetermined,
            _ if self.not_played == 0 && self.unsent == 0 => Limit::ConfiguredRate,
            _ if self.unsent > self.not_played
                || self.late_by_sender > late_on_the_way.max(self.dropped) =>
            {
                Limit::SenderLate
            }
            _ if self.dropped >= self.late && self.in_socket > self.lost - self.in_socket => {
                Limit::ReceiverSocket
            }
            _ if self.erroneous > self.dropped.max(self.late) => Limit::Damage,
            _ if self.dropped >= self.late => Limit::NetworkLoss,
            _ => Limit::NetworkDelay,
        }
    }

    fn text(&self, plan: &MediaPlan, limit: Limit) -> String {
        let missed =
            format!("{} of {} not played", count(self.not_played), counted(self.judged, "frame"));
        let network = self.lost.saturating_sub(self.in_socket);
        let of_sent = |lost: u64| ratio(lost as f64 / self.sent.max(1) as f64);
        match limit {
            Limit::ConfiguredRate => {
                "the path carries this stream: every frame was there when it was to be played"
                    .to_owned()
            }
            Limit::SenderLate if self.unsent > 0 => format!(
                "the sender: {} due and never left, since this rate is more than it can send",
                if self.unsent == 1 {
                    "1 frame was".to_owned()
                } else {
                    format!("{} frames were", count(self.unsent))
                }
            ),
            Limit::SenderLate => format!(
                "the sender: {missed}, {} of them late since they had left late, by {} at most",
                count(self.late_by_sender),
                self.lag_most_ns.map_or_else(|| "n/a".to_owned(), duration_ns)
            ),
            Limit::ReceiverSocket => format!(
                "the receiver's socket: {missed}; it had no room for {} that the network had brought, {} of all",
                counted(self.in_socket, "datagram"),
                of_sent(self.in_socket)
            ),
            Limit::Damage => format!("damage on the way: {missed}, since datagrams came altered"),
            Limit::NetworkLoss => format!(
                "loss in the network: {missed}; it lost {}, {} of all",
                counted(network, "datagram"),
                of_sent(network)
            ),
            Limit::NetworkDelay => format!(
                "delay in the network: {missed}, {} of them late; a buffer of {} would have had those in time, and this one has {}",
                count(self.late),
                self.depth_ns.map_or_else(|| "n/a".to_owned(), duration_ns),
                plan.buffer_depth_ns
            ),
            _ => "no frame was to be played".to_owned(),
        }
    }

    fn evidence(&self) -> Vec<Evidence> {
        let of = |name: &str, value: u64, text: String| Evidence {
            name: name.to_owned(),
            value: value as f64,
            text,
        };
        let mut evidence = vec![
            of(
                "frames_not_played",
                self.not_played,
                format!("{} frames not played", count(self.not_played)),
            ),
            of(
                "datagrams_lost_in_network",
                self.lost.saturating_sub(self.in_socket),
                format!(
                    "{} lost in the network",
                    counted(self.lost.saturating_sub(self.in_socket), "datagram")
                ),
            ),
            of(
                "datagrams_lost_in_socket",
                self.in_socket,
                format!("{} lost in the receiver's socket", counted(self.in_socket, "datagram")),
            ),
            of(
                "frames_late",
                self.late,
                format!(
                    "{} late, {} of them by the sender",
                    counted(self.late, "frame"),
                    count(self.late_by_sender)
                ),
            ),
        ];
        if self.damaged > 0 {
            let text = format!("{} damaged", counted(self.damaged, "datagram"));
            evidence.push(of("datagrams_damaged", self.damaged, text));
        }
        if let Some(lag) = self.lag_p99_ns {
            let text = format!("99 % of frames left within {} of their time", duration_ns(lag));
            evidence.push(of("send_lag_p99_ns", lag, text));
        }
        evidence
    }
}
