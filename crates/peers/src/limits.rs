//! What a server grants to strangers: how many sessions, how long, how many connections. Each refusal
//! names the limit and the option that lifts it.
//!
//! Bytes and rate are unlimited, but for what a server sends over UDP to who has no words for going on to ask for it, and for what an
//! operator says of a kind (`rate`).

#[cfg(test)]
mod tests;

mod census;
mod quota;
mod rate;

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use pathscope_core::Wait;
use pathscope_core::id::Role;
use pathscope_core::quantity::{BitRate, Bytes, Period, count, counted};
use pathscope_modes::conventions::Framing;
use pathscope_modes::groups::Test;
use pathscope_modes::mode::Mode;
use pathscope_modes::registry::Plan;
use serde::{Deserialize, Serialize};

use crate::Refusal;

pub use census::{Census, Origin};
pub use quota::{Bounds, Excess, Quota};
pub use rate::{Average, RateLimit};

/// What messages, plans and tables of all sessions may take together by default: with the program itself, connections that
/// have not said what they are for and what an allocator loses between blocks, a server stays below 1 GiB.
const MEMORY: Bytes = Bytes(768 << 20);

/// What one test may have sent over UDP to who need not go on asking for it, by default: as much as most links of one machine carry. Their
/// streams give way to nobody, and go on for as long as a test may last, whatever becomes of those who asked.
const DATAGRAM_RATE: BitRate = BitRate(1_000_000_000);

/// A server's limits; absent: none. Told to each client in the welcome.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limits {
    /// Sessions at a time.
    pub sessions: Option<u32>,
    /// Of those, from one address.
    pub sessions_per_address: Option<u32>,
    /// How long a run may last.
    pub duration_ns: Option<Period>,
    /// Connections and datagram flows of one session.
    pub connections: Option<u32>,
    /// Descriptors that the test of one session may need.
    #[serde(default)]
    pub descriptors: Option<u64>,
    /// The same of all sessions from one address.
    #[serde(default)]
    pub descriptors_per_address: Option<u64>,
    /// What messages, plans and tables of all sessions may take together.
    #[serde(default)]
    pub memory_bytes: Option<Bytes>,
    /// Of that, those of all sessions from one address.
    #[serde(default)]
    pub memory_bytes_per_address: Option<Bytes>,
    /// Threads of the tests of all sessions together.
    #[serde(default)]
    pub threads: Option<u64>,
    /// Of those, of all sessions from one address.
    #[serde(default)]
    pub threads_per_address: Option<u64>,
    /// What one test may have it send over UDP in all, of kinds whose clients say nothing while they receive. Told to no client of
    /// ours: that goes on asking.
    #[serde(skip)]
    pub datagram_rate_bps: Option<BitRate>,
    /// What it does not do for those who ask.
    #[serde(default)]
    pub withheld: Withheld,
}

/// What a server does for a client only where its operator allows it: it costs others more than a test should.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Withheld {
    /// Threads that spin: each takes a processor from all others.
    pub spinning: bool,
    /// Keeping threads on processors that the client names: those of others may be there.
    pub pinning: bool,
    /// Congestion controls that the system does not let every user choose: the kernel of a privileged server would load
    /// them, and they need not be fair.
    pub congestion: bool,
}

impl Withheld {
    /// All of it: from strangers.
    pub const ALL: Self = Self { spinning: true, pinning: true, congestion: true };

    /// Nothing.
    pub const NONE: Self = Self { spinning: false, pinning: false, congestion: false };

    /// Whether a test does without what is withheld. `unprivileged`: congestion controls that everybody may choose.
    pub fn check(self, test: &Test, unprivileged: &[String]) -> Result<(), Refusal> {
        if self.spinning && test.plans().any(|plan| spins(plan.asks().wait)) {
            let sentence = "no thread of it may spin for a client (--wait spin, --wait hybrid)";
            let hint = "ask for --wait auto or sleep, or start the server with --allow-spin";
            return Err(Refusal::new("spinning", sentence).with_hint(hint));
        }
        let pins = |plan: &Plan| !plan.asks().cpus_of(Role::Server).is_empty();
        if self.pinning && test.plans().any(|plan| pins(&plan)) {
            let sentence = "no client may choose its processors (--server-cpu)";
            let hint = "leave --server-cpu out, or start the server with --allow-pinning";
            return Err(Refusal::new("pinning", sentence).with_hint(hint));
        }
        let is_withheld =
            |control: &&str| self.congestion && !unprivileged.iter().any(|it| it == control);
        let asked = |plan: Cow<'_, Plan>| {
            plan.asks().congestion_control.filter(&is_withheld).map(str::to_owned)
        };
        match test.plans().find_map(asked) {
            Some(control) => {
                let sentence = format!(
                    "the congestion control '{control}' is none that every user of its system may choose ({})",
                    unprivileged.join(", ")
                );
                let hint = "ask for one of those, or start the server with --allow-congestion";
                Err(Refusal::new("congestion", sentence).with_hint(hint))
            }
            None => Ok(()),
        }
    }
}

/// Whether a thread may be had to spin by this for as long as its test lasts: one that spins before each sleep never sleeps
/// where the next datagram always comes before it would.
const fn spins(wait: Wait) -> bool {
    matches!(wait, Wait::Spin | Wait::Hybrid)
}

impl fmt::Display for Withheld {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |withheld: bool| if withheld { "loopback alone" } else { "everybody" };
        write!(
            formatter,
            "spinning for {} (--allow-spin), pinning for {} (--allow-pinning), any congestion control for {} \
             (--allow-congestion)",
            of(self.spinning),
            of(self.pinning),
            of(self.congestion)
        )
    }
}

impl Default for Limits {
    /// For a server that listens to strangers. A test is one thread or more, and a small machine has 56 for them: 32 sessions
    /// have one each and some more; 16 from one address leave room for others; two hours hold a soak test and no forgotten one. One client address has 65,535 ports towards the server's one, so no test from one address
    /// meets the limit of connections.
    fn default() -> Self {
        Self {
            sessions: Some(32),
            sessions_per_address: Some(16),
            duration_ns: Some(Period::from_secs(2 * 3_600)),
            connections: Some(65_536),
            // They follow from what the system lets the server have.
            descriptors: None,
            descriptors_per_address: None,
            memory_bytes: Some(MEMORY),
            memory_bytes_per_address: Some(Bytes(MEMORY.0 / 2)),
            // They follow from its processors.
            threads: None,
            threads_per_address: None,
            datagram_rate_bps: Some(DATAGRAM_RATE),
            withheld: Withheld::ALL,
        }
    }
}

impl Limits {
    /// No limits at all: for a server that only its own process can reach.
    pub const NONE: Self = Self {
        sessions: None,
        sessions_per_address: None,
        duration_ns: None,
        connections: None,
        descriptors: None,
        descriptors_per_address: None,
        memory_bytes: None,
        memory_bytes_per_address: None,
        threads: None,
        threads_per_address: None,
        datagram_rate_bps: None,
        withheld: Withheld::NONE,
    };

    /// The same for somebody who calls from there: nothing is withheld from who is on this machine already, threads of such
    /// callers are not counted, what they have together of the memory is nobody's share, and what is sent to them leaves it by no link.
    #[must_use]
    pub fn for_caller(self, from: IpAddr) -> Self {
        if !from.to_canonical().is_loopback() {
            return self;
        }
        Self {
            withheld: Withheld::NONE,
            memory_bytes_per_address: None,
            threads: None,
            threads_per_address: None,
            datagram_rate_bps: None,
            ..self
        }
    }

    /// How much memory sessions may take.
    pub fn memory(&self) -> Bounds {
        let bytes = |limit: Option<Bytes>| limit.map(|most| most.0);
        Bounds { all: bytes(self.memory_bytes), origin: bytes(self.memory_bytes_per_address) }
    }

    /// How many threads tests may have.
    pub const fn threads(&self) -> Bounds {
        Bounds { all: self.threads, origin: self.threads_per_address }
    }

    /// No to who asks for so many threads from there.
    pub fn no_threads(wanted: u64, origin: Origin, excess: Excess) -> Refusal {
        let wanted = counted(wanted, "thread");
        let (sentence, hint) = match excess {
            Excess::All { free, most } => (
                format!(
                    "{wanted} for a test are more than the {} that it has left of its limit of {} for \
                     clients on other machines",
                    count(free),
                    count(most)
                ),
                "ask for fewer connections or streams, try again when another test has ended, or start the server with a \
                 higher --limit-threads",
            ),
            Excess::Origin { taken, most } => (
                format!(
                    "{wanted} for a test, beside {} of other sessions from {origin}, are more than its \
                     limit of {} from one address",
                    count(taken),
                    count(most)
                ),
                "ask for fewer connections or streams, try again when one of them has ended, or start the server with a \
                 higher --limit-threads-per-address",
            ),
        };
        Refusal::new("threads", sentence).with_hint(hint)
    }

    /// No to who asks for so much memory from there.
    pub fn no_memory(wanted: u64, origin: Origin, excess: Excess) -> Refusal {
        let wanted = Bytes(wanted);
        let (sentence, hint) = match excess {
            Excess::All { free, most } => (
                format!(
                    "{wanted} of memory for a session's messages and tables are more than the {} that it has left of its \
                     limit of {} for all of them",
                    Bytes(free),
                    Bytes(most)
                ),
                "ask for less, try again when another test has ended, or start the server with a higher --limit-memory",
            ),
            Excess::Origin { taken, most } => (
                format!(
                    "{wanted} of memory for a session's messages and tables, beside {} of other sessions from {origin}, are \
                     more than its limit of {} from one address",
                    Bytes(taken),
                    Bytes(most)
                ),
                "ask for less, try again when one of them has ended, or start the server with a higher \
                 --limit-memory-per-address",
            ),
        };
        Refusal::new("memory", sentence).with_hint(hint)
    }

    /// Whether a test that a stranger proposes can be run and is within the limits. A test that states
    /// no duration is ended when the limit is reached.
    pub fn check(&self, test: &Test) -> Result<(), Refusal> {
        self.check_of(test, Framing::Own)
    }

    /// The same of one whose datagrams are laid out so.
    pub fn check_of(&self, test: &Test, framing: Framing) -> Result<(), Refusal> {
        let is_valid = test.validate().and_then(|()| test.fits(framing));
        is_valid.map_err(|error| Refusal::new("invalid", error.to_string()))?;
        let flows = test.groups().iter().map(|group| u64::from(group.flows)).sum::<u64>();
        self.check_connections(flows)?;
        let durations = [test.duration_ns(), probe_duration(test)];
        durations.into_iter().flatten().try_for_each(|duration| self.check_duration(duration))
    }

    fn check_connections(&self, flows: u64) -> Result<(), Refusal> {
        match self.connections {
            Some(most) if flows > u64::from(most) => Err(Refusal::new(
                "connections",
                format!(
                    "{} connections and datagram flows are more than its limit of {} a session",
                    count(flows),
                    count(most.into())
                ),
            )
            .with_hint("ask for fewer, or start the server with a higher --limit-connections")),
            _ => Ok(()),
        }
    }

    /// Whether it sends so much over UDP in all for one test of who need not go on asking for it; absent: as fast as it can.
    pub fn check_datagram_rate(&self, wanted: Option<BitRate>) -> Result<(), Refusal> {
        let Some(most) = self.datagram_rate_bps.filter(|most| wanted.is_none_or(|it| it > *most))
        else {
            return Ok(());
        };
        let how =
            wanted.map_or_else(|| "as fast as it can".to_owned(), |all| format!("at {all} in all"));
        let sentence = format!(
            "to send datagrams {how} is more than its limit of {most} for a test of a client on another machine"
        );
        let hint = "ask for a lower rate, or start the server with a higher --limit-datagram-rate";
        Err(Refusal::new("rate", sentence).with_hint(hint))
    }

    fn check_duration(&self, duration: Period) -> Result<(), Refusal> {
        match self.duration_ns {
            Some(most) if duration > most => Err(Refusal::new(
                "duration",
                format!("{duration} is longer than its limit of {most} a run"),
            )
            .with_hint("ask for less, or start the server with a higher --limit-duration")),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let large = |limit: Option<u64>| limit.map_or_else(|| "unlimited".to_owned(), count);
        let number = |limit: Option<u32>| large(limit.map(u64::from));
        let duration =
            self.duration_ns.map_or_else(|| "unlimited".to_owned(), |most| most.to_string());
        let bytes = |limit: Option<Bytes>| {
            limit.map_or_else(|| "unlimited".to_owned(), |most| most.to_string())
        };
        write!(
            formatter,
            "{} sessions (--limit-sessions), {} from one address (--limit-sessions-per-address), {} a run \
             (--limit-duration), {} connections a session (--limit-connections), {} descriptors a session \
             (--limit-descriptors), {} from one address (--limit-descriptors-per-address), {} of memory for all \
             (--limit-memory), {} from one address (--limit-memory-per-address), {} threads for other machines \
             (--limit-threads), {} from one address (--limit-threads-per-address), {} of datagrams for a \
             test of another machine whose client cannot go on asking for them (--limit-datagram-rate); {}; bytes and rate unlimited but for those",
            number(self.sessions),
            number(self.sessions_per_address),
            duration,
            number(self.connections),
            large(self.descriptors),
            large(self.descriptors_per_address),
            bytes(self.memory_bytes),
            bytes(self.memory_bytes_per_address),
            large(self.threads),
            large(self.threads_per_address),
            self.datagram_rate_bps.map_or_else(|| "unlimited".to_owned(), |most| most.to_string()),
            self.withheld,
        )
    }
}

/// Why a test that states no duration is ended.
pub(crate) fn duration_reached(limit: Period) -> String {
    format!("the server's limit of {limit} a run is reached; it can be raised by --limit-duration")
}

/// How long a test lasts by its plan, probes included; `None` where the plan states no duration.
pub(crate) fn stated_duration(test: &Test) -> Option<Period> {
    test.duration_ns().max(test.duration_ns().and(probe_duration(test)))
}

/// How long the probes say they last: they may outlast the load.
fn probe_duration(test: &Test) -> Option<Period> {
    test.probe()?.duration_ns()
}
