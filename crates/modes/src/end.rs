//! What an end says of itself beside its flows, whatever is measured, and the machines at both ends.

use pathscope_core::counters::HostCounters;
use pathscope_core::record::{FlowErrorKind, Host, PeerFacts, StoodStill, Tells, WorkerUsage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sums::add_fields;

/// One end of a test, without what its flows came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndFacts<'report> {
    /// From the start of the test to the end of its last flow.
    pub elapsed_ns: u64,
    /// Processor time of each worker thread that carried the plan's flows.
    pub workers: &'report [WorkerUsage],
    /// Of all processors of this machine, the share of time that was not idle.
    pub host_cpu_share: Option<f64>,
    /// What this machine's kernel counted meanwhile.
    pub host: Option<&'report HostCounters>,
    /// When its program stood still; absent where it never did, or nobody looked.
    pub stood_still: Option<&'report StoodStill>,
}

impl EndFacts<'_> {
    /// Of the time, the share that its program stood still; `None` where that is not known to have happened.
    pub fn still_share(&self) -> Option<f64> {
        let still = self.stood_still.filter(|_| self.elapsed_ns > 0)?;
        Some(still.total_ns as f64 / self.elapsed_ns as f64)
    }

    /// For how long its program stood still.
    pub fn still_ns(&self) -> u64 {
        self.stood_still.map_or(0, |still| still.total_ns)
    }

    /// The most that one of its workers has of a share, of those that wait when there is nothing to do: one that spins wants a
    /// processor all the time.
    pub fn busiest(&self, share: impl Fn(&WorkerUsage) -> Option<f64>) -> Option<f64> {
        let waiting = self.workers.iter().filter(|worker| worker.wait != "spin");
        waiting.filter_map(share).reduce(f64::max)
    }
}

/// Connections of one end that ended in one interval.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct EndedConnections {
    /// Those that ended well, cut ones among them where they are not replaced.
    pub completed: u64,
    /// Those that failed, or could not be made.
    pub failed: u64,
    /// Of those, by the system or the path; earlier documents do not say of what.
    pub network: u64,
    /// Of those, with bytes that are not what they must be.
    pub data: u64,
    /// Of those, by a breach of the rules.
    pub protocol: u64,
}

impl EndedConnections {
    /// Counts one that failed, of this kind where that is known.
    pub fn fail(&mut self, kind: Option<FlowErrorKind>) {
        self.failed += 1;
        match kind {
            None => {}
            Some(FlowErrorKind::Network) => self.network += 1,
            Some(FlowErrorKind::Data) => self.data += 1,
            Some(_) => self.protocol += 1,
        }
    }

    /// These and those.
    #[must_use]
    pub fn with(mut self, more: &Self) -> Self {
        add_fields!(self, more; completed, failed, network, data, protocol);
        self
    }

    /// Of counts that only grow: what came since these.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            completed: self.completed.saturating_sub(before.completed),
            failed: self.failed.saturating_sub(before.failed),
            network: self.network.saturating_sub(before.network),
            data: self.data.saturating_sub(before.data),
            protocol: self.protocol.saturating_sub(before.protocol),
        }
    }

    /// Those that failed of what is not said.
    pub fn of_no_kind(&self) -> u64 {
        [self.network, self.data, self.protocol].into_iter().fold(self.failed, u64::saturating_sub)
    }
}

/// The machines at both ends, and who the other end was.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Hosts {
    /// The end that asked.
    pub client: Host,
    /// The end that answered; absent where it was never reached.
    pub server: Option<Host>,
    /// Who that was, by the protocol that it spoke; absent where it was never reached, and in results of builds that did not
    /// keep it.
    pub peer: Option<PeerFacts>,
}

impl Hosts {
    /// Whether both ends run on one boot of one machine; unknown counts as no.
    pub fn is_one_machine(&self) -> bool {
        let server = self.server.as_ref().and_then(|server| server.boot_id.as_ref());
        server.is_some() && server == self.client.boot_id.as_ref()
    }

    /// Whether both ends read one clock; unknown counts as no. On one machine a namespace of times may move it.
    pub fn read_one_clock(&self) -> bool {
        let server = self.server.as_ref().map(|server| &server.time_namespace);
        self.is_one_machine() && server == Some(&self.client.time_namespace)
    }

    /// Whether what both ends' kernels count of their network is the same; unknown counts as no. On one machine a namespace, as a
    /// node of a lab and a container have one, counts for itself. Of documents that do not tell, another name is another one.
    pub fn count_one_network(&self) -> bool {
        let Some(server) = &self.server else { return false };
        let own = &self.client;
        let is_one = match (&own.network_namespace, &server.network_namespace) {
            (None, None) => own.name == server.name,
            (one, other) => one == other,
        };
        is_one && self.is_one_machine()
    }

    /// What the other end tells of its counts; everything, where nothing else is known of it.
    pub fn tells(&self) -> Tells {
        self.peer.as_ref().map_or(Tells::EVERYTHING, |peer| peer.tells)
    }

    /// Both of them, as far as they are known.
    pub fn both(&self) -> impl Iterator<Item = &Host> {
        [Some(&self.client), self.server.as_ref()].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_is_counted_by_kinds_and_what_came_since() {
        let mut ended = EndedConnections { completed: 5, ..EndedConnections::default() };
        let before = ended;
        let kinds = [FlowErrorKind::Network, FlowErrorKind::Data, FlowErrorKind::Unconfirmed];
        kinds.into_iter().for_each(|kind| ended.fail(Some(kind)));
        ended.fail(None);
        let since = ended.since(&before);
        let wanted = EndedConnections { completed: 0, failed: 4, network: 1, data: 1, protocol: 1 };
        assert_eq!((since, since.of_no_kind()), (wanted, 1));
        assert_eq!(before.with(&since), ended);
    }

    #[test]
    fn one_clock_is_one_machine_in_one_namespace_of_times() {
        let host = |boot: &str, times: Option<&str>| Host {
            boot_id: Some(boot.to_owned()),
            time_namespace: times.map(str::to_owned),
            ..Host::default()
        };
        let is_one = |server: Host| {
            let client = host("a", Some("time:[1]"));
            Hosts { client, server: Some(server), peer: None }.read_one_clock()
        };
        assert!(is_one(host("a", Some("time:[1]"))));
        for other in [host("b", Some("time:[1]")), host("a", Some("time:[2]")), host("a", None)] {
            assert!(!is_one(other));
        }
        assert!(!Hosts::default().read_one_clock());
    }

    #[test]
    fn nodes_of_one_machine_count_each_its_own_network() {
        let host = |boot: &str, name: &str, network: Option<&str>| Host {
            boot_id: Some(boot.to_owned()),
            name: name.to_owned(),
            network_namespace: network.map(str::to_owned),
            ..Host::default()
        };
        let is_one =
            |client, server| Hosts { client, server: Some(server), peer: None }.count_one_network();
        assert!(is_one(host("a", "x", Some("net:[1]")), host("a", "y", Some("net:[1]"))));
        assert!(is_one(host("a", "x", None), host("a", "x", None)));
        for other in
            [host("a", "x", Some("net:[2]")), host("b", "x", Some("net:[1]")), host("a", "x", None)]
        {
            assert!(!is_one(host("a", "x", Some("net:[1]")), other));
        }
        assert!(!is_one(host("a", "h1", None), host("a", "h4", None)));
        assert!(!Hosts::default().count_one_network());
    }
}
