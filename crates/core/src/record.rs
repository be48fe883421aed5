//! The parts of a result document that every mode shares: who measured, on what, and what to mind.
//!
//! The document itself, which also holds each mode's own plan and summary, is in `modes`. Base units,
//! the unit in the name, full precision, absent is null.
//!
//! In one file: the parts of a document that all modes share, a few lines each.

mod remarks;
mod verdict;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::id::FlowId;

pub use self::remarks::{Printed, Remarks};
pub use self::verdict::{Evidence, Limit, Verdict};

/// Who was at the other end, by the protocol that it spoke.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct PeerFacts {
    /// Whose protocol it is: `pathscope`.
    pub name: String,
    /// The version of it that both ends spoke; absent where it has none, or none was told.
    pub protocol_version: Option<String>,
    /// What its end counts and this one is told; everything, where nothing else is said.
    #[serde(skip_serializing_if = "Tells::is_everything")]
    pub tells: Tells,
}

/// What a kind of peer tells of what its end counts. What it never tells cannot be known: it is absent, and no check passes on it.
#[expect(clippy::struct_excessive_bools, reason = "each is told or not, whatever the others are")]
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Tells {
    /// While a test runs, interval by interval.
    pub intervals: bool,
    /// When a test is over.
    pub report: bool,
    /// Whether what it received is what was sent. Where it does not, nothing that it received counts as compared.
    pub verification: bool,
    /// Of each TCP connection that it ended well there, too: on that connection itself, or when a test is over.
    pub endings: bool,
    /// What the data that it sends are made of, be that agreed once for all. Where it does not, nothing that this end received counts
    /// as compared.
    pub payload: bool,
}

impl Tells {
    /// As pathscope does.
    pub const EVERYTHING: Self =
        Self { intervals: true, report: true, verification: true, endings: true, payload: true };
    /// As peers do with whom no word is exchanged: what data are made of is agreed once for all.
    pub const NOTHING: Self = Self {
        intervals: false,
        report: false,
        verification: false,
        endings: false,
        payload: true,
    };
    /// The same but for connections, which end with a word of the server's that all has come.
    pub const ENDINGS: Self = Self { endings: true, ..Self::NOTHING };

    /// Whether nothing is withheld.
    pub fn is_everything(&self) -> bool {
        *self == Self::EVERYTHING
    }
}

impl Default for Tells {
    fn default() -> Self {
        Self::EVERYTHING
    }
}

/// The program that wrote a document.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Tool {
    /// `pathscope`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What one end is and how it was set, as far as it can spoil a measurement.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Host {
    /// Its name for itself.
    pub name: String,
    /// The program at this end.
    pub tool: Tool,
    /// Kernel name, release and machine.
    pub kernel: String,
    /// The processor's name for itself.
    pub cpu_model: Option<String>,
    /// What the kernel said that its first processor runs at when the program started, in millions of cycles a second. Absent where it
    /// does not say, and in earlier documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_mhz: Option<f64>,
    /// Processors this process may use.
    pub cpus_allowed: Vec<u32>,
    /// Processors of the machine.
    pub cpus_online: Option<u32>,
    /// Whether a hypervisor is present.
    pub virtualized: Option<bool>,
    /// Identifies one boot of one machine: equal at both ends means no network was crossed.
    pub boot_id: Option<String>,
    /// The namespace of times, where this system has them: equal at both ends of one machine means one clock.
    pub time_namespace: Option<String>,
    /// The namespace of the network, where this system has them: equal at both ends of one machine means that counters of interfaces and
    /// protocols are the same ones. Earlier documents do not say.
    pub network_namespace: Option<String>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// What keeps time.
    pub clock: ClockFacts,
    /// Settings of the network stack that bear on results.
    pub network: NetworkFacts,
    /// The test network this end is a node of, where it is.
    pub lab: Option<LabNode>,
    /// What whoever started it says of it, by names of theirs: `rack`, `build`.
    pub labels: BTreeMap<String, String>,
}

/// A node of a test network.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LabNode {
    /// What the network is called.
    pub lab: String,
    /// Which of its nodes.
    pub node: String,
    /// Who applies the conditions of its links: `relay` or `tc`.
    pub shaper: String,
    /// What the chances of its links are drawn from.
    pub seed: u64,
}

/// What keeps time at one end.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ClockFacts {
    /// The clock that stamps come from: `CLOCK_MONOTONIC`.
    pub name: String,
    /// What the kernel derives it from: `tsc`, `hpet`.
    pub source: Option<String>,
    /// Median time of one reading, measured at the start.
    pub read_ns: Option<f64>,
    /// The smallest step between two readings, measured at the start.
    pub smallest_step_ns: Option<u64>,
}

/// Settings of the network stack that bear on results.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct NetworkFacts {
    /// The congestion control that TCP uses unless told otherwise.
    pub congestion_control: Option<String>,
    /// TCP receive buffer: least, first, most.
    pub tcp_receive_buffer_bytes: Option<[u64; 3]>,
    /// TCP send buffer: least, first, most.
    pub tcp_send_buffer_bytes: Option<[u64; 3]>,
    /// The largest receive buffer a program may ask for.
    pub receive_buffer_max_bytes: Option<u64>,
    /// The largest send buffer a program may ask for.
    pub send_buffer_max_bytes: Option<u64>,
    /// The interface that carries the test, where it is known.
    pub interface: Option<InterfaceFacts>,
}

/// One network interface.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct InterfaceFacts {
    /// Its name.
    pub name: String,
    /// The largest packet it takes.
    pub mtu_bytes: Option<u32>,
    /// The speed its driver states.
    pub speed_bps: Option<u64>,
    /// What it does on behalf of others, of what changes the packets on the wire: `gro`, `tso`, `gso`, ….
    /// Absent where it was not told.
    pub offloads: Option<Vec<String>>,
}

/// Something that was asked for and came out otherwise, or was left to us and chosen.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Substitution {
    /// What was to be decided: `engine`, `wait`.
    pub what: String,
    /// What was asked for.
    pub asked: String,
    /// What ran.
    pub ran: String,
    /// Why.
    pub why: String,
}

/// Something a reader must know before believing a figure. A value, so that scripts can test it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Caveat {
    /// A stable name: `loopback`, `probe_unanswered`.
    pub name: String,
    /// A sentence.
    pub text: String,
    /// What to do about it, or with it, as the list of findings has it: a fragment. Earlier documents do not say.
    #[serde(default)]
    pub remedy: Option<String>,
}

impl Caveat {
    /// One of a list, and the sentence with the numbers.
    pub fn new(of: impl Finding, text: impl Into<String>) -> Self {
        let remedy = Some(of.definition().remedy.to_owned());
        Self { name: of.name().to_owned(), text: text.into(), remedy }
    }
}

/// Something that had to hold, and whether it did. A check that failed makes the exit code 5; one of which nobody can know whether it
/// held does not.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Check {
    /// A stable name: `verified`, `counts_agree`.
    pub name: String,
    /// Whether it held; absent where that cannot be known: it rests on counts that this kind of peer never tells.
    pub passed: Option<bool>,
    /// A sentence with the numbers.
    pub text: String,
    /// Of one that did not hold: what to do about it, as the list of findings has it. Earlier documents do not say.
    #[serde(default)]
    pub remedy: Option<String>,
}

impl Check {
    /// One of a list, whether it held, and the sentence with the numbers.
    pub fn new(of: impl Finding, passed: bool, text: impl Into<String>) -> Self {
        let remedy = (!passed).then(|| of.definition().remedy.to_owned());
        Self { name: of.name().to_owned(), passed: Some(passed), text: text.into(), remedy }
    }

    /// One of a list that rests on what the other end never tells, and a sentence that says so.
    pub fn unknown(of: impl Finding, text: impl Into<String>) -> Self {
        Self { name: of.name().to_owned(), passed: None, text: text.into(), remedy: None }
    }

    /// Whether it is known to have held.
    pub fn has_held(&self) -> bool {
        self.passed == Some(true)
    }

    /// Whether it is known not to have held.
    pub fn has_failed(&self) -> bool {
        self.passed == Some(false)
    }

    /// Whether nobody can know if it held.
    pub const fn is_unknown(&self) -> bool {
        self.passed.is_none()
    }
}

/// How far the kernel's stamps of datagrams can be trusted at one end.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct StampFacts {
    /// They are of the wall clock; by how much one may be wrong as a time of the clock that everything else is of.
    pub error_ns: u64,
    /// How often the wall clock was seen to have been stepped: what was stamped within a tenth of a second before is
    /// wrong by as much.
    pub wall_clock_steps: u64,
    /// The system's name of why it would not stamp.
    pub refused: Option<String>,
}

/// The processor time and the waiting of one worker thread.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct WorkerUsage {
    /// From its start until its flows had left it.
    pub elapsed_ns: u64,
    /// Processor time in user mode.
    pub user_ns: u64,
    /// Processor time in the kernel.
    pub system_ns: u64,
    /// Times it was taken off its processor against its will.
    pub preempted: u64,
    /// Time it was ready to run and had no processor: others had it, or the quota of its control group was
    /// used up.
    pub waited_ns: Option<u64>,
    /// Flows it carried.
    pub flows: u64,
    /// Engine that ran: `epoll`, `plain`.
    pub engine: String,
    /// How it waited: `spin`, `sleep`, `hybrid`.
    pub wait: String,
    /// System calls that moved data.
    pub operations: u64,
    /// How datagrams were handed over, where it carried any and more than one at once was allowed.
    pub batches: Option<BatchUse>,
    /// Where it never sleeps and moves messages or datagrams: when it was seen not to run.
    pub off_cpu: Option<OffCpu>,
}

/// Stretches of more than [`OffCpu::SEEN_FROM_NS`] between two looks at the clock of a worker that never sleeps, moves
/// messages or datagrams, and takes that long for nothing but thousands of flows that are due at once. Something else had its
/// processor: another thread, an interrupt, or the hypervisor, of which [`WorkerUsage::waited_ns`] has the first alone.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct OffCpu {
    /// How many there were.
    pub times: u64,
    /// All of them together.
    pub total_ns: u64,
    /// The longest.
    pub longest_ns: u64,
}

impl OffCpu {
    /// From how long on a stretch is one.
    pub const SEEN_FROM_NS: u64 = 500_000;

    /// Takes in that so long lay between two looks.
    #[inline]
    pub fn add(&mut self, stretch_ns: u64) {
        if stretch_ns > Self::SEEN_FROM_NS {
            self.times += 1;
            self.total_ns += stretch_ns;
            self.longest_ns = self.longest_ns.max(stretch_ns);
        }
    }

    /// Those of two workers.
    pub fn with(self, other: Self) -> Self {
        Self {
            times: self.times.saturating_add(other.times),
            total_ns: self.total_ns.saturating_add(other.total_ns),
            longest_ns: self.longest_ns.max(other.longest_ns),
        }
    }
}

/// When a whole program was seen not to run while it had a timer to attend to: stopped, frozen, or on a machine that stood
/// still. Counted from 250 ms on, in tests of pings or of paths from 100 ms on, where it used next to no processor time meanwhile.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct StoodStill {
    /// How often.
    pub times: u64,
    /// All stretches together.
    pub total_ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// The first of them.
    pub stretches: Vec<Stretch>,
}

/// A stretch of time, since this end started the test.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Stretch {
    /// Its begin.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
}

impl StoodStill {
    /// From how long on a stretch is one.
    pub const SEEN_FROM_NS: u64 = 250_000_000;
    /// The same in tests of single pings and datagrams, whose longest times it makes.
    pub const SEEN_FROM_BY_PINGS_NS: u64 = 100_000_000;
    /// Stretches that are told one by one.
    const TOLD: usize = 16;

    /// Takes in one more.
    pub fn add(&mut self, stretch: Stretch) {
        let length_ns = stretch.end_ns.saturating_sub(stretch.start_ns);
        self.times += 1;
        self.total_ns = self.total_ns.saturating_add(length_ns);
        self.longest_ns = self.longest_ns.max(length_ns);
        if self.stretches.len() < Self::TOLD {
            self.stretches.push(stretch);
        }
    }
}

/// How datagrams were handed over: many at once or one by one.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct BatchUse {
    /// Datagrams that left as parts of a batch that the kernel or the interface cut (`UDP_SEGMENT`).
    pub cut: u64,
    /// Datagrams that came as parts of a batch that the kernel joined (`UDP_GRO`).
    pub joined: u64,
    /// Batches that were refused; their datagrams left without.
    pub refused: u64,
}

impl WorkerUsage {
    /// Processor time as a share of the time it ran, of one processor.
    pub fn cpu_share(&self) -> f64 {
        if self.elapsed_ns == 0 {
            0.0
        } else {
            (self.user_ns as f64 + self.system_ns as f64) / self.elapsed_ns as f64
        }
    }
}

impl WorkerUsage {
    /// The share of the time that it waited for a processor; `None` where that is not known.
    pub fn cpu_wait_share(&self) -> Option<f64> {
        let waited_ns = self.waited_ns.filter(|_| self.elapsed_ns > 0)?;
        Some(waited_ns as f64 / self.elapsed_ns as f64)
    }
}

/// What the kernel says of one TCP connection (`TCP_INFO`); what it does not say is absent.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct TcpFacts {
    /// Smoothed round-trip time.
    pub rtt_ns: Option<u64>,
    /// Smallest round-trip time seen.
    pub min_rtt_ns: Option<u64>,
    /// Segments sent again.
    pub retransmits: Option<u64>,
    /// Payload sent again.
    pub retransmitted_bytes: Option<u64>,
    /// How often the connection recovered, or began to, from a retransmission timeout; several timeouts in a row are one.
    pub timeout_episodes: Option<u64>,
    /// Congestion window.
    pub congestion_window_bytes: Option<u64>,
    /// The rate at which data was lately delivered.
    pub delivery_rate_bps: Option<u64>,
    /// Time with data in flight.
    pub busy_ns: Option<u64>,
    /// Part of it stopped by the receiver's window.
    pub receive_window_limited_ns: Option<u64>,
    /// Part of it stopped by the send buffer.
    pub send_buffer_limited_ns: Option<u64>,
    /// Maximum segment size.
    pub segment_bytes: Option<u64>,
}

/// What the driver of a Wi-Fi interface says of its association; what it does not say is absent.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct WirelessFacts {
    /// The network's name; bytes that are no printable text are replaced.
    pub ssid: Option<String>,
    /// `2.4 GHz`, `5 GHz`, `6 GHz`, `60 GHz`.
    pub band: Option<String>,
    /// The primary channel's number in its band.
    pub channel: Option<u32>,
    /// The primary channel's frequency.
    pub frequency_mhz: Option<u32>,
    /// The width of what is sent on.
    pub width_mhz: Option<u32>,
    /// How strong the access point's last frame was.
    pub signal_dbm: Option<i32>,
    /// The radio's rate of what is sent: of bits in the air, not of payload.
    pub send_bps: Option<u64>,
    /// The same of what is received.
    pub receive_bps: Option<u64>,
}

/// What the kernel says of the settings of a socket; what it does not say is absent. Linux counts its own
/// overhead into buffers: twice what was asked for is what was asked for.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct SocketFacts {
    /// Send buffer, as it was at the start.
    pub send_buffer_bytes: Option<u64>,
    /// Receive buffer, as it was at the start.
    pub receive_buffer_bytes: Option<u64>,
    /// Congestion control.
    pub congestion_control: Option<String>,
    /// Differentiated services code point of what is sent.
    pub dscp: Option<u8>,
    /// Routers that what is sent may pass: IPv4's time to live, IPv6's hop limit.
    pub hops: Option<u8>,
    /// The largest segment.
    pub segment_bytes: Option<u64>,
    /// The most that waits unsent before the socket takes more; absent: no bound.
    pub not_sent_low_water_bytes: Option<u64>,
    /// Whether small segments are held back.
    pub nagle: Option<bool>,
    /// After so long without a word the other end is asked whether it is there; absent: never.
    pub keepalive_ns: Option<u64>,
    /// The most that the kernel itself sends in a second, in bits; absent: no bound.
    pub pacing_bps: Option<u64>,
}

/// One flow as one end saw it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FlowFacts {
    /// Its number.
    pub flow: FlowId,
    /// A UUID that names the connection at both ends alike.
    pub connection_id: Option<String>,
    /// This end's address and port.
    pub local: Option<String>,
    /// The other end's, as seen here.
    pub remote: Option<String>,
    /// Bytes handed to the kernel.
    pub sent_bytes: u64,
    /// Bytes taken from the kernel and checked.
    pub received_bytes: u64,
    /// Received bytes a second, in bits, over the window of all flows.
    pub received_bps: Option<f64>,
    /// What ended it before its time, as both ends found it: what tells most comes first, with the end that found it.
    pub error: Option<FlowError>,
    /// Whether the end of the run stopped it before its transfer was whole.
    pub cut: bool,
    /// What the kernel says of it at the end.
    pub tcp: Option<TcpFacts>,
}

/// Why a flow ended before its time.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FlowError {
    /// What kind of error.
    pub kind: FlowErrorKind,
    /// A sentence.
    pub text: String,
    /// The system's name of it: `ECONNRESET`.
    pub errno: Option<String>,
}

/// Kinds of error that are counted apart.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowErrorKind {
    /// The system or the path: reset, unreachable, timed out.
    Network,
    /// Bytes were not what they must be.
    Data,
    /// The peer broke the rules.
    Protocol,
    /// Nothing is known to have failed: the run was stopped before the other end had said how it ended there.
    Unconfirmed,
    /// A kind that this version does not know.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_another_version_is_read() {
        let host: Host =
            serde_json::from_str(r#"{"name":"b","future":1}"#).expect("fields may be missing");
        assert_eq!(host.name, "b");
    }
}
