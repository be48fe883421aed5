//! What limited a goodput test, and how that is known.
//!
//! Rules, in this order; the first that holds is the verdict, and all their figures are its evidence:
//! the configured rate was reached; a worker thread of one end used its processor up, or waited for one
//! most of the time (a quota, or other programs); both ends share
//! a machine whose processors were used up; the kernel says that the sender waited for the receiver's
//! window, or for room in its own send buffer, a good part of its busy time (`TCP_INFO`); the sender
//! was busy nearly all the time, so congestion control held it: the path. Shares below a threshold
//! give no verdict rather than a guess.

use pathscope_core::id::FlowId;
use pathscope_core::quantity::{ratio, total};
use pathscope_core::record::{Evidence, Limit, TcpFacts, Verdict, WorkerUsage};

use super::{GoodputPlan, GoodputSummary, Pattern};
use crate::registry::EndReport;

/// A thread that uses its processor for this share of the time has no more to give.
const CPU_USED_UP: f64 = 0.9;
/// Of all processors, what both ends must have used for the machine to be full of them.
const CPU_OURS: f64 = 0.6;
/// A receiver this busy is why its window is small.
const CPU_BUSY: f64 = 0.7;
/// A thread that is ready and has no processor for this share of the time is held back by that.
const CPU_KEPT_AWAY: f64 = 0.5;
/// Threads that wait for a processor for less than this share of the time lose nothing by it.
const CPU_WAITS: f64 = 0.1;
/// A rate is reached from this share on: pacing moves whole quanta.
const RATE_REACHED: f64 = 0.95;
/// A sender stopped for this share of its busy time was held back by it.
const LIMITED: f64 = 0.3;
/// A sender with data in flight for this share of the time was held back by the path.
const BUSY: f64 = 0.8;

/// The verdict on a test of `plan`. `shared_cpus`: the processors that both ends share, where they are on
/// one machine.
pub fn verdict(
    plan: &GoodputPlan,
    summary: &GoodputSummary,
    client: &EndReport,
    server: &EndReport,
    shared_cpus: Option<u32>,
) -> Verdict {
    let (sender, receiver) = ends(summary, client, server);
    let facts = Facts::of(plan, summary, sender, receiver, shared_cpus);
    let limit = facts.limit();
    Verdict { limit, text: facts.text(limit), evidence: facts.evidence() }
}

/// The end that sends and the one that receives; of two directions, the slower one is explained.
fn ends<'end>(
    summary: &GoodputSummary,
    client: &'end EndReport,
    server: &'end EndReport,
) -> (&'end EndReport, &'end EndReport) {
    let up = summary.up.and_then(|up| up.goodput_bps);
    let down = summary.down.and_then(|down| down.goodput_bps);
    match (up, down) {
        (Some(up), Some(down)) if down < up => (server, client),
        (None, Some(_)) => (server, client),
        _ => (client, server),
    }
}

/// The figures that a verdict rests on, shares of one.
#[derive(Debug, Default)]
struct Facts {
    rate: Option<f64>,
    sender_cpu: Option<f64>,
    receiver_cpu: Option<f64>,
    /// Of the time, what the thread that waited longest for a processor did so.
    sender_wait: Option<f64>,
    receiver_wait: Option<f64>,
    shared_host_cpu: Option<f64>,
    /// What both ends' workers used of all processors.
    own_cpu: Option<f64>,
    /// Whether some worker spins, so that its processor time says nothing.
    spins: bool,
    sender_uses_more: bool,
    receive_window: Option<f64>,
    send_buffer: Option<f64>,
    busy: Option<f64>,
    retransmits: Option<u64>,
}

impl Facts {
    fn of(
        plan: &GoodputPlan,
        summary: &GoodputSummary,
        sender: &EndReport,
        receiver: &EndReport,
        shared_cpus: Option<u32>,
    ) -> Self {
        let flows =
            || sender.goodput.iter().flat_map(|report| &report.flows).filter_map(|flow| flow.tcp);
        let sum = |field: fn(&TcpFacts) -> Option<u64>| {
            flows().filter_map(|tcp| field(&tcp)).reduce(|sum, more| sum + more)
        };
        let busy_ns = sum(|tcp| tcp.busy_ns);
        let of_busy =
            |part: Option<u64>| Some(part? as f64 / busy_ns.filter(|&busy| busy > 0)? as f64);
        let elapsed = sender.elapsed_ns as f64 * flows().count() as f64;
        Self {
            rate: rate_share(plan, summary),
            sender_cpu: busiest(sender),
            receiver_cpu: busiest(receiver),
            sender_wait: longest_wait(sender),
            receiver_wait: longest_wait(receiver),
            shared_host_cpu: sender.host_cpu_share.filter(|_| shared_cpus.is_some()),
            own_cpu: shared_cpus.and_then(|cpus| own_cpu_share(sender, receiver, cpus)),
            spins: [sender, receiver]
                .into_iter()
                .flat_map(|end| &end.workers)
                .any(|worker| worker.wait == "spin"),
            sender_uses_more: cpu_ns(sender) >= cpu_ns(receiver),
            receive_window: of_busy(sum(|tcp| tcp.receive_window_limited_ns)),
            send_buffer: of_busy(sum(|tcp| tcp.send_buffer_limited_ns)),
            busy: busy_ns.filter(|_| elapsed > 0.0).map(|busy| busy as f64 / elapsed),
            retransmits: sum(|tcp| tcp.retransmits),
        }
    }

    fn limit(&self) -> Limit {
        let cpu = if self.sender_cpu >= self.receiver_cpu {
            Limit::SenderCpu
        } else {
            Limit::ReceiverCpu
        };
        let shared_cpu = if self.sender_uses_more { Limit::SenderCpu } else { Limit::ReceiverCpu };
        match self {
            _ if at_least(self.rate, RATE_REACHED) => Limit::ConfiguredRate,
            _ if at_least(self.sender_cpu, CPU_USED_UP)
                || at_least(self.receiver_cpu, CPU_USED_UP) =>
            {
                cpu
            }
            _ if self.is_kept_waiting() => {
                if self.sender_wait >= self.receiver_wait {
                    Limit::SenderCpu
                } else {
                    Limit::ReceiverCpu
                }
            }
            _ if at_least(self.shared_host_cpu, CPU_USED_UP)
                && at_least(self.own_cpu, CPU_OURS) =>
            {
                shared_cpu
            }
            _ if at_least(self.receive_window, LIMITED)
                && at_least(self.receiver_cpu, CPU_BUSY) =>
            {
                Limit::ReceiverCpu
            }
            _ if at_least(self.receive_window, LIMITED) => Limit::ReceiveWindow,
            _ if at_least(self.send_buffer, LIMITED) => Limit::SendBuffer,
            _ if at_least(self.busy, BUSY) && !self.spins && !self.is_disturbed() => Limit::Network,
            _ => Limit::Undetermined,
        }
    }

    /// Whether a thread of one end waited for a processor most of the time.
    fn is_kept_waiting(&self) -> bool {
        at_least(self.sender_wait, CPU_KEPT_AWAY) || at_least(self.receiver_wait, CPU_KEPT_AWAY)
    }

    /// Whether the machine that both ends share was full, and they may have lost by that.
    fn is_disturbed(&self) -> bool {
        let waits = [self.sender_wait, self.receiver_wait];
        let lost = waits.iter().any(|wait| wait.is_none_or(|wait| wait >= CPU_WAITS));
        at_least(self.shared_host_cpu, CPU_USED_UP) && lost
    }

    fn text(&self, limit: Limit) -> String {
        let share = |share: Option<f64>| share.map_or_else(|| "n/a".to_owned(), ratio);
        match limit {
            Limit::ConfiguredRate => {
                "the configured rate was reached; nothing else held it back".to_owned()
            }
            Limit::SenderCpu | Limit::ReceiverCpu => {
                let (name, cpu, wait) = match limit {
                    Limit::SenderCpu => ("sender", self.sender_cpu, self.sender_wait),
                    _ => ("receiver", self.receiver_cpu, self.receiver_wait),
                };
                match self.shared_host_cpu {
                    _ if cpu.is_none_or(|cpu| cpu < CPU_USED_UP) && self.is_kept_waiting() => format!(
                        "the {name}'s CPU: a thread used {} of a processor and waited for one, which a quota or other programs kept from it, for {} of the time",
                        share(cpu),
                        share(wait)
                    ),
                    Some(host) if cpu.is_none_or(|cpu| cpu < CPU_USED_UP) => format!(
                        "both ends share one machine, whose processors were {} busy; the {name} used most of it",
                        ratio(host)
                    ),
                    _ => format!(
                        "the {name}'s CPU: its busiest thread used {} of a processor",
                        share(cpu)
                    ),
                }
            }
            Limit::ReceiveWindow => format!(
                "the receiver's window: it stopped the sender for {} of its busy time",
                share(self.receive_window)
            ),
            Limit::SendBuffer => format!(
                "the send buffer: too small for the path for {} of the sender's busy time",
                share(self.send_buffer)
            ),
            Limit::Network => match self.retransmits {
                Some(segments) if segments > 0 => {
                    format!(
                        "the path: congestion control held the sender, and {segments} segments were sent again"
                    )
                }
                _ => "the path: congestion control held the sender; nothing was lost".to_owned(),
            },
            Limit::Undetermined | Limit::Unknown if self.is_disturbed() => {
                "the processors were used up, and mostly not by this test: other programs disturbed it".to_owned()
            }
            Limit::Undetermined | Limit::Unknown if self.spins => {
                "not known: threads that spin use their processor up whether they have work or not".to_owned()
            }
            // The others are of datagrams.
            _ => {
                "nothing stands out; see the evidence".to_owned()
            }
        }
    }

    fn evidence(&self) -> Vec<Evidence> {
        let shares = [
            ("configured_rate_share", self.rate, "of the configured rate was reached"),
            ("sender_cpu_share", self.sender_cpu, "of a processor, the sender's busiest thread"),
            (
                "receiver_cpu_share",
                self.receiver_cpu,
                "of a processor, the receiver's busiest thread",
            ),
            (
                "sender_cpu_wait_share",
                self.sender_wait,
                "of the time the sender's thread waited for a processor",
            ),
            (
                "receiver_cpu_wait_share",
                self.receiver_wait,
                "of the time the receiver's thread waited for a processor",
            ),
            (
                "shared_host_cpu_share",
                self.shared_host_cpu,
                "of all processors, which both ends share",
            ),
            ("own_cpu_share", self.own_cpu, "of all processors, both ends' threads"),
            (
                "receive_window_limited_share",
                self.receive_window,
                "of its busy time the sender waited for the window",
            ),
            (
                "send_buffer_limited_share",
                self.send_buffer,
                "of its busy time the sender waited for its buffer",
            ),
            ("sender_busy_share", self.busy, "of the time the sender had data in flight"),
        ];
        let shares = shares
            .into_iter()
            .filter_map(|(name, value, of)| Some(Evidence::share(name, value?, of)));
        let retransmits = self.retransmits.map(|segments| {
            let text = format!("{segments} segments sent again");
            Evidence::new("retransmits", segments as f64, text)
        });
        shares.chain(retransmits).collect()
    }
}

fn at_least(share: Option<f64>, bound: f64) -> bool {
    share.is_some_and(|share| share >= bound)
}

/// The share of all processors that both ends' workers used.
fn own_cpu_share(sender: &EndReport, receiver: &EndReport, cpus: u32) -> Option<f64> {
    let available = sender.elapsed_ns.max(receiver.elapsed_ns) as f64 * f64::from(cpus);
    (available > 0.0).then(|| (cpu_ns(sender) + cpu_ns(receiver)) as f64 / available)
}

/// The reached share of the configured rate, in the slower direction.
fn rate_share(plan: &GoodputPlan, summary: &GoodputSummary) -> Option<f64> {
    plan.rate_bps?;
    let rates = (0..plan.connections).filter_map(|flow| plan.rate_of(FlowId(flow)));
    let total: f64 = rates.map(|rate| rate.0 as f64).sum();
    let directions = [summary.up, summary.down].into_iter().flatten();
    let shares =
        directions.filter_map(|direction| direction.goodput_bps).map(|goodput| goodput / total);
    // In turns, the two directions share the time.
    if plan.pattern == Pattern::Pushpull {
        shares.reduce(|sum, share| sum + share)
    } else {
        shares.reduce(f64::min)
    }
}

/// The share of a processor that the busiest worker used.
fn busiest(end: &EndReport) -> Option<f64> {
    end.waiting_workers().map(WorkerUsage::cpu_share).reduce(f64::max)
}

/// How long the thread that waited longest for a processor did so.
fn longest_wait(end: &EndReport) -> Option<f64> {
    end.waiting_workers().filter_map(WorkerUsage::cpu_wait_share).reduce(f64::max)
}

fn cpu_ns(end: &EndReport) -> u64 {
    total(end.workers.iter().flat_map(|worker| [worker.user_ns, worker.system_ns]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_named_by_its_evidence() {
        let idle = || Facts { sender_cpu: Some(0.2), receiver_cpu: Some(0.2), ..Facts::default() };
        for (facts, limit) in [
            (Facts { rate: Some(0.99), ..idle() }, Limit::ConfiguredRate),
            (Facts { sender_cpu: Some(0.97), ..idle() }, Limit::SenderCpu),
            (
                Facts { receiver_cpu: Some(0.97), receive_window: Some(0.9), ..idle() },
                Limit::ReceiverCpu,
            ),
            (
                Facts {
                    shared_host_cpu: Some(0.99),
                    own_cpu: Some(0.9),
                    sender_uses_more: true,
                    ..idle()
                },
                Limit::SenderCpu,
            ),
            (
                Facts { shared_host_cpu: Some(0.99), own_cpu: Some(0.1), ..idle() },
                Limit::Undetermined,
            ),
            (Facts { sender_wait: Some(0.7), ..idle() }, Limit::SenderCpu),
            (Facts { receiver_wait: Some(0.7), ..idle() }, Limit::ReceiverCpu),
            (
                Facts { shared_host_cpu: Some(0.99), busy: Some(0.99), ..idle() },
                Limit::Undetermined,
            ),
            (
                Facts {
                    shared_host_cpu: Some(0.99),
                    busy: Some(0.99),
                    sender_wait: Some(0.02),
                    receiver_wait: Some(0.05),
                    ..idle()
                },
                Limit::Network,
            ),
            (
                Facts {
                    shared_host_cpu: Some(0.99),
                    busy: Some(0.99),
                    sender_wait: Some(0.02),
                    receiver_wait: Some(0.3),
                    ..idle()
                },
                Limit::Undetermined,
            ),
            (Facts { spins: true, busy: Some(0.99), ..idle() }, Limit::Undetermined),
            (Facts { receive_window: Some(0.5), ..idle() }, Limit::ReceiveWindow),
            (
                Facts { receive_window: Some(0.5), receiver_cpu: Some(0.8), ..idle() },
                Limit::ReceiverCpu,
            ),
            (Facts { send_buffer: Some(0.5), ..idle() }, Limit::SendBuffer),
            (Facts { busy: Some(0.99), retransmits: Some(7), ..idle() }, Limit::Network),
            (idle(), Limit::Undetermined),
            (Facts::default(), Limit::Undetermined),
        ] {
            assert_eq!(facts.limit(), limit, "{facts:?}");
            assert!(!facts.text(limit).is_empty());
        }
    }
}
