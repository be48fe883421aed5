//! What failed over both ends of a goodput test, when, and whose ends do not count the same. Off the hot path.

use pathscope_core::record::{FlowErrorKind, FlowFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GoodputReport;
use super::both_ends::pairs;
use crate::load::{Disagreement, FailureCounts};

impl FailureCounts {
    /// Of `failed` connections, as both ends saw them. What neither end calls wrong data or a breach is
    /// the network's.
    pub(super) fn of_both(
        client: &GoodputReport,
        server: Option<&GoodputReport>,
        failed: u64,
    ) -> Self {
        let at = |end: Option<&GoodputReport>| end.map(|end| end.failures).unwrap_or_default();
        let (here, there) = (at(Some(client)), at(server));
        // What both ends say of one connection is told twice and counted once.
        let both = |kind| {
            let same = |(here, there): &(&FlowFacts, &FlowFacts)| {
                kind_of(here) == Some(kind) && kind_of(there) == Some(kind)
            };
            server.map_or(0, |server| pairs(client, server).filter(same).count() as u64)
        };
        let found =
            |here: u64, there: u64, kind| here.saturating_add(there).saturating_sub(both(kind));
        let data = found(here.data, there.data, FlowErrorKind::Data).min(failed);
        let silent = server.map_or(0, |server| disagreements(client, server).silent);
        let protocol = found(here.protocol, there.protocol, FlowErrorKind::Protocol)
            .saturating_add(silent)
            .min(failed - data);
        Self { network: failed - data - protocol, data, protocol }
    }
}

fn kind_of(flow: &FlowFacts) -> Option<FlowErrorKind> {
    flow.error.as_ref().map(|error| error.kind)
}

/// When connections failed, by the intervals of a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FailureTimes {
    /// The begin of the first interval with a failure.
    pub from_ns: u64,
    /// The end of the last one.
    pub until_ns: u64,
    /// Begin of the interval with the most.
    pub worst_start_ns: u64,
    /// Its end.
    pub worst_end_ns: u64,
    /// Failures in it.
    pub worst: u64,
}

impl FailureTimes {
    /// Of intervals in order: begin, end and failures of each.
    pub fn of(intervals: impl IntoIterator<Item = (u64, u64, u64)>) -> Option<Self> {
        let mut times: Option<Self> = None;
        for (start_ns, end_ns, failed) in intervals.into_iter().filter(|&(_, _, it)| it > 0) {
            let times = times.get_or_insert(Self { from_ns: start_ns, ..Self::default() });
            times.until_ns = end_ns;
            if failed > times.worst {
                (times.worst_start_ns, times.worst_end_ns, times.worst) =
                    (start_ns, end_ns, failed);
            }
        }
        times
    }
}

/// Where the two ends do not count the same.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Disagreements {
    /// Of the connections told one by one.
    pub told: Vec<Disagreement>,
    /// Connections among them that neither end says has failed.
    pub silent: u64,
}

/// Where the two ends do not count the same. Both tell the same connections one by one, in order.
pub fn disagreements(client: &GoodputReport, server: &GoodputReport) -> Disagreements {
    let mut all = Disagreements::default();
    for (here, there) in pairs(client, server) {
        let before = all.told.len();
        for (is_up, sent_bytes, received_bytes) in [
            (true, here.sent_bytes, there.received_bytes),
            (false, there.sent_bytes, here.received_bytes),
        ] {
            if sent_bytes != received_bytes {
                all.told.push(Disagreement { flow: here.flow, is_up, sent_bytes, received_bytes });
            }
        }
        let is_silent = here.error.is_none() && there.error.is_none();
        all.silent += u64::from(all.told.len() > before && is_silent);
    }
    all
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::FlowId;
    use pathscope_core::record::FlowError;

    use super::*;

    fn flow(number: u32, bytes: (u64, u64), kind: Option<FlowErrorKind>) -> FlowFacts {
        let error = kind.map(|kind| FlowError { kind, text: String::new(), errno: None });
        let (sent_bytes, received_bytes) = bytes;
        FlowFacts {
            flow: FlowId(number),
            sent_bytes,
            received_bytes,
            error,
            ..FlowFacts::default()
        }
    }

    fn end(flows: Vec<FlowFacts>) -> GoodputReport {
        let mut report = GoodputReport::default();
        for kind in flows.iter().filter_map(kind_of) {
            report.failed += 1;
            report.failures.count(kind);
        }
        GoodputReport { flows, ..report }
    }

    #[test]
    fn failures_have_their_time() {
        assert_eq!(FailureTimes::of([(0, 9, 0)]), None);
        let times =
            FailureTimes::of([(0, 1, 0), (1, 2, 3), (2, 3, 0), (3, 4, 5), (4, 5, 5), (5, 6, 0)]);
        let expected =
            FailureTimes { from_ns: 1, until_ns: 5, worst_start_ns: 3, worst_end_ns: 4, worst: 5 };
        assert_eq!(times, Some(expected));
    }

    #[test]
    fn the_end_that_is_short_is_named() {
        let client = end(vec![flow(0, (10, 0), None), flow(1, (10, 5), None)]);
        let server = end(vec![flow(0, (0, 10), None), flow(1, (7, 9), None)]);
        let found = disagreements(&client, &server);
        let texts: Vec<String> = found.told.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "flow 1: the client sent 10 bytes and the server took 9; the server is short by 1",
                "flow 1: the server sent 7 bytes and the client took 5; the client is short by 2",
            ]
        );
        assert_eq!(found.silent, 1);
        assert_eq!(disagreements(&client, &end(Vec::new())), Disagreements::default());
    }

    #[test]
    fn wrong_data_at_one_end_is_no_failure_of_the_network() {
        use FlowErrorKind::{Data, Network, Protocol};
        let client = end(vec![
            flow(0, (0, 0), Some(Network)),
            flow(1, (0, 0), Some(Network)),
            flow(2, (0, 0), Some(Data)),
            flow(3, (0, 0), Some(Network)),
        ]);
        let server = end(vec![
            flow(0, (0, 0), Some(Data)),
            flow(1, (0, 0), Some(Network)),
            flow(2, (0, 0), Some(Data)),
            flow(3, (0, 0), Some(Protocol)),
        ]);
        let counts = FailureCounts::of_both(&client, Some(&server), 4);
        assert_eq!(counts, FailureCounts { network: 1, data: 2, protocol: 1 });
        let alone = FailureCounts::of_both(&client, None, 4);
        assert_eq!(alone, FailureCounts { network: 3, data: 1, protocol: 0 });
    }
}
