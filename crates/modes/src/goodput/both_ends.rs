//! What the two ends say of one connection, as one: how it ended, of what it failed, and whether both count the same. Off
//! the hot path.
//!
//! Who finds wrong data resets the connection, and the other end sees no more than a reset: why it failed is the finding
//! that tells most, whichever end made it.

use std::net::SocketAddr;

use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts};

use crate::load::{Disagreement, FailureCounts, GoodputReport, failure_of_both};
use crate::sums::add_fields;

/// Puts into the client's report what the server found of connections: said in its report, or before it of single ones.
pub fn take_in(
    client: &mut GoodputReport,
    server: Option<&GoodputReport>,
    heard: &[(FlowId, FlowError)],
) {
    let reported = server.iter().flat_map(|server| &server.flows);
    let reported = reported.filter_map(|there| Some((there.flow, there.error.as_ref()?)));
    let heard = heard.iter().map(|(flow, error)| (*flow, error));
    for (flow, theirs) in reported.chain(heard) {
        // Both lists are in order, but for what a peer may say.
        if let Ok(place) = client.flows.binary_search_by_key(&flow, |facts| facts.flow) {
            fail(client, place, theirs);
        }
    }
}

/// A connection failed at the server, of this.
fn fail(client: &mut GoodputReport, place: usize, theirs: &FlowError) {
    let facts = &mut client.flows[place];
    let own = facts.error.as_ref();
    let both = failure_of_both(Role::Server, theirs, own);
    if own.is_some_and(|own| own.text == both.text) {
        return;
    }
    let is_cut = std::mem::take(&mut facts.cut);
    if let Some(own) = own {
        client.failures.uncount(own.kind);
    } else {
        let ended = if is_cut { &mut client.cut } else { &mut client.completed };
        *ended = ended.saturating_sub(1);
        client.failed = client.failed.saturating_add(1);
        let remote = facts.remote.as_ref().and_then(|remote| remote.parse::<SocketAddr>().ok());
        let address = remote.map(|remote| remote.ip().to_canonical().to_string());
        let remotes = client.remotes.iter_mut();
        for counts in remotes.filter(|counts| Some(&counts.address) == address.as_ref()) {
            let ended = if is_cut { &mut counts.cut } else { &mut counts.completed };
            *ended = ended.saturating_sub(1);
            counts.failed = counts.failed.saturating_add(1);
        }
    }
    client.failures.count(both.kind);
    facts.error = Some(both);
}

/// The connections that both ends tell one by one, in order.
pub(super) fn pairs<'reports>(
    client: &'reports GoodputReport,
    server: &'reports GoodputReport,
) -> impl Iterator<Item = (&'reports FlowFacts, &'reports FlowFacts)> {
    let mut others = server.flows.iter().peekable();
    client.flows.iter().filter_map(move |here| {
        while others.next_if(|there| there.flow < here.flow).is_some() {}
        others.next_if(|there| there.flow == here.flow).map(|there| (here, there))
    })
}

/// Where the two ends do not count the same, of the connections that both tell one by one.
pub fn disagreements(client: &GoodputReport, server: &GoodputReport) -> Vec<Disagreement> {
    let ways = |(here, there): (&FlowFacts, &FlowFacts)| {
        let ways = [(true, here, there), (false, there, here)];
        ways.map(|(is_up, sender, receiver)| Disagreement {
            flow: here.flow,
            is_up,
            sent_bytes: sender.sent_bytes,
            received_bytes: receiver.received_bytes,
        })
    };
    let differs = |way: &Disagreement| {
        let ends = if way.is_up { (client, server) } else { (server, client) };
        differ(ends, (way.sent_bytes, way.received_bytes), 1)
    };
    pairs(client, server).flat_map(ways).filter(differs).collect()
}

/// Whether what was sent and received is not the same; of an end that said what it received while more was on its way, whether it
/// received what nobody sent. All of that of so many connections together.
pub(super) fn differ(
    (sender, receiver): (&GoodputReport, &GoodputReport),
    (sent, received): (u64, u64),
    connections: u64,
) -> bool {
    let uncounted = sender.uncounted_bytes.saturating_mul(connections);
    if receiver.late_bytes.is_some() {
        received > sent.saturating_add(uncounted)
    } else {
        received != sent
    }
}

/// Connections that neither end says have failed, and of which they do not count the same.
pub(super) fn silent_disagreements(client: &GoodputReport, server: &GoodputReport) -> u64 {
    let is_silent = |(here, there): &(&FlowFacts, &FlowFacts)| {
        let is_same = !differ((client, server), (here.sent_bytes, there.received_bytes), 1)
            && !differ((server, client), (there.sent_bytes, here.received_bytes), 1);
        !is_same && here.error.is_none() && there.error.is_none()
    };
    pairs(client, server).filter(is_silent).count() as u64
}

impl FailureCounts {
    /// Of `failed` connections, as both ends saw them. What neither end calls wrong data or a breach is
    /// the network's.
    pub(super) fn of_both(
        client: &GoodputReport,
        server: Option<&GoodputReport>,
        failed: u64,
    ) -> Self {
        let mut found = client.failures;
        if let Some(server) = server {
            add_fields!(found, server.failures; data, protocol);
            // What both ends say of one connection is told twice and counted once.
            let kinds = pairs(client, server).map(|(here, there)| (kind_of(here), kind_of(there)));
            let both = kinds.filter_map(|(here, there)| here.filter(|_| here == there));
            both.for_each(|kind| found.uncount(kind));
            let silent = silent_disagreements(client, server);
            found.protocol = found.protocol.saturating_add(silent);
        }
        let data = found.data.min(failed);
        let protocol = found.protocol.min(failed - data);
        Self { network: failed - data - protocol, data, protocol }
    }
}

fn kind_of(flow: &FlowFacts) -> Option<FlowErrorKind> {
    flow.error.as_ref().map(|error| error.kind)
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Bytes, Period};

    use super::super::tests::plan;
    use super::super::{GoodputPlan, GoodputSummary, Iterations, Shape};

    use super::*;
    use crate::load::{Extent, Pattern, RemoteCounts};

    fn error(kind: FlowErrorKind, text: &str) -> FlowError {
        let errno = (kind == FlowErrorKind::Network).then(|| "ECONNRESET".to_owned());
        FlowError { kind, text: text.to_owned(), errno }
    }

    fn reset() -> FlowError {
        error(FlowErrorKind::Network, "the connection broke (ECONNRESET)")
    }

    fn damage() -> FlowError {
        error(FlowErrorKind::Data, "wrong data at byte 7, 1 byte long: 1 bit flipped")
    }

    /// What each of these connections came to, by its number: whether it was cut, and of what it failed.
    fn report(flows: &[(bool, Option<FlowError>)]) -> GoodputReport {
        let mut report = GoodputReport::default();
        for (number, (cut, error)) in (0..).zip(flows) {
            match error {
                Some(error) => {
                    report.failed += 1;
                    report.failures.count(error.kind);
                }
                None if *cut => report.cut += 1,
                None => report.completed += 1,
            }
            let remote = Some("127.0.0.1:9".to_owned());
            let (flow, error) = (FlowId(number), error.clone());
            report.flows.push(FlowFacts { flow, remote, error, cut: *cut, ..FlowFacts::default() });
        }
        report.remotes = vec![RemoteCounts {
            address: "127.0.0.1".to_owned(),
            completed: report.completed,
            failed: report.failed,
            cut: report.cut,
            ..RemoteCounts::default()
        }];
        report
    }

    fn of(connections: u32) -> GoodputPlan {
        let ten_seconds = Extent::DurationNs(Period::from_secs(10));
        GoodputPlan { connections, ..plan(Pattern::Push, ten_seconds) }
    }

    fn endings(
        attempted: u64,
        completed: u64,
        failed: u64,
        cut: u64,
        unknown: u64,
    ) -> GoodputSummary {
        GoodputSummary { completed, failed, cut, unknown, attempted, ..GoodputSummary::default() }
    }

    #[test]
    fn the_finding_that_tells_most_comes_first() {
        let both = |theirs: &FlowError, own: Option<&FlowError>| {
            let both = failure_of_both(Role::Server, theirs, own);
            (both.kind, both.text)
        };
        let (data, network) = (FlowErrorKind::Data, FlowErrorKind::Network);
        let (reset, damage) = (reset(), damage());
        let with_own = format!("{} (at the server; here: {})", damage.text, reset.text);
        assert_eq!(both(&damage, Some(&reset)), (data, with_own));
        assert_eq!(both(&damage, None), (data, format!("{} (at the server)", damage.text)));
        assert_eq!(both(&reset, Some(&damage)), (data, damage.text.clone()));
        assert_eq!(both(&reset, Some(&reset)), (network, reset.text.clone()));
    }

    #[test]
    fn who_is_the_other_end_is_told_from_where_it_was_found() {
        let theirs = error(FlowErrorKind::Network, "the other end closed the connection after 7 B");
        for (peer, told) in [
            (Role::Server, "the client closed the connection after 7 B (at the server)"),
            (Role::Client, "the server closed the connection after 7 B (at the client)"),
        ] {
            assert_eq!(failure_of_both(peer, &theirs, None).text, told);
        }
    }

    #[test]
    fn what_the_server_found_is_the_clients_knowledge_too_and_counted_once() {
        for from_report in [true, false] {
            let mut client =
                report(&[(false, None), (false, Some(reset())), (true, None), (false, None)]);
            let found = [(false, None), (false, Some(damage())), (true, Some(damage()))];
            let server = report(&found);
            let heard = [(FlowId(1), damage()), (FlowId(2), damage()), (FlowId(77), damage())];
            if from_report {
                take_in(&mut client, Some(&server), &heard);
            } else {
                take_in(&mut client, None, &heard);
            }
            let kinds: Vec<_> = client
                .flows
                .iter()
                .map(|flow| flow.error.as_ref().map(|error| error.kind))
                .collect();
            let data = Some(FlowErrorKind::Data);
            assert_eq!(kinds, [None, data, data, None]);
            assert_eq!((client.completed, client.failed, client.cut), (2, 2, 0));
            assert_eq!(client.failures, FailureCounts { data: 2, ..FailureCounts::default() });
            let RemoteCounts { completed, failed, cut, .. } = client.remotes[0];
            assert_eq!((completed, failed, cut), (2, 2, 0));
        }
    }

    #[test]
    fn a_connection_that_failed_at_one_end_and_was_cut_at_the_other_is_one() {
        let client = report(&[(false, None), (false, Some(reset())), (false, None)]);
        let server = report(&[(false, None), (true, None), (false, None)]);
        let expected = endings(3, 2, 1, 0, 0);
        assert_eq!(GoodputSummary::endings(&of(3), &client, Some(&server), false), expected);
    }

    #[test]
    fn connections_that_are_not_told_one_by_one_are_counted_by_their_sums() {
        let mut client = report(&[(false, Some(reset())), (false, None)]);
        let mut server = report(&[(false, None), (false, Some(reset()))]);
        (client.failed, client.completed) = (11, 989);
        (server.failed, server.completed, server.cut) = (4, 986, 10);
        let expected = endings(1_000, 978, 12, 10, 0);
        assert_eq!(GoodputSummary::endings(&of(1_000), &client, Some(&server), false), expected);
    }

    #[test]
    fn without_the_servers_word_it_is_not_known_how_a_connection_ended() {
        let client = report(&[(false, None), (false, Some(reset())), (true, None), (false, None)]);
        let expected = endings(4, 0, 1, 1, 2);
        assert_eq!(GoodputSummary::endings(&of(4), &client, None, false), expected);
        // Where it says it on each connection, it is of those that are over.
        let expected = endings(5, 2, 1, 1, 1);
        assert_eq!(GoodputSummary::endings(&of(5), &client, None, true), expected);
        // Where it has said it on the connection, it is.
        let shape = Shape { iterations: Iterations::Times(4), ..Shape::default() };
        let extent = Extent::TransferBytes(Bytes(9));
        let replaced = GoodputPlan { extent, shape, ..of(1) };
        let expected = endings(4, 2, 1, 1, 0);
        assert_eq!(GoodputSummary::endings(&replaced, &client, None, false), expected);
    }
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
    fn the_end_that_is_short_is_named() {
        let client = end(vec![flow(0, (10, 0), None), flow(1, (10, 5), None)]);
        let server = end(vec![flow(0, (0, 10), None), flow(1, (7, 9), None)]);
        let found = disagreements(&client, &server);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "flow 1: the client sent 10 bytes and the server took 9; the server is short by 1",
                "flow 1: the server sent 7 bytes and the client took 5; the client is short by 2",
            ]
        );
        assert_eq!(silent_disagreements(&client, &server), 1);
        assert_eq!(disagreements(&client, &end(Vec::new())), []);
        assert_eq!(silent_disagreements(&client, &end(Vec::new())), 0);
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
