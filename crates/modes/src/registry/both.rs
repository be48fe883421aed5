//! What both ends of a test say, whatever was measured: interval by interval, and when all flows are over. Not here: what one end says,
//! which has a part for each mode (`registry`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EndInterval, EndReport, InDocuments};
use crate::end::Hosts;
use crate::results::{End, Ends, Results, Slice, Slices};

/// One report interval as both ends saw it. The ends count from their own start, which differ by the
/// time that word of it takes from client to server.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Interval {
    /// Its number, from 0.
    pub index: u64,
    /// The client's end.
    pub client: Option<EndInterval>,
    /// The server's end.
    pub server: Option<EndInterval>,
}

impl Interval {
    /// What both ends say in it of the flows of a mode.
    pub(crate) fn slices<M: InDocuments>(&self) -> Slices<'_, M> {
        Slices {
            client: self.client.as_ref().map(EndInterval::slice::<M>),
            server: self.server.as_ref().map(EndInterval::slice::<M>),
        }
    }

    /// The client's word of it, or else the server's.
    pub(crate) fn either(&self) -> Option<&EndInterval> {
        self.client.as_ref().or(self.server.as_ref())
    }
}

/// What both ends report, whatever was measured.
#[derive(Clone, Copy, Debug)]
pub struct Reports<'a> {
    /// The end that asked.
    pub client: &'a EndReport,
    /// The other; absent where its report never came.
    pub server: Option<&'a EndReport>,
    /// Their machines.
    pub hosts: &'a Hosts,
}

impl<'a> Reports<'a> {
    /// What they say of these flows; none where the client says nothing of them.
    pub(crate) fn ends<M: Results>(
        self,
        of: fn(&'a EndReport) -> Option<&'a M::Report>,
    ) -> Option<Ends<'a, M>> {
        let end = |report: &'a EndReport| Some(End { own: of(report)?, facts: report.facts() });
        let server = self.server.and_then(end);
        Some(Ends { client: end(self.client)?, server, hosts: self.hosts })
    }
}

/// The client's intervals, as they say something of a mode.
pub(crate) fn client_slices<M: InDocuments>(intervals: &[Interval]) -> Vec<Slice<'_, M>> {
    intervals.iter().filter_map(|interval| Some(interval.client.as_ref()?.slice::<M>())).collect()
}
