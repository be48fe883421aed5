//! What a test came to in ntttcp's own figures, over the time that it measures: between warm-up and cool-down. Not how they are shown
//! (`screen`, `files`).

use std::collections::BTreeMap;
use std::ops::Range;

use pathscope_core::counters::HostCounters;
use pathscope_core::id::FlowId;
use pathscope_core::journal::{ConnectionProgress, TestOver};
use pathscope_core::record::{Host, TcpFacts, WorkerUsage};
use pathscope_modes::document::{Document, Measurement};

use super::settings::Settings;

/// The counters of `--show-tcp-retrans`, as ntttcp calls each on its screen and as the kernel does.
pub(super) const RETRANSMITS: [(&str, &str); 7] = [
    ("retrans_segments/sec", "Tcp.RetransSegs"),
    ("lost_retrans/sec", "TcpExt.TCPLostRetransmit"),
    ("syn_retrans/sec", "TcpExt.TCPSynRetrans"),
    ("fast_retrans/sec", "TcpExt.TCPFastRetrans"),
    ("forward_retrans/sec", "TcpExt.TCPForwardRetrans"),
    ("slowStart_retrans/sec", "TcpExt.TCPSlowStartRetrans"),
    ("retrans_fail/sec", "TcpExt.TCPRetransFail"),
];

/// When what is measured begins and ends, in time since the start of the test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    start_ns: u64,
    end_ns: u64,
}

/// Bytes that moved in a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moved {
    pub seconds: f64,
    pub bytes: u64,
}

/// What moved on each connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections(BTreeMap<FlowId, Moved>);

/// All figures of an end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub all: Moved,
    pub connections: u64,
    /// Each thread of the sender, where they were asked for.
    pub threads: Vec<Moved>,
    /// Segments that were sent again: of these connections where that is known.
    pub retransmits: u64,
    /// A second each, as in [`RETRANSMITS`]: of the machine.
    pub retransmits_per_second: [f64; RETRANSMITS.len()],
    /// Packets that the interface sent and received; none where it is not there or none were asked for.
    pub packets: Option<[u64; 2]>,
    pub interrupts: Interrupts,
    pub machine: Machine,
    /// What the kernel said of round trips in the end, on average.
    pub rtt_us: Option<u64>,
}

/// Interrupts of the rows of the kernel's table that were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Interrupts {
    pub total: u64,
    pub per_second: f64,
    /// Packets of the interface that was asked for, by each of them.
    pub packets_each: f64,
}

/// What the machine did, in shares of 100.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Machine {
    pub cores: u32,
    pub mhz: f64,
    pub user: f64,
    pub system: f64,
    pub idle: f64,
    pub iowait: f64,
    pub softirq: f64,
    pub cycles_per_byte: f64,
    /// Processor time of the program, of one processor.
    pub program: f64,
    /// Name of the kernel, of the machine, and what they are.
    pub os: String,
}

impl Moved {
    pub fn add(&mut self, length_ns: u64, bytes: u64) {
        self.seconds += length_ns as f64 / 1e9;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub fn bits_per_second(&self) -> f64 {
        self.per_second(self.bytes as f64 * 8.0)
    }

    /// So many a second.
    pub fn per_second(&self, count: f64) -> f64 {
        if self.seconds > 0.0 { count / self.seconds } else { 0.0 }
    }
}

impl Window {
    pub fn of(settings: &Settings) -> Self {
        let start_ns = settings.warm_up_s.saturating_mul(1_000_000_000);
        let measured_ns = settings.duration_s.saturating_mul(1_000_000_000);
        let end_ns = if measured_ns == 0 { u64::MAX } else { start_ns.saturating_add(measured_ns) };
        Self { start_ns, end_ns }
    }

    /// Whether this interval is one of those that count: most of it is in the window.
    pub fn holds(self, start_ns: u64, end_ns: u64) -> bool {
        let middle = start_ns.midpoint(end_ns);
        end_ns > start_ns && (self.start_ns..self.end_ns).contains(&middle)
    }
}

impl Connections {
    /// Those of a receiver's threads, of which each has a port.
    pub fn by_port(
        &self,
        port_of: impl Fn(FlowId) -> Option<u16>,
        ports: Range<u32>,
    ) -> Vec<Moved> {
        let mut threads = vec![Moved::default(); ports.len()];
        for (flow, moved) in &self.0 {
            let place = port_of(*flow).and_then(|port| u32::from(port).checked_sub(ports.start));
            if let Some(sum) = place.and_then(|place| threads.get_mut(place as usize)) {
                sum.bytes = sum.bytes.saturating_add(moved.bytes);
                sum.seconds = sum.seconds.max(moved.seconds);
            }
        }
        threads
    }

    /// So much went through one of them.
    pub fn hear(&mut self, window: Window, progress: &ConnectionProgress) {
        if window.holds(progress.start_ns, progress.end_ns) {
            let length_ns = progress.end_ns - progress.start_ns;
            let bytes = progress.sent_bytes.saturating_add(progress.received_bytes);
            self.0.entry(progress.flow).or_default().add(length_ns, bytes);
        }
    }

    /// Those of each thread, of a sender: connections take turns with ports, and those of one port fill one thread after the other.
    fn threads(&self, settings: &Settings) -> Vec<Moved> {
        let (ports, per_thread) = (settings.ports.max(1), settings.connections.max(1));
        let count = settings.ports.saturating_mul(settings.threads);
        // No more than there are connections: others have nothing.
        let mut threads: BTreeMap<u32, Moved> = BTreeMap::new();
        for (flow, moved) in &self.0 {
            let thread = (flow.0 % ports) * settings.threads + flow.0 / ports / per_thread;
            let sum = threads.entry(thread.min(count.saturating_sub(1))).or_default();
            sum.bytes = sum.bytes.saturating_add(moved.bytes);
            sum.seconds = sum.seconds.max(moved.seconds);
        }
        threads.into_values().collect()
    }
}

impl Figures {
    /// Of a client's run; none where nothing was measured.
    pub fn of(
        document: &Document,
        settings: &Settings,
        (connections, interrupts): (&Connections, &[(String, u64)]),
    ) -> Option<Self> {
        let measurement = document.measurements.first()?;
        let window = Window::of(settings);
        let mut all = Moved::default();
        for interval in &measurement.intervals {
            let Some(end) = &interval.client else { continue };
            let over_tcp = end.goodput.map(|it| it.acknowledged_bytes.unwrap_or(it.sent_bytes));
            // Of datagrams nobody knows more than that they left.
            let bytes = over_tcp.or_else(|| end.datagrams.map(|it| it.sent_bytes));
            if let Some(bytes) = bytes.filter(|_| window.holds(end.start_ns, end.end_ns)) {
                all.add(end.end_ns - end.start_ns, bytes);
            }
        }
        let counters = measurement.client.host.clone().unwrap_or_default();
        let test_seconds = measurement.client.elapsed_ns as f64 / 1e9;
        let per_second = |name: &str| {
            let count = counters.protocols.get(name).copied().unwrap_or_default();
            if test_seconds > 0.0 { count as f64 / test_seconds } else { 0.0 }
        };
        let of_machine = counters.protocols.get("Tcp.RetransSegs").copied();
        let goodput = measurement.summary.goodput.as_ref();
        let client = &measurement.client;
        let datagrams = client.datagrams.as_ref();
        let packets = settings.interface.as_deref().and_then(|name| packets(&counters, name));
        Some(Self {
            all,
            connections: goodput
                .map(|it| it.attempted)
                .or_else(|| datagrams.map(|it| it.completed.saturating_add(it.failed)))
                .unwrap_or_default(),
            threads: connections.threads(settings),
            retransmits: goodput.and_then(|it| it.retransmits).or(of_machine).unwrap_or_default(),
            retransmits_per_second: RETRANSMITS.map(|(_, name)| per_second(name)),
            packets,
            interrupts: Interrupts::of(interrupts, settings, (test_seconds, packets)),
            machine: Machine::of(
                &document.hosts.client,
                &counters,
                &Whole {
                    elapsed_ns: client.elapsed_ns,
                    bytes: client
                        .goodput
                        .as_ref()
                        .map(|it| it.sent_bytes)
                        .or_else(|| datagrams.map(|it| it.sent_bytes))
                        .unwrap_or_default(),
                    used_ns: used_ns(&client.workers),
                },
            ),
            rtt_us: rtt_us(measurement),
        })
    }

    /// Of a test that a receiver has served.
    pub fn served(
        (all, threads): (Moved, Vec<Moved>),
        (host, over, bytes): (&Host, &TestOver, u64),
        settings: &Settings,
    ) -> Self {
        let counters = over.host.clone().unwrap_or_default();
        let count = |name: &str| counters.protocols.get(name).copied().unwrap_or_default();
        let seconds = over.elapsed_ns as f64 / 1e9;
        let per_second =
            |name: &str| if seconds > 0.0 { count(name) as f64 / seconds } else { 0.0 };
        let whole = Whole { elapsed_ns: over.elapsed_ns, bytes, used_ns: used_ns(&over.workers) };
        let packets = settings.interface.as_deref().and_then(|name| packets(&counters, name));
        Self {
            all,
            threads,
            retransmits: count("Tcp.RetransSegs"),
            retransmits_per_second: RETRANSMITS.map(|(_, name)| per_second(name)),
            packets,
            interrupts: Interrupts::of(&over.interrupts, settings, (seconds, packets)),
            machine: Machine::of(host, &counters, &whole),
            ..Self::default()
        }
    }
}

/// Processor time of these threads.
fn used_ns(workers: &[WorkerUsage]) -> u64 {
    workers.iter().map(|it| it.user_ns.saturating_add(it.system_ns)).sum()
}

/// What a whole test was, at this end.
struct Whole {
    elapsed_ns: u64,
    bytes: u64,
    /// Processor time of who moved them.
    used_ns: u64,
}

impl Interrupts {
    /// Of all rows that have moved over so many seconds, those that hold the text that was asked for.
    fn of(
        rows: &[(String, u64)],
        settings: &Settings,
        (seconds, packets): (f64, Option<[u64; 2]>),
    ) -> Self {
        let Some(asked) = &settings.interrupts else { return Self::default() };
        let meant = rows.iter().filter(|(name, _)| name.contains(asked.as_str()));
        let total = meant.fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        let [sent, received] = packets.unwrap_or_default();
        let by = |count: f64, of: f64| if of > 0.0 { count / of } else { 0.0 };
        Self {
            total,
            per_second: by(total as f64, seconds),
            packets_each: by(sent.saturating_add(received) as f64, total as f64),
        }
    }
}

impl Machine {
    fn of(host: &Host, counters: &HostCounters, whole: &Whole) -> Self {
        let count = counters.cpus.len();
        let share = |of: fn(&pathscope_core::counters::CpuShares) -> f64| {
            let sum: f64 = counters.cpus.iter().map(of).sum();
            if count > 0 { sum / count as f64 * 100.0 } else { 0.0 }
        };
        let (busy, iowait) = (share(|cpu| cpu.busy), share(|cpu| cpu.iowait));
        let seconds = whole.elapsed_ns as f64 / 1e9;
        let cores = host.cpus_online.unwrap_or_default();
        let mhz = host.cpu_mhz.unwrap_or_default();
        // What the machine did is known of the whole test, and so are these bytes.
        let &Whole { bytes, used_ns, .. } = whole;
        let cycles = mhz * 1e6 * seconds * f64::from(cores) * busy / 100.0;
        Self {
            cores,
            mhz,
            user: share(|cpu| cpu.user),
            system: share(|cpu| cpu.system),
            idle: if count > 0 { (100.0 - busy - iowait).max(0.0) } else { 0.0 },
            iowait,
            softirq: share(|cpu| cpu.soft_interrupt),
            cycles_per_byte: if bytes > 0 { cycles / bytes as f64 } else { 0.0 },
            program: if seconds > 0.0 { used_ns as f64 / 1e7 / seconds } else { 0.0 },
            os: format!("{} {}", host.kernel, host.name),
        }
    }
}

/// What an interface sent and received.
fn packets(counters: &HostCounters, name: &str) -> Option<[u64; 2]> {
    let own = counters.interfaces.iter().find(|it| it.name == name)?;
    Some([own.sent_packets, own.received_packets])
}

/// The smoothed round trip of all connections, on average.
fn rtt_us(measurement: &Measurement) -> Option<u64> {
    let flows = &measurement.client.goodput.as_ref()?.flows;
    let rtt = |tcp: TcpFacts| tcp.rtt_ns;
    let all: Vec<u64> = flows.iter().filter_map(|flow| flow.tcp.and_then(rtt)).collect();
    let sum: u64 = all.iter().fold(0, |sum, rtt| sum.saturating_add(*rtt));
    (!all.is_empty()).then(|| sum / all.len() as u64 / 1_000)
}

/// A rate as ntttcp writes it.
pub(super) fn rate(mut bits_per_second: f64) -> String {
    let mut unit = "bps";
    for larger in ["Kbps", "Mbps", "Gbps"] {
        if bits_per_second <= 1_000.0 {
            break;
        }
        bits_per_second /= 1_000.0;
        unit = larger;
    }
    format!("{bits_per_second:.2}{unit}")
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::settings;
    use super::*;

    #[test]
    fn interrupts_are_those_of_rows_that_hold_the_text_and_of_no_others() {
        let rows = [("41: MSI virtio3-rx", 600), ("42: MSI virtio3-tx", 400), ("LOC: timer", 7)]
            .map(|(name, count)| (name.to_owned(), count));
        let of = |line: &str, packets| Interrupts::of(&rows, &settings(line), (4.0, packets));
        let found = of("-r --show-dev-interrupts virtio3", Some([2_000, 3_000]));
        let expected = Interrupts { total: 1_000, per_second: 250.0, packets_each: 5.0 };
        assert_eq!(found, expected);
        let found = of("-r --show-dev-interrupts eth0", Some([2_000, 3_000]));
        assert_eq!(found, Interrupts::default(), "there were none");
        assert_eq!(of("-r", None), Interrupts::default(), "nobody asks");
    }

    #[test]
    fn rates_have_the_largest_unit_of_which_there_is_more_than_one() {
        for (bits, written) in [
            (0.0, "0.00bps"),
            (1_000.0, "1000.00bps"),
            (1_001.0, "1.00Kbps"),
            (28_580_000_000.0, "28.58Gbps"),
            (5e15, "5000000.00Gbps"),
        ] {
            assert_eq!(rate(bits), written);
        }
    }

    #[test]
    fn an_interval_counts_where_most_of_it_is_measured() {
        let window = Window { start_ns: 1_000, end_ns: 3_000 };
        for (span, counts) in [
            ((0, 990), false),
            ((990, 1_500), true),
            ((2_500, 3_010), true),
            ((2_990, 3_500), false),
            ((2_000, 2_000), false),
        ] {
            assert_eq!(window.holds(span.0, span.1), counts, "{span:?}");
        }
    }
}
