//! What a goodput test over TCP says, figure by figure.

use crate::figure::group;

const RATE: &str = "method/goodput.md";
const UNTOLD: &str = "method/goodput.md#a-receiver-that-tells-nothing";
const WINDOW: &str = "method/goodput.md#no-more-than-came";
const FAIRNESS: &str = "method/goodput.md#fairness";
const FAILURES: &str = "method/goodput.md#failures";
const FAST_OPEN: &str = "method/goodput.md#opened-with-the-first-bytes";
const RETRANSMITS: &str = "method/verdict.md#retransmissions";

group! {
    "goodput", "Goodput over TCP", told 1, at "summary.goodput", for ["rate"];
    "rate" as "goodput": BitRate Higher at "{way}.goodput_bps", RATE, "payload that the receiver took and checked after the warm-up, a second";
    "window": Duration Neither at "{way}.window_ns", WINDOW, "length of the time in which that was";
    "sent": Bytes Neither at "{way}.sent_bytes", RATE, "payload that the sender handed to its kernel";
    "received": Bytes Neither at "{way}.received_bytes", RATE, "payload that the receiver took from its kernel and checked";
    "acknowledged": BitRate Higher at "{way}.acknowledged_bps", UNTOLD, "payload that the receiver's kernel acknowledged after the warm-up, a second, where the receiver tells nothing";
    "acknowledged_bytes": Bytes Neither at "{way}.acknowledged_bytes", UNTOLD, "all of that";
    "fairness": Number Higher at "{way}.fairness", FAIRNESS, "Jain's index over the connections' rates, 1 where all are equal";
    "slowest": BitRate Higher at "{way}.slowest_bps", FAIRNESS, "the slowest connection";
    "median": BitRate Higher at "{way}.median_bps", FAIRNESS, "the middle of the connections' rates";
    "fastest": BitRate Neither at "{way}.fastest_bps", FAIRNESS, "the fastest connection";
    "starved": Count Lower at "{way}.starved", FAIRNESS, "connections with less than a tenth of the median";
    "starved_rate": BitRate Neither at "starved[].received_bps", FAIRNESS, "what each of the slowest of those received";
    "too_short": Count Neither at "{way}.too_short", FAIRNESS, "connections that were too short to have a rate";
    "connections": Count Neither at "attempted", FAILURES, "connections that were made, or were to be made and could not";
    "completed" as "connections": Count Higher at "completed", FAILURES, "connections that ended well at both ends";
    "completed_per_second": PerSecond Higher at "completed_per_second", FAILURES, "connections that ended well, where they follow one another";
    "cut": Count Neither at "cut", FAILURES, "connections that the end of the run stopped";
    "failed": Count Lower at "failed", FAILURES, "connections that failed at either end, or whose ends do not count the same";
    "unknown": Count Lower at "unknown", FAILURES, "connections of which the server never said how they ended there";
    "fast_open.taken" as "fast open": Count Neither at "fast_open.taken", FAST_OPEN, "connections whose first bytes the server's system took with their SYN";
    "fast_open.fell_back" as "fell back": Count Neither at "fast_open.fell_back", FAST_OPEN, "connections that were to be opened so, and were opened as ever";
    "failures.network": Count Lower at "failures.network", FAILURES, "failures of the system or the path";
    "failures.protocol": Count Lower at "failures.protocol", FAILURES, "failures of the rules, or of ends that do not count the same";
    "failures.data": Count Lower at "failures.data", FAILURES, "failures by bytes that are not what they must be";
    "errno.client": Count Lower at "errnos[].client", FAILURES, "connections that failed at the client by one error of the system";
    "errno.server": Count Lower at "errnos[].server", FAILURES, "the same at the server";
    "failures.from" as "failures from": Duration Neither at "failure_times.from_ns", FAILURES, "begin of the first interval with a failure";
    "failures.until": Duration Neither at "failure_times.until_ns", FAILURES, "end of the last one";
    "failures.worst": Count Lower at "failure_times.worst", FAILURES, "failures in the interval that has most";
    "failures.worst_from": Duration Neither at "failure_times.worst_start_ns", FAILURES, "begin of that interval";
    "failures.worst_until": Duration Neither at "failure_times.worst_end_ns", FAILURES, "its end";
    "retransmits": Count Lower at "retransmits", RETRANSMITS, "segments that were sent again, both ways together";
    "address.completed": Count Higher at "remotes[].completed", FAILURES, "connections to one address that ended well";
    "address.failed": Count Lower at "remotes[].failed", FAILURES, "connections to it that failed";
    "address.cut": Count Neither at "remotes[].cut", FAILURES, "connections to it that the end of the run stopped";
    "address.sent": Bytes Neither at "remotes[].sent_bytes", RATE, "payload sent to it";
    "address.received": Bytes Neither at "remotes[].received_bytes", RATE, "payload received from it and checked";
}
