//! What a test of round trips says, figure by figure; probes beside a load say the same.

use crate::figures::{FigureDefinition, Unit};

const DEFINED: &str = "method/latency.md#figures";
const LAG: &str = "method/latency.md#what-a-ping-waits-for-before-it-leaves";
const CORRECTED: &str = "method/latency.md#the-corrected-histogram";
const JITTER: &str = "method/latency.md#jitter";
const ONE_WAY: &str = "method/latency.md#one-way-delay";
const PARTS: &str = "method/latency.md#kernel-stamps";
const FATE: &str = "method/latency.md#lost-late-duplicate-reordered-corrupt";
const WARM_UP: &str = "method/latency.md#warm-up";

/// All of them.
pub const FIGURES: &[FigureDefinition] = &[
    FigureDefinition::lower("rtt", "rtt", Unit::Distribution)
        .means("round trips, from the first attempt to send a ping to the receipt of its answer", LAG),
    FigureDefinition::lower("rtt_since_scheduled", "rtt_since_scheduled", Unit::Distribution)
        .means("open loop: from the time that a ping was due to the receipt", LAG),
    FigureDefinition::lower("service", "service", Unit::Distribution)
        .means("open loop: from the send that the system accepted to the receipt", LAG),
    FigureDefinition::lower("send_lag", "send_lag", Unit::Distribution)
        .means("open loop: what pings waited for this machine before they left", LAG),
    FigureDefinition::lower("corrected", "corrected", Unit::Distribution)
        .means("closed loop at a rate: round trips, with those added by a model that a stall kept from being sent", CORRECTED),
    FigureDefinition::lower("server_residence", "server_residence", Unit::Distribution)
        .means("from the server's receipt to its sending", DEFINED),
    FigureDefinition::neutral("drift", "drift.slope_per_second", Unit::Number)
        .means("how the median moves in a second, in nanoseconds", DEFINED),
    FigureDefinition::neutral("drift.change", "drift.change_over_run", Unit::Share)
        .means("the same over the whole run, as a share of the median", DEFINED),
    FigureDefinition::neutral("drift.z", "drift.z", Unit::Number)
        .means("the statistic of Mann and Kendall's test", DEFINED),
    FigureDefinition::neutral("drift.points", "drift.points", Unit::Count)
        .means("intervals that entered", DEFINED),
    FigureDefinition::lower("deviation", "jitter.standard_deviation_ns", Unit::Duration)
        .means("sample standard deviation of round trips", JITTER),
    FigureDefinition::lower("iqr", "jitter.interquartile_range_ns", Unit::Duration)
        .means("from the 25th to the 75th percentile of round trips", JITTER),
    FigureDefinition::lower("p95_minus_p50", "jitter.p95_minus_p50_ns", Unit::Duration)
        .means("from the median to the 95th percentile of round trips", JITTER),
    FigureDefinition::lower("pdv", "jitter.pdv[].value_ns", Unit::Percentiles)
        .means("how much longer than the shortest round trips were (RFC 5481)", JITTER),
    FigureDefinition::lower("jitter", "jitter.variation.round_trip.rfc3550.mean_ns", Unit::Duration)
        .means("interarrival jitter of RFC 3550 over round trips, its mean", JITTER),
    FigureDefinition::lower("jitter.max", "jitter.variation.round_trip.rfc3550.max_ns", Unit::Duration)
        .means("the most that it ever was", JITTER),
    FigureDefinition::lower("jitter.last", "jitter.variation.round_trip.rfc3550.last_ns", Unit::Duration)
        .means("what it was at the end", JITTER),
    FigureDefinition::lower("ipdv", "jitter.variation.round_trip.ipdv", Unit::Distribution)
        .means("how much round trips of neighbouring pings differ (RFC 3393)", JITTER),
    FigureDefinition::lower("forward.jitter", "jitter.variation.forward.rfc3550.mean_ns", Unit::Duration)
        .means("interarrival jitter of RFC 3550 over delays there, its mean", JITTER),
    FigureDefinition::lower("forward.jitter.max", "jitter.variation.forward.rfc3550.max_ns", Unit::Duration)
        .means("the most that it ever was", JITTER),
    FigureDefinition::lower("forward.jitter.last", "jitter.variation.forward.rfc3550.last_ns", Unit::Duration)
        .means("what it was at the end", JITTER),
    FigureDefinition::lower("forward.ipdv", "jitter.variation.forward.ipdv", Unit::Distribution)
        .means("how much delays there of neighbouring pings differ (RFC 3393)", JITTER),
    FigureDefinition::lower("back.jitter", "jitter.variation.back.rfc3550.mean_ns", Unit::Duration)
        .means("interarrival jitter of RFC 3550 over delays back, its mean", JITTER),
    FigureDefinition::lower("back.jitter.max", "jitter.variation.back.rfc3550.max_ns", Unit::Duration)
        .means("the most that it ever was", JITTER),
    FigureDefinition::lower("back.jitter.last", "jitter.variation.back.rfc3550.last_ns", Unit::Duration)
        .means("what it was at the end", JITTER),
    FigureDefinition::lower("back.ipdv", "jitter.variation.back.ipdv", Unit::Distribution)
        .means("how much delays back of neighbouring pings differ (RFC 3393)", JITTER),
    FigureDefinition::lower("one_way.forward", "one_way.forward", Unit::Distribution)
        .means("from the client to the server", ONE_WAY),
    FigureDefinition::lower("one_way.back", "one_way.back", Unit::Distribution)
        .means("from the server to the client", ONE_WAY),
    FigureDefinition::lower("one_way.error", "one_way.error_bound_ns", Unit::Duration)
        .means("by how much each of these may be wrong", ONE_WAY),
    FigureDefinition::lower("parts.client_send", "parts.client_send", Unit::Distribution)
        .means("from the client's attempt to send to its kernel's handing over to the device", PARTS),
    FigureDefinition::lower("parts.wire", "parts.wire", Unit::Distribution)
        .means("from the device of one end to the kernel of the other, both ways together", PARTS),
    FigureDefinition::lower("parts.server_receive", "parts.server_receive", Unit::Distribution)
        .means("from the server's kernel to its program", PARTS),
    FigureDefinition::lower("parts.server_residence", "parts.server_residence", Unit::Distribution)
        .means("in the server's program", PARTS),
    FigureDefinition::lower("parts.server_send", "parts.server_send", Unit::Distribution)
        .means("from the server's sending to its kernel's handing over to the device", PARTS),
    FigureDefinition::lower("parts.client_receive", "parts.client_receive", Unit::Distribution)
        .means("from the client's kernel to its program", PARTS),
    FigureDefinition::higher("parts.pings", "parts.pings", Unit::Count)
        .means("pings of which every stamp came and is plausible", PARTS),
    FigureDefinition::neutral("parts.of", "parts.of", Unit::Count)
        .means("pings of which they are", PARTS),
    FigureDefinition::lower("parts.implausible", "parts.implausible", Unit::Count)
        .means("pings whose stamps cannot be", PARTS),
    FigureDefinition::lower("parts.client_error", "parts.client.error_ns", Unit::Duration)
        .means("by how much a stamp of the client's wall clock may be wrong as a time of its steady one", PARTS),
    FigureDefinition::lower("parts.client_clock_steps", "parts.client.wall_clock_steps", Unit::Count)
        .means("how often the client's wall clock was stepped", PARTS),
    FigureDefinition::lower("parts.server_error", "parts.server.error_ns", Unit::Duration)
        .means("by how much a stamp of the server's wall clock may be wrong as a time of its steady one", PARTS),
    FigureDefinition::lower("parts.server_clock_steps", "parts.server.wall_clock_steps", Unit::Count)
        .means("how often the server's wall clock was stepped", PARTS),
    FigureDefinition::neutral("sent", "sent", Unit::Count)
        .means("pings that were sent", FATE),
    FigureDefinition::lower("unsent", "unsent", Unit::Count)
        .means("open loop: pings that were due and never left", FATE),
    FigureDefinition::neutral("received", "received", Unit::Count)
        .means("pings that were answered", FATE),
    FigureDefinition::neutral("warm_up", "warm_up", Unit::Count)
        .means("of those, so many are of the warm-up and in no distribution", WARM_UP),
    FigureDefinition::lower("lost", "lost", Unit::Count)
        .means("pings of which nothing came", FATE),
    FigureDefinition::lower("lost_forward", "lost_forward", Unit::Count)
        .means("of those, pings that never reached the server", FATE),
    FigureDefinition::lower("lost_return", "lost_return", Unit::Count)
        .means("of those, pings whose answer was lost", FATE),
    FigureDefinition::lower("late", "late", Unit::Count)
        .means("answers that came when their ping was not remembered any more", FATE),
    FigureDefinition::lower("duplicates", "duplicates", Unit::Count)
        .means("answers beyond the first of a ping", FATE),
    FigureDefinition::lower("reordered", "reordered", Unit::Count)
        .means("answers that came after one of a later ping", FATE),
    FigureDefinition::lower("reordered_share", "reordered_ratio", Unit::Share)
        .means("the same of those that came", FATE),
    FigureDefinition::lower("reordered_forward", "reordered_forward", Unit::Count)
        .means("of those, pings that were overtaken on their way there", FATE),
    FigureDefinition::lower("reordered_return", "reordered_return", Unit::Count)
        .means("of those, answers that were overtaken on their way back", FATE),
    FigureDefinition::lower("reordering.mean", "reordering_extent_mean", Unit::Number)
        .means("arrivals that a reordered answer was overtaken by, on average", FATE),
    FigureDefinition::lower("reordering.max", "reordering_extent_max", Unit::Count)
        .means("the same at most", FATE),
    FigureDefinition::lower("corrupt", "corrupt", Unit::Count)
        .means("pings of which nothing came but with other bytes than were sent", FATE),
    FigureDefinition::lower("corrupt_echoes", "corrupt_echoes", Unit::Count)
        .means("answers with other bytes than were sent, or of pings that came so", FATE),
    FigureDefinition::lower("corrupt_forward", "corrupt_forward", Unit::Count)
        .means("pings that came to the server with other bytes than were sent", FATE),
    FigureDefinition::neutral("foreign", "foreign", Unit::Count)
        .means("datagrams of no session of ours", FATE),
    FigureDefinition::lower("unreachable", "unreachable", Unit::Count)
        .means("word from the network that pings did not arrive", FATE),
    FigureDefinition::lower("socket_drops.client", "socket_drops.client", Unit::Count)
        .means("answers that the client's sockets dropped", FATE),
    FigureDefinition::lower("socket_drops.server", "socket_drops.server", Unit::Count)
        .means("pings that the server's sockets dropped", FATE),
];
