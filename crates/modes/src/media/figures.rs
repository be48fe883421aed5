//! What a media stream says, figure by figure.

use crate::figures::{FigureDefinition, Unit};

const FRAMES: &str = "method/media.md#how-a-frame-ends";
const DATAGRAMS: &str = "method/media.md#datagrams";
const DEFINED: &str = "method/media.md#figures";
const LATE: &str = "method/media.md#how-late-our-sender-is";
const LAYOUT: &str = "method/media.md#frames-and-datagrams";

/// All of them.
pub const FIGURES: &[FigureDefinition] = &[
    FigureDefinition::higher("received_rate", "{way}.received_bps", Unit::BitRate).means(
        "payload that came whole and right, over the time that its frames took to send by the plan",
        DEFINED,
    ),
    FigureDefinition::higher("played_share", "{way}.played_ratio", Unit::Share)
        .means("of the frames that were to be played, those that were there in time", DEFINED),
    FigureDefinition::neutral("frames.planned", "{way}.frames_planned", Unit::Count)
        .means("frames that the plan has, of all streams", FRAMES),
    FigureDefinition::neutral("frames.sent", "{way}.frames_sent", Unit::Count)
        .means("frames that left whole", FRAMES),
    FigureDefinition::lower("frames.never_left", "{way}.frames_unsent", Unit::Count)
        .means("frames that were due and never left", FRAMES),
    FigureDefinition::higher("frames.completed", "{way}.frames.completed", Unit::Count)
        .means("frames that were whole when they were to be played", FRAMES),
    FigureDefinition::lower("frames.missed", "{way}.frames.missed", Unit::Count)
        .means("frames that were not, though nothing of them came damaged", FRAMES),
    FigureDefinition::lower("frames.late", "{way}.frames.late", Unit::Count)
        .means("of those, frames that were whole afterwards", FRAMES),
    FigureDefinition::lower("frames.unsent", "{way}.frames.unsent", Unit::Count)
        .means("of those, frames that were never sent", FRAMES),
    FigureDefinition::lower("frames.erroneous", "{way}.frames.erroneous", Unit::Count)
        .means("frames that were not whole, since something of them came damaged", FRAMES),
    FigureDefinition::lower("frames.repeated", "{way}.frames.repeated", Unit::Count)
        .means("whole frames with datagrams that came more than once", FRAMES),
    FigureDefinition::neutral("frames.cut", "{way}.frames.cut", Unit::Count)
        .means("frames that were not yet to be played when the stream was stopped", FRAMES),
    FigureDefinition::lower("frames.late_by_sender", "{way}.late_by_sender", Unit::Count)
        .means("late frames that the sender's own lateness made late", LATE),
    FigureDefinition::neutral("frame_bytes", "frame_bytes", Unit::Bytes)
        .means("bytes of a frame, headers of its datagrams included", LAYOUT),
    FigureDefinition::neutral("datagrams_per_frame", "datagrams_per_frame", Unit::Count)
        .means("datagrams of a frame", LAYOUT),
    FigureDefinition::lower("delay", "{way}.delay", Unit::Distribution).means(
        "from when a frame was due to when it was whole at the receiver, above the least of that",
        DEFINED,
    ),
    FigureDefinition::lower("needed_depth", "{way}.needed_depth_ns", Unit::Duration).means(
        "the depth of a buffer that would have had each frame in time that ever was whole",
        DEFINED,
    ),
    FigureDefinition::lower("longest_freeze", "{way}.longest_freeze_ns", Unit::Duration)
        .means("the longest time in which a stream had no frame to play", DEFINED),
    FigureDefinition::lower("frame_jitter", "{way}.frame_jitter.mean_ns", Unit::Duration)
        .means("ctsTraffic's jitter of frames, its mean", DEFINED),
    FigureDefinition::lower("frame_jitter.max", "{way}.frame_jitter.max_ns", Unit::Duration)
        .means("the most that it ever was", DEFINED),
    FigureDefinition::neutral("frame_jitter.count", "{way}.frame_jitter.count", Unit::Count)
        .means("differences in it", DEFINED),
    FigureDefinition::lower("jitter", "{way}.variation.rfc3550.mean_ns", Unit::Duration)
        .means("interarrival jitter of RFC 3550, its mean", DEFINED),
    FigureDefinition::lower("jitter.max", "{way}.variation.rfc3550.max_ns", Unit::Duration)
        .means("the most that it ever was", DEFINED),
    FigureDefinition::lower("jitter.last", "{way}.variation.rfc3550.last_ns", Unit::Duration)
        .means("what it was at the end", DEFINED),
    FigureDefinition::lower("ipdv", "{way}.variation.ipdv", Unit::Distribution)
        .means("how much delays of neighbouring datagrams differ (RFC 3393)", DEFINED),
    FigureDefinition::lower("send_lag", "{way}.send_lag", Unit::Distribution)
        .means("how late frames left", LATE),
    FigureDefinition::neutral("sent", "{way}.sent_datagrams", Unit::Count)
        .means("datagrams that the sender handed to its kernel", DATAGRAMS),
    FigureDefinition::neutral("received", "{way}.received_datagrams", Unit::Count)
        .means("datagrams that came whole and right, each once", DATAGRAMS),
    FigureDefinition::lower("lost", "{way}.lost_datagrams", Unit::Count)
        .means("datagrams of which nothing came", DATAGRAMS),
    FigureDefinition::lower("lost_in_network", "{way}.lost_in_network", Unit::Count)
        .means("of those, lost before the receiver", DATAGRAMS),
    FigureDefinition::lower("lost_in_socket", "{way}.lost_in_socket", Unit::Count)
        .means("of those, dropped by the receiver's own sockets", DATAGRAMS),
    FigureDefinition::lower("lost_unreadable", "{way}.lost_unreadable", Unit::Count)
        .means("of those, so damaged that nobody knows which they were", DATAGRAMS),
    FigureDefinition::lower("damaged", "{way}.damaged_datagrams", Unit::Count)
        .means("datagrams that came damaged", DATAGRAMS),
    FigureDefinition::lower("duplicates", "{way}.duplicates", Unit::Count)
        .means("datagrams that came once more", DATAGRAMS),
    FigureDefinition::lower("reordered", "{way}.reordered", Unit::Count)
        .means("datagrams that came after one of a higher number", DATAGRAMS),
    FigureDefinition::lower("bursts", "{way}.bursts.bursts", Unit::Count)
        .means("runs of neighbouring numbers that were lost", DATAGRAMS),
    FigureDefinition::lower("bursts.lost", "{way}.bursts.lost", Unit::Count)
        .means("numbers in all of them", DATAGRAMS),
    FigureDefinition::lower("bursts.longest", "{way}.bursts.longest", Unit::Count)
        .means("numbers in the longest", DATAGRAMS),
    FigureDefinition::neutral("bursts.lengths", "{way}.bursts.lengths[]", Unit::Count)
        .means("runs by length, each class twice as wide as the one before", DATAGRAMS),
    FigureDefinition::lower("failed", "{way}.failed", Unit::Count)
        .means("streams that ended before their time, at either end", FRAMES),
];
