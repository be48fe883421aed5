//! The modes, listed once: what a test can be, and what one end says of it.

use std::ops::Deref;

use pathscope_core::counters::HostCounters;
use pathscope_core::id::FlowId;
use pathscope_core::quantity::Period;
use pathscope_core::record::{Caveat, SocketFacts, StoodStill, WorkerUsage};
use pathscope_core::stats::LatencyFigures;
use pathscope_flow::{Group, GroupId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::datagrams::{DatagramsInterval, DatagramsPlan, DatagramsReport};
use crate::goodput::{EndedConnections, GoodputInterval, GoodputPlan, GoodputReport};
use crate::latency::{LatencyInterval, LatencyPlan, LatencyReport};
use crate::limits::{self, PlanError};
use crate::media::{MediaInterval, MediaPlan, MediaReport};
use crate::mode::{Flows, Mode};
use crate::multipath::{MultipathInterval, MultipathPlan, MultipathReport};

/// The group of the plan's own flows. What else there is are probes.
pub const MAIN: GroupId = GroupId(0);

/// One test: a plan, probes beside it, and how often both ends report. Goes on the wire and into the
/// document as it ran.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Test {
    /// What is measured.
    pub plan: Plan,
    /// Latency probes beside it.
    pub probe: Option<LatencyPlan>,
    /// From one live report to the next.
    pub report_every_ns: Period,
}

impl Test {
    /// Whether this can be run. Holds for what was typed here and for what a stranger sends.
    pub fn validate(&self) -> Result<(), PlanError> {
        limits::in_range("--report-every", self.report_every_ns, &limits::REPORT_EVERY)?;
        self.plan.validate()?;
        self.probe.as_ref().map_or(Ok(()), Mode::validate)
    }

    /// Whether lanes of its flows may come late, go, and come back from another address.
    pub fn roams(&self) -> bool {
        self.groups().iter().any(|group| group.roams)
    }

    /// The flows of this test, as both ends number them: those of the plan, then the probes.
    pub fn groups(&self) -> Vec<Group> {
        let plans = std::iter::once(self.plan.flows()).chain(self.probe.as_ref().map(Mode::flows));
        let mut first = 0;
        let group = |(id, of): (u8, Flows)| {
            let Flows { transport, flows, numbers, lanes, roams } = of;
            let group = Group {
                id: GroupId(id),
                transport,
                first: FlowId(first),
                flows,
                numbers,
                lanes,
                roams,
            };
            first += numbers;
            group
        };
        (0..).zip(plans).map(group).collect()
    }

    /// What the flows of a group do: the plan itself, or the probes beside it.
    pub fn plan_of(&self, group: GroupId) -> Plan {
        match &self.probe {
            Some(probe) if group != MAIN => Plan::Latency(probe.clone()),
            _ => self.plan.clone(),
        }
    }

    /// How long the test lasts by its plan at the most, where that is stated.
    pub fn duration_ns(&self) -> Option<Period> {
        self.plan.duration_ns()
    }
}

/// What is measured, a variant for each mode.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// How much applications get through.
    Goodput(GoodputPlan),
    /// How long a round trip takes.
    Latency(LatencyPlan),
    /// How much gets through as datagrams.
    Datagrams(DatagramsPlan),
    /// Whether frames on a schedule are there when they are to be played.
    Media(MediaPlan),
    /// How much further paths help.
    Multipath(MultipathPlan),
}

impl Deref for Plan {
    type Target = dyn Mode;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Goodput(plan) => plan,
            Self::Latency(plan) => plan,
            Self::Datagrams(plan) => plan,
            Self::Media(plan) => plan,
            Self::Multipath(plan) => plan,
        }
    }
}

/// What one end says of one interval while a test runs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct EndInterval {
    /// Its number, from 0, the same at both ends.
    pub index: u64,
    /// Its begin, in time since this end started the test.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// What the goodput flows did in it.
    pub goodput: Option<GoodputInterval>,
    /// Goodput connections that ended in it; absent where none did.
    pub ended: Option<EndedConnections>,
    /// What the latency flows, probes among them, did in it.
    pub latency: Option<LatencyInterval>,
    /// What the datagram flows did in it.
    pub datagrams: Option<DatagramsInterval>,
    /// What the streams of frames did in it.
    pub media: Option<MediaInterval>,
    /// What the paths of a multipath test did in it.
    pub multipath: Option<MultipathInterval>,
    /// This end's program had stood still for so long, in it or right before it: what waited in buffers meanwhile counts
    /// in it, too, so that more may have come than the path carries in its time. Absent where it had not.
    pub stood_still_ns: Option<u64>,
}

impl EndInterval {
    /// Whether anything was sent or received in it. Probes beside a load come and go whatever becomes of that, so they
    /// say nothing of it.
    pub fn has_moved(&self) -> bool {
        let goodput = self.goodput.unwrap_or_default();
        let is_load = self.goodput.is_some() || self.datagrams.is_some();
        let pings = self.latency.as_ref().filter(|_| !is_load);
        let pings = pings.map_or(0, |latency| latency.received);
        let datagrams = self.datagrams.unwrap_or_default();
        // Frames that are played from the buffer are progress, too.
        let media = self.media.unwrap_or_default();
        let echoes = self.multipath.iter().flat_map(|it| &it.paths).map(|path| path.received);
        [goodput.sent_bytes, goodput.received_bytes, pings, datagrams.sent, datagrams.received]
            .into_iter()
            .chain([media.sent_datagrams, media.received_datagrams, media.frames.judged()])
            .chain(echoes)
            // Not their sum: a peer may say anything.
            .any(|moved| moved > 0)
    }
}

/// What one end says when all its flows are over.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct EndReport {
    /// What the goodput flows came to.
    pub goodput: Option<GoodputReport>,
    /// What the latency flows of the plan came to.
    pub latency: Option<LatencyReport>,
    /// What the streams of frames came to.
    pub media: Option<MediaReport>,
    /// What the probes beside a load came to.
    pub probe: Option<LatencyReport>,
    /// What the datagram flows came to.
    pub datagrams: Option<DatagramsReport>,
    /// What the paths of a multipath test came to.
    pub multipath: Option<MultipathReport>,
    /// From the start of the test to the end of its last flow.
    pub elapsed_ns: u64,
    /// Processor time of each worker thread that carried the plan's flows.
    pub workers: Vec<WorkerUsage>,
    /// Processor time of each worker thread that carried probes.
    pub probe_workers: Vec<WorkerUsage>,
    /// At the client: how long the plan's TCP connections took to be established, each from before its SYN until this end,
    /// woken for it, saw that it was.
    pub connect: Option<LatencyFigures>,
    /// How the kernel set the first connection of the plan's flows, read back at the start.
    pub sockets: Option<SocketFacts>,
    /// Of all processors of this machine, the share of time that was not idle.
    pub host_cpu_share: Option<f64>,
    /// What this machine's kernel counted meanwhile.
    pub host: Option<HostCounters>,
    /// When this end's program stood still; absent where it never did, or nobody looked.
    pub stood_still: Option<StoodStill>,
    /// What a reader must know that this end noticed.
    pub caveats: Vec<Caveat>,
}

impl EndReport {
    /// Of the time, the share that its program stood still; `None` where that is not known to have happened.
    pub fn still_share(&self) -> Option<f64> {
        let still = self.stood_still.as_ref().filter(|_| self.elapsed_ns > 0)?;
        Some(still.total_ns as f64 / self.elapsed_ns as f64)
    }

    /// For how long its program stood still.
    pub fn still_ns(&self) -> u64 {
        self.stood_still.as_ref().map_or(0, |still| still.total_ns)
    }

    /// The most that the hypervisor took of one of this end's processors, as a share of the time.
    pub fn stolen_share(&self) -> Option<f64> {
        self.host.as_ref()?.most_stolen()
    }

    /// Workers of the plan's flows that wait when there is nothing to do: one that spins wants a processor all the time.
    pub fn waiting_workers(&self) -> impl Iterator<Item = &WorkerUsage> {
        self.workers.iter().filter(|worker| worker.wait != "spin")
    }
}
