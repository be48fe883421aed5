//! How a run ended, or what it had of one server: well, or the gravest of what went wrong. Not what it measured.

use pathscope_core::error::Failure;
use pathscope_core::finding::Finding as _;
use pathscope_core::id::Role;
use pathscope_modes::document::{Document, Outcome, OutcomeState};
use pathscope_modes::registry::EndReport;

use super::Ended;
use crate::findings::RunCaveat;
use crate::stop::Stop;

/// The gravest of what went wrong, put down in the document.
pub(super) fn conclude(
    document: &mut Document,
    stop: &Stop,
    ended: Ended,
) -> Option<(Failure, String)> {
    let interrupted = stop.reason().map(|reason| (Failure::Interrupted, reason.to_owned()));
    let ends = document.all_measurements().flat_map(|measurement| {
        let server = measurement.server.as_ref().map(|server| (Role::Server, server));
        [Some((Role::Client, &measurement.client)), server].into_iter().flatten()
    });
    let check = document.failed_checks().next();
    let check = check.map(|check| (Failure::Check, with_reason(&check.text, ends)));
    let all = [interrupted, ended.err(), check];
    let gravest = Failure::gravest(all.iter().flatten().map(|&(failure, _)| failure));
    let failure = all.into_iter().flatten().find(|&(failure, _)| Some(failure) == gravest);
    document.outcome = match &failure {
        None | Some((Failure::Check, _)) => Outcome::default(),
        Some((Failure::Interrupted, reason)) => Outcome::ended(OutcomeState::Interrupted, reason),
        Some((_, reason)) => Outcome::ended(OutcomeState::Failed, reason),
    };
    failure
}

/// What a check that failed says, and why a thread that runs flows could not go on, where one could not: of flows that were lost with it
/// nothing else says why.
fn with_reason<'ends>(
    check: &str,
    ends: impl IntoIterator<Item = (Role, &'ends EndReport)>,
) -> String {
    let mut failed = ends.into_iter().filter_map(|(role, end)| {
        let name = RunCaveat::WorkerFailed.name();
        Some((role, &end.caveats.iter().find(|caveat| caveat.name == name)?.text))
    });
    match failed.next() {
        Some((role, why)) if !check.contains(why.as_str()) => {
            let end = if role == Role::Client { "client" } else { "server" };
            format!("{check}; a thread of the {end} could not go on: {why}")
        }
        _ => check.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::record::Caveat;

    use super::*;

    #[test]
    fn why_a_worker_failed_is_told_with_the_check_that_failed_of_it() {
        let cut = Caveat::new(RunCaveat::BufferCut, "4 KiB");
        let lost = Caveat::new(RunCaveat::WorkerFailed, "cannot make a poller: no memory");
        let of = |caveats: &[&Caveat]| EndReport {
            caveats: caveats.iter().copied().cloned().collect(),
            ..EndReport::default()
        };
        let (well, badly) = (of(&[&cut]), of(&[&cut, &lost]));
        let told = |check: &str, client, server| {
            with_reason(check, [(Role::Client, client), (Role::Server, server)])
        };
        assert_eq!(told("2 of 4 failed", &well, &well), "2 of 4 failed");
        assert_eq!(
            told("2 of 4 failed", &well, &badly),
            "2 of 4 failed; a thread of the server could not go on: cannot make a poller: no memory"
        );
        let named = "its connection failed: cannot make a poller: no memory";
        assert_eq!(told(named, &badly, &well), named, "once");
    }
}
