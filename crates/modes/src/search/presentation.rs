//! A search for the highest rate without loss as labelled figures: all that a view needs.

use pathscope_core::figure::Part;
use pathscope_core::presentation::{Figure, Row, Section, Value};
use pathscope_core::quantity::{bit_rate, count, counted, duration_ns, ratio, total};
use pathscope_core::record::{Caveat, Evidence, Limit, Verdict};

use super::figures::GROUP;
use super::findings::SearchCaveat;
use super::{FoundRate, RateSearch, RateTrial, SearchEnd, TrialVerdict, decide};
use crate::figure::{Amount, Cell, Unit, counts, notes};
use crate::load::presentation::dropped;

/// The columns of a trial, as they are shown while the search goes on and in the end, each with its figure.
const COLUMNS: [Cell<RateTrial>; 6] = [
    ("trial", "number", |trial| Value::Count(trial.number)),
    ("asked", "asked", |trial| trial.asked_bps.value(Unit::BitRate)),
    ("sent", "sent_rate", |trial| trial.sent_bps.value(Unit::BitRate)),
    ("received", "received_rate", |trial| trial.received_bps.value(Unit::BitRate)),
    ("lost", "lost", |trial| trial.lost.value(Unit::Count)),
    ("what became of it", "", |trial| Value::Text(word(trial).to_owned())),
];
/// What was received more slowly than it was sent waits in a queue.
const QUEUE_GROWS: f64 = 0.995;

/// One line of the live report: a trial and what follows from it.
pub fn row(trial: &RateTrial) -> Row {
    let figure = |(label, name, cell): Cell<RateTrial>| {
        let of = trial.number.to_string();
        let figure = GROUP.of_entry(of, &format!("trial.{name}"), cell(trial));
        if name.is_empty() { Figure::new(label, figure.value) } else { figure.labelled(label) }
    };
    let cells = COLUMNS.into_iter().map(figure).collect();
    Row { section: "highest rate without loss".to_owned(), cells }
}

/// What follows from a trial, in the width of its column.
fn word(trial: &RateTrial) -> &'static str {
    match trial.verdict {
        TrialVerdict::Passed if trial.whole => "held",
        TrialVerdict::Passed => "passed",
        TrialVerdict::SenderSlower => "sender slower",
        TrialVerdict::Lost => match trial.limit() {
            Limit::ReceiverSocket => "lost in a socket",
            Limit::Network => "lost on the path",
            Limit::Damage => "damaged",
            _ => "lost",
        },
        TrialVerdict::Disturbed => "lost; once more",
        TrialVerdict::Unjudged | TrialVerdict::Unknown => "not judged",
    }
}

/// The search as a section of its own: what was found, and each trial.
pub fn section(search: &RateSearch) -> Section {
    let whole = search.trials.iter().filter(|trial| trial.whole).count() as u64;
    let note = format!(
        "{} of them of the whole duration; {} of sending in all",
        count(whole),
        duration_ns(total(search.trials.iter().map(|trial| trial.duration_ns)))
    );
    let trials = Figure::new("trials", Value::Count(search.trials.len() as u64)).with_note(note);
    let rows = search.trials.iter();
    let rows = rows.map(|trial| ("trial", Part::Entry(trial.number.to_string()), trial));
    Section {
        title: "highest rate without loss".to_owned(),
        subtitle: format!("{}, to within {}", search.pattern.name(), ratio(search.resolution)),
        figures: found(search).into_iter().chain(failed(search)).chain([trials]).collect(),
        tables: vec![GROUP.table("trials", &COLUMNS, rows)],
        verdict: verdict(search),
        caveats: caveats(search),
        ..Section::default()
    }
}

fn found(search: &RateSearch) -> Vec<Figure> {
    let Some(found) = &search.found else {
        return vec![GROUP.figure("rate", None::<u64>).with_note(nothing_found(search))];
    };
    let per_second = count(found.datagrams_per_second.round() as u64);
    let note = format!("of payload, {per_second} datagrams a second");
    let shown = search.trials.iter().find(|trial| trial.number == found.trial);
    let length =
        shown.map_or_else(String::new, |trial| format!(" of {}", duration_ns(trial.duration_ns)));
    let held = match found.confirmations {
        0 => format!("no trial of the whole duration; shown by one{length}"),
        1 => format!("trial{length}"),
        _ => format!("trials{length}"),
    };
    let lost = match found.not_received {
        0 => format!(
            "of {} datagrams: a loss above {} would have shown, 19 times in 20",
            count(found.datagrams),
            share(found.loss_ratio_below)
        ),
        _ => format!(
            "in {} at this rate, none of {} in trial {}",
            counted(found.trials, "trial"),
            counted(found.datagrams, "datagram"),
            found.trial
        ),
    };
    vec![
        GROUP.figure("rate", found.rate_bps).with_note(note),
        GROUP.figure("confirmations", found.confirmations).with_note(held),
        GROUP.figure("not_received", found.not_received).with_note(lost),
    ]
}

/// Why no rate was found.
fn nothing_found(search: &RateSearch) -> String {
    let has_lost = |trial: &RateTrial| trial.not_received() > 0;
    let Some(lowest) = search.failed_bps.map(|lowest| bit_rate(lowest as f64)) else {
        return "no trial was judged".to_owned();
    };
    if search.trials.iter().all(has_lost) {
        format!("something was lost at each rate that was tried; the lowest is {lowest}")
    } else {
        format!("no trial passed; the lowest rate at which something was lost is {lowest}")
    }
}

/// A share that may be far below a thousandth.
fn share(share: f64) -> String {
    if share >= 0.000_01 { ratio(share) } else { format!("1 in {}", count((1.0 / share) as u64)) }
}

/// The lowest rate at which something was lost.
fn failed(search: &RateSearch) -> Option<Figure> {
    let trial = decide::lowest_lost(&search.trials)?;
    let lost = trial.lost.unwrap_or(0);
    let mut what = counts([(lost, "lost"), (trial.late, "late"), (trial.corrupt, "corrupt")]);
    // A receiver of another version may say less.
    if what.is_empty() {
        what.push(format!("{} not received", count(trial.not_received())));
    }
    let disturbed = match trial.stood_still_ns {
        0 => "its sender was late".to_owned(),
        still => format!("a program stood still for {}", duration_ns(still)),
    };
    let is_disturbed = trial.verdict == TrialVerdict::Disturbed;
    let note = notes([
        Some(format!("{} of {}", what.join(", "), count(trial.sent))),
        trial.socket_drops.map(dropped),
        is_disturbed.then(|| format!("{disturbed}, and the rate was tried once more")),
    ]);
    let mut figure = GROUP.figure("failed", trial.sent_bps).with_note(note);
    // Results of the first version say another rate there: of trials that were not disturbed.
    if search.failed_bps != Some(trial.sent_bps) {
        figure.id.clear();
    }
    Some(figure)
}

fn verdict(search: &RateSearch) -> Option<Verdict> {
    let found = search.found.as_ref()?;
    let limit = search.limit?;
    let text = match limit {
        Limit::Sender if found.not_received > 0 => "the sender: it went no faster",
        Limit::Sender => "the sender: it went no faster, and nothing was lost",
        Limit::ConfiguredRate if found.not_received > 0 => "the ceiling that was asked for",
        Limit::ConfiguredRate => "the ceiling that was asked for: nothing was lost there",
        Limit::Network => "the path: above this rate it loses",
        Limit::ReceiverSocket => "the receiver: above this rate its socket overflows",
        Limit::Damage => "the path: above this rate it damages what it carries",
        _ => "the path or the receiver: above this rate something is lost",
    };
    let rate = found.rate_bps as f64;
    let trial = match found.not_received {
        0 => String::new(),
        _ => format!(" in trial {}", found.trial),
    };
    let at = format!("nothing lost at {}{trial}", bit_rate(rate));
    let failed = decide::lowest_failed(&search.trials);
    let is_disturbed = failed.is_some_and(RateTrial::is_disturbed);
    let doubt = is_disturbed.then(|| "an end was disturbed in the trial that lost".to_owned());
    let failed = failed.map(|failed| {
        let failed = failed.sent_bps as f64;
        Evidence::new("failed_bps", failed, format!("lost at {}", bit_rate(failed)))
    });
    let passed = Evidence::new("passed_bps", rate, at);
    let evidence = [passed].into_iter().chain(failed).collect();
    let verdict = Verdict::new(limit, text, evidence).doubted(&Vec::from_iter(doubt));
    Some(verdict.decided_by(&["passed_bps", "failed_bps"]))
}

/// What a reader must know of what was found.
fn caveats(search: &RateSearch) -> Vec<Caveat> {
    let end = match search.ended {
        SearchEnd::Found => None,
        SearchEnd::EveryRateLost => Some((
            SearchCaveat::EveryRateLost,
            "no rate without loss was found: something is lost at any rate, or trials are too short for lower ones; a \
             longer --duration tries lower rates",
        )),
        SearchEnd::OutOfTrials => Some((
            SearchCaveat::OutOfTrials,
            "the search ended after the most trials that it makes: losses come and go, so what was found is no more \
             than a rate that passed",
        )),
        SearchEnd::Unjudged => Some((
            SearchCaveat::TrialNotJudged,
            "the search ended at a trial that cannot be judged: a flow failed, nothing was sent, or the receiver's \
             report is missing",
        )),
        SearchEnd::Unfinished | SearchEnd::Unknown => Some((
            SearchCaveat::Unfinished,
            "the search did not come to its end: what was found so far is told",
        )),
    };
    let end = end.map(|(of, text)| Caveat::new(of, text));
    let grows = search.found.as_ref().and_then(|found| grows(search, found));
    end.into_iter().chain(grows).chain(bursts(search)).chain(disturbed(search)).collect()
}

/// Something was lost at the rate that was found or below it.
fn disturbed(search: &RateSearch) -> Option<Caveat> {
    let found = search.found.as_ref()?;
    let is_within =
        |trial: &&RateTrial| trial.not_received() > 0 && trial.sent_bps <= found.rate_bps;
    let mut within = search.trials.iter().filter(is_within);
    let trial = within.next()?;
    let more = match within.count() as u64 {
        0 => String::new(),
        more => format!(", and {} more did so", counted(more, "trial")),
    };
    let late = match (trial.stood_still_ns, trial.send_lag_max_ns.map(duration_ns)) {
        (0, None) => String::new(),
        (0, Some(lag)) => format!(" while its sender was up to {lag} behind its schedule"),
        (still, _) => {
            format!(" while the program of an end stood still for {}", duration_ns(still))
        }
    };
    let text = format!(
        "trial {} lost {} of {} at {}, not above the rate that was found{late}{more}: later trials there lost nothing",
        trial.number,
        count(trial.not_received()),
        count(trial.sent),
        bit_rate(trial.sent_bps as f64),
    );
    Some(Caveat::new(SearchCaveat::TrialsDisturbed, text))
}

/// A sender that falls behind and makes up for it overflows a short queue at any rate.
fn bursts(search: &RateSearch) -> Option<Caveat> {
    let trial = decide::lowest_failed(&search.trials).filter(|trial| trial.is_late())?;
    let text = format!(
        "at {}, the lowest rate at which something was lost, the sender was up to {} behind its schedule, and what was \
         due by then left at once: that may have filled a queue or a socket, and the path may carry more",
        bit_rate(trial.sent_bps as f64),
        duration_ns(trial.send_lag_max_ns?)
    );
    Some(Caveat::new(SearchCaveat::SenderBursts, text))
}

/// A queue that still grows when the trial ends hides that the rate is too high.
fn grows(search: &RateSearch, found: &FoundRate) -> Option<Caveat> {
    let trial = search.trials.iter().find(|trial| trial.number == found.trial)?;
    let received = trial.received_bps?;
    (received < trial.sent_bps as f64 * QUEUE_GROWS).then(|| {
        let text = format!(
            "nothing was lost, but it was received at {}: a queue took the rest and would have filled; a longer \
             --duration finds a lower rate",
            bit_rate(received)
        );
        Caveat::new(SearchCaveat::QueueGrows, text)
    })
}
