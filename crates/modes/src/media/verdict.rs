//! Whether the path carries this stream, and if not, who is to blame.
//!
//! Rules, in this order; the first that holds is the verdict, and the figures of all are its evidence: every
//! frame was there in time; the sender left frames out, or made more of them late than the network; the receiver's program
//! stood still, and most were late or found no room in its socket; the receiver's own sockets dropped more than the network; the network damaged; it lost; it was late. A datagram whose
//! header came damaged is counted as lost, since it does not say which it was; here it is one of the damaged. Of two
//! directions the worse one is explained.

use pathscope_core::quantity::{count, counted, duration_ns, ratio, total, were};
use pathscope_core::record::{Evidence, Limit, Verdict};

use super::{FrameCounts, MediaDirection, MediaPlan, MediaSummary};
use crate::end::EndFacts;
use crate::lag;
use crate::verdicts::{self, SURELY};

/// The verdict on a test of `plan`; `None` where an end has not reported.
pub fn verdict(
    plan: &MediaPlan,
    summary: &MediaSummary,
    client: EndFacts<'_>,
    server: Option<EndFacts<'_>>,
) -> Option<Verdict> {
    let (name, way) = summary.directions().max_by_key(|(_, way)| bad(way))?;
    let receiver = if name == "up" { server } else { Some(client) };
    let receiver_still_ns = receiver.map_or(0, |end| end.still_ns());
    let facts = Facts::of(way, receiver_still_ns)?;
    let limit = facts.limit();
    let verdict = Verdict::new(limit, facts.text(plan, limit), facts.evidence());
    let mut verdict = verdict.doubted(&facts.doubts(limit)).decided_by(&facts.deciding(limit));
    if plan.is_up() && plan.is_down() {
        verdict.text.insert_str(0, &format!("{name}: "));
    }
    Some(verdict)
}

/// Frames that were not played.
fn bad(way: &MediaDirection) -> u64 {
    let not_played = way.frames.unwrap_or_default().not_played();
    not_played.saturating_add(way.frames_unsent.unwrap_or(0))
}

/// What a verdict rests on.
#[derive(Debug)]
struct Facts {
    frames: FrameCounts,
    late_by_sender: u64,
    unsent: u64,
    sent: u64,
    /// Lost datagrams: in the network, in the receiver's socket, and those that came with a damaged header.
    in_network: u64,
    in_socket: u64,
    unreadable: u64,
    damaged: u64,
    lag_p99_ns: Option<u64>,
    lag_most_ns: Option<u64>,
    depth_ns: Option<u64>,
    /// For how long the receiver's program stood still.
    receiver_still_ns: u64,
}

impl Facts {
    fn of(way: &MediaDirection, receiver_still_ns: u64) -> Option<Self> {
        let lag = way.send_lag.as_ref();
        let in_socket = way.lost_in_socket.unwrap_or(0);
        let unreadable = way.lost_unreadable.unwrap_or(0);
        let not_on_the_way = in_socket.saturating_add(unreadable);
        Some(Self {
            frames: way.frames?,
            late_by_sender: way.late_by_sender.unwrap_or(0),
            unsent: way.frames_unsent?,
            sent: way.sent_datagrams?,
            in_network: way.lost_datagrams?.saturating_sub(not_on_the_way),
            in_socket,
            unreadable,
            damaged: way.damaged_datagrams.unwrap_or(0),
            lag_p99_ns: lag::p99_ns(lag),
            lag_most_ns: lag.and_then(|lag| lag.max_ns),
            depth_ns: way.needed_depth_ns,
            receiver_still_ns,
        })
    }

    /// What most of the lost datagrams were lost by.
    fn lost_by(&self) -> Limit {
        if self.in_socket > self.in_network.max(self.unreadable) {
            Limit::ReceiverSocket
        } else if self.unreadable > self.in_network {
            Limit::Damage
        } else {
            Limit::NetworkLoss
        }
    }

    fn limit(&self) -> Limit {
        let (late, dropped) = (self.frames.late, self.frames.dropped());
        let on_the_way = self.late_on_the_way();
        let by_receiver = self.by_receiver();
        let others = self.frames.not_played().saturating_sub(by_receiver);
        // A frame is dropped, and not erroneous, where a datagram does not say that it is one of it.
        let not_spoilt = dropped - self.dropped_by(Limit::Damage);
        match self.lost_by() {
            _ if self.frames.judged() == 0 && self.unsent == 0 => Limit::Undetermined,
            _ if self.frames.not_played() == 0 && self.unsent == 0 => Limit::ConfiguredRate,
            _ if self.is_unsent() || self.late_by_sender > on_the_way.max(dropped) => {
                Limit::SenderLate
            }
            // What came meanwhile was late, or found no room: more than others that were not played.
            _ if self.receiver_still_ns > 0 && by_receiver > others => Limit::ReceiverStopped,
            Limit::ReceiverSocket if dropped >= late => Limit::ReceiverSocket,
            _ if self.spoilt() > not_spoilt.max(late) => Limit::Damage,
            lost_by if dropped >= late => lost_by,
            _ => Limit::NetworkDelay,
        }
    }

    /// Whether more frames never left than left and were not played.
    fn is_unsent(&self) -> bool {
        self.unsent > self.frames.not_played()
    }

    /// Those that were late, and not since they had left late.
    const fn late_on_the_way(&self) -> u64 {
        self.frames.late.saturating_sub(self.late_by_sender)
    }

    /// Frames that were dropped, where most of what was lost was lost by this.
    fn dropped_by(&self, place: Limit) -> u64 {
        if self.lost_by() == place { self.frames.dropped() } else { 0 }
    }

    /// Frames that came damaged.
    fn spoilt(&self) -> u64 {
        self.frames.erroneous.saturating_add(self.dropped_by(Limit::Damage))
    }

    /// Frames that a receiver at rest makes late, or drops at its socket.
    fn by_receiver(&self) -> u64 {
        self.late_on_the_way().saturating_add(self.dropped_by(Limit::ReceiverSocket))
    }

    fn text(&self, plan: &MediaPlan, limit: Limit) -> String {
        let judged = counted(self.frames.judged(), "frame");
        let missed = format!("{} of {judged} not played", count(self.frames.not_played()));
        let lost =
            |lost: u64| (counted(lost, "datagram"), ratio(lost as f64 / self.sent.max(1) as f64));
        let time = |known: Option<u64>| known.map_or_else(|| "n/a".to_owned(), duration_ns);
        match limit {
            Limit::ConfiguredRate => {
                "the path carries this stream: every frame was there when it was to be played"
                    .to_owned()
            }
            Limit::SenderLate if self.is_unsent() => format!(
                "the sender: {} {} due and never left, since this rate is more than it can send",
                counted(self.unsent, "frame"),
                were(self.unsent)
            ),
            Limit::SenderLate => format!(
                "the sender: {missed}, {} of them late since they had left late, by {} at most",
                count(self.late_by_sender),
                time(self.lag_most_ns)
            ),
            Limit::ReceiverSocket => {
                let (lost, share) = lost(self.in_socket);
                format!(
                    "the receiver's socket: {missed}; it had no room for {lost} that the network had brought, {share} of all"
                )
            }
            Limit::ReceiverStopped => {
                let still = duration_ns(self.receiver_still_ns);
                format!("the receiver's program: {missed}; it stood still for {still}")
            }
            Limit::Damage => format!("damage on the way: {missed}, since datagrams came altered"),
            Limit::NetworkLoss => {
                let (lost, share) = lost(self.in_network);
                format!("loss in the network: {missed}; it lost {lost}, {share} of all")
            }
            Limit::NetworkDelay => format!(
                "delay in the network: {missed}, {} of them late; a buffer of {} would have had those in time, and this one has {}",
                count(self.frames.late),
                time(self.depth_ns),
                plan.buffer_depth_ns
            ),
            _ => "no frame was to be played".to_owned(),
        }
    }

    /// All that speaks against this limit: that it explains no clear majority of the frames that were not played, or that many
    /// of the lost datagrams were lost elsewhere.
    fn doubts(&self, limit: Limit) -> Vec<String> {
        let all = self.frames.not_played().saturating_add(self.unsent);
        let explained = match limit {
            Limit::SenderLate => self.unsent.saturating_add(self.late_by_sender),
            Limit::ReceiverStopped => self.by_receiver(),
            Limit::Damage => self.spoilt(),
            Limit::NetworkLoss | Limit::ReceiverSocket => self.frames.dropped(),
            Limit::NetworkDelay => self.late_on_the_way(),
            _ => all,
        };
        let is_clear = |part: u64, all: u64| part as f64 >= SURELY * all as f64;
        let minor = !is_clear(explained, all);
        let lost = [self.in_network, self.in_socket, self.unreadable];
        let is_of_lost = matches!(limit, Limit::NetworkLoss | Limit::ReceiverSocket);
        let elsewhere = is_of_lost && !is_clear(lost.into_iter().fold(0, u64::max), total(lost));
        let minor = minor.then_some("many were not played for other reasons");
        let elsewhere = elsewhere.then_some("many were lost elsewhere");
        minor.into_iter().chain(elsewhere).map(str::to_owned).collect()
    }

    /// The names of the two figures that make it this verdict and no other.
    fn deciding(&self, limit: Limit) -> [&'static str; 2] {
        let in_socket = self.dropped_by(Limit::ReceiverSocket);
        let known = |name, figure: Option<u64>| figure.map_or("frames_not_played", |_| name);
        match limit {
            Limit::SenderLate if self.is_unsent() => ["frames_unsent", "frames_not_played"],
            Limit::SenderLate => ["frames_late", known("send_lag_p99_ns", self.lag_p99_ns)],
            Limit::ReceiverStopped if in_socket > self.late_on_the_way() => {
                ["receiver_still_ns", "datagrams_lost_in_socket"]
            }
            Limit::ReceiverStopped => ["receiver_still_ns", "frames_late"],
            Limit::ReceiverSocket => ["frames_not_played", "datagrams_lost_in_socket"],
            Limit::Damage => ["frames_not_played", "datagrams_damaged"],
            Limit::NetworkDelay => ["frames_late", known("needed_depth_ns", self.depth_ns)],
            Limit::NetworkLoss => ["frames_not_played", "datagrams_lost_in_network"],
            _ => ["frames_not_played", "frames_unsent"],
        }
    }

    fn evidence(&self) -> Vec<Evidence> {
        let frames = |name, number, became| verdicts::count_of(name, number, "frame", became);
        let datagrams = |name, number, became| verdicts::count_of(name, number, "datagram", became);
        let late = format!("late, {} of them by the sender", count(self.late_by_sender));
        let mut evidence = vec![
            frames("frames_not_played", self.frames.not_played(), "not played"),
            datagrams("datagrams_lost_in_network", self.in_network, "lost in the network"),
            datagrams("datagrams_lost_in_socket", self.in_socket, "lost in the receiver's socket"),
            frames("frames_late", self.frames.late, &late),
            frames("frames_unsent", self.unsent, "due and never left"),
        ];
        evidence.extend(verdicts::stood_still("receiver", self.receiver_still_ns));
        if self.damaged > 0 {
            evidence.push(datagrams("datagrams_damaged", self.damaged, "damaged"));
        }
        evidence.extend(self.lag_p99_ns.map(|lag| {
            let text = format!("99 % of frames left within {} of their time", duration_ns(lag));
            Evidence::new("send_lag_p99_ns", lag as f64, text)
        }));
        evidence.extend(self.depth_ns.map(|depth| {
            let text = format!("a buffer of {} would have been enough", duration_ns(depth));
            Evidence::new("needed_depth_ns", depth as f64, text)
        }));
        evidence
    }
}

#[cfg(test)]
mod tests;
