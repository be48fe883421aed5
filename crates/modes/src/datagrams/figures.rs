//! What a goodput test over UDP says, figure by figure.

use crate::figure::group;

const FATE: &str = "method/datagrams.md#what-becomes-of-each";
const RATE: &str = "method/datagrams.md#rates";
const JITTER: &str = "method/datagrams.md#jitter";
const LOSS: &str = "method/datagrams.md#lost-on-the-path-or-in-the-receiver";
const MANY: &str = "method/goodput.md#fairness";

group! {
    "datagrams", "Goodput over UDP", told 2, at "summary.datagrams", for ["rate", "lost_share"];
    "rate" as "goodput": BitRate Higher at "{way}.goodput_bps", RATE, "payload received after the warm-up, each datagram once, a second";
    "per_second": PerSecond Higher at "{way}.datagrams_per_second", RATE, "datagrams received in the same time";
    "window": Duration Neither at "{way}.window_ns", RATE, "length of that time";
    "sent" as "datagrams": Count Neither at "{way}.sent", FATE, "datagrams that left";
    "unsent": Count Lower at "{way}.unsent", FATE, "datagrams that were due and did not leave";
    "received": Count Neither at "{way}.received", FATE, "datagrams that came the first time, whole and right";
    "received_bytes": Bytes Neither at "{way}.received_bytes", FATE, "their payload";
    "lost": Count Lower at "{way}.lost", FATE, "datagrams that never came";
    "lost_share": Share Lower at "{way}.lost_ratio", FATE, "the same of those that were sent";
    "socket_drops": Count Lower at "{way}.socket_drops", LOSS, "buffers that the receiver's socket dropped";
    "per_buffer": Count Neither at "{way}.datagrams_per_buffer", LOSS, "datagrams that each of those held at most";
    "lost_on_the_way": Count Lower at "{way}.lost_on_the_way", LOSS, "of the lost, so many at least were lost before the receiver";
    "bursts": Count Lower at "{way}.bursts.bursts", FATE, "runs of neighbouring numbers that were lost";
    "bursts.lost": Count Lower at "{way}.bursts.lost", FATE, "numbers in all of them";
    "bursts.longest": Count Lower at "{way}.bursts.longest", FATE, "numbers in the longest";
    "bursts.lengths": Count Neither at "{way}.bursts.lengths[]", FATE, "runs by length, each class twice as wide as the one before";
    "duplicates": Count Lower at "{way}.duplicates", FATE, "copies beyond the first";
    "reordered": Count Lower at "{way}.reordered", FATE, "datagrams that came after one of a higher number";
    "reordered_share": Share Lower at "{way}.reordered_ratio", FATE, "the same of those that came";
    "reordering.mean": Number Lower at "{way}.reordering_extent_mean", FATE, "arrivals that a reordered one was overtaken by, on average";
    "reordering.max": Count Lower at "{way}.reordering_extent_max", FATE, "the same at most";
    "late": Count Lower at "{way}.late", FATE, "datagrams that came too late to count";
    "corrupt": Count Lower at "{way}.corrupt", FATE, "datagrams that came otherwise than they were sent";
    "foreign": Count Neither at "{way}.foreign", FATE, "datagrams of no flow of ours";
    "jitter": Duration Lower at "{way}.jitter.rfc3550.mean_ns", JITTER, "interarrival jitter of RFC 3550, its mean";
    "jitter.max": Duration Lower at "{way}.jitter.rfc3550.max_ns", JITTER, "the most that it ever was";
    "jitter.last": Duration Lower at "{way}.jitter.rfc3550.last_ns", JITTER, "what it was at the end";
    "ipdv": Distribution Lower at "{way}.jitter.ipdv", JITTER, "how much delays of neighbours differ (RFC 3393)";
    "send_lag" as "send lag": Distribution Lower at "{way}.send_lag", RATE, "how late datagrams left by the schedule";
    "fairness": Number Higher at "{way}.fairness", MANY, "Jain's index over the flows' rates";
    "slowest": BitRate Higher at "{way}.slowest_bps", MANY, "the slowest flow";
    "fastest": BitRate Neither at "{way}.fastest_bps", MANY, "the fastest flow";
    "completed": Count Higher at "completed", FATE, "flows that came to their end at both ends";
    "failed" as "flows": Count Lower at "failed", FATE, "flows that failed";
}
