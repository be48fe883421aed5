//! Of the search for the highest rate without loss.

use pathscope_experiments::plan::Tolerance::Relative;
use pathscope_lab::link::{Counts, Tally};
use pathscope_modes::figures::Found;
use serde_json::Value;

use crate::cell::UDP_BYTES;
use crate::evidence::{CONSENT_BYTES, ETHERNET_BYTES, Evidence, TAKEN, Way};
use crate::rule::{Against, NONE, Rule};

/// A sender that was never later than this sent no burst that the queue could not take.
const PUNCTUAL_NS: f64 = 5e6;

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        below: None,
        above: Some(Relative(0.001)),
        reason: "a line carries no more, and what its queue holds at the end",
        ..Rule::exact("search.rate", Against::Links, |it, _| {
            let shown = shown(it)?;
            let seconds = number(shown, "duration_ns")? / 1e9;
            let late = number(shown, "send_lag_max_ns").unwrap_or(0.0) / 1e9;
            let link = it.cell.conditions.first()?;
            let queue = link.queue_packets? as f64 * frame_bits(it)?;
            let carried = link.rate_bps? * (seconds + late) + queue;
            Some(carried / seconds * payload_share(it)?)
        })
    },
    Rule {
        below: Some(Relative(0.1)),
        above: None,
        reason: "what one burst loses is taken for too fast a rate",
        holds_when_busy: false,
        ..Rule::exact("search.rate", Against::Links, |it, _| {
            let failed = trials(it)?.iter().filter(|trial| has_verdict(trial, "lost"));
            let lowest = failed.min_by(|one, other| {
                let rate = |trial: &Value| number(trial, "sent_bps").unwrap_or(f64::INFINITY);
                rate(one).total_cmp(&rate(other))
            })?;
            let is_the_links = number(lowest, "send_lag_max_ns")? <= PUNCTUAL_NS
                && number(lowest, "socket_drops") == Some(0.0);
            let is_sound = !it
                .cell
                .conditions
                .iter()
                .any(|it| it.up.contains("loss") || it.down.contains("loss"));
            let line = it.cell.conditions.first()?.rate_bps? * payload_share(it)?;
            (is_the_links && is_sound).then_some(line)
        })
    },
    Rule::exact("search.trial.sent", Against::Ledger, |it, found| {
        Some(counted(it, |counts| counts.offered)? - of_others(it, found, "sent")?)
    }),
    Rule::exact("search.trial.lost", Against::Ledger, |it, found| {
        let taken: Option<f64> = TAKEN.into_iter().map(|of| counted(it, of)).sum();
        let trial = trials(it)?.get(found.entry?)?;
        // Whose socket had no room is in no ledger, and drops are of single datagrams only here and there.
        let is_the_links = trials(it)?.iter().all(|it| number(it, "socket_drops") == Some(0.0));
        number(trial, "lost")?;
        is_the_links.then_some(taken? - of_others(it, found, "lost")?)
    }),
    Rule::exact("search.trial.received", Against::Figures, |it, found| {
        let trial = trials(it)?.get(found.entry?)?;
        let [sent, lost, late, corrupt] =
            ["sent", "lost", "late", "corrupt"].map(|name| number(trial, name));
        Some(sent? - lost? - late? - corrupt?)
    }),
    Rule::at_most(
        "search.trial.lost_on_the_way",
        Against::Figures,
        "they are lost",
        |it, found| number(trials(it)?.get(found.entry?)?, "lost"),
    ),
    Rule::exact("search.trial.corrupt", Against::Asked, |_, _| Some(0.0)),
    Rule {
        holds_when_busy: false,
        ..Rule::exact("search.trial.late", Against::Asked, |_, _| Some(0.0))
    },
    Rule {
        holds_when_busy: false,
        ..Rule::exact("search.trial.stood_still", Against::Asked, |_, _| Some(0.0))
    },
    Rule::exact("search.trial.number", Against::Figures, |_, found| {
        Some(found.entry? as f64 + 1.0)
    }),
    Rule::at_most("search.trial.asked", Against::Asked, "no more is to be tried", |it, _| {
        it.cell.asked.rate_bps
    }),
    Rule::exact("search.ceiling", Against::Asked, |it, _| it.cell.asked.rate_bps),
    Rule::exact("search.rate", Against::Figures, |it, _| number(shown(it)?, "sent_bps")),
    Rule::exact("search.datagrams", Against::Figures, |it, _| number(shown(it)?, "sent")),
    Rule::exact("search.not_received", Against::Figures, |it, _| {
        let asked = number(shown(it)?, "asked_bps")?;
        let there = trials(it)?.iter().filter(|trial| number(trial, "asked_bps") == Some(asked));
        there.map(|trial| Some(number(trial, "sent")? - number(trial, "received")?)).sum()
    }),
    Rule {
        below: Some(Relative(0.002)),
        above: Some(Relative(0.002)),
        reason: "a trial ends with a whole datagram",
        ..Rule::exact("search.per_second", Against::Figures, |it, _| {
            Some(
                it.measurement.pointer("/rate_search/found/rate_bps")?.as_f64()?
                    / 8.0
                    / it.cell.asked.bytes? as f64,
            )
        })
    },
    Rule::by_parts("search.loss_share_below", |it, _| {
        // With this probability a loss as rare shows in so many datagrams, 19 times in 20.
        Some(1.0 - 0.05_f64.powf(1.0 / number(shown(it)?, "sent")?))
    }),
    Rule {
        below: Some(NONE),
        above: None,
        reason: "what failed is faster than what is found, unless the sender may have been to blame",
        ..Rule::exact("search.failed", Against::Figures, |it, _| {
            if trials(it)?.iter().any(|trial| has_verdict(trial, "disturbed")) {
                return None;
            }
            it.measurement.pointer("/rate_search/found/rate_bps")?.as_f64()
        })
    },
    Rule::exact("search.failed", Against::Figures, |it, _| {
        let is_short = |trial: &&Value| number(trial, "received") < number(trial, "sent");
        let failed = trials(it)?.iter().filter(is_short);
        failed.filter_map(|trial| number(trial, "sent_bps")).min_by(f64::total_cmp)
    }),
    Rule::at_most("search.found.trials", Against::Figures, "they are among all", |it, _| {
        Some(trials(it)?.len() as f64)
    }),
    Rule::at_most("search.found.trial", Against::Figures, "it is among all", |it, _| {
        Some(trials(it)?.len() as f64)
    }),
    Rule::at_most(
        "search.confirmations",
        Against::Figures,
        "each is a trial at that rate",
        |it, _| it.measurement.pointer("/rate_search/found/trials")?.as_f64(),
    ),
];

fn trials<'it>(it: &'it Evidence<'_>) -> Option<&'it Vec<Value>> {
    it.measurement.pointer("/rate_search/trials")?.as_array()
}

fn number(trial: &Value, name: &str) -> Option<f64> {
    trial.get(name)?.as_f64()
}

fn has_verdict(trial: &Value, verdict: &str) -> bool {
    trial.get("verdict").and_then(Value::as_str) == Some(verdict)
}

/// The trial that shows what was found.
fn shown<'it>(it: &'it Evidence<'_>) -> Option<&'it Value> {
    let trial = it.measurement.pointer("/rate_search/found/trial")?.as_u64()?;
    trials(it)?.get(usize::try_from(trial.checked_sub(1)?).ok()?)
}

/// The same of all trials but the one that a figure is of.
fn of_others(it: &Evidence<'_>, found: &Found, name: &str) -> Option<f64> {
    let of = |(index, trial): (usize, &Value)| {
        if Some(index) == found.entry { Some(0.0) } else { number(trial, name) }
    };
    trials(it)?.iter().enumerate().map(of).sum()
}

/// Datagrams of all trials that the ledger counts so.
fn counted(it: &Evidence<'_>, of: fn(&Counts) -> Tally) -> Option<f64> {
    let way = if it.cell.setting("pattern")? == "push" { Way::Up } else { Way::Down };
    it.datagrams(0, way, of, it.cell.asked.bytes?, &[CONSENT_BYTES, way.opening_bytes()])
}

fn frame_bits(it: &Evidence<'_>) -> Option<f64> {
    let headers = ETHERNET_BYTES + it.cell.family.header_bytes() + UDP_BYTES;
    Some(8.0 * (it.cell.asked.bytes? + headers) as f64)
}

/// Of what a line carries.
fn payload_share(it: &Evidence<'_>) -> Option<f64> {
    Some(8.0 * it.cell.asked.bytes? as f64 / frame_bits(it)?)
}
