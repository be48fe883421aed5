//! What a test of round trips says, figure by figure; probes beside a load say the same.

use crate::figure::{Group, group};

const DEFINED: &str = "method/latency.md#figures";
const LAG: &str = "method/latency.md#what-a-ping-waits-for-before-it-leaves";
const CORRECTED: &str = "method/latency.md#the-corrected-histogram";
const JITTER: &str = "method/latency.md#jitter";
const ONE_WAY: &str = "method/latency.md#one-way-delay";
const PARTS: &str = "method/latency.md#kernel-stamps";
const FATE: &str = "method/latency.md#lost-late-duplicate-reordered-corrupt";
const WARM_UP: &str = "method/latency.md#warm-up";

group! {
    "latency", "Latency", told 4, at "summary.latency", for ["rtt.p50", "rtt.p99", "lost"];
    "rtt" as "RTT": Distribution Lower at "rtt", LAG, "round trips, from the first attempt to send a ping to the receipt of its answer";
    "rtt_since_scheduled": Distribution Lower at "rtt_since_scheduled", LAG, "open loop: from the time that a ping was due to the receipt";
    "service" as "service time": Distribution Lower at "service", LAG, "open loop: from the send that the system accepted to the receipt";
    "send_lag" as "send lag": Distribution Lower at "send_lag", LAG, "open loop: what pings waited for this machine before they left";
    "corrected" as "corrected RTT": Distribution Lower at "corrected", CORRECTED, "closed loop at a rate: round trips, with those added by a model that a stall kept from being sent";
    "server_residence" as "server residence": Distribution Lower at "server_residence", DEFINED, "from the server's receipt to its sending";
    "drift": Number Neither at "drift.slope_per_second", DEFINED, "how the median moves in a second, in nanoseconds";
    "drift.change" as "drift": Share Neither at "drift.change_over_run", DEFINED, "the same over the whole run, as a share of the median";
    "drift.z": Number Neither at "drift.z", DEFINED, "the statistic of Mann and Kendall's test";
    "drift.points": Count Neither at "drift.points", DEFINED, "intervals that entered";
    "deviation": Duration Lower at "jitter.standard_deviation_ns", JITTER, "sample standard deviation of round trips";
    "iqr" as "interquartile range": Duration Lower at "jitter.interquartile_range_ns", JITTER, "from the 25th to the 75th percentile of round trips";
    "p95_minus_p50": Duration Lower at "jitter.p95_minus_p50_ns", JITTER, "from the median to the 95th percentile of round trips";
    "pdv": Percentiles Lower at "jitter.pdv[].value_ns", JITTER, "how much longer than the shortest round trips were (RFC 5481)";
    "jitter" as "interarrival jitter": Duration Lower at "jitter.variation.round_trip.rfc3550.mean_ns", JITTER, "interarrival jitter of RFC 3550 over round trips, its mean";
    "jitter.max": Duration Lower at "jitter.variation.round_trip.rfc3550.max_ns", JITTER, "the most that it ever was";
    "jitter.last": Duration Lower at "jitter.variation.round_trip.rfc3550.last_ns", JITTER, "what it was at the end";
    "ipdv" as "|IPDV|": Distribution Lower at "jitter.variation.round_trip.ipdv", JITTER, "how much round trips of neighbouring pings differ (RFC 3393)";
    "forward.jitter": Duration Lower at "jitter.variation.forward.rfc3550.mean_ns", JITTER, "interarrival jitter of RFC 3550 over delays there, its mean";
    "forward.jitter.max": Duration Lower at "jitter.variation.forward.rfc3550.max_ns", JITTER, "the most that it ever was";
    "forward.jitter.last": Duration Lower at "jitter.variation.forward.rfc3550.last_ns", JITTER, "what it was at the end";
    "forward.ipdv": Distribution Lower at "jitter.variation.forward.ipdv", JITTER, "how much delays there of neighbouring pings differ (RFC 3393)";
    "back.jitter": Duration Lower at "jitter.variation.back.rfc3550.mean_ns", JITTER, "interarrival jitter of RFC 3550 over delays back, its mean";
    "back.jitter.max": Duration Lower at "jitter.variation.back.rfc3550.max_ns", JITTER, "the most that it ever was";
    "back.jitter.last": Duration Lower at "jitter.variation.back.rfc3550.last_ns", JITTER, "what it was at the end";
    "back.ipdv": Distribution Lower at "jitter.variation.back.ipdv", JITTER, "how much delays back of neighbouring pings differ (RFC 3393)";
    "one_way.forward" as "one way there": Distribution Lower at "one_way.forward", ONE_WAY, "from the client to the server";
    "one_way.back" as "one way back": Distribution Lower at "one_way.back", ONE_WAY, "from the server to the client";
    "one_way.error": Duration Lower at "one_way.error_bound_ns", ONE_WAY, "by how much each of these may be wrong";
    "parts.client_send" as "client send": Distribution Lower at "parts.client_send", PARTS, "from the client's attempt to send to its kernel's handing over to the device";
    "parts.wire" as "wire": Distribution Lower at "parts.wire", PARTS, "from the device of one end to the kernel of the other, both ways together";
    "parts.server_receive" as "server receive": Distribution Lower at "parts.server_receive", PARTS, "from the server's kernel to its program";
    "parts.server_residence" as "server program": Distribution Lower at "parts.server_residence", PARTS, "in the server's program";
    "parts.server_send" as "server send": Distribution Lower at "parts.server_send", PARTS, "from the server's sending to its kernel's handing over to the device";
    "parts.client_receive" as "client receive": Distribution Lower at "parts.client_receive", PARTS, "from the client's kernel to its program";
    "parts.pings" as "with all stamps": Count Higher at "parts.pings", PARTS, "pings of which every stamp came and is plausible";
    "parts.of": Count Neither at "parts.of", PARTS, "pings of which they are";
    "parts.implausible": Count Lower at "parts.implausible", PARTS, "pings whose stamps cannot be";
    "parts.client_error": Duration Lower at "parts.client.error_ns", PARTS, "by how much a stamp of the client's wall clock may be wrong as a time of its steady one";
    "parts.client_clock_steps": Count Lower at "parts.client.wall_clock_steps", PARTS, "how often the client's wall clock was stepped";
    "parts.server_error": Duration Lower at "parts.server.error_ns", PARTS, "by how much a stamp of the server's wall clock may be wrong as a time of its steady one";
    "parts.server_clock_steps": Count Lower at "parts.server.wall_clock_steps", PARTS, "how often the server's wall clock was stepped";
    "sent" as "pings": Count Neither at "sent", FATE, "pings that were sent";
    "unsent": Count Lower at "unsent", FATE, "open loop: pings that were due and never left";
    "received": Count Neither at "received", FATE, "pings that were answered";
    "warm_up": Count Neither at "warm_up", WARM_UP, "of those, so many are of the warm-up and in no distribution";
    "lost": Count Lower at "lost", FATE, "pings of which nothing came";
    "lost_forward": Count Lower at "lost_forward", FATE, "of those, pings that never reached the server";
    "lost_return": Count Lower at "lost_return", FATE, "of those, pings whose answer was lost";
    "late": Count Lower at "late", FATE, "answers that came when their ping was not remembered any more";
    "duplicates": Count Lower at "duplicates", FATE, "answers beyond the first of a ping";
    "reordered": Count Lower at "reordered", FATE, "answers that came after one of a later ping";
    "reordered_share": Share Lower at "reordered_ratio", FATE, "the same of those that came";
    "reordered_forward": Count Lower at "reordered_forward", FATE, "of those, pings that were overtaken on their way there";
    "reordered_return": Count Lower at "reordered_return", FATE, "of those, answers that were overtaken on their way back";
    "reordering.mean": Number Lower at "reordering_extent_mean", FATE, "arrivals that a reordered answer was overtaken by, on average";
    "reordering.max": Count Lower at "reordering_extent_max", FATE, "the same at most";
    "corrupt": Count Lower at "corrupt", FATE, "pings of which nothing came but with other bytes than were sent";
    "corrupt_echoes": Count Lower at "corrupt_echoes", FATE, "answers with other bytes than were sent, or of pings that came so";
    "corrupt_forward": Count Lower at "corrupt_forward", FATE, "pings that came to the server with other bytes than were sent";
    "foreign": Count Neither at "foreign", FATE, "datagrams of no session of ours";
    "unreachable": Count Lower at "unreachable", FATE, "word from the network that pings did not arrive";
    "socket_drops.client": Count Lower at "socket_drops.client", FATE, "answers that the client's sockets dropped";
    "socket_drops.server": Count Lower at "socket_drops.server", FATE, "pings that the server's sockets dropped";
}

/// The same of probes beside a load.
pub const LOADED: Group = Group {
    name: "loaded",
    title: "Latency beside a load",
    order: 5,
    place: "summary.probe",
    ..GROUP
};
