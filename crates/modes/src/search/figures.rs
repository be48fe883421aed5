//! What a search for the highest rate without loss says, figure by figure.

use crate::figures::{FigureDefinition, Unit};

const SEARCH: &str = "method/datagrams.md#the-highest-rate-without-loss";

/// All of them.
pub const FIGURES: &[FigureDefinition] = &[
    FigureDefinition::higher("rate", "found.rate_bps", Unit::BitRate)
        .means("the highest rate at which nothing was lost: payload sent", SEARCH),
    FigureDefinition::higher("per_second", "found.datagrams_per_second", Unit::PerSecond)
        .means("datagrams a second at that rate", SEARCH),
    FigureDefinition::higher("confirmations", "found.confirmations", Unit::Count)
        .means("trials of the whole duration that lost nothing there", SEARCH),
    FigureDefinition::neutral("datagrams", "found.datagrams", Unit::Count)
        .means("datagrams of the trial that shows it", SEARCH),
    FigureDefinition::lower("loss_share_below", "found.loss_ratio_below", Unit::Share).means(
        "a higher probability of loss would have shown in that trial, 19 times in 20",
        SEARCH,
    ),
    FigureDefinition::lower("not_received", "found.not_received", Unit::Count)
        .means("datagrams that were lost there in trials that were disturbed", SEARCH),
    FigureDefinition::neutral("found.trials", "found.trials", Unit::Count)
        .means("trials at that rate, whatever became of them", SEARCH),
    FigureDefinition::neutral("found.trial", "found.trial", Unit::Count)
        .means("the number of the trial that shows it", SEARCH),
    FigureDefinition::higher("failed", "failed_bps", Unit::BitRate)
        .means("the lowest rate at which something was lost", SEARCH),
    FigureDefinition::neutral("ceiling", "ceiling_bps", Unit::BitRate)
        .means("the most that was to be tried", SEARCH),
    FigureDefinition::neutral("resolution", "resolution", Unit::Share)
        .means("how near to each other the two rates are to be", SEARCH),
    FigureDefinition::neutral("trial.number", "trials[].number", Unit::Count)
        .means("the number of a trial", SEARCH),
    FigureDefinition::neutral("trial.asked", "trials[].asked_bps", Unit::BitRate)
        .means("the rate that a trial asked for", SEARCH),
    FigureDefinition::neutral("trial.sent_rate", "trials[].sent_bps", Unit::BitRate)
        .means("the rate at which it sent, which is judged", SEARCH),
    FigureDefinition::higher("trial.received_rate", "trials[].received_bps", Unit::BitRate)
        .means("the rate at which that was received", SEARCH),
    FigureDefinition::neutral("trial.sent", "trials[].sent", Unit::Count)
        .means("datagrams that it sent", SEARCH),
    FigureDefinition::lower("trial.unsent", "trials[].unsent", Unit::Count)
        .means("datagrams that were due in it and did not leave", SEARCH),
    FigureDefinition::neutral("trial.received", "trials[].received", Unit::Count)
        .means("datagrams of it that were received", SEARCH),
    FigureDefinition::lower("trial.lost", "trials[].lost", Unit::Count)
        .means("datagrams of it that never came", SEARCH),
    FigureDefinition::lower("trial.late", "trials[].late", Unit::Count)
        .means("datagrams of it that came too late", SEARCH),
    FigureDefinition::lower("trial.corrupt", "trials[].corrupt", Unit::Count)
        .means("datagrams of it that came otherwise than they were sent", SEARCH),
    FigureDefinition::lower("trial.socket_drops", "trials[].socket_drops", Unit::Count)
        .means("buffers that the receiver's socket dropped in it", SEARCH),
    FigureDefinition::lower("trial.lost_on_the_way", "trials[].lost_on_the_way", Unit::Count)
        .means("of the lost, so many at least were lost before the receiver", SEARCH),
    FigureDefinition::lower("trial.send_lag_max", "trials[].send_lag_max_ns", Unit::Duration)
        .means("the longest that its sender was behind its schedule", SEARCH),
    FigureDefinition::lower("trial.stood_still", "trials[].stood_still_ns", Unit::Duration)
        .means("how long an end's program stood still in it", SEARCH),
    FigureDefinition::neutral("trial.duration", "trials[].duration_ns", Unit::Duration)
        .means("its length", SEARCH),
];
