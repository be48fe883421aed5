//! Of several paths at once.
//!
//! In one file: its rules are one flat table.

use pathscope_experiments::plan::Tolerance::{self, Absolute, Relative};
use pathscope_lab::link::{Counts, Tally};
use pathscope_modes::figures::Found;
use serde_json::Value;

use super::{none_where_sound, percentile};
use crate::evidence::{CLIENT_STAMP, Evidence, SERVER_STAMPS, TAKEN, Way};
use crate::rule::{Against, NONE, Of, Rule};
use crate::samples::stamps::{Gaps, Had, Schedule, Together};

/// Where distributions stand in the summary: of the primary, of the first answers to what it answered, of all first answers, and
/// of how late numbers left.
const PRIMARY: &str = "paths/0/latency";
const PAIRED: &str = "paired";
const EFFECTIVE: &str = "effective";
const SEND_LAG: &str = "send_lag";
const SAMPLES: Against = Against::Samples;
/// Each stamp is the whole microsecond before it: two of them are apart by less than one more or less.
const ROUNDING: Option<Tolerance> = Some(Absolute(1_000.0));
const SUM_ROUNDING: Option<Tolerance> = Some(Absolute(1_000_000.0));
const SHARE_ROUNDING: Option<Tolerance> = Some(Absolute(0.000_6));
const SHARES_ARE_ROUNDED: &str =
    "stamps are in whole microseconds: two means are each off by one at most, of 4 ms and more";
const BY_DIVISION: &str = "divisions lose the last digits";

/// A truth of a rule.
type Truth = fn(&Evidence<'_>, &Found) -> Option<f64>;

/// All of them.
pub const RULES: &[Rule] = &[
    Rule::exact("multipath.path.sent", Against::Ledger, |it, found| {
        counted(it, found.entry?, Way::Up, |counts| counts.offered)
    }),
    Rule::exact("multipath.path.lost", Against::Ledger, |it, found| {
        Some(lost(it, found, Way::Up)? + lost(it, found, Way::Down)?)
    }),
    Rule::exact("multipath.path.corrupt", Against::Ledger, |it, found| {
        let link = found.entry?;
        let of = |way| Some(damaged(it, link, way)? - it.nameless(link, way));
        Some(of(Way::Up)? + of(Way::Down)?)
    }),
    Rule::exact("multipath.path.lost_forward", Against::Ledger, |it, found| {
        lost(it, found, Way::Up)
    }),
    Rule::exact("multipath.path.lost_return", Against::Ledger, |it, found| {
        lost(it, found, Way::Down)
    }),
    Rule::exact("multipath.path.duplicates", Against::Ledger, |it, found| {
        let there = counted(it, found.entry?, Way::Up, |counts| counts.duplicated)?;
        Some(there + counted(it, found.entry?, Way::Down, |counts| counts.duplicated)?)
    }),
    Rule {
        holds_when_busy: false,
        ..Rule::exact("multipath.path.late", Against::Asked, |_, _| Some(0.0))
    },
    Rule {
        below: Some(NONE),
        above: None,
        reason: "nothing comes back sooner than the link allows",
        ..Rule::exact("multipath.path.latency.min", Against::Links, |it, found| {
            it.least_rtt_ns(found.entry?)
        })
    },
    Rule {
        below: Some(NONE),
        above: None,
        reason: "nothing comes back sooner than the faster link allows",
        ..Rule::exact("multipath.effective.min", Against::Links, |it, _| {
            let of = |link| it.least_rtt_ns(link);
            Some(of(0)?.min(of(1)?))
        })
    },
    Rule::exact("multipath.foreign", Against::Asked, none_where_sound),
    Rule::exact("multipath.foreign", Against::Ledger, |it, _| {
        // At either end, of either path: nothing is left by which it could be known.
        let of = |link| it.nameless(link, Way::Up) + it.nameless(link, Way::Down);
        it.cell.is_damaged().then(|| (0..it.links.len()).map(of).sum())
    }),
    Rule::exact("multipath.without_path", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("multipath.prevented", Against::Figures, |it, _| {
        // Those that the primary lost, and the other did not.
        let at = |place: &str| it.measurement.pointer(place).and_then(Value::as_f64);
        Some(at("/summary/multipath/paths/0/lost")? - at("/summary/multipath/lost")?)
    }),
    Rule::exact("multipath.scheduled", SAMPLES, |it, _| Some(it.stamps()?.scheduled())),
    Rule::exact("multipath.unsent", SAMPLES, |it, _| {
        Some(schedule(it)?.numbers()? as f64 - it.stamps()?.scheduled())
    }),
    Rule::exact("multipath.sent", SAMPLES, |it, _| Some(it.stamps()?.sent())),
    Rule::exact("multipath.sent_bytes", SAMPLES, |it, _| {
        Some(it.stamps()?.sent() * schedule(it)?.bytes as f64)
    }),
    Rule::exact("multipath.sending", SAMPLES, |it, _| sending(it)),
    Rule::exact("multipath.rate", SAMPLES, |it, _| {
        Some(it.stamps()?.sent() * schedule(it)?.bytes as f64 * 8e9 / sending(it)?)
    }),
    Rule::exact("multipath.received", SAMPLES, |it, _| Some(it.stamps()?.received())),
    Rule::exact("multipath.lost", SAMPLES, |it, _| Some(it.stamps()?.lost())),
    Rule::exact("multipath.without_path", SAMPLES, |it, _| Some(it.stamps()?.without_path())),
    Rule::exact("multipath.prevented", SAMPLES, |it, _| Some(it.stamps()?.prevented())),
    Rule::exact("multipath.first_elsewhere", SAMPLES, |it, _| it.stamps()?.first_elsewhere()),
    Rule::exact("multipath.first_elsewhere_share", SAMPLES, |it, _| {
        Some(it.stamps()?.first_elsewhere()? / it.stamps()?.received())
    }),
    Rule {
        below: SUM_ROUNDING,
        above: SUM_ROUNDING,
        reason: "each stamp is rounded to a microsecond: the sum over 20,000 numbers of some 0.6 µs each, seven deviations",
        ..Rule::exact("multipath.waiting_saved", SAMPLES, |it, _| Some(it.stamps()?.waiting().0))
    },
    Rule {
        below: SHARE_ROUNDING,
        above: SHARE_ROUNDING,
        reason: SHARES_ARE_ROUNDED,
        ..Rule::exact("multipath.waiting_saved_share", SAMPLES, |it, _| share_saved(it))
    },
    Rule {
        below: SHARE_ROUNDING,
        above: SHARE_ROUNDING,
        reason: SHARES_ARE_ROUNDED,
        // Over the same numbers the means are to each other as the sums.
        ..Rule::exact("multipath.mean_improvement", SAMPLES, |it, _| share_saved(it))
    },
    within("multipath.waiting_saved", 10.0, "it is a sum of nanoseconds", |it, _| {
        let (primary, paired) = (of_primary(it, "mean_ns")?, of_paired(it, "mean_ns")?);
        Some((primary - paired) * of_paired(it, "count")?)
    }),
    within("multipath.waiting_saved_share", 1e-9, BY_DIVISION, |it, _| less(it, "mean_ns")),
    within("multipath.mean_improvement", 1e-9, BY_DIVISION, |it, _| less(it, "mean_ns")),
    within("multipath.median_improvement", 1e-9, BY_DIVISION, |it, _| {
        let primary = percentile(figures(it, PRIMARY)?, 50.0)?;
        Some((primary - percentile(figures(it, PAIRED)?, 50.0)?) / primary)
    }),
    Rule::exact("multipath.effective.count", SAMPLES, effective),
    rounded("multipath.effective.min", effective),
    rounded("multipath.effective.max", effective),
    rounded_sums("multipath.effective", effective),
    rounded_percentiles("multipath.effective", effective),
    between("multipath.effective.iqr", |it, _| iqr(figures(it, EFFECTIVE)?)),
    Rule::exact("multipath.paired.count", SAMPLES, paired),
    rounded("multipath.paired.min", paired),
    rounded("multipath.paired.max", paired),
    rounded_sums("multipath.paired", paired),
    rounded_percentiles("multipath.paired", paired),
    between("multipath.paired.iqr", |it, _| iqr(figures(it, PAIRED)?)),
    Rule::exact("multipath.send_lag.count", SAMPLES, |it, _| {
        it.stamps()?.lags(&schedule(it)?)?.statistic("count")
    }),
    rounded("multipath.send_lag.max", send_lag),
    rounded_sums("multipath.send_lag", send_lag),
    Rule {
        of: Of::Percentiles,
        below: ROUNDING,
        above: Some(Absolute(2_000.0)),
        reason: "stamps are in whole microseconds, and a histogram has three digits, which of a millisecond is one more",
        ..Rule::exact("multipath.send_lag", SAMPLES, |it, found| {
            send_lag(it, found).filter(|truth| *truth <= 1e6)
        })
    },
    between("multipath.send_lag.iqr", |it, _| iqr(figures(it, SEND_LAG)?)),
    Rule::exact("multipath.losses.both", SAMPLES, |it, found| Some(together(it, found)?.both)),
    Rule::exact("multipath.losses.one", SAMPLES, |it, found| Some(together(it, found)?.one)),
    Rule::exact("multipath.losses.other", SAMPLES, |it, found| Some(together(it, found)?.other)),
    Rule::exact("multipath.losses.neither", SAMPLES, |it, found| {
        Some(together(it, found)?.neither)
    }),
    Rule {
        against: SAMPLES,
        ..within("multipath.losses.expected", 1e-9, BY_DIVISION, |it, found| {
            together(it, found)?.expected()
        })
    },
    Rule {
        against: SAMPLES,
        ..within("multipath.losses.correlation", 1e-9, BY_DIVISION, |it, found| {
            together(it, found)?.correlation()
        })
    },
    Rule::exact("multipath.effective.outages", SAMPLES, |it, _| all_gaps(it)?.outages()),
    Rule::exact("multipath.effective.outage_time", SAMPLES, |it, _| all_gaps(it)?.outage_time()),
    Rule::exact("multipath.effective.outage_least", Against::Asked, |it, _| {
        schedule(it)?.least_outage()
    }),
    Rule::exact("multipath.effective.longest_gap", SAMPLES, |it, _| all_gaps(it)?.longest()),
    Rule::exact("multipath.effective.most_in_a_row", SAMPLES, |it, _| {
        Some(all_gaps(it)?.most_in_a_row())
    }),
    Rule::exact("multipath.path.outages", SAMPLES, |it, found| gaps(it, found)?.outages()),
    Rule::exact("multipath.path.outage_time", SAMPLES, |it, found| gaps(it, found)?.outage_time()),
    Rule::exact("multipath.path.outage_least", Against::Asked, |it, _| {
        schedule(it)?.least_outage()
    }),
    Rule::exact("multipath.path.longest_gap", SAMPLES, |it, found| gaps(it, found)?.longest()),
    Rule::exact("multipath.path.most_in_a_row", SAMPLES, |it, found| {
        Some(gaps(it, found)?.most_in_a_row())
    }),
    Rule::exact("multipath.path.latency.count", SAMPLES, path_latency),
    rounded("multipath.path.latency.min", path_latency),
    rounded("multipath.path.latency.max", path_latency),
    rounded_sums("multipath.path.latency", path_latency),
    rounded_percentiles("multipath.path.latency", path_latency),
    between("multipath.path.latency.iqr", |it, found| {
        iqr(figures(it, &format!("paths/{}/latency", found.entry?))?)
    }),
    Rule::exact("multipath.path.sent", SAMPLES, |it, found| {
        it.stamps()?.path_sent(path(it, found)?)
    }),
    Rule::exact("multipath.path.received", SAMPLES, |it, found| {
        it.stamps()?.path_received(path(it, found)?)
    }),
    Rule::exact("multipath.path.lost", SAMPLES, |it, found| {
        it.stamps()?.path_lost(path(it, found)?)
    }),
    Rule::exact("multipath.path.refused", SAMPLES, |it, found| {
        let path = path(it, found)?;
        // What had no path to leave on was not refused.
        was_always_there(it, path).then(|| it.stamps()?.path_unsent(path)).flatten()
    }),
    Rule {
        above: None,
        reason: "of answers within a microsecond the file does not tell which came first",
        ..Rule::exact("multipath.path.reordered", SAMPLES, |it, found| {
            Some(it.stamps()?.path_reordered(path(it, found)?)?.0)
        })
    },
    Rule {
        below: None,
        reason: "of answers within a microsecond the file does not tell which came first",
        ..Rule::exact("multipath.path.reordered", SAMPLES, |it, found| {
            Some(it.stamps()?.path_reordered(path(it, found)?)?.1)
        })
    },
    Rule::exact("multipath.path.first", SAMPLES, |it, found| {
        it.stamps()?.path_first(path(it, found)?)
    }),
    Rule::exact("multipath.path.only", SAMPLES, |it, found| {
        it.stamps()?.path_only(path(it, found)?)
    }),
    Rule::exact("multipath.policy.latency.count", SAMPLES, policy_latency),
    rounded("multipath.policy.latency.min", policy_latency),
    rounded("multipath.policy.latency.max", policy_latency),
    rounded_sums("multipath.policy.latency", policy_latency),
    rounded_percentiles("multipath.policy.latency", policy_latency),
    between("multipath.policy.latency.iqr", |it, found| {
        iqr(figures(it, &format!("policies/{}/latency", found.entry?))?)
    }),
    Rule::exact("multipath.policy.lost", SAMPLES, |it, found| Some(policy(it, found)?.lost)),
    Rule::exact("multipath.policy.lost_share", SAMPLES, |it, found| {
        Some(policy(it, found)?.lost / it.stamps()?.scheduled())
    }),
    Rule::exact("multipath.policy.sent", SAMPLES, |it, found| policy(it, found)?.sent),
    Rule::exact("multipath.policy.sent_bytes", SAMPLES, |it, found| {
        Some(policy(it, found)?.sent? * schedule(it)?.bytes as f64)
    }),
];

/// Those of outages that are told one by one.
pub const OUTAGES: &[Rule] = &[
    Rule::exact("multipath.effective.gap.from", SAMPLES, |it, found| {
        Some(all_gaps(it)?.outage(found.entry?)?.from)
    }),
    Rule::exact("multipath.effective.gap.length", SAMPLES, |it, found| {
        Some(all_gaps(it)?.outage(found.entry?)?.length)
    }),
    Rule::exact("multipath.effective.gap.numbers", SAMPLES, |it, found| {
        Some(all_gaps(it)?.outage(found.entry?)?.numbers as f64)
    }),
    // Of each path the first.
    Rule::exact("multipath.path.gap.from", SAMPLES, |it, found| {
        Some(gaps(it, found)?.outage(0)?.from)
    }),
    Rule::exact("multipath.path.gap.length", SAMPLES, |it, found| {
        Some(gaps(it, found)?.outage(0)?.length)
    }),
    Rule::exact("multipath.path.gap.numbers", SAMPLES, |it, found| {
        Some(gaps(it, found)?.outage(0)?.numbers as f64)
    }),
];

/// A duration of the file, which is off by less than a microsecond.
const fn rounded(figure: &'static str, truth: Truth) -> Rule {
    Rule {
        below: ROUNDING,
        above: ROUNDING,
        reason: "stamps are in whole microseconds",
        ..Rule::exact(figure, SAMPLES, truth)
    }
}

/// A mean is off by no more than what it is of, and a deviation neither.
const fn rounded_sums(figure: &'static str, truth: Truth) -> Rule {
    Rule { of: Of::Sums, ..rounded(figure, truth) }
}

/// A percentile from a histogram is the upper end of its step.
const fn rounded_percentiles(figure: &'static str, truth: Truth) -> Rule {
    Rule {
        of: Of::Percentiles,
        below: ROUNDING,
        above: Some(Relative(0.001_3)),
        reason: "stamps are in whole microseconds, and a histogram has three digits and rounds up; none is below 4 ms here",
        ..Rule::exact(figure, SAMPLES, truth)
    }
}

/// What follows from other figures but for this much.
const fn within(figure: &'static str, by: f64, reason: &'static str, truth: Truth) -> Rule {
    let allowed = Some(Absolute(by));
    Rule { below: allowed, above: allowed, reason, ..Rule::exact(figure, Against::Figures, truth) }
}

/// From one percentile to another, both as they are stated; each of these is held to single samples.
const fn between(figure: &'static str, truth: Truth) -> Rule {
    Rule::exact(figure, Against::Figures, truth)
}

fn schedule(it: &Evidence<'_>) -> Option<Schedule> {
    Schedule::of(it.cell)
}

/// A part of the summary.
fn figures<'it>(it: &'it Evidence<'_>, place: &str) -> Option<&'it Value> {
    it.measurement.pointer(&format!("/summary/multipath/{place}"))
}

fn iqr(distribution: &Value) -> Option<f64> {
    Some(percentile(distribution, 75.0)? - percentile(distribution, 25.0)?)
}

fn of_primary(it: &Evidence<'_>, number: &str) -> Option<f64> {
    figures(it, PRIMARY)?.get(number)?.as_f64()
}

fn of_paired(it: &Evidence<'_>, number: &str) -> Option<f64> {
    figures(it, PAIRED)?.get(number)?.as_f64()
}

/// By which share it is less with all paths.
fn less(it: &Evidence<'_>, number: &str) -> Option<f64> {
    let primary = of_primary(it, number)?;
    Some((primary - of_paired(it, number)?) / primary)
}

fn share_saved(it: &Evidence<'_>) -> Option<f64> {
    let (saved, waited) = it.stamps()?.waiting();
    (waited > 0.0).then_some(saved / waited)
}

/// How late a number left at the least, as it is stated: the file does not tell when the schedule began, so that
/// times from then on hang on one number that it cannot hold.
fn least_lag(it: &Evidence<'_>) -> Option<f64> {
    figures(it, SEND_LAG)?.get("min_ns")?.as_f64()
}

fn sending(it: &Evidence<'_>) -> Option<f64> {
    it.stamps()?.sending(&schedule(it)?, least_lag(it)?)
}

fn send_lag(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    let lags = it.stamps()?.lags(&schedule(it)?)?;
    let statistic = found.statistic.as_deref()?;
    let from_least =
        if statistic == "deviation" { 0.0 } else { lags.statistic("min")? - least_lag(it)? };
    Some(lags.statistic(statistic)? - from_least)
}

fn effective(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    it.stamps()?.effective().statistic(found.statistic.as_deref()?)
}

fn paired(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    it.stamps()?.paired().statistic(found.statistic.as_deref()?)
}

/// The place of a path among those of the file, which has a column for each that may come.
fn path(it: &Evidence<'_>, found: &Found) -> Option<usize> {
    index(figures(it, &format!("paths/{}/path", found.entry?))?)
}

fn index(place: &Value) -> Option<usize> {
    usize::try_from(place.as_u64()?).ok()
}

fn path_latency(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    it.stamps()?.path_latency(path(it, found)?)?.statistic(found.statistic.as_deref()?)
}

/// Whether nothing is told of a path but that it came up before the test.
fn was_always_there(it: &Evidence<'_>, path: usize) -> bool {
    let told = it.measurement.pointer("/client/multipath/transitions").and_then(Value::as_array);
    let is_away = |entry: &Value| {
        let is_its = entry.get("path").and_then(index) == Some(path);
        let is_up = entry.get("what").and_then(Value::as_str) == Some("up");
        let at = entry.get("at_ns").and_then(Value::as_u64);
        is_its && !(is_up && at == Some(0))
    };
    told.is_some_and(|told| !told.iter().any(is_away))
}

/// Losses of the two paths that an entry is about.
fn together(it: &Evidence<'_>, found: &Found) -> Option<Together> {
    let of = |which: &str| index(figures(it, &format!("losses/{}/pair/{which}", found.entry?))?);
    it.stamps()?.together(of("one")?, of("other")?)
}

fn all_gaps(it: &Evidence<'_>) -> Option<Gaps> {
    it.stamps()?.gaps(&schedule(it)?, None, least_lag(it)?)
}

fn gaps(it: &Evidence<'_>, found: &Found) -> Option<Gaps> {
    it.stamps()?.gaps(&schedule(it)?, Some(path(it, found)?), least_lag(it)?)
}

/// What the sender would have had that an entry is about.
fn policy(it: &Evidence<'_>, found: &Found) -> Option<Had> {
    let name = figures(it, &format!("policies/{}/policy", found.entry?))?.as_str()?;
    it.stamps()?.policy(name, &schedule(it)?)
}

fn policy_latency(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    policy(it, found)?.latency?.statistic(found.statistic.as_deref()?)
}

fn lost(it: &Evidence<'_>, found: &Found, way: Way) -> Option<f64> {
    let taken: Option<f64> = TAKEN.into_iter().map(|of| counted(it, found.entry?, way, of)).sum();
    // A damaged one counts as lost on its path: where that is seen, which for the client's stamp is at the client.
    let altered = it.damages(found.entry?, Way::Up, CLIENT_STAMP);
    let seen_back = if way == Way::Up { -altered } else { altered };
    Some(taken? + damaged(it, found.entry?, way)? + seen_back)
}

/// Datagrams whose damage is seen, of one path's link. Within a round trip a server's stamps can be anything, so that damage there
/// may be told as none.
fn damaged(it: &Evidence<'_>, link: usize, way: Way) -> Option<f64> {
    let all = counted(it, link, way, |counts| counts.corrupted)?;
    if way == Way::Up || !it.cell.is_damaged() {
        return Some(all);
    }
    let lost = it.measurement.pointer(&format!("/summary/multipath/paths/{link}/lost_return"));
    let unseen = all + it.damages(link, Way::Up, CLIENT_STAMP) - lost?.as_f64()?;
    Some(all - unseen.clamp(0.0, it.damages(link, way, SERVER_STAMPS)))
}

/// Datagrams of data that the ledger counts so, of one path's link.
fn counted(it: &Evidence<'_>, link: usize, way: Way, of: fn(&Counts) -> Tally) -> Option<f64> {
    it.datagrams(link, way, of, it.cell.asked.bytes?, &[way.opening_bytes()])
}

#[cfg(test)]
mod tests;
