//! The modes, listed once: what a test can be, and what one end says of it.

use pathscope_core::Wait;
use pathscope_core::counters::HostCounters;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::Period;
use pathscope_core::record::{Caveat, SocketFacts, StoodStill, WorkerUsage};
use pathscope_core::stats::LatencyFigures;
use pathscope_flow::{Group, GroupId, Transport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::datagrams::{DatagramsInterval, DatagramsPlan, DatagramsReport};
use crate::goodput::{self, EndedConnections, GoodputInterval, GoodputPlan, GoodputReport};
use crate::latency::{self, LatencyInterval, LatencyPlan, LatencyReport, LoadModel};
use crate::limits::{self, PlanError};
use crate::media::{MediaInterval, MediaPlan, MediaReport};
use crate::multipath::{MultipathInterval, MultipathPlan, MultipathReport};
use crate::offered::{Offered, PingSizes};

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
        match &self.plan {
            Plan::Goodput(plan) => plan.validate()?,
            Plan::Latency(plan) => plan.validate()?,
            Plan::Datagrams(plan) => plan.validate()?,
            Plan::Media(plan) => plan.validate()?,
            Plan::Multipath(plan) => plan.validate()?,
        }
        self.probe.as_ref().map_or(Ok(()), LatencyPlan::validate)
    }

    /// Whether lanes of its flows may come late, go, and come back from another address.
    pub fn roams(&self) -> bool {
        self.groups().iter().any(|group| group.roams)
    }

    /// The flows of this test, as both ends number them: those of the plan, then the probes.
    pub fn groups(&self) -> Vec<Group> {
        let group = |id, transport, first, (flows, numbers)| Group {
            id: GroupId(id),
            transport,
            first: FlowId(first),
            flows,
            numbers,
            lanes: 1,
            roams: false,
        };
        let main = match &self.plan {
            Plan::Goodput(plan) => {
                group(0, Transport::Stream, 0, (plan.connections, plan.numbers()))
            }
            Plan::Latency(plan) => {
                let flows = plan.connections;
                group(0, plan.protocol.transport(), 0, (flows, flows))
            }
            Plan::Datagrams(plan) => {
                let flows = plan.connections;
                group(0, Transport::Datagram, 0, (flows, flows))
            }
            Plan::Media(plan) => group(0, Transport::Datagram, 0, (plan.streams, plan.streams)),
            Plan::Multipath(plan) => {
                Group { lanes: plan.lanes, roams: true, ..group(0, Transport::Datagram, 0, (1, 1)) }
            }
        };
        let probe = self.probe.as_ref().map(|plan| {
            let flows = plan.connections;
            group(1, plan.protocol.transport(), main.numbers, (flows, flows))
        });
        std::iter::once(main).chain(probe).collect()
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
        match &self.plan {
            Plan::Goodput(plan) => match plan.extent {
                goodput::Extent::DurationNs(duration) => Some(duration),
                goodput::Extent::TransferBytes(_) => plan.shape.time_limit_ns,
            },
            Plan::Datagrams(plan) => plan.duration_ns(),
            Plan::Multipath(plan) => Some(plan.duration_ns),
            Plan::Latency(plan) => match (plan.extent, plan.load_model) {
                (latency::Extent::DurationNs(duration), _) => Some(duration),
                (latency::Extent::Iterations(count), LoadModel::Open { period_ns, .. }) => {
                    Some(Period(count.saturating_mul(period_ns.0)))
                }
                _ => None,
            },
            Plan::Media(plan) => Some(plan.longest_ns()),
        }
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

impl Plan {
    /// How it asks to wait.
    pub fn wait(&self) -> Wait {
        match self {
            Self::Goodput(plan) => plan.wait,
            Self::Latency(plan) => plan.wait,
            Self::Datagrams(plan) => plan.wait,
            Self::Media(plan) => plan.wait,
            Self::Multipath(_) => Wait::Auto,
        }
    }

    /// What it puts on the path; absent where that cannot be said in a word.
    pub fn offered(&self) -> Option<Offered> {
        match self {
            Self::Goodput(plan) => plan.offered(),
            Self::Datagrams(plan) => Some(plan.offered()),
            Self::Media(plan) => Some(plan.offered()),
            Self::Latency(_) | Self::Multipath(_) => Some(Offered::default()),
        }
    }

    /// What its pings weigh, where it sends any.
    pub fn ping_sizes(&self) -> Option<PingSizes> {
        match self {
            Self::Latency(plan) => Some(plan.ping_sizes()),
            Self::Goodput(_) | Self::Datagrams(_) | Self::Media(_) | Self::Multipath(_) => None,
        }
    }

    /// Processors that its workers are kept on at an end; none: any.
    pub fn cpus_of(&self, role: Role) -> &[u32] {
        match self {
            Self::Goodput(plan) => plan.cpus_of(role),
            Self::Latency(plan) => plan.cpus_of(role),
            Self::Datagrams(plan) => plan.cpus_of(role),
            Self::Media(_) | Self::Multipath(_) => &[],
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
