//! What is counted of sessions, and in which words it is told.

use std::sync::Arc;

use pathscope_core::id::Role;
use pathscope_modes::end::EndedConnections;
use pathscope_modes::goodput::{GoodputInterval, GoodputReport};
use pathscope_modes::latency::LatencyReport;
use pathscope_modes::load::FailureCounts;
use pathscope_modes::registry::{EndInterval, EndReport};
use pathscope_peers::registry::PeerKind;

use super::{Account, Echoes, Ended, Totals};
use crate::threads::lock;

fn session(totals: &Arc<Totals>) -> Account {
    let mut account = Account::begin(totals, PeerKind::OWN);
    account.test_begins("goodput", true);
    account
}

fn interval(sent_bytes: u64, completed: u64) -> EndInterval {
    let goodput =
        Some(GoodputInterval { sent_bytes, received_bytes: 7, ..GoodputInterval::default() });
    let ended = Some(EndedConnections { completed, ..EndedConnections::default() });
    EndInterval { goodput, ended, ..EndInterval::default() }
}

fn report(sent_bytes: u64, failures: FailureCounts) -> EndReport {
    let failed = failures.network + failures.data;
    let goodput = GoodputReport {
        sent_bytes,
        completed: 4 - failed,
        failed,
        failures,
        ..GoodputReport::default()
    };
    EndReport { goodput: Some(goodput), ..EndReport::default() }
}

/// Those after the first, which tells how long it was.
fn rows(totals: &Totals) -> Vec<String> {
    totals.lines().split_off(1)
}

fn first(totals: &Totals) -> String {
    let line = totals.lines().swap_remove(0);
    line.split_once(": ").expect("it begins with the time").1.to_owned()
}

#[test]
fn what_runs_is_told_as_its_intervals_say_and_what_is_over_as_both_reports_do() {
    let totals = Arc::<Totals>::default();
    assert_eq!(first(&totals), "0 sessions, 0 refused");
    let mut account = session(&totals);
    account.interval(&interval(1_000, 2));
    account.interval(&interval(500, 1));
    assert_eq!(first(&totals), "1 session (1 is there), 0 refused");
    let running = "served native goodput: 0 tests, 1 more runs; in 14 bytes, out 1,500 bytes; 3 flows completed, 0 failed";
    assert_eq!(rows(&totals), [running]);
    assert_eq!(totals.failures(), None);
    account
        .report(Role::Server, &report(1_600, FailureCounts { network: 1, ..Default::default() }));
    account.report(Role::Client, &report(0, FailureCounts { data: 1, ..Default::default() }));
    account.test_over();
    let over = "served native goodput: 1 test; in nothing, out 1,600 bytes; 3 flows completed, 1 failed (1 data)";
    assert_eq!(rows(&totals), [over]);
    account.close(Ended::Well);
    drop(account);
    assert_eq!(first(&totals), "1 session (1 ended well), 0 refused");
    let failures = totals.failures().expect("a flow failed");
    assert!(failures.starts_with("1 flow of those that were served failed"), "{failures}");
}

#[test]
fn a_session_that_breaks_off_keeps_what_its_intervals_said_and_has_failed() {
    let totals = Arc::<Totals>::default();
    let account = session(&totals);
    account.interval(&interval(900, 0));
    drop(account);
    let mut lost = session(&totals);
    lost.close(Ended::Badly);
    drop(lost);
    session(&totals).close(Ended::Cut);
    drop(Account::begin(&totals, PeerKind::OWN));
    totals.refuse();
    assert_eq!(
        first(&totals),
        "4 sessions (2 failed, 1 cut off by the end, 1 had no test), 1 refused"
    );
    assert_eq!(rows(&totals), ["served native goodput: 3 tests; in 7 bytes, out 900 bytes"]);
    let failures = totals.failures().expect("two sessions failed");
    assert!(failures.starts_with("2 sessions of those"), "{failures}");
    assert!(lock(&totals.state).running.is_empty());
}

#[test]
fn what_nobody_confirmed_has_not_ended_well() {
    let failed = |ended, there: Option<FailureCounts>| {
        let totals = Arc::<Totals>::default();
        let mut account = session(&totals);
        account.report(Role::Server, &report(0, FailureCounts { data: 1, ..Default::default() }));
        there.iter().for_each(|there| account.report(Role::Client, &report(0, *there)));
        account.close(ended);
        drop(account);
        rows(&totals)
            .swap_remove(0)
            .split_off("served native goodput: 1 test; in nothing, out nothing; ".len())
    };
    assert_eq!(failed(Ended::Badly, None), "flows: 4 failed (3 network, 1 data)");
    assert_eq!(failed(Ended::Cut, None), "3 flows completed, 1 failed (1 data)");
    let confirmed = Some(FailureCounts::default());
    assert_eq!(failed(Ended::Badly, confirmed), "3 flows completed, 1 failed (1 data)");
    let totals = Arc::<Totals>::default();
    let mut replaced = Account::begin(&totals, PeerKind::OWN);
    replaced.test_begins("goodput", false);
    replaced.report(Role::Server, &report(0, FailureCounts::default()));
    drop(replaced);
    assert!(rows(&totals)[0].ends_with("; 4 flows completed, 0 failed"), "{:?}", rows(&totals));
}

#[test]
fn probes_are_of_their_own_mode_and_echoes_of_their_clients() {
    let totals = Arc::<Totals>::default();
    let mut account = session(&totals);
    let probe = LatencyReport { sent: 3, received: 4, ..LatencyReport::default() };
    let report = EndReport { probe: Some(probe), ..report(1, FailureCounts::default()) };
    account.report(Role::Server, &report);
    account.test_over();
    let echoes = totals.answers(PeerKind::OWN);
    Echoes::count(&echoes.clients);
    (0..2).for_each(|_| Echoes::count(&echoes.sent));
    let expected = [
        "served native goodput: 1 test; in nothing, out 1 byte; 4 flows completed, 0 failed",
        "served native latency: beside loads; in 4 pings, out 3 pings",
        "served native: 1 client; 2 datagrams echoed",
    ];
    assert_eq!(rows(&totals), expected);
}
