//! The figures that no rule is about, and why. Any other one without a rule fails a test: a new figure has a truth or a reason.

use pathscope_modes::figures::{Group, groups};

use crate::document::WithoutRow;

/// How their ids begin, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("goodput.acknowledged", "no cell has a receiver that tells nothing"),
    ("goodput.acknowledged_bytes", "no cell has a receiver that tells nothing"),
    ("goodput.starved", "no cell has connections that starve"),
    ("goodput.starved_rate", "no cell has connections that starve"),
    ("goodput.too_short", "no cell has connections that are too short"),
    ("goodput.completed_per_second", "no cell has connections that follow one another"),
    ("goodput.errno.", FAILURES),
    ("goodput.fast_open.", "no cell has connections that follow one another"),
    ("goodput.failures.from", FAILURES),
    ("goodput.failures.until", FAILURES),
    ("goodput.failures.worst", FAILURES),
    ("goodput.failures.worst_from", FAILURES),
    ("goodput.failures.worst_until", FAILURES),
    ("search.resolution", "it is what a search goes by"),
    (
        "search.trial.duration",
        "a trial is as long as it was told to be, and its end is the sender's own",
    ),
    ("search.trial.sent_rate", "it is the count over the time, both of which are the sender's"),
    ("search.trial.received_rate", "it is that of the trial's own test"),
    ("search.trial.unsent", "what is due and never leaves is known to the sender alone"),
    ("search.trial.socket_drops", KERNEL),
    ("search.trial.send_lag_max", "single datagrams are in no file"),
    ("latency.corrected", "no cell has a closed loop at a rate"),
    ("latency.one_way.error", CLOCKS),
    ("latency.parts.pings", "which stamps a kernel gives is known to it alone"),
    ("latency.parts.client_error", CLOCKS),
    ("latency.parts.server_error", CLOCKS),
    ("loaded.send_lag", PROBES),
    ("loaded.corrected", "probes are an open loop"),
    ("loaded.server_residence", PROBES),
    ("loaded.jitter", PROBES),
    ("loaded.ipdv", PROBES),
    ("loaded.forward.", PROBES),
    ("loaded.back.", PROBES),
    ("loaded.one_way.error", CLOCKS),
    ("loaded.parts.", "probes have no kernel stamps"),
    ("loaded.warm_up", PROBES),
    ("loaded.reordered", "no link overtakes beside a load"),
    ("loaded.reordered_forward", "no link overtakes beside a load"),
    ("loaded.reordered_return", "no link overtakes beside a load"),
    ("loaded.reordering.", "no link overtakes beside a load"),
    ("multipath.radio.", "a lab has no radio"),
    ("servers.", "a cell has one server"),
    ("end.ramp.", "how soon connections are begun is this machine's affair"),
    ("end.request", "no cell has connections that follow one another"),
    ("end.connection", "no cell has connections that follow one another"),
    ("end.stood_still", "no program of a cell is stopped"),
    ("end.cpu.", KERNEL),
    ("end.counter", KERNEL),
    ("end.activity.", KERNEL),
    ("end.sender.", KERNEL),
    ("end.interface.", KERNEL),
    ("end.memory.", KERNEL),
    ("end.worker.user", KERNEL),
    ("end.worker.system", KERNEL),
    ("end.worker.waited", KERNEL),
    ("end.worker.per_gigabyte", KERNEL),
    ("end.worker.operations", "nobody else counts system calls"),
    ("end.worker.preempted", KERNEL),
    ("end.worker.off_cpu", "nobody else sees it"),
];

/// Why whole figures have no row. Of the others of a group no cell of the run has any.
pub fn reasons(without_row: &[String]) -> Vec<WithoutRow> {
    let known =
        WITHOUT.iter().filter(|(begin, _)| without_row.iter().any(|id| is_meant(begin, id)));
    let known = known.map(|(begin, reason)| ((*begin).to_owned(), *reason));
    let is_bare = |id: &String| !WITHOUT.iter().any(|(begin, _)| is_meant(begin, id));
    let has_bare = |group: &&Group| {
        let mut ids = group.figures.iter().map(|figure| group.id(figure));
        ids.any(|id| without_row.contains(&id) && is_bare(&id))
    };
    let bare = groups().filter(has_bare).map(|group| (format!("{}.", group.name), NO_CELL));
    let all = known.chain(bare);
    all.map(|(figures, reason)| WithoutRow { figures, reason: reason.to_owned() }).collect()
}

/// Whether a figure is one of those whose ids begin so.
fn is_meant(begin: &str, id: &str) -> bool {
    let rest = id.strip_prefix(begin);
    rest.is_some_and(|it| it.is_empty() || begin.ends_with('.') || it.starts_with('.'))
}

const NO_CELL: &str = "no cell of this run has any of the others";
const FAILURES: &str = "no cell has failures";
const CLOCKS: &str = "it is itself the bound of an error";
const PROBES: &str = "single probes are in no file";
const KERNEL: &str = "it is the kernel's own count, read at the begin and the end";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Against, Rule};
    use crate::rules;

    #[test]
    fn each_figure_has_a_rule_or_a_reason_and_not_both() {
        let of = |group: &'static Group| group.figures.iter().map(move |it| group.id(it));
        let (mut bare, mut used) = (Vec::new(), vec![0; WITHOUT.len()]);
        for id in groups().flat_map(of) {
            let is_its = |figure: &str| {
                figure
                    .strip_prefix(&*id)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            // Its own quartiles are no truth for a distribution.
            let is_range = |rule: &Rule| {
                rule.against == Against::Figures
                    && rule.figure.rsplit('.').next() == Some("iqr")
                    && rule.figure != id
            };
            let has_rule = rules::all().any(|rule| is_its(rule.figure) && !is_range(rule));
            let reason = WITHOUT.iter().position(|(begin, _)| is_meant(begin, &id));
            match (has_rule, reason) {
                (false, Some(reason)) => used[reason] += 1,
                (false, None) => bare.push(id),
                (true, Some(reason)) => {
                    panic!("{id} has a rule and a reason for none: {:?}", WITHOUT[reason])
                }
                (true, None) => {}
            }
        }
        assert!(bare.is_empty(), "neither a rule nor a reason: {bare:?}");
        let unused: Vec<_> = WITHOUT.iter().zip(used).filter(|(_, used)| *used == 0).collect();
        assert!(unused.is_empty(), "no figure is so called: {unused:?}");
    }
}
