//! One test: groups of flows that run at the same time. The first is what is measured, the others are beside it, and there may come
//! more of them while it runs.
//!
//! Messages and documents say `{plan, probe}`: a plan, and latency probes beside it or none. Any other list of groups is refused
//! by its name, until a protocol carries it. Not here: what a mode makes of its plan (`mode`), and the modes (`registry`).

use std::borrow::Cow;
use std::iter;

use pathscope_core::id::FlowId;
use pathscope_core::quantity::Period;
use pathscope_flow::{Group, GroupId, Transport};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;

use crate::conventions::Framing;
use crate::limits::{self, PlanError};
use crate::mode::Flows;
use crate::registry::{Plan, ProbePlan};

/// The group of the plan's own flows.
pub const MAIN: GroupId = GroupId(0);

/// One test: what is measured, what is beside it, and how often both ends report. Goes on the wire and into the
/// document as it ran.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(from = "Told")]
pub struct Test {
    /// What is measured: the first group.
    pub plan: Plan,
    /// The other groups, in the order in which they came. More may come while the test runs: those that are there keep their
    /// places and their flows' numbers.
    pub beside: Vec<Beside>,
    /// From one live report to the next.
    pub report_every_ns: Period,
}

/// A group beside what is measured.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Beside {
    /// Latency probes, which end when the load does.
    Probes(ProbePlan),
    /// More load.
    Load(Plan),
}

impl Beside {
    fn plan(&self) -> Cow<'_, Plan> {
        match self {
            Self::Probes(probes) => Cow::Owned(probes.clone().into()),
            Self::Load(plan) => Cow::Borrowed(plan),
        }
    }
}

impl Test {
    /// A test of a plan, with latency probes beside it or none.
    pub fn new(plan: Plan, probe: Option<ProbePlan>, report_every_ns: Period) -> Self {
        Self { plan, beside: probe.into_iter().map(Beside::Probes).collect(), report_every_ns }
    }

    /// The latency probes beside what is measured.
    pub fn probe(&self) -> Option<&ProbePlan> {
        self.beside.iter().find_map(|it| match it {
            Beside::Probes(probes) => Some(probes),
            Beside::Load(_) => None,
        })
    }

    /// The same, to be changed.
    pub fn probe_mut(&mut self) -> Option<&mut ProbePlan> {
        self.beside.iter_mut().find_map(|it| match it {
            Beside::Probes(probes) => Some(probes),
            Beside::Load(_) => None,
        })
    }

    /// The same with nothing beside what is measured.
    pub fn alone(&self) -> Self {
        Self { beside: Vec::new(), ..self.clone() }
    }

    /// Whether this can be run. Holds for what was typed here and for what a stranger sends.
    pub fn validate(&self) -> Result<(), PlanError> {
        limits::in_range("--report-every", self.report_every_ns, &limits::REPORT_EVERY)?;
        self.plans().try_for_each(|plan| plan.validate())
    }

    /// Whether this can be run with a peer that lays datagrams out so.
    pub fn fits(&self, framing: Framing) -> Result<(), PlanError> {
        self.plans().try_for_each(|plan| plan.fits(framing))
    }

    /// Whether lanes of its flows may come late, go, and come back from another address.
    pub fn roams(&self) -> bool {
        self.plans().any(|plan| plan.flows().roams)
    }

    /// How long a load lasts, where that is stated and not bytes.
    pub fn stated_duration(&self) -> Option<Period> {
        self.plan.load()?.duration_ns.map(Period)
    }

    /// Whether what is measured goes over this transport.
    pub fn is_over(&self, transport: Transport) -> bool {
        self.groups().first().is_some_and(|first| first.transport == transport)
    }

    /// The flows of this test, as both ends number them: those of the plan, then those of each group beside it.
    pub fn groups(&self) -> Vec<Group> {
        let mut next = 0;
        let numbered = |(id, of): (u8, Flows)| {
            let Flows { transport, flows, numbers, lanes, roams } = of;
            let (id, first) = (GroupId(id), FlowId(next));
            next = next.saturating_add(numbers);
            Group { id, transport, first, flows, numbers, lanes, roams }
        };
        (0..).zip(self.plans().map(|plan| plan.flows())).map(numbered).collect()
    }

    /// What the flows of a group do. Of one that is not there: what is measured.
    pub fn plan_of(&self, group: GroupId) -> Cow<'_, Plan> {
        self.plans().nth(group.0.into()).unwrap_or(Cow::Borrowed(&self.plan))
    }

    /// Whether the flows of a group are probes beside a load.
    pub fn is_probe(&self, group: GroupId) -> bool {
        let place = usize::from(group.0).checked_sub(1);
        matches!(place.and_then(|place| self.beside.get(place)), Some(Beside::Probes(_)))
    }

    /// How long the test lasts by its plan at the most, where that is stated.
    pub fn duration_ns(&self) -> Option<Period> {
        self.plan.duration_ns()
    }

    /// Whether messages and documents can say what this is.
    pub fn told(&self) -> Result<Told, Untold> {
        let probe = match self.beside.as_slice() {
            [] => None,
            [Beside::Probes(probes)] => Some(probes.clone()),
            _ => return Err(Untold { groups: self.names() }),
        };
        let Self { plan, report_every_ns, .. } = self.clone();
        Ok(Told { plan, probe, report_every_ns })
    }

    /// What the flows of each group do, in their order.
    pub fn plans(&self) -> impl Iterator<Item = Cow<'_, Plan>> {
        iter::once(Cow::Borrowed(&self.plan)).chain(self.beside.iter().map(Beside::plan))
    }

    /// `goodput, latency probes, goodput`.
    fn names(&self) -> String {
        let beside = self.beside.iter().map(|it| match it {
            Beside::Probes(_) => "latency probes",
            Beside::Load(plan) => plan.name(),
        });
        iter::once(self.plan.name()).chain(beside).collect::<Vec<_>>().join(", ")
    }
}

/// Groups that no peer can be told of.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error(
    "a test of {groups} at the same time cannot be told to any server: the protocol has words for one plan, and for \
     latency probes beside it"
)]
pub struct Untold {
    /// What they do.
    pub groups: String,
}

/// One test: a plan, probes beside it, and how often both ends report. Goes on the wire and into the
/// document as it ran.
#[derive(Deserialize, JsonSchema, Serialize)]
#[schemars(rename = "Test")]
pub struct Told {
    /// What is measured.
    plan: Plan,
    /// Latency probes beside it.
    probe: Option<ProbePlan>,
    /// From one live report to the next.
    report_every_ns: Period,
}

impl From<Told> for Test {
    fn from(told: Told) -> Self {
        Self::new(told.plan, told.probe, told.report_every_ns)
    }
}

impl Serialize for Test {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.told().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl JsonSchema for Test {
    fn schema_name() -> Cow<'static, str> {
        Told::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Told::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::Frequency;

    use super::*;
    use crate::survey::{self, SurveyOptions};

    /// A load, with probes beside it.
    fn load() -> Test {
        let options = SurveyOptions {
            connections: 3,
            duration: survey::STEP,
            probe_rate: Frequency(100),
            congestion_control: None,
        };
        survey::tests(&options, Period::from_secs(1)).swap_remove(1).1
    }

    #[test]
    fn a_group_that_comes_later_leaves_the_others_as_they_are() {
        let mut test = load();
        let before = test.groups();
        test.beside.push(Beside::Load(test.plan.clone()));
        let after = test.groups();
        assert_eq!(after[..2], before);
        let Group { id, first, flows, .. } = after[2];
        assert_eq!((id, first, flows), (GroupId(2), FlowId(4), 3));
        assert_eq!([0, 1, 2, 3].map(|id| test.is_probe(GroupId(id))), [false, true, false, false]);
        assert_eq!(test.plan_of(GroupId(2)).name(), "goodput");
        assert_eq!(test.plan_of(GroupId(1)).name(), "latency");
        assert_eq!(test.validate(), Ok(()));
    }

    #[test]
    fn what_no_protocol_carries_is_refused_by_name() {
        let mut test = load();
        test.beside.push(Beside::Load(test.plan.clone()));
        let untold = test.told().map(|_| ()).expect_err("three groups");
        assert_eq!(untold.groups, "goodput, latency probes, goodput");
        let error = serde_json::to_string(&test).expect_err("three groups").to_string();
        assert!(error.starts_with("a test of goodput, latency probes, goodput at the"), "{error}");
    }

    #[test]
    fn what_is_told_comes_back_as_it_was() {
        for (name, test) in
            [("with probes", load()), ("alone", Test { beside: Vec::new(), ..load() })]
        {
            let text = serde_json::to_string(&test).expect(name);
            assert_eq!(serde_json::from_str::<Test>(&text).expect(name), test);
        }
    }
}
