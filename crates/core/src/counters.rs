//! What one machine's kernel counted beside a test, from its start to its end: differences, not totals.
//!
//! Not here: reading it (`os`), and choosing what is worth a line (`modes`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::total;

/// What the kernel of one end counted beside a test. All programs of the machine, or of its namespace, are
/// in it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct HostCounters {
    /// Each processor that was there all the time.
    pub cpus: Vec<CpuShares>,
    /// Each network interface over which anything went or that dropped something.
    pub interfaces: Vec<InterfaceCounters>,
    /// Counters of IP, TCP and UDP that moved, by the kernel's names: `Tcp.RetransSegs`,
    /// `TcpExt.ListenDrops`, `Udp.RcvbufErrors`. Those that state a level and count nothing are left out.
    pub protocols: BTreeMap<String, u64>,
    /// Memory that programs could still have, at the end.
    pub memory_available_bytes: Option<u64>,
    /// The most memory that this process ever had in use.
    pub process_peak_bytes: Option<u64>,
}

/// What one processor did, as shares of one.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct CpuShares {
    /// Its number.
    pub cpu: u32,
    /// Not idle, interrupts and stolen time included.
    pub busy: f64,
    /// Programs.
    pub user: f64,
    /// The kernel for programs.
    pub system: f64,
    /// Hardware interrupts.
    pub interrupt: f64,
    /// Soft interrupts, where the kernel handles most of what arrives.
    pub soft_interrupt: f64,
    /// Taken by the hypervisor for others.
    pub stolen: f64,
    /// Idle while something that ran there last waited for a disk.
    pub iowait: f64,
}

/// What went over one interface.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct InterfaceCounters {
    /// Its name.
    pub name: String,
    /// Received.
    pub received_bytes: u64,
    /// Received.
    pub received_packets: u64,
    /// Received with errors.
    pub receive_errors: u64,
    /// Received and dropped.
    pub receive_drops: u64,
    /// Sent.
    pub sent_bytes: u64,
    /// Sent.
    pub sent_packets: u64,
    /// Not sent, by errors.
    pub send_errors: u64,
    /// Dropped before they were sent.
    pub send_drops: u64,
}

/// What a machine did in a time, in a few numbers, however many processors and interfaces it has: what is looked at over time. All
/// programs of the machine, or of its namespace, are in it.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct HostActivity {
    /// From the reading before to this one: about a report interval, at whose end the counters are read.
    pub length_ns: u64,
    /// Of all processors, the share of time that was not idle. Kernels count processor time in ticks, most of 10 ms.
    pub busy_ratio: Option<f64>,
    /// The same of the processor that was idle least.
    pub busiest_ratio: Option<f64>,
    /// Of its time, what soft interrupts took of the processor that had most of them.
    pub soft_interrupt_ratio: Option<f64>,
    /// Of its time, what the hypervisor took of the processor of which it took most.
    pub stolen_ratio: Option<f64>,
    /// Received over all interfaces.
    pub received_bytes: u64,
    /// Sent over all interfaces.
    pub sent_bytes: u64,
    /// TCP segments that were sent again (`Tcp.RetransSegs`).
    pub retransmits: u64,
    /// Times that TCP had waited for an acknowledgement in vain (`TcpExt.TCPTimeouts`).
    pub timeouts: u64,
    /// Datagrams for which a socket had no room (`Udp.RcvbufErrors`, `Udp6.RcvbufErrors`).
    pub receive_buffer_errors: u64,
    /// All that the machine threw away of what had arrived or was to be sent: by interfaces, by protocols, those datagrams among
    /// it.
    pub drops: u64,
}

/// Counters whose movement means that this machine threw away what had arrived, or could not take it.
const DROPS: [&str; 11] = [
    "Ip.InDiscards",
    "Ip.OutDiscards",
    "Udp.RcvbufErrors",
    "Udp.SndbufErrors",
    "Udp6.RcvbufErrors",
    "TcpExt.ListenDrops",
    "TcpExt.TCPBacklogDrop",
    "TcpExt.PruneCalled",
    "TcpExt.RcvPruned",
    "TcpExt.TCPRcvQDrop",
    "TcpExt.TCPMemoryPressures",
];

impl HostCounters {
    /// The processor that was idle least.
    pub fn busiest(&self) -> Option<CpuShares> {
        self.cpus.iter().copied().max_by(|one, other| one.busy.total_cmp(&other.busy))
    }

    /// The most that the hypervisor took of one processor, as a share of the time.
    pub fn most_stolen(&self) -> Option<f64> {
        self.cpus.iter().map(|cpu| cpu.stolen).reduce(f64::max)
    }

    /// What of it is looked at over time, over a time of this length.
    pub fn activity(&self, length_ns: u64) -> HostActivity {
        let most = |share: fn(&CpuShares) -> f64| self.cpus.iter().map(share).reduce(f64::max);
        let busy: f64 = self.cpus.iter().map(|cpu| cpu.busy).sum();
        let counted = |names: &[&str]| {
            total(names.iter().filter_map(|&name| self.protocols.get(name).copied()))
        };
        HostActivity {
            length_ns,
            busy_ratio: (!self.cpus.is_empty()).then(|| busy / self.cpus.len() as f64),
            busiest_ratio: most(|cpu| cpu.busy),
            soft_interrupt_ratio: most(|cpu| cpu.soft_interrupt),
            stolen_ratio: most(|cpu| cpu.stolen),
            received_bytes: total(self.interfaces.iter().map(|it| it.received_bytes)),
            sent_bytes: total(self.interfaces.iter().map(|it| it.sent_bytes)),
            retransmits: counted(&["Tcp.RetransSegs"]),
            timeouts: counted(&["TcpExt.TCPTimeouts"]),
            receive_buffer_errors: counted(&["Udp.RcvbufErrors", "Udp6.RcvbufErrors"]),
            drops: total(self.drops().into_iter().map(|(_, count)| count)),
        }
    }

    /// What this machine dropped, by name: interfaces first.
    pub fn drops(&self) -> Vec<(String, u64)> {
        let of_interfaces = self.interfaces.iter().flat_map(|interface| {
            [
                (format!("{} receive drops", interface.name), interface.receive_drops),
                (format!("{} receive errors", interface.name), interface.receive_errors),
                (format!("{} send drops", interface.name), interface.send_drops),
                (format!("{} send errors", interface.name), interface.send_errors),
            ]
        });
        let of_protocols =
            DROPS.iter().filter_map(|&name| Some((name.to_owned(), *self.protocols.get(name)?)));
        of_interfaces.chain(of_protocols).filter(|&(_, count)| count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_dropped_is_named_and_what_was_not_is_not() {
        let interface = InterfaceCounters {
            name: "lo".to_owned(),
            send_drops: 3,
            ..InterfaceCounters::default()
        };
        let protocols = [("Tcp.RetransSegs", 9), ("Udp.RcvbufErrors", 2)]
            .map(|(name, count)| (name.to_owned(), count));
        let counters = HostCounters {
            interfaces: vec![interface],
            protocols: protocols.into(),
            ..HostCounters::default()
        };
        let expected = [("lo send drops", 3), ("Udp.RcvbufErrors", 2)];
        assert_eq!(counters.drops(), expected.map(|(name, count)| (name.to_owned(), count)));
        assert_eq!(HostCounters::default().busiest(), None);
    }

    #[test]
    fn activity_is_of_the_busiest_and_of_all_that_was_dropped() {
        let cpu = |busy, soft_interrupt, stolen| CpuShares {
            busy,
            soft_interrupt,
            stolen,
            ..CpuShares::default()
        };
        let interface = |receive_drops| InterfaceCounters {
            received_bytes: 1_000,
            sent_bytes: 10,
            receive_drops,
            ..InterfaceCounters::default()
        };
        let protocols = [
            ("Tcp.RetransSegs", 9),
            ("TcpExt.TCPTimeouts", 1),
            ("Udp.RcvbufErrors", 2),
            ("Udp6.RcvbufErrors", 5),
        ];
        let counters = HostCounters {
            cpus: vec![cpu(0.9, 0.1, 0.0), cpu(0.3, 0.2, 0.05)],
            interfaces: vec![interface(3), interface(0)],
            protocols: protocols.map(|(name, count)| (name.to_owned(), count)).into(),
            ..HostCounters::default()
        };
        let expected = HostActivity {
            length_ns: 7,
            busy_ratio: Some(0.6),
            busiest_ratio: Some(0.9),
            soft_interrupt_ratio: Some(0.2),
            stolen_ratio: Some(0.05),
            received_bytes: 2_000,
            sent_bytes: 20,
            retransmits: 9,
            timeouts: 1,
            receive_buffer_errors: 7,
            drops: 10,
        };
        let found = counters.activity(7);
        assert!((found.busy_ratio.expect("two processors") - 0.6).abs() < 1e-9);
        assert_eq!(HostActivity { busy_ratio: Some(0.6), ..found }, expected);
        assert_eq!(HostCounters::default().activity(0), HostActivity::default());
    }
}
