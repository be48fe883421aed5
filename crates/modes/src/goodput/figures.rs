//! What a goodput test over TCP says, figure by figure.

use crate::figures::{FigureDefinition, Unit};

const RATE: &str = "method/goodput.md";
const WINDOW: &str = "method/goodput.md#no-more-than-came";
const FAIRNESS: &str = "method/goodput.md#fairness";
const FAILURES: &str = "method/goodput.md#failures";
const RETRANSMITS: &str = "method/verdict.md#retransmissions";

/// All of them.
pub const FIGURES: &[FigureDefinition] = &[
    FigureDefinition::higher("rate", "{way}.goodput_bps", Unit::BitRate)
        .means("payload that the receiver took and checked after the warm-up, a second", RATE),
    FigureDefinition::neutral("window", "{way}.window_ns", Unit::Duration)
        .means("length of the time in which that was", WINDOW),
    FigureDefinition::neutral("sent", "{way}.sent_bytes", Unit::Bytes)
        .means("payload that the sender handed to its kernel", RATE),
    FigureDefinition::neutral("received", "{way}.received_bytes", Unit::Bytes)
        .means("payload that the receiver took from its kernel and checked", RATE),
    FigureDefinition::higher("fairness", "{way}.fairness", Unit::Number)
        .means("Jain's index over the connections' rates, 1 where all are equal", FAIRNESS),
    FigureDefinition::higher("slowest", "{way}.slowest_bps", Unit::BitRate)
        .means("the slowest connection", FAIRNESS),
    FigureDefinition::higher("median", "{way}.median_bps", Unit::BitRate)
        .means("the middle of the connections' rates", FAIRNESS),
    FigureDefinition::neutral("fastest", "{way}.fastest_bps", Unit::BitRate)
        .means("the fastest connection", FAIRNESS),
    FigureDefinition::lower("starved", "{way}.starved", Unit::Count)
        .means("connections with less than a tenth of the median", FAIRNESS),
    FigureDefinition::neutral("starved_rate", "starved[].received_bps", Unit::BitRate)
        .means("what each of the slowest of those received", FAIRNESS),
    FigureDefinition::neutral("too_short", "{way}.too_short", Unit::Count)
        .means("connections that were too short to have a rate", FAIRNESS),
    FigureDefinition::neutral("connections", "attempted", Unit::Count)
        .means("connections that were made, or were to be made and could not", FAILURES),
    FigureDefinition::higher("completed", "completed", Unit::Count)
        .means("connections that ended well at both ends", FAILURES),
    FigureDefinition::higher("completed_per_second", "completed_per_second", Unit::PerSecond)
        .means("connections that ended well, where they follow one another", FAILURES),
    FigureDefinition::neutral("cut", "cut", Unit::Count)
        .means("connections that the end of the run stopped", FAILURES),
    FigureDefinition::lower("failed", "failed", Unit::Count).means(
        "connections that failed at either end, or whose ends do not count the same",
        FAILURES,
    ),
    FigureDefinition::lower("unknown", "unknown", Unit::Count)
        .means("connections of which the server never said how they ended there", FAILURES),
    FigureDefinition::lower("failures.network", "failures.network", Unit::Count)
        .means("failures of the system or the path", FAILURES),
    FigureDefinition::lower("failures.protocol", "failures.protocol", Unit::Count)
        .means("failures of the rules, or of ends that do not count the same", FAILURES),
    FigureDefinition::lower("failures.data", "failures.data", Unit::Count)
        .means("failures by bytes that are not what they must be", FAILURES),
    FigureDefinition::neutral("failures.from", "failure_times.from_ns", Unit::Duration)
        .means("begin of the first interval with a failure", FAILURES),
    FigureDefinition::neutral("failures.until", "failure_times.until_ns", Unit::Duration)
        .means("end of the last one", FAILURES),
    FigureDefinition::lower("failures.worst", "failure_times.worst", Unit::Count)
        .means("failures in the interval that has most", FAILURES),
    FigureDefinition::neutral(
        "failures.worst_from",
        "failure_times.worst_start_ns",
        Unit::Duration,
    )
    .means("begin of that interval", FAILURES),
    FigureDefinition::neutral("failures.worst_until", "failure_times.worst_end_ns", Unit::Duration)
        .means("its end", FAILURES),
    FigureDefinition::lower("retransmits", "retransmits", Unit::Count)
        .means("segments that were sent again, both ways together", RETRANSMITS),
    FigureDefinition::higher("address.completed", "remotes[].completed", Unit::Count)
        .means("connections to one address that ended well", FAILURES),
    FigureDefinition::lower("address.failed", "remotes[].failed", Unit::Count)
        .means("connections to it that failed", FAILURES),
    FigureDefinition::neutral("address.cut", "remotes[].cut", Unit::Count)
        .means("connections to it that the end of the run stopped", FAILURES),
    FigureDefinition::neutral("address.sent", "remotes[].sent_bytes", Unit::Bytes)
        .means("payload sent to it", RATE),
    FigureDefinition::neutral("address.received", "remotes[].received_bytes", Unit::Bytes)
        .means("payload received from it and checked", RATE),
];
