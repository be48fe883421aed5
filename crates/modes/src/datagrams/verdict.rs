//! What limited a test of datagram goodput, and how that is known.
//!
//! There is no congestion control that would hold a sender back, so whatever it sends is lost or arrives. Rules, in this
//! order; the first that holds is the verdict, of the direction that lost more: datagrams were lost, and the buffers that
//! the receiver's socket dropped can hold half of them or more: the receiver, by its program where that stood still, by its
//! processor where that was used up;
//! datagrams were lost, and more than half of them elsewhere: the path; the sender's rate was reached; a rate was asked
//! for and not reached, or none was asked for: the sender, by its processor where a thread used it up or waited for one.

use pathscope_core::quantity::{count, counted, duration_ns, ratio, were};
use pathscope_core::record::{Evidence, Limit, Verdict, WorkerUsage};

use super::{DatagramDirection, DatagramsPlan, DatagramsSummary};
use crate::end::EndFacts;
use crate::load::Extent;
use crate::verdicts::{self, SURELY};

/// A thread that used or awaited its processor for this share of the time has no more to give.
const CPU_USED_UP: f64 = 0.9;
/// A rate is reached from this share on.
const RATE_REACHED: f64 = 0.99;
/// Well above [`CPU_USED_UP`].
const CPU_SURELY_USED_UP: f64 = 0.95;

/// The verdict on a test of `plan`.
pub fn verdict(
    plan: &DatagramsPlan,
    summary: &DatagramsSummary,
    client: EndFacts<'_>,
    server: EndFacts<'_>,
) -> Option<Verdict> {
    let lost = |way: &DatagramDirection| way.lost_ratio.unwrap_or(0.0);
    let (name, way) =
        summary.directions().max_by(|(_, one), (_, other)| lost(one).total_cmp(&lost(other)))?;
    let (sender, receiver) = if name == "up" { (client, server) } else { (server, client) };
    // What a thread awaited of a processor, it would have used.
    let used = |it: &WorkerUsage| Some(it.cpu_share() + it.cpu_wait_share().unwrap_or(0.0));
    let facts = Facts {
        lost: way.lost.unwrap_or(0),
        lost_ratio: way.lost_ratio,
        socket_drops: way.socket_drops,
        corrupt: way.corrupt.unwrap_or(0),
        on_the_way: way.lost_on_the_way.unwrap_or(0),
        per_buffer: way.datagrams_per_buffer.unwrap_or(1),
        rate_share: rate_share(plan, way),
        sender_cpu: sender.busiest(used),
        receiver_cpu: receiver.busiest(used),
        sender_still_ns: sender.still_ns(),
        receiver_still_ns: receiver.still_ns(),
        stolen: verdicts::most_stolen([sender, receiver]),
    };
    let Ruling { limit, text, deciding, doubts } = facts.ruling();
    let verdict = Verdict::new(limit, text, facts.evidence());
    Some(verdict.doubted(&doubts).decided_by(&deciding))
}

/// Sent of what was due by the rate. What is to be transferred is all due in the end: there it is how fast it came.
fn rate_share(plan: &DatagramsPlan, way: &DatagramDirection) -> Option<f64> {
    let rate = plan.rate_bps?.0 as f64 * f64::from(plan.connections);
    if let Extent::TransferBytes(_) = plan.extent {
        let received = 1.0 - way.lost_ratio?;
        return Some(way.goodput_bps? / (rate * received).max(1.0));
    }
    let sent = way.sent? as f64;
    let due = sent + way.unsent? as f64;
    (due > 0.0).then(|| sent / due)
}

#[derive(Debug, Default)]
struct Facts {
    lost: u64,
    lost_ratio: Option<f64>,
    /// Came otherwise than they were sent.
    corrupt: u64,
    socket_drops: Option<u64>,
    /// Of the lost: on the way, at least.
    on_the_way: u64,
    /// Datagrams that a dropped buffer held at the most.
    per_buffer: u64,
    rate_share: Option<f64>,
    sender_cpu: Option<f64>,
    receiver_cpu: Option<f64>,
    /// For how long each end's program stood still.
    sender_still_ns: u64,
    receiver_still_ns: u64,
    /// Of the time, the most that the hypervisor took of one processor of either end.
    stolen: Option<f64>,
}

/// What the rules say.
struct Ruling {
    limit: Limit,
    text: String,
    /// The names of the two figures that make it this limit and no other.
    deciding: [&'static str; 2],
    /// All that speaks against it.
    doubts: Vec<String>,
}

impl Facts {
    /// The rule that holds, and what else speaks against it: a hypervisor, where it is about an end.
    fn ruling(&self) -> Ruling {
        let mut ruling = if self.lost > 0 { self.of_loss() } else { self.of_rate() };
        if !matches!(ruling.limit, Limit::Network | Limit::ConfiguredRate) {
            ruling.doubts.extend(verdicts::doubt_by_stolen(self.stolen));
        }
        ruling
    }

    /// Nothing was lost: why it was not faster.
    fn of_rate(&self) -> Ruling {
        // What came damaged was not lost, and not received either.
        let rest = match self.corrupt {
            0 => "nothing was lost".to_owned(),
            corrupt => {
                format!("nothing was lost, but {} came damaged", counted(corrupt, "datagram"))
            }
        };
        let is_full = reaches(self.sender_cpu, CPU_SURELY_USED_UP);
        let full = is_full.then_some("its thread used its processor up, too");
        let not_full = (!is_full).then_some("its thread did not use its processor up");
        let (limit, text, other, doubt) = match self.rate_share {
            Some(reached) if reached >= RATE_REACHED => {
                let text = format!("the configured rate was reached, and {rest}");
                (Limit::ConfiguredRate, text, "lost_ratio", None)
            }
            Some(reached) if self.sender_still_ns > 0 => {
                let text = format!(
                    "the sender's program: it stood still for {}, and sent {} of what its rate asked for",
                    duration_ns(self.sender_still_ns),
                    ratio(reached)
                );
                (Limit::SenderStopped, text, "sender_still_ns", full)
            }
            Some(reached) => {
                let text =
                    format!("the sender: it sent {} of what its rate asked for", ratio(reached));
                (Limit::SenderCpu, text, "sender_cpu_share", not_full)
            }
            None if reaches(self.sender_cpu, CPU_USED_UP) => {
                let text = format!("the sender's CPU: it sent as fast as it could, and {rest}");
                (Limit::SenderCpu, text, "lost_ratio", not_full)
            }
            None => {
                let text =
                    format!("the sender was held back by its socket or its interface; {rest}");
                (Limit::Undetermined, text, "lost_ratio", None)
            }
        };
        let of_rate =
            if self.rate_share.is_some() { "configured_rate_share" } else { "sender_cpu_share" };
        let doubts = doubt.into_iter().map(str::to_owned).collect();
        Ruling { limit, text, deciding: [of_rate, other], doubts }
    }

    /// Datagrams were lost: whoever lost the larger part.
    fn of_loss(&self) -> Ruling {
        let share = self.lost_ratio.map_or_else(String::new, |lost| format!(" ({})", ratio(lost)));
        let lost = format!("{}{share} {} lost", counted(self.lost, "datagram"), were(self.lost));
        let surely = |known: u64| known as f64 >= SURELY * self.lost as f64;
        let ruling = |limit, text, by: &'static str, is_sure: bool| {
            let doubt = "it is not known of enough of them where they were lost";
            let doubts = if is_sure { Vec::new() } else { vec![doubt.to_owned()] };
            Ruling { limit, text, deciding: [by, "receiver_socket_drops"], doubts }
        };
        let Some(drops) = self.socket_drops else {
            let text = format!(
                "the path or the receiver: {lost}, and what the receiver's socket dropped is not known"
            );
            return ruling(Limit::Network, text, "lost_ratio", false);
        };
        if drops == 0 {
            let text = format!("the path: {lost}, and the receiver's socket dropped none");
            return ruling(Limit::Network, text, "lost_ratio", true);
        }
        let (many, each) = match self.per_buffer {
            0..=1 => ("", String::new()),
            most => ("at least ", format!(" of up to {} datagrams each", count(most))),
        };
        let dropped = format!("socket dropped {}{each}", counted(drops, "buffer"));
        let on_the_way = format!("{many}{} of them on the way", count(self.on_the_way));
        // More than anywhere else.
        if self.on_the_way > self.lost.saturating_sub(self.on_the_way) {
            let text = format!("the path: {lost}, {on_the_way}; the receiver's {dropped}");
            return ruling(Limit::Network, text, "lost_on_the_way", surely(self.on_the_way));
        }
        let (limit, who, by, is_clear) = if self.receiver_still_ns > 0 {
            let still = duration_ns(self.receiver_still_ns);
            let who = format!("the receiver's program: it stood still for {still}");
            (Limit::ReceiverStopped, who, "receiver_still_ns", true)
        } else if reaches(self.receiver_cpu, CPU_USED_UP) {
            let who = "the receiver, whose processor was used up".to_owned();
            let is_clear = reaches(self.receiver_cpu, CPU_SURELY_USED_UP);
            (Limit::ReceiverCpu, who, "receiver_cpu_share", is_clear)
        } else {
            (Limit::ReceiverSocket, "the receiver".to_owned(), "lost_ratio", true)
        };
        let rest = if self.on_the_way > 0 { format!("; {on_the_way}") } else { String::new() };
        let text = format!("{who}: {lost}, and its {dropped}{rest}");
        // Each buffer held one datagram at least.
        ruling(limit, text, by, is_clear && surely(drops))
    }

    fn evidence(&self) -> Vec<Evidence> {
        let shares = verdicts::shares([
            ("lost_ratio", self.lost_ratio, "of the datagrams sent were lost"),
            ("configured_rate_share", self.rate_share, "of what the rate asked for was sent"),
            ("sender_cpu_share", self.sender_cpu, "of a processor, the sender's busiest thread"),
            (
                "receiver_cpu_share",
                self.receiver_cpu,
                "of a processor, the receiver's busiest thread",
            ),
        ]);
        let dropped = "dropped by the receiver's socket";
        let drops = self
            .socket_drops
            .map(|drops| verdicts::count_of("receiver_socket_drops", drops, "buffer", dropped));
        let on_the_way = self.socket_drops.filter(|_| self.on_the_way > 0).map(|_| {
            let text = format!("{} or more lost on the way", count(self.on_the_way));
            Evidence::new("lost_on_the_way", self.on_the_way as f64, text)
        });
        let still = [("sender", self.sender_still_ns), ("receiver", self.receiver_still_ns)];
        let still = still.into_iter().filter_map(|(end, ns)| verdicts::stood_still(end, ns));
        shares.chain(drops).chain(on_the_way).chain(still).collect()
    }
}

fn reaches(share: Option<f64>, bound: f64) -> bool {
    share.is_some_and(|share| share >= bound)
}

#[cfg(test)]
mod tests;
