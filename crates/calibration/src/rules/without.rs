//! The figures that no rule is about, and why. Any other one without a rule fails a test: a new figure has a truth or a reason.

/// How their ids begin, and why.
pub const WITHOUT: &[(&str, &str)] = &[
    ("goodput.starved", "no cell has connections that starve"),
    ("goodput.starved_rate", "no cell has connections that starve"),
    ("goodput.too_short", "no cell has connections that are too short"),
    ("goodput.completed_per_second", "no cell has connections that follow one another"),
    ("goodput.failures.from", FAILURES),
    ("goodput.failures.until", FAILURES),
    ("goodput.failures.worst", FAILURES),
    ("goodput.failures.worst_from", FAILURES),
    ("goodput.failures.worst_until", FAILURES),
    ("search.", "no cell searches: that takes longer than a cell"),
    ("latency.corrected", "no cell has a closed loop at a rate"),
    ("latency.drift", "cells are too short to drift in"),
    ("latency.forward.jitter", "files of pings do not have the server's stamps"),
    ("latency.back.jitter", "files of pings do not have the server's stamps"),
    ("latency.one_way.error", CLOCKS),
    ("latency.parts.pings", "which stamps a kernel gives is known to it alone"),
    ("latency.parts.client_error", CLOCKS),
    ("latency.parts.server_error", CLOCKS),
    ("loaded.send_lag", PROBES),
    ("loaded.corrected", "probes are an open loop"),
    ("loaded.server_residence", PROBES),
    ("loaded.drift", "cells are too short to drift in"),
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
    (
        "multipath.path.corrupt",
        "no link damages, since that would damage the control connection, too",
    ),
    ("multipath.radio.", "a lab has no radio"),
    ("end.stood_still", "no program of a cell is stopped"),
    ("end.cpu.", KERNEL),
    ("end.counter", KERNEL),
    ("end.interface.", KERNEL),
    ("end.memory.", KERNEL),
    ("end.worker.user", KERNEL),
    ("end.worker.system", KERNEL),
    ("end.worker.waited", KERNEL),
    ("end.worker.operations", "nobody else counts system calls"),
    ("end.worker.preempted", KERNEL),
    ("end.worker.off_cpu", "nobody else sees it"),
];

const FAILURES: &str = "no cell has failures";
const CLOCKS: &str = "it is itself the bound of an error";
const PROBES: &str = "single probes are in no file";
const KERNEL: &str = "it is the kernel's own count, read at the begin and the end";

#[cfg(test)]
mod tests {
    use pathscope_modes::figures::{GROUPS, Group};

    use super::WITHOUT;
    use crate::rule::{Against, Rule};
    use crate::rules;

    #[test]
    fn each_figure_has_a_rule_or_a_reason_and_not_both() {
        let of = |group: &'static Group| group.figures.iter().map(move |it| group.id(it));
        let (mut bare, mut used) = (Vec::new(), vec![0; WITHOUT.len()]);
        for id in GROUPS.iter().flat_map(of) {
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
            let is_meant = |begin: &str| {
                let rest = id.strip_prefix(begin);
                rest.is_some_and(|it| it.is_empty() || begin.ends_with('.') || it.starts_with('.'))
            };
            let reason = WITHOUT.iter().position(|(begin, _)| is_meant(begin));
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
