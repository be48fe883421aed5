//! A server that is killed under a multipath test: it may come back, as another process that knows nothing of the first.

use pathscope_modes::document::{Document, OutcomeState};
use pathscope_modes::paths::Transition;

use super::multipath::{Course, TWO_WAYS, has_ip, ip, near, put_back, routes, story, summary};
use super::multipath_faults::firewall;
use super::{PORT, Stand, only};

const WORDS: [&str; 6] = ["--path", "to-ap", "--path", "to-modem", "--rate", "2Mbit"];

/// What happened to the server, in order.
fn server_story(document: &Document) -> Vec<&str> {
    let of = |it: &&Transition| it.path.is_none() && ["gone", "back"].contains(&it.what.as_str());
    near(document).transitions.iter().filter(of).map(|it| it.what.as_str()).collect()
}

#[test]
fn a_server_that_is_killed_and_back_costs_an_outage_and_the_run_ends_well() {
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let server = stand.server("server");
    let mut course = Course::start(&stand, &[&WORDS[..], &["-t", "10s"]].concat());
    course.await_intervals(5);
    server.signal("KILL");
    drop(server.finish());
    course.await_intervals(3);
    let _server = stand.server("server");
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    assert_eq!(document.outcome.state, OutcomeState::Complete, "{}", ran.said());
    assert_eq!(server_story(&document), ["gone", "back"], "{}", ran.said());
    assert_eq!(near(&document).resumptions, 1);
    for path in ["to-ap", "to-modem"] {
        assert_eq!(story(&document, path), ["up", "down", "up", "used"], "{}", ran.said());
    }
    let summary = summary(&document);
    assert_eq!(summary.scheduled, 2_441, "to its end: {}", ran.said());
    assert!(summary.received < summary.scheduled, "{}", ran.said());
    assert_eq!(summary.lost + summary.received + summary.without_path, summary.scheduled);
    assert_eq!(summary.effective_gaps.outages, 1, "{}", ran.said());
    let far = only(&document).server.as_ref().and_then(|end| end.multipath.as_ref());
    let far = far.expect("the one that came back reported");
    for (path, far) in summary.paths.iter().zip(&far.paths) {
        // The server that reported saw what came after; of each that reached it the answer came.
        assert!(far.received > 0 && far.received < path.received, "{}", ran.said());
        assert_eq!((path.lost_forward, path.lost_return), (None, None), "{}", ran.said());
        assert_eq!((path.corrupt, path.duplicates, path.late), (0, 0, 0), "{}", ran.said());
        assert_eq!(path.gaps.outages, 1, "{}", ran.said());
    }
    let caveats = &only(&document).caveats;
    assert!(caveats.iter().any(|it| it.name == "server_resumed"), "{caveats:?}");
}

#[test]
fn a_path_that_was_asking_when_the_server_came_back_is_a_path_of_the_new_one() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let server = stand.server("server");
    let kept = routes(&stand, "to-modem");
    let mut course = Course::start(&stand, &[&WORDS[..], &["-t", "12s"]].concat());
    course.await_intervals(5);
    server.signal("KILL");
    drop(server.finish());
    // It asks a server that is not there, again and again.
    ip(&stand, &["link", "set", "to-modem", "down"]);
    course.await_intervals(2);
    ip(&stand, &["link", "set", "to-modem", "up"]);
    put_back(&stand, "to-modem", &kept);
    course.await_intervals(5);
    let _server = stand.server("server");
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    assert_eq!(server_story(&document), ["gone", "back"], "{}", ran.said());
    let summary = summary(&document);
    let far = only(&document).server.as_ref().and_then(|end| end.multipath.as_ref());
    let far = far.expect("the one that came back reported");
    for (path, far) in summary.paths.iter().zip(&far.paths) {
        let told = story(&document, &path.interface);
        assert_eq!(told.last(), Some(&"used"), "{told:?}: {}", ran.said());
        // One outage of each, and nothing lost since: the link is as good as ever.
        assert_eq!(path.gaps.outages, 1, "{}", ran.said());
        assert!(far.received > 200, "{} by {}: {}", far.received, path.interface, ran.said());
    }
}

#[test]
fn a_connection_that_the_client_alone_knows_is_gone_costs_no_run() {
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    // The server is not to hear of the reset.
    let wall = "add table inet wall; add chain inet wall way { type filter hook output priority 0; }; \
                add rule inet wall way tcp flags & rst == rst drop";
    if !firewall(&stand, "laptop", wall) {
        return;
    }
    let _server = stand.server("server");
    let mut course = Course::start(&stand, &[&WORDS[..], &["-t", "12s"]].concat());
    course.await_intervals(5);
    let port = format!(":{PORT}");
    let killed = stand.start("laptop", &["ss", "-t", "-K", "dport", "=", &port]).finish();
    if killed.code != Some(0) || !killed.stdout.contains(&port) {
        println!("skipped, because this system ends no connections for others: {}", killed.said());
        return;
    }
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    // The session takes the new connection in place of the one that stands for it, and the test knows nothing of it.
    assert_eq!(server_story(&document), [] as [&str; 0], "{}", ran.said());
    assert_eq!(near(&document).resumptions, 0, "{}", ran.said());
    let caveats = &document.caveats;
    assert!(caveats.iter().any(|it| it.name == "control_connection_renewed"), "{caveats:?}");
    let summary = summary(&document);
    assert_eq!(summary.scheduled, 2_929, "to its end: {}", ran.said());
    for path in &summary.paths {
        assert_eq!(story(&document, &path.interface).last(), Some(&"up"), "{}", ran.said());
    }
    assert!(summary.received > summary.scheduled / 2, "{}", ran.said());
}
