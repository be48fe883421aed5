//! What one machine's kernel counted beside a test, from its start to its end: differences, not totals.
//!
//! Not here: reading it (`os`), and choosing what is worth a line (`modes`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}
