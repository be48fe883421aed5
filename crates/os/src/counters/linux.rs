//! Linux: `/proc/stat`, `/proc/net/dev`, `/proc/net/snmp`, `/proc/net/snmp6`, `/proc/net/netstat`,
//! `/proc/meminfo` and `/proc/self/status` (proc(5)). The network's files are those of this namespace.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use pathscope_core::counters::{CpuShares, HostCounters, InterfaceCounters};

/// Names under which the kernel states a level or a setting: a difference of two says nothing.
const LEVELS: [&str; 7] = [
    "Ip.Forwarding",
    "Ip.DefaultTTL",
    "Tcp.RtoAlgorithm",
    "Tcp.RtoMin",
    "Tcp.RtoMax",
    "Tcp.MaxConn",
    "Tcp.CurrEstab",
];

/// A server holds two or three for each of its sessions: small ones, then.
#[derive(Debug)]
pub struct Reading {
    /// Ticks by processor: user, nice, system, idle, iowait, irq, softirq, steal.
    cpus: Box<[(u32, [u64; 8])]>,
    interfaces: Box<[(String, [u64; 16])]>,
    protocols: Protocols,
    memory_available_bytes: Option<u64>,
    process_peak_bytes: Option<u64>,
}

impl Reading {
    pub fn now() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let mut protocols = paired(&read("/proc/net/snmp"));
        protocols.extend(paired(&read("/proc/net/netstat")));
        protocols.extend(listed(&read("/proc/net/snmp6")));
        Self {
            cpus: cpus(&read("/proc/stat")),
            interfaces: interfaces(&read("/proc/net/dev")),
            protocols: Protocols::of(protocols),
            memory_available_bytes: kilobytes(&read("/proc/meminfo"), "MemAvailable"),
            process_peak_bytes: kilobytes(&read("/proc/self/status"), "VmHWM"),
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "the same signature on every system")]
    pub fn since(&self, earlier: &Self) -> Option<HostCounters> {
        let cpus = self.cpus.iter().filter_map(|&(cpu, ticks)| {
            let before = value_of(&earlier.cpus, &cpu)?;
            shares(cpu, &difference(&ticks, &before))
        });
        let interfaces = self.interfaces.iter().filter_map(|(name, counts)| {
            // One that came up meanwhile counts from zero.
            let before = value_of(&earlier.interfaces, name).unwrap_or_default();
            interface(name, &difference(counts, &before))
        });
        let before = self.protocols.counted_by(&earlier.protocols);
        let protocols = self.protocols.iter().enumerate().filter_map(|(place, (name, count))| {
            let moved = count.saturating_sub(before(place, name).unwrap_or(0));
            (moved > 0 && !LEVELS.contains(&name.as_str())).then(|| (name.clone(), moved))
        });
        Some(HostCounters {
            cpus: cpus.collect(),
            interfaces: interfaces.collect(),
            protocols: protocols.collect(),
            memory_available_bytes: self.memory_available_bytes,
            process_peak_bytes: self.process_peak_bytes,
        })
    }
}

/// What protocols have counted, each number under its name. Readings have hundreds of names, and nearly always the same: those
/// that follow one another share them.
#[derive(Debug)]
struct Protocols {
    /// In their order.
    names: Arc<[String]>,
    counts: Box<[u64]>,
}

/// The names of the last reading.
static NAMES: Mutex<Option<Arc<[String]>>> = Mutex::new(None);

impl Protocols {
    fn of(counts: BTreeMap<String, u64>) -> Self {
        let mut last = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let same = last.take_if(|names| names.iter().eq(counts.keys()));
        let names = same.unwrap_or_else(|| counts.keys().cloned().collect());
        *last = Some(Arc::clone(&names));
        Self { names, counts: counts.into_values().collect() }
    }

    fn iter(&self) -> impl Iterator<Item = (&String, u64)> {
        self.names.iter().zip(self.counts.iter().copied())
    }

    /// What another reading has of what this one has at a place and under a name. Where they share their names nothing is looked up: a
    /// server asks for hundreds of names, once a second for each of its sessions.
    fn counted_by<'a>(&self, other: &'a Self) -> impl Fn(usize, &String) -> Option<u64> + use<'a> {
        let is_same = Arc::ptr_eq(&self.names, &other.names);
        move |place, name| if is_same { Some(other.counts[place]) } else { other.count(name) }
    }

    fn count(&self, name: &String) -> Option<u64> {
        self.names.binary_search(name).ok().map(|place| self.counts[place])
    }
}

/// What stands beside this name, of few.
fn value_of<K: PartialEq, V: Copy>(all: &[(K, V)], name: &K) -> Option<V> {
    all.iter().find(|(key, _)| key == name).map(|&(_, value)| value)
}

fn difference<const COUNT: usize>(now: &[u64; COUNT], before: &[u64; COUNT]) -> [u64; COUNT] {
    std::array::from_fn(|index| now[index].saturating_sub(before[index]))
}

fn shares(cpu: u32, ticks: &[u64; 8]) -> Option<CpuShares> {
    let total: u64 = ticks.iter().sum();
    let [user, nice, system, idle, iowait, interrupt, soft_interrupt, stolen] =
        ticks.map(|ticks| ticks as f64 / total as f64);
    (total > 0).then_some(CpuShares {
        cpu,
        busy: 1.0 - idle - iowait,
        user: user + nice,
        system,
        interrupt,
        soft_interrupt,
        stolen,
        iowait,
    })
}

fn interface(name: &str, counts: &[u64; 16]) -> Option<InterfaceCounters> {
    let &[
        received_bytes,
        received_packets,
        receive_errors,
        receive_drops,
        _,
        _,
        _,
        _,
        sent_bytes,
        sent_packets,
        send_errors,
        send_drops,
        ..,
    ] = counts;
    counts.iter().any(|&count| count > 0).then(|| InterfaceCounters {
        name: name.to_owned(),
        received_bytes,
        received_packets,
        receive_errors,
        receive_drops,
        sent_bytes,
        sent_packets,
        send_errors,
        send_drops,
    })
}

fn cpus(stat: &str) -> Box<[(u32, [u64; 8])]> {
    let cpu = |line: &str| {
        let (name, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((name.parse().ok()?, numbers(ticks)?))
    };
    stat.lines().filter_map(cpu).collect()
}

fn interfaces(dev: &str) -> Box<[(String, [u64; 16])]> {
    let interface = |line: &str| {
        let (name, counts) = line.split_once(':')?;
        Some((name.trim().to_owned(), numbers(counts)?))
    };
    dev.lines().filter_map(interface).collect()
}

/// The first numbers of a line; `None` where there are fewer.
fn numbers<const COUNT: usize>(text: &str) -> Option<[u64; COUNT]> {
    let mut numbers = [0; COUNT];
    let mut words = text.split_ascii_whitespace();
    for number in &mut numbers {
        *number = words.next()?.parse().ok()?;
    }
    Some(numbers)
}

/// Lines in pairs, `Tcp: names` and `Tcp: numbers`. A number below zero is a setting.
fn paired(text: &str) -> BTreeMap<String, u64> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.chunks_exact(2).filter_map(|pair| {
        let (group, names) = pair[0].split_once(':')?;
        let (_, values) = pair[1].split_once(':')?;
        let values = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
        Some(values.filter_map(move |(name, value)| {
            Some((format!("{group}.{name}"), value.parse().ok()?))
        }))
    });
    pairs.flatten().collect()
}

/// A name and a number a line, `Udp6InErrors 0`; of those the ones of IPv6 and UDP, named like the rest.
fn listed(text: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (name, value) = (words.next()?, words.next()?);
        let group = ["Udp6", "Ip6"].into_iter().find(|group| name.starts_with(group))?;
        Some((format!("{group}.{}", &name[group.len()..]), value.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(key, _)| *key == name)?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(stat: &str, dev: &str, snmp: &str) -> Reading {
        Reading {
            cpus: cpus(stat),
            interfaces: interfaces(dev),
            protocols: Protocols::of(paired(snmp)),
            memory_available_bytes: None,
            process_peak_bytes: None,
        }
    }

    #[test]
    fn differences_are_told_and_levels_are_not() {
        let before = reading(
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 10 100 0 0 0 0 0 0\nintr 5\n",
            "Inter-| Receive\n face |bytes\n  lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
            "Tcp: RtoMin MaxConn CurrEstab RetransSegs InErrs\nTcp: 200 -1 3 5 1\n",
        );
        let after = reading(
            "cpu0 30 0 20 150 10 0 10 0 0 0\ncpu1 1 1 1 1 1 1 1 1\n",
            "  lo: 11 4 3 5 5 6 7 8 29 11 11 12 13 14 15 16\n eth0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
            "Tcp: RtoMin MaxConn CurrEstab RetransSegs InErrs\nTcp: 200 -1 9 12 1\n",
        );
        let counters = after.since(&before).expect("Linux counts");
        let [cpu] = counters.cpus[..] else { panic!("{counters:?}") };
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(cpu.cpu == 0 && near(cpu.busy, 0.4) && near(cpu.soft_interrupt, 0.1), "{cpu:?}");
        // Waiting for a disk is nothing that it does.
        assert!(near(cpu.iowait, 0.1) && near(cpu.user, 0.2) && near(cpu.system, 0.1), "{cpu:?}");
        let [lo] = &counters.interfaces[..] else { panic!("{counters:?}") };
        assert_eq!((lo.received_bytes, lo.received_packets, lo.receive_drops), (10, 2, 1));
        assert_eq!((lo.sent_bytes, lo.sent_packets, lo.send_drops), (20, 1, 0));
        assert_eq!(counters.protocols, [("Tcp.RetransSegs".to_owned(), 7)].into());
    }

    #[test]
    fn lines_of_ipv6_are_named_like_the_rest() {
        let listed = listed("Ip6InReceives 7\nUdp6RcvbufErrors \t 3\nIcmp6InMsgs 1\n");
        assert_eq!(
            listed,
            [("Ip6.InReceives".to_owned(), 7), ("Udp6.RcvbufErrors".to_owned(), 3)].into()
        );
    }

    #[test]
    fn this_machine_counts() {
        let before = Reading::now();
        let after = Reading::now();
        let has_lo = value_of(&after.interfaces, &"lo".to_owned()).is_some();
        assert!(!after.cpus.is_empty() && has_lo, "{after:?}");
        for name in ["Tcp.RetransSegs", "TcpExt.ListenDrops"] {
            assert!(after.protocols.count(&name.to_owned()).is_some(), "{after:?}");
        }
        let counters = after.since(&before).expect("Linux counts");
        assert!(counters.memory_available_bytes > Some(0) && counters.process_peak_bytes > Some(0));
    }

    #[test]
    fn nonsense_is_nothing() {
        let nonsense = reading("cpu\ncpux 1\n", "::\na: 1 2", "Tcp:\nUdp: 1\nIp");
        let counters = nonsense.since(&nonsense).expect("Linux counts");
        assert_eq!(counters, HostCounters::default());
    }
}
