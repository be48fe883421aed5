//! What a goodput test over UDP says, figure by figure.

use crate::figures::{FigureDefinition, Unit};

const FATE: &str = "method/datagrams.md#what-becomes-of-each";
const RATE: &str = "method/datagrams.md#rates";
const JITTER: &str = "method/datagrams.md#jitter";
const LOSS: &str = "method/datagrams.md#lost-on-the-path-or-in-the-receiver";
const MANY: &str = "method/goodput.md#fairness";

/// All of them.
pub const FIGURES: &[FigureDefinition] = &[
    FigureDefinition::higher("rate", "{way}.goodput_bps", Unit::BitRate)
        .means("payload received after the warm-up, each datagram once, a second", RATE),
    FigureDefinition::higher("per_second", "{way}.datagrams_per_second", Unit::PerSecond)
        .means("datagrams received in the same time", RATE),
    FigureDefinition::neutral("window", "{way}.window_ns", Unit::Duration)
        .means("length of that time", RATE),
    FigureDefinition::neutral("sent", "{way}.sent", Unit::Count).means("datagrams that left", FATE),
    FigureDefinition::lower("unsent", "{way}.unsent", Unit::Count)
        .means("datagrams that were due and did not leave", FATE),
    FigureDefinition::neutral("received", "{way}.received", Unit::Count)
        .means("datagrams that came the first time, whole and right", FATE),
    FigureDefinition::neutral("received_bytes", "{way}.received_bytes", Unit::Bytes)
        .means("their payload", FATE),
    FigureDefinition::lower("lost", "{way}.lost", Unit::Count)
        .means("datagrams that never came", FATE),
    FigureDefinition::lower("lost_share", "{way}.lost_ratio", Unit::Share)
        .means("the same of those that were sent", FATE),
    FigureDefinition::lower("socket_drops", "{way}.socket_drops", Unit::Count)
        .means("buffers that the receiver's socket dropped", LOSS),
    FigureDefinition::neutral("per_buffer", "{way}.datagrams_per_buffer", Unit::Count)
        .means("datagrams that each of those held at most", LOSS),
    FigureDefinition::lower("lost_on_the_way", "{way}.lost_on_the_way", Unit::Count)
        .means("of the lost, so many at least were lost before the receiver", LOSS),
    FigureDefinition::lower("bursts", "{way}.bursts.bursts", Unit::Count)
        .means("runs of neighbouring numbers that were lost", FATE),
    FigureDefinition::lower("bursts.lost", "{way}.bursts.lost", Unit::Count)
        .means("numbers in all of them", FATE),
    FigureDefinition::lower("bursts.longest", "{way}.bursts.longest", Unit::Count)
        .means("numbers in the longest", FATE),
    FigureDefinition::neutral("bursts.lengths", "{way}.bursts.lengths[]", Unit::Count)
        .means("runs by length, each class twice as wide as the one before", FATE),
    FigureDefinition::lower("duplicates", "{way}.duplicates", Unit::Count)
        .means("copies beyond the first", FATE),
    FigureDefinition::lower("reordered", "{way}.reordered", Unit::Count)
        .means("datagrams that came after one of a higher number", FATE),
    FigureDefinition::lower("reordered_share", "{way}.reordered_ratio", Unit::Share)
        .means("the same of those that came", FATE),
    FigureDefinition::lower("reordering.mean", "{way}.reordering_extent_mean", Unit::Number)
        .means("arrivals that a reordered one was overtaken by, on average", FATE),
    FigureDefinition::lower("reordering.max", "{way}.reordering_extent_max", Unit::Count)
        .means("the same at most", FATE),
    FigureDefinition::lower("late", "{way}.late", Unit::Count)
        .means("datagrams that came too late to count", FATE),
    FigureDefinition::lower("corrupt", "{way}.corrupt", Unit::Count)
        .means("datagrams that came otherwise than they were sent", FATE),
    FigureDefinition::neutral("foreign", "{way}.foreign", Unit::Count)
        .means("datagrams of no flow of ours", FATE),
    FigureDefinition::lower("jitter", "{way}.jitter.rfc3550.mean_ns", Unit::Duration)
        .means("interarrival jitter of RFC 3550, its mean", JITTER),
    FigureDefinition::lower("jitter.max", "{way}.jitter.rfc3550.max_ns", Unit::Duration)
        .means("the most that it ever was", JITTER),
    FigureDefinition::lower("jitter.last", "{way}.jitter.rfc3550.last_ns", Unit::Duration)
        .means("what it was at the end", JITTER),
    FigureDefinition::lower("ipdv", "{way}.jitter.ipdv", Unit::Distribution)
        .means("how much delays of neighbours differ (RFC 3393)", JITTER),
    FigureDefinition::lower("send_lag", "{way}.send_lag", Unit::Distribution)
        .means("how late datagrams left by the schedule", RATE),
    FigureDefinition::higher("fairness", "{way}.fairness", Unit::Number)
        .means("Jain's index over the flows' rates", MANY),
    FigureDefinition::higher("slowest", "{way}.slowest_bps", Unit::BitRate)
        .means("the slowest flow", MANY),
    FigureDefinition::neutral("fastest", "{way}.fastest_bps", Unit::BitRate)
        .means("the fastest flow", MANY),
    FigureDefinition::higher("completed", "completed", Unit::Count)
        .means("flows that came to their end at both ends", FATE),
    FigureDefinition::lower("failed", "failed", Unit::Count).means("flows that failed", FATE),
];
