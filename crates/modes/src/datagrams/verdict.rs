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
        corrupt: way.corrupt,
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
        let drops = match self.socket_drops {
            None => {
                let text = format!(
                    "the path or the receiver: {lost}, and what the receiver's socket dropped is not known"
                );
                return ruling(Limit::Network, text, "lost_ratio", false);
            }
            Some(0) => {
                let text = format!("the path: {lost}, and the receiver's socket dropped none");
                return ruling(Limit::Network, text, "lost_ratio", true);
            }
            Some(drops) => drops,
        };
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
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_named_by_its_evidence() {
        let lost = || Facts { lost: 7, lost_ratio: Some(0.01), per_buffer: 1, ..Facts::default() };
        for (facts, limit) in [
            (Facts { socket_drops: Some(7), ..lost() }, Limit::ReceiverSocket),
            (
                Facts { socket_drops: Some(7), receiver_cpu: Some(0.95), ..lost() },
                Limit::ReceiverCpu,
            ),
            (Facts { socket_drops: Some(0), on_the_way: 7, ..lost() }, Limit::Network),
            (Facts { rate_share: Some(1.0), ..lost() }, Limit::Network),
            (Facts { rate_share: Some(1.0), ..Facts::default() }, Limit::ConfiguredRate),
            (Facts { rate_share: Some(0.5), ..Facts::default() }, Limit::SenderCpu),
            (Facts { sender_cpu: Some(0.98), ..Facts::default() }, Limit::SenderCpu),
            (Facts { sender_cpu: Some(0.4), ..Facts::default() }, Limit::Undetermined),
            (
                Facts { socket_drops: Some(7), receiver_still_ns: 1, ..lost() },
                Limit::ReceiverStopped,
            ),
            (
                Facts { socket_drops: Some(0), on_the_way: 7, receiver_still_ns: 1, ..lost() },
                Limit::Network,
            ),
            (
                Facts { rate_share: Some(0.5), sender_still_ns: 1, ..Facts::default() },
                Limit::SenderStopped,
            ),
        ] {
            assert_eq!(facts.ruling().limit, limit, "{facts:?}");
        }
    }

    #[test]
    fn the_figures_that_decide_are_those_that_the_rule_looked_at() {
        let lost = || Facts {
            lost: 7,
            lost_ratio: Some(0.01),
            socket_drops: Some(7),
            per_buffer: 1,
            sender_cpu: Some(0.2),
            receiver_cpu: Some(0.2),
            ..Facts::default()
        };
        let none = || Facts { lost: 0, lost_ratio: Some(0.0), ..lost() };
        let rested = 1_000_000_000;
        let table: [(Facts, Limit, &[&str]); 11] = [
            (lost(), Limit::ReceiverSocket, &["lost_ratio", "receiver_socket_drops"]),
            (
                Facts { receiver_cpu: Some(0.95), ..lost() },
                Limit::ReceiverCpu,
                &["receiver_cpu_share", "receiver_socket_drops"],
            ),
            (
                Facts { receiver_still_ns: rested, ..lost() },
                Limit::ReceiverStopped,
                &["receiver_socket_drops", "receiver_still_ns"],
            ),
            (
                Facts { socket_drops: Some(0), on_the_way: 7, ..lost() },
                Limit::Network,
                &["lost_ratio", "receiver_socket_drops"],
            ),
            (
                Facts { socket_drops: Some(2), on_the_way: 5, ..lost() },
                Limit::Network,
                &["lost_on_the_way", "receiver_socket_drops"],
            ),
            (Facts { socket_drops: None, ..lost() }, Limit::Network, &["lost_ratio"]),
            (
                Facts { rate_share: Some(1.0), ..none() },
                Limit::ConfiguredRate,
                &["configured_rate_share", "lost_ratio"],
            ),
            (
                Facts { rate_share: Some(0.5), ..none() },
                Limit::SenderCpu,
                &["configured_rate_share", "sender_cpu_share"],
            ),
            (
                Facts { rate_share: Some(0.5), sender_still_ns: rested, ..none() },
                Limit::SenderStopped,
                &["configured_rate_share", "sender_still_ns"],
            ),
            (
                Facts { sender_cpu: Some(0.98), ..none() },
                Limit::SenderCpu,
                &["lost_ratio", "sender_cpu_share"],
            ),
            (none(), Limit::Undetermined, &["lost_ratio", "sender_cpu_share"]),
        ];
        for (facts, limit, expected) in table {
            let Ruling { limit: said, deciding, .. } = facts.ruling();
            assert_eq!(said, limit, "{facts:?}");
            let evidence = facts.evidence();
            let mut marked: Vec<&str> = evidence.iter().map(|it| it.name.as_str()).collect();
            marked.retain(|name| deciding.contains(name));
            marked.sort_unstable();
            assert_eq!(marked, expected, "{limit:?} of {facts:?}");
        }
    }

    #[test]
    fn a_verdict_is_sure_where_most_is_known_to_have_been_lost_there() {
        let lost = |socket_drops, on_the_way, per_buffer| Facts {
            lost: 100,
            socket_drops,
            on_the_way,
            per_buffer,
            ..Facts::default()
        };
        let slow = |cpu| Facts { rate_share: Some(0.5), sender_cpu: Some(cpu), ..Facts::default() };
        for (facts, is_sure) in [
            (lost(Some(0), 100, 1), true),
            (lost(Some(10), 90, 1), true),
            (lost(Some(40), 60, 1), false),
            (lost(None, 0, 1), false),
            (lost(Some(90), 10, 1), true),
            // Two buffers of up to 64 may be all of it, or next to nothing.
            (lost(Some(2), 0, 64), false),
            (slow(0.99), true),
            (slow(0.4), false),
            (Facts { stolen: Some(0.2), ..slow(0.99) }, false),
            (Facts { stolen: Some(0.2), ..lost(Some(0), 100, 1) }, true),
            (Facts { rate_share: Some(1.0), stolen: Some(0.2), ..Facts::default() }, true),
        ] {
            let Ruling { limit, doubts, .. } = facts.ruling();
            assert_eq!(doubts.is_empty(), is_sure, "{limit:?} {facts:?}: {doubts:?}");
        }
    }

    #[test]
    fn what_was_lost_is_counted_as_it_is_spelt() {
        for (lost, words) in [
            (1, "the path: 1 datagram was lost, and"),
            (2, "the path: 2 datagrams were lost, and"),
            (12_345, "the path: 12,345 datagrams were lost, and"),
        ] {
            let facts = Facts { lost, on_the_way: lost, socket_drops: Some(0), ..Facts::default() };
            let said = facts.ruling().text;
            assert!(said.starts_with(words), "{said}");
        }
    }

    #[test]
    fn what_came_damaged_is_told_beside_that_nothing_was_lost() {
        let of =
            |corrupt| Facts { corrupt, rate_share: Some(1.0), ..Facts::default() }.ruling().text;
        assert_eq!(of(0), "the configured rate was reached, and nothing was lost");
        assert_eq!(
            of(1),
            "the configured rate was reached, and nothing was lost, but 1 datagram came damaged"
        );
        for facts in [
            Facts { corrupt: 9, sender_cpu: Some(1.0), ..Facts::default() },
            Facts { corrupt: 9, ..Facts::default() },
        ] {
            assert!(
                facts.ruling().text.ends_with("nothing was lost, but 9 datagrams came damaged")
            );
        }
    }

    #[test]
    fn of_two_that_lost_the_one_that_lost_more_is_to_blame() {
        let judged = |lost, drops: u64, per_buffer| {
            let on_the_way = drops.saturating_mul(per_buffer);
            let facts = Facts {
                lost,
                socket_drops: Some(drops),
                on_the_way: lost - on_the_way.min(lost),
                per_buffer,
                receiver_cpu: Some(1.0),
                ..Facts::default()
            };
            let Ruling { limit, text, .. } = facts.ruling();
            (limit, text)
        };
        // One by one, the count is exact.
        let (limit, text) = judged(1_000, 1, 1);
        assert_eq!(limit, Limit::Network);
        assert_eq!(
            text,
            "the path: 1,000 datagrams were lost, 999 of them on the way; the receiver's socket dropped 1 buffer"
        );
        assert_eq!(judged(1_000, 499, 1).0, Limit::Network);
        let (limit, text) = judged(1_000, 500, 1);
        assert_eq!(limit, Limit::ReceiverCpu);
        assert!(text.ends_with("its socket dropped 500 buffers; 500 of them on the way"), "{text}");
        // Joined, a buffer may hold many, and what is sure is what they cannot hold.
        assert_eq!(judged(1_000, 7, 64).0, Limit::Network);
        let (limit, text) = judged(1_000, 8, 64);
        assert_eq!(limit, Limit::ReceiverCpu);
        assert!(
            text.ends_with("of up to 64 datagrams each; at least 488 of them on the way"),
            "{text}"
        );
        assert!(judged(1_000, 16, 64).1.ends_with("16 buffers of up to 64 datagrams each"));
    }
}
