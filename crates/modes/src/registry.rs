//! The modes, listed once: what a test can be, and where documents have what each end says of it.

mod any;
mod both;
mod cost;
mod elsewhere;

use std::ops::Deref;

pub use any::{AnyMode, Judged};
pub(crate) use both::client_slices;
pub use both::{Interval, Reports};

use pathscope_core::counters::{HostActivity, HostCounters};
use pathscope_core::id::Role;
use pathscope_core::record::{Caveat, FlowError, Printed, SocketFacts, StoodStill, WorkerUsage};
use pathscope_core::stats::LatencyFigures;
use pathscope_core::tcp_look::TcpLook;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::amounts::Amounts;
use crate::datagrams::DatagramsPlan;
use crate::end::{EndFacts, EndedConnections};
use crate::figure::Group;
use crate::finding::ModeFindings;
use crate::flows::{Accumulate, AtEnd, Flow, Runs};
use crate::goodput::GoodputPlan;
use crate::latency::LatencyPlan;
use crate::media::MediaPlan;
use crate::multipath::MultipathPlan;
use crate::results::{Presents, Results, Slice};
use crate::times::Ramp;

/// What the mode of probes beside a load is called in documents.
const PROBES: &str = "latency";

/// The plan of probes beside a load.
pub type ProbePlan = LatencyPlan;

/// Who runs the flows of a mode, whichever it is: once for each mode and end.
pub trait FlowVisitor {
    /// What comes of it.
    type Output;

    /// Runs them.
    fn visit<M: InDocuments, F: Flow<M>>(self, plan: &M) -> Self::Output;
}

/// Where a mode's part is of what all modes have.
pub trait InDocuments: Runs + Presents {
    /// What a worker did, as one of all modes'.
    fn tally(own: Self::Tally) -> Tally;
    /// What a worker came to, as one of all modes'.
    fn worker_report(own: Self::WorkerReport) -> WorkerReport;
    /// In an end's interval.
    fn interval(end: &EndInterval) -> Option<&Self::Interval>;
    /// In an end's interval, to be added to.
    fn interval_mut(end: &mut EndInterval) -> &mut Option<Self::Interval>;
    /// In an end's report.
    fn report(end: &EndReport) -> Option<&Self::Report>;
    /// In an end's report, to be filled in.
    fn report_mut(end: &mut EndReport) -> &mut Option<Self::Report>;
    /// In what both ends' reports come to.
    fn summary_of(all: &Summary) -> Option<&Self::Summary>;
    /// Where that is to be put.
    fn summary_mut(all: &mut Summary) -> &mut Option<Self::Summary>;
}

macro_rules! modes {
    ($($(#[doc = $meaning:literal])* $name:ident($plan:ty) as $field:ident;)*) => {
        /// The groups of each mode's figures.
        pub(crate) const FIGURES: &[&[Group]] = &[$(<$plan as Results>::FIGURES),*];

        /// What can be found of each mode, beside its figures.
        pub(crate) const FINDINGS: &[ModeFindings] = &[$(ModeFindings {
            mode: stringify!($field),
            checks: <$plan as Results>::CHECKS,
            caveats: <$plan as Results>::CAVEATS,
            limits: <$plan as Results>::LIMITS,
        }),*];

        /// What is measured, a variant for each mode.
        #[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Plan {
            $($(#[doc = $meaning])* $name($plan),)*
        }

        impl Deref for Plan {
            type Target = dyn AnyMode;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$name(plan) => plan,)*
                }
            }
        }

        $(impl From<$plan> for Plan {
            fn from(plan: $plan) -> Self {
                Self::$name(plan)
            }
        })*

        impl Plan {
            /// What it is called in documents.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($field),)*
                }
            }

            /// Runs its flows at an end.
            pub fn run<V: FlowVisitor>(&self, role: Role, visitor: V) -> V::Output {
                match (self, role) {
                    $((Self::$name(plan), Role::Client) => {
                        visitor.visit::<$plan, <$plan as Runs>::Client>(plan)
                    }
                    (Self::$name(plan), Role::Server) => {
                        visitor.visit::<$plan, <$plan as Runs>::Server>(plan)
                    })*
                }
            }

            /// What its flows come to at an end, before anything is known.
            pub fn accumulator(&self, role: Role) -> Accumulator {
                match self {
                    $(Self::$name(plan) => Accumulator::$name(Box::new(plan.accumulator(role))),)*
                }
            }
        }

        /// What the flows of a worker did between two reports.
        #[derive(Debug)]
        pub enum Tally {
            $($(#[doc = $meaning])* $name(Box<<$plan as Runs>::Tally>),)*
        }

        /// What the flows of a worker came to.
        #[derive(Debug)]
        pub enum WorkerReport {
            $($(#[doc = $meaning])* $name(Box<<$plan as Runs>::WorkerReport>),)*
        }

        /// What the flows of an end come to, as it becomes known. What is of another mode is not taken.
        #[derive(Debug)]
        pub enum Accumulator {
            $($(#[doc = $meaning])* $name(Box<<$plan as Runs>::Accumulator>),)*
        }

        impl Tally {
            /// Whether what is told of an interval is of those of all workers together, each of which is [joined](Self::join) to the first.
            pub const fn joins(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$plan as Runs>::JOINS,)*
                }
            }

            /// Adds what another worker did in the same interval. Whether it is of the same mode.
            pub fn join(&mut self, more: &Self) -> bool {
                match (self, more) {
                    $((Self::$name(sum), Self::$name(more)) => <$plan as Runs>::join(sum, more),)*
                    _ => return false,
                }
                true
            }

            /// Adds it to what all workers did in an interval.
            pub fn add_to(&self, interval: &mut EndInterval) {
                match self {
                    $(Self::$name(own) => {
                        let sum = <$plan>::interval_mut(interval).get_or_insert_default();
                        <$plan>::add_interval(sum, own);
                    })*
                }
            }
        }

        impl Accumulator {
            /// A worker has counted this.
            pub fn count(&mut self, tally: &Tally) {
                match (self, tally) {
                    $((Self::$name(sum), Tally::$name(own)) => sum.count(own),)*
                    _ => {}
                }
            }

            /// The flows of a worker have come to this.
            pub fn add(&mut self, report: WorkerReport) {
                match (self, report) {
                    $((Self::$name(sum), WorkerReport::$name(own)) => sum.add(*own),)*
                    _ => {}
                }
            }

            /// A worker with so many flows could not go on.
            pub fn lose(&mut self, flows: u64, error: &FlowError) {
                match self {
                    $(Self::$name(sum) => sum.lose(flows, error),)*
                }
            }

            /// Puts all of it into what an end says.
            pub fn report(self, end: AtEnd<'_>, into: &mut EndReport) {
                match self {
                    $(Self::$name(sum) => *<$plan>::report_mut(into) = Some(sum.report(end)),)*
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
            $(#[doc = concat!("What flows of `", stringify!($field), "` did in it.")]
            pub $field: Option<<$plan as Results>::Interval>,)*
            /// Connections that ended in it; absent where none did.
            pub ended: Option<EndedConnections>,
            /// This end's program had stood still for so long, in it or right before it: what waited in buffers meanwhile
            /// counts in it, too, so that more may have come than the path carries in its time. Absent where it had not.
            pub stood_still_ns: Option<u64>,
            /// What this end's machine did from the reading before to one at its end; absent where the last is too fresh for
            /// another, in older documents, and where the system counts nothing.
            pub host_activity: Option<HostActivity>,
            /// How the first TCP connections on which this end sends stood at its end.
            pub senders: Vec<TcpLook>,
        }

        /// What one end says when all its flows are over.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
        #[serde(default)]
        pub struct EndReport {
            $(#[doc = concat!("What the plan's flows came to, where it is one of `", stringify!($field), "`.")]
            pub $field: Option<<$plan as Results>::Report>,)*
            /// What the probes beside a load came to.
            pub probe: Option<<ProbePlan as Results>::Report>,
            /// From the start of the test to the end of its last flow.
            pub elapsed_ns: u64,
            /// Processor time of each worker thread that carried the plan's flows.
            pub workers: Vec<WorkerUsage>,
            /// Their processor time for 10^9 bytes of payload that this end sent or received; absent where none was.
            pub cpu_per_gigabyte_ns: Option<f64>,
            /// Processor time of each worker thread that carried probes.
            pub probe_workers: Vec<WorkerUsage>,
            /// At the client: how long the plan's TCP connections took to be established, each from before its SYN until
            /// this end, woken for it, saw that it was.
            pub connect: Option<LatencyFigures>,
            /// At the client: how those of them were made with which the test began.
            pub ramp: Option<Ramp>,
            /// How the kernel set the first connection of the plan's flows, read back at the start.
            pub sockets: Option<SocketFacts>,
            /// Of all processors of this machine, the share of time that was not idle.
            pub host_cpu_share: Option<f64>,
            /// What this machine's kernel counted meanwhile.
            pub host: Option<HostCounters>,
            /// The same in a few numbers, which intervals have, too.
            pub host_activity: Option<HostActivity>,
            /// How the first TCP connections on which this end sent stood when intervals told of them last.
            pub senders: Vec<TcpLook>,
            /// When this end's program stood still; absent where it never did, or nobody looked.
            pub stood_still: Option<StoodStill>,
            /// What a reader must know that this end noticed.
            pub caveats: Vec<Caveat>,
            /// What this end's program printed of the test, as far as the other end asked for that and was told.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub output: Option<Printed>,
        }

        impl EndInterval {
            /// What flows did in it, mode by mode, in numbers that can be added up over tests.
            pub fn amounts(&self) -> impl Iterator<Item = (&'static str, Amounts)> {
                [$(self.$field.as_ref().map(|own| {
                    let amounts = <$plan as Results>::amounts_in(own, self.ended);
                    (stringify!($field), amounts)
                })),*].into_iter().flatten()
            }
        }

        impl EndReport {
            /// The same of what they came to. Probes beside a load are of their own mode.
            pub fn amounts(&self) -> impl Iterator<Item = (&'static str, Amounts)> {
                let own = [$(self.$field.as_ref().map(|own| {
                    let amounts = <$plan as Results>::amounts(own);
                    (stringify!($field), amounts)
                })),*];
                let probe = self.probe.as_ref();
                let probe = probe.map(|own| (PROBES, <ProbePlan as Results>::amounts(own)));
                own.into_iter().chain([probe]).flatten()
            }

            /// Takes half of what is told one by one, of every kind; counts stay exact.
            pub fn halve(&mut self) {
                $(self.$field.iter_mut().for_each(<$plan as Results>::halve);)*
                self.probe.iter_mut().for_each(ProbePlan::halve);
                self.workers.truncate(self.workers.len() / 2);
                self.senders.truncate(self.senders.len() / 2);
                self.probe_workers.truncate(self.probe_workers.len() / 2);
                // The first tells that the report was shortened.
                self.caveats.truncate(self.caveats.len().div_ceil(2));
            }
        }

        /// What a test came to.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
        #[serde(default)]
        pub struct Summary {
            $(#[doc = concat!("Of the plan's flows, where it is one of `", stringify!($field), "`.")]
            pub $field: Option<<$plan as Results>::Summary>,)*
            /// Of the probes beside a load.
            pub probe: Option<<ProbePlan as Results>::Summary>,
        }

        $(impl InDocuments for $plan {
            fn tally(own: Self::Tally) -> Tally {
                Tally::$name(Box::new(own))
            }

            fn worker_report(own: Self::WorkerReport) -> WorkerReport {
                WorkerReport::$name(Box::new(own))
            }

            fn interval_mut(end: &mut EndInterval) -> &mut Option<Self::Interval> {
                &mut end.$field
            }

            fn interval(end: &EndInterval) -> Option<&Self::Interval> {
                end.$field.as_ref()
            }

            fn report(end: &EndReport) -> Option<&Self::Report> {
                end.$field.as_ref()
            }

            fn report_mut(end: &mut EndReport) -> &mut Option<Self::Report> {
                &mut end.$field
            }

            fn summary_of(all: &Summary) -> Option<&Self::Summary> {
                all.$field.as_ref()
            }

            fn summary_mut(all: &mut Summary) -> &mut Option<Self::Summary> {
                &mut all.$field
            }
        })*
    };
}

modes! {
    /// How much applications get through.
    Goodput(GoodputPlan) as goodput;
    /// How long a round trip takes.
    Latency(LatencyPlan) as latency;
    /// How much gets through as datagrams.
    Datagrams(DatagramsPlan) as datagrams;
    /// Whether frames on a schedule are there when they are to be played.
    Media(MediaPlan) as media;
    /// How much further paths help.
    Multipath(MultipathPlan) as multipath;
}

impl EndInterval {
    /// What it says of the flows of a mode.
    pub(crate) fn slice<M: InDocuments>(&self) -> Slice<'_, M> {
        let (start_ns, end_ns) = (self.start_ns, self.end_ns);
        Slice { start_ns, end_ns, own: M::interval(self), ended: self.ended }
    }
}

impl EndReport {
    /// Has what flows came to as probes, of a report that says nothing else.
    pub fn take_probes(&mut self, mut of_probes: Self) {
        self.probe = ProbePlan::report_mut(&mut of_probes).take();
    }

    /// What it says of its end, whatever was measured.
    pub fn facts(&self) -> EndFacts<'_> {
        EndFacts {
            elapsed_ns: self.elapsed_ns,
            workers: &self.workers,
            host_cpu_share: self.host_cpu_share,
            host: self.host.as_ref(),
            stood_still: self.stood_still.as_ref(),
        }
    }
}
