//! What a test over several paths says, figure by figure.

use crate::figures::{FigureDefinition, Unit};

const DEFINED: &str = "method/multipath.md#figures";
const POLICIES: &str = "method/multipath.md#policies";
const RADIOS: &str = "method/multipath.md#radios";
const SENT: &str = "method/multipath.md#what-is-sent";

/// All of them.
pub const FIGURES: &[FigureDefinition] = &[
    FigureDefinition::lower("effective", "effective", Unit::Distribution)
        .means("effective latency: from the first sending of a number to its first answer on any path", DEFINED),
    FigureDefinition::lower("paired", "paired", Unit::Distribution)
        .means("the same of numbers that the primary answered", DEFINED),
    FigureDefinition::higher("mean_improvement", "mean_improvement", Unit::Share)
        .means("of those numbers, by how much less the mean was with all paths", DEFINED),
    FigureDefinition::higher("median_improvement", "median_improvement", Unit::Share)
        .means("the same of the median", DEFINED),
    FigureDefinition::neutral("scheduled", "scheduled", Unit::Count)
        .means("numbers whose time came", DEFINED),
    FigureDefinition::neutral("sent", "sent", Unit::Count)
        .means("numbers that were sent on one path or more", DEFINED),
    FigureDefinition::neutral("sent_bytes", "sent_bytes", Unit::Bytes)
        .means("their payload, each counted once", DEFINED),
    FigureDefinition::neutral("rate", "rate_bps", Unit::BitRate)
        .means("that payload a second", DEFINED),
    FigureDefinition::neutral("sending", "sending_ns", Unit::Duration)
        .means("from the begin of the schedule to its end", DEFINED),
    FigureDefinition::neutral("received", "received", Unit::Count)
        .means("numbers that were answered", DEFINED),
    FigureDefinition::lower("lost", "lost", Unit::Count)
        .means("numbers that were sent and answered on no path", DEFINED),
    FigureDefinition::lower("without_path", "without_path", Unit::Count)
        .means("numbers whose time came when there was no path", DEFINED),
    FigureDefinition::lower("unsent", "unsent", Unit::Count)
        .means("numbers that this machine was too slow to send", DEFINED),
    FigureDefinition::higher("prevented", "prevented", Unit::Count)
        .means("losses prevented: lost on the primary, answered on another path", DEFINED),
    FigureDefinition::higher("waiting_saved", "waiting_saved_ns", Unit::Duration)
        .means("of numbers that the primary answered, by how much less their first answers were waited for", DEFINED),
    FigureDefinition::higher("waiting_saved_share", "waiting_saved_ratio", Unit::Share)
        .means("the same of all that was waited for on the primary", DEFINED),
    FigureDefinition::neutral("first_elsewhere", "first_elsewhere", Unit::Count)
        .means("numbers whose first answer came on another path than the primary", DEFINED),
    FigureDefinition::neutral("first_elsewhere_share", "first_elsewhere_ratio", Unit::Share)
        .means("the same of those that were answered", DEFINED),
    FigureDefinition::neutral("foreign", "foreign", Unit::Count)
        .means("datagrams of no session of ours, at both ends", DEFINED),
    FigureDefinition::lower("send_lag", "send_lag", Unit::Distribution)
        .means("how late numbers left", SENT),
    FigureDefinition::lower("losses.both", "losses[].pair.both_lost", Unit::Count)
        .means("of two paths, numbers that both lost", DEFINED),
    FigureDefinition::lower("losses.one", "losses[].pair.one_lost", Unit::Count)
        .means("numbers that the first of them alone lost", DEFINED),
    FigureDefinition::lower("losses.other", "losses[].pair.other_lost", Unit::Count)
        .means("numbers that the second of them alone lost", DEFINED),
    FigureDefinition::higher("losses.neither", "losses[].pair.neither", Unit::Count)
        .means("numbers that neither lost", DEFINED),
    FigureDefinition::neutral("losses.expected", "losses[].expected_both", Unit::Number)
        .means("numbers that both would have lost if their losses were independent", DEFINED),
    FigureDefinition::lower("losses.correlation", "losses[].correlation", Unit::Number)
        .means("φ of their losses: 0 independent, 1 always together", DEFINED),
    FigureDefinition::lower("effective.outages", "effective_gaps.outages", Unit::Count)
        .means("outages of all paths together", DEFINED),
    FigureDefinition::lower("effective.outage_time", "effective_gaps.outage_ns", Unit::Duration)
        .means("their time in all", DEFINED),
    FigureDefinition::neutral("effective.outage_least", "effective_gaps.outage_least_ns", Unit::Duration)
        .means("a gap of at least this is an outage", DEFINED),
    FigureDefinition::lower("effective.longest_gap", "effective_gaps.longest_ns", Unit::Duration)
        .means("the longest gap of all paths together", DEFINED),
    FigureDefinition::lower("effective.most_in_a_row", "effective_gaps.most_in_a_row", Unit::Count)
        .means("numbers in a row without an answer, at most", DEFINED),
    FigureDefinition::neutral("effective.gap.from", "effective_gaps.told[].start_ns", Unit::Duration)
        .means("begin of an outage that is told by itself", DEFINED),
    FigureDefinition::lower("effective.gap.length", "effective_gaps.told[].duration_ns", Unit::Duration)
        .means("its length", DEFINED),
    FigureDefinition::lower("effective.gap.numbers", "effective_gaps.told[].datagrams", Unit::Count)
        .means("numbers in it", DEFINED),
    FigureDefinition::lower("path.outages", "paths[].gaps.outages", Unit::Count)
        .means("outages of a path", DEFINED),
    FigureDefinition::lower("path.outage_time", "paths[].gaps.outage_ns", Unit::Duration)
        .means("their time in all", DEFINED),
    FigureDefinition::neutral("path.outage_least", "paths[].gaps.outage_least_ns", Unit::Duration)
        .means("a gap of at least this is an outage", DEFINED),
    FigureDefinition::lower("path.longest_gap", "paths[].gaps.longest_ns", Unit::Duration)
        .means("the longest gap of a path", DEFINED),
    FigureDefinition::lower("path.most_in_a_row", "paths[].gaps.most_in_a_row", Unit::Count)
        .means("numbers in a row without an answer, at most", DEFINED),
    FigureDefinition::neutral("path.gap.from", "paths[].gaps.told[].start_ns", Unit::Duration)
        .means("begin of an outage that is told by itself", DEFINED),
    FigureDefinition::lower("path.gap.length", "paths[].gaps.told[].duration_ns", Unit::Duration)
        .means("its length", DEFINED),
    FigureDefinition::lower("path.gap.numbers", "paths[].gaps.told[].datagrams", Unit::Count)
        .means("numbers in it", DEFINED),
    FigureDefinition::lower("path.latency", "paths[].latency", Unit::Distribution)
        .means("latency of a path, from its own sending to its own answer", DEFINED),
    FigureDefinition::neutral("path.sent", "paths[].sent", Unit::Count)
        .means("datagrams that were sent on it", DEFINED),
    FigureDefinition::neutral("path.received", "paths[].received", Unit::Count)
        .means("numbers that were answered on it", DEFINED),
    FigureDefinition::lower("path.lost", "paths[].lost", Unit::Count)
        .means("numbers that were sent and not answered on it", DEFINED),
    FigureDefinition::lower("path.lost_forward", "paths[].lost_forward", Unit::Count)
        .means("of those, never reached the server", DEFINED),
    FigureDefinition::lower("path.lost_return", "paths[].lost_return", Unit::Count)
        .means("of those, reached the server and had no answer here", DEFINED),
    FigureDefinition::lower("path.refused", "paths[].refused", Unit::Count)
        .means("datagrams that this machine did not send on it", DEFINED),
    FigureDefinition::lower("path.corrupt", "paths[].corrupt", Unit::Count)
        .means("datagrams that came with other bytes than were sent", DEFINED),
    FigureDefinition::lower("path.duplicates", "paths[].duplicates", Unit::Count)
        .means("answers beyond the first of a number", DEFINED),
    FigureDefinition::lower("path.reordered", "paths[].reordered", Unit::Count)
        .means("answers that came after one of a higher number", DEFINED),
    FigureDefinition::lower("path.late", "paths[].late", Unit::Count)
        .means("answers that came after their number had been given up", DEFINED),
    FigureDefinition::higher("path.first", "paths[].first", Unit::Count)
        .means("numbers that it answered first", DEFINED),
    FigureDefinition::higher("path.only", "paths[].only", Unit::Count)
        .means("numbers that it alone answered", DEFINED),
    FigureDefinition::lower("policy.latency", "policies[].latency", Unit::Distribution)
        .means("latency that a sender with another policy would have had", POLICIES),
    FigureDefinition::lower("policy.lost", "policies[].lost", Unit::Count)
        .means("numbers without an answer under it", POLICIES),
    FigureDefinition::lower("policy.lost_share", "policies[].lost_ratio", Unit::Share)
        .means("the same of those that were scheduled", POLICIES),
    FigureDefinition::lower("policy.sent", "policies[].sent", Unit::Count)
        .means("datagrams that it puts on paths", POLICIES),
    FigureDefinition::lower("policy.sent_bytes", "policies[].sent_bytes", Unit::Bytes)
        .means("their payload", POLICIES),
    FigureDefinition::neutral("radio.readings", "paths[].wireless.readings", Unit::Count)
        .means("times that the driver of a radio was asked and told something", RADIOS),
    FigureDefinition::higher("radio.signal_min", "paths[].wireless.signal_min_dbm", Unit::Dbm)
        .means("the weakest signal", RADIOS),
    FigureDefinition::higher("radio.signal_median", "paths[].wireless.signal_median_dbm", Unit::Dbm)
        .means("half of the readings were no stronger", RADIOS),
    FigureDefinition::higher("radio.signal_max", "paths[].wireless.signal_max_dbm", Unit::Dbm)
        .means("the strongest", RADIOS),
    FigureDefinition::higher("radio.send_rate_min", "paths[].wireless.send_min_bps", Unit::BitRate)
        .means("the radio's lowest rate of what was sent, of bits in the air", RADIOS),
    FigureDefinition::higher("radio.send_rate_max", "paths[].wireless.send_max_bps", Unit::BitRate)
        .means("the same at the most", RADIOS),
    FigureDefinition::higher("radio.receive_rate_min", "paths[].wireless.receive_min_bps", Unit::BitRate)
        .means("the radio's lowest rate of what was received", RADIOS),
    FigureDefinition::higher("radio.receive_rate_max", "paths[].wireless.receive_max_bps", Unit::BitRate)
        .means("the same at the most", RADIOS),
    FigureDefinition::lower("radio.channel_changes", "paths[].wireless.channel_changes", Unit::Count)
        .means("times that the channel was another one than before", RADIOS),
    FigureDefinition::lower("radio.network_changes", "paths[].wireless.network_changes", Unit::Count)
        .means("times that the network was another one than before", RADIOS),
    FigureDefinition::higher("radio.start.signal", "paths[].wireless.start.signal_dbm", Unit::Dbm)
        .means("the signal at the begin", RADIOS),
    FigureDefinition::higher("radio.start.send_rate", "paths[].wireless.start.send_bps", Unit::BitRate)
        .means("the radio's rate of what is sent, at the begin", RADIOS),
    FigureDefinition::higher("radio.start.receive_rate", "paths[].wireless.start.receive_bps", Unit::BitRate)
        .means("the radio's rate of what is received, at the begin", RADIOS),
    FigureDefinition::neutral("radio.start.channel", "paths[].wireless.start.channel", Unit::Number)
        .means("the primary channel's number at the begin", RADIOS),
    FigureDefinition::neutral("radio.start.frequency", "paths[].wireless.start.frequency_mhz", Unit::Megahertz)
        .means("the primary channel's frequency at the begin", RADIOS),
    FigureDefinition::neutral("radio.start.width", "paths[].wireless.start.width_mhz", Unit::Megahertz)
        .means("the width of what is sent on, at the begin", RADIOS),
    FigureDefinition::higher("radio.end.signal", "paths[].wireless.end.signal_dbm", Unit::Dbm)
        .means("the signal at the end", RADIOS),
    FigureDefinition::higher("radio.end.send_rate", "paths[].wireless.end.send_bps", Unit::BitRate)
        .means("the radio's rate of what is sent, at the end", RADIOS),
    FigureDefinition::higher("radio.end.receive_rate", "paths[].wireless.end.receive_bps", Unit::BitRate)
        .means("the radio's rate of what is received, at the end", RADIOS),
    FigureDefinition::neutral("radio.end.channel", "paths[].wireless.end.channel", Unit::Number)
        .means("the primary channel's number at the end", RADIOS),
    FigureDefinition::neutral("radio.end.frequency", "paths[].wireless.end.frequency_mhz", Unit::Megahertz)
        .means("the primary channel's frequency at the end", RADIOS),
    FigureDefinition::neutral("radio.end.width", "paths[].wireless.end.width_mhz", Unit::Megahertz)
        .means("the width of what is sent on, at the end", RADIOS),
];
