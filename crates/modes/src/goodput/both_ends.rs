//! What the two ends say of one connection, as one: how it ended, and of what it failed. Off the hot path.
//!
//! Who finds wrong data resets the connection, and the other end sees no more than a reset: why it failed is the finding
//! that tells most, whichever end made it.

use std::net::SocketAddr;

use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::{FlowError, FlowFacts};

use super::{GoodputPlan, GoodputReport, disagreements};
use crate::load::{RemoteCounts, failure_of_both};

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
        let place = client.flows.binary_search_by_key(&flow, |facts| facts.flow);
        if let Ok(place) = place {
            fail(client, place, theirs);
        }
    }
}

/// A connection failed at the server, of this.
fn fail(client: &mut GoodputReport, place: usize, theirs: &FlowError) {
    let facts = &mut client.flows[place];
    let own = facts.error.take();
    let both = failure_of_both(Role::Server, theirs, own.as_ref());
    if own.as_ref().is_some_and(|own| own.text == both.text) {
        facts.error = own;
        return;
    }
    let (is_cut, remote) = (std::mem::take(&mut facts.cut), facts.remote.clone());
    let kind = both.kind;
    facts.error = Some(both);
    if let Some(own) = own {
        client.failures.uncount(own.kind);
    } else {
        let ended = if is_cut { &mut client.cut } else { &mut client.completed };
        *ended = ended.saturating_sub(1);
        client.failed = client.failed.saturating_add(1);
        fail_remote(&mut client.remotes, remote.as_deref(), is_cut);
    }
    client.failures.count(kind);
}

fn fail_remote(remotes: &mut [RemoteCounts], remote: Option<&str>, is_cut: bool) {
    let address = remote.and_then(|remote| remote.parse::<SocketAddr>().ok());
    let Some(address) = address.map(|address| address.ip().to_canonical().to_string()) else {
        return;
    };
    if let Some(counts) = remotes.iter_mut().find(|counts| counts.address == address) {
        let ended = if is_cut { &mut counts.cut } else { &mut counts.completed };
        *ended = ended.saturating_sub(1);
        counts.failed = counts.failed.saturating_add(1);
    }
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

/// How connections ended, over both ends: each is one of these.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Endings {
    /// They were made, or were to be made and could not.
    pub attempted: u64,
    /// Both ends say that it came to its end.
    pub completed: u64,
    /// It failed at either end, or the ends do not count the same.
    pub failed: u64,
    /// The end of the run stopped it before its transfer was whole.
    pub cut: u64,
    /// It ended well at the client, and the server has not said how it ended there.
    pub unknown: u64,
}

impl Endings {
    /// Of what both ends said; `server` is absent where it was lost.
    pub fn of(plan: &GoodputPlan, client: &GoodputReport, server: Option<&GoodputReport>) -> Self {
        let attempted = if plan.replaces() {
            client.completed.saturating_add(client.failed).saturating_add(client.cut)
        } else {
            u64::from(plan.connections)
        };
        let Some(server) = server else { return Self::of_client(plan, client, attempted) };
        let (mut here, mut there, mut both) = (Told::default(), Told::default(), Told::default());
        for (client, server) in pairs(client, server) {
            here.count(client.error.is_some(), client.cut);
            there.count(server.error.is_some(), server.cut);
            let has_failed = client.error.is_some() || server.error.is_some();
            both.count(has_failed, client.cut || server.cut);
        }
        // Of the others only the sums are known, and those that failed at one end may be those that did at the other.
        let beyond = |all: fn(&GoodputReport) -> u64, told: fn(&Told) -> u64| {
            let here = all(client).saturating_sub(told(&here));
            let there = all(server).saturating_sub(told(&there));
            here.max(there)
        };
        let failed = both
            .failed
            .saturating_add(beyond(|report| report.failed, |told| told.failed))
            .saturating_add(disagreements(client, server).silent);
        let cut = both.cut.saturating_add(beyond(|report| report.cut, |told| told.cut));
        let cut = cut.min(attempted.saturating_sub(failed));
        let completed = attempted.saturating_sub(failed.saturating_add(cut));
        Self { attempted, completed: completed.min(client.completed), failed, cut, unknown: 0 }
    }

    fn of_client(plan: &GoodputPlan, client: &GoodputReport, attempted: u64) -> Self {
        let (failed, cut) = (client.failed, client.cut);
        let rest = attempted.saturating_sub(failed.saturating_add(cut));
        // Of connections that are replaced the server has said on each what it verified.
        let (completed, unknown) = if plan.replaces() { (rest, 0) } else { (0, rest) };
        Self { attempted, completed, failed, cut, unknown }
    }
}

/// Connections told one by one that did not come to their end.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    failed: u64,
    cut: u64,
}

impl Told {
    fn count(&mut self, has_failed: bool, is_cut: bool) {
        self.failed += u64::from(has_failed);
        self.cut += u64::from(is_cut && !has_failed);
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Bytes, Period};

    use super::super::tests::plan;
    use super::super::{Iterations, Shape};
    use pathscope_core::record::FlowErrorKind;

    use super::*;
    use crate::load::{Extent, FailureCounts, Pattern};

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
        let expected = Endings { attempted: 3, completed: 2, failed: 1, cut: 0, unknown: 0 };
        assert_eq!(Endings::of(&of(3), &client, Some(&server)), expected);
    }

    #[test]
    fn connections_that_are_not_told_one_by_one_are_counted_by_their_sums() {
        let mut client = report(&[(false, Some(reset())), (false, None)]);
        let mut server = report(&[(false, None), (false, Some(reset()))]);
        (client.failed, client.completed) = (11, 989);
        (server.failed, server.completed, server.cut) = (4, 986, 10);
        let expected =
            Endings { attempted: 1_000, completed: 978, failed: 12, cut: 10, unknown: 0 };
        assert_eq!(Endings::of(&of(1_000), &client, Some(&server)), expected);
    }

    #[test]
    fn without_the_servers_word_it_is_not_known_how_a_connection_ended() {
        let client = report(&[(false, None), (false, Some(reset())), (true, None), (false, None)]);
        let expected = Endings { attempted: 4, completed: 0, failed: 1, cut: 1, unknown: 2 };
        assert_eq!(Endings::of(&of(4), &client, None), expected);
        // Where it has said it on the connection, it is.
        let shape = Shape { iterations: Iterations::Times(4), ..Shape::default() };
        let extent = Extent::TransferBytes(Bytes(9));
        let replaced = GoodputPlan { extent, shape, ..of(1) };
        let expected = Endings { completed: 2, unknown: 0, ..expected };
        assert_eq!(Endings::of(&replaced, &client, None), expected);
    }
}
