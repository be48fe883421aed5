//! What a media stream says, figure by figure.

use crate::figure::group;

const FRAMES: &str = "method/media.md#how-a-frame-ends";
const DATAGRAMS: &str = "method/media.md#datagrams";
const DEFINED: &str = "method/media.md#figures";
const LATE: &str = "method/media.md#how-late-our-sender-is";
const LAYOUT: &str = "method/media.md#frames-and-datagrams";

group! {
    "media", "Media streams", told 6, at "summary.media", for ["played_share", "needed_depth"];
    "received_rate" as "received": BitRate Higher at "{way}.received_bps", DEFINED, "payload that came whole and right, over the time that its frames took to send by the plan";
    "played_share": Share Higher at "{way}.played_ratio", DEFINED, "of the frames that were to be played, those that were there in time";
    "frames.planned": Count Neither at "{way}.frames_planned", FRAMES, "frames that the plan has, of all streams";
    "frames.sent": Count Neither at "{way}.frames_sent", FRAMES, "frames that left whole";
    "frames.never_left" as "frames unsent": Count Lower at "{way}.frames_unsent", FRAMES, "frames that were due and never left";
    "frames.completed" as "frames completed": Count Higher at "{way}.frames.completed", FRAMES, "frames that were whole when they were to be played";
    "frames.missed": Count Lower at "{way}.frames.missed", FRAMES, "frames that were not, though nothing of them came damaged";
    "frames.late" as "frames late": Count Lower at "{way}.frames.late", FRAMES, "of those, frames that were whole afterwards";
    "frames.unsent": Count Lower at "{way}.frames.unsent", FRAMES, "of those, frames that were never sent";
    "frames.erroneous" as "frames in error": Count Lower at "{way}.frames.erroneous", FRAMES, "frames that were not whole, since something of them came damaged";
    "frames.repeated" as "frames repeated": Count Lower at "{way}.frames.repeated", FRAMES, "whole frames with datagrams that came more than once";
    "frames.cut" as "frames cut": Count Neither at "{way}.frames.cut", FRAMES, "frames that were not yet to be played when the stream was stopped";
    "frames.late_by_sender": Count Lower at "{way}.late_by_sender", LATE, "late frames that the sender's own lateness made late";
    "frame_bytes": Bytes Neither at "frame_bytes", LAYOUT, "bytes of a frame, headers of its datagrams included";
    "datagrams_per_frame": Count Neither at "datagrams_per_frame", LAYOUT, "datagrams of a frame";
    "delay" as "frame delay": Distribution Lower at "{way}.delay", DEFINED, "from when a frame was due to when it was whole at the receiver, above the least of that";
    "needed_depth" as "buffer needed": Duration Lower at "{way}.needed_depth_ns", DEFINED, "the depth of a buffer that would have had each frame in time that ever was whole";
    "longest_freeze" as "longest freeze": Duration Lower at "{way}.longest_freeze_ns", DEFINED, "the longest time in which a stream had no frame to play";
    "frame_jitter" as "frame jitter": Duration Lower at "{way}.frame_jitter.mean_ns", DEFINED, "ctsTraffic's jitter of frames, its mean";
    "frame_jitter.max": Duration Lower at "{way}.frame_jitter.max_ns", DEFINED, "the most that it ever was";
    "frame_jitter.count": Count Neither at "{way}.frame_jitter.count", DEFINED, "differences in it";
    "jitter" as "interarrival jitter": Duration Lower at "{way}.variation.rfc3550.mean_ns", DEFINED, "interarrival jitter of RFC 3550, its mean";
    "jitter.max": Duration Lower at "{way}.variation.rfc3550.max_ns", DEFINED, "the most that it ever was";
    "jitter.last": Duration Lower at "{way}.variation.rfc3550.last_ns", DEFINED, "what it was at the end";
    "ipdv" as "|IPDV|": Distribution Lower at "{way}.variation.ipdv", DEFINED, "how much delays of neighbouring datagrams differ (RFC 3393)";
    "send_lag" as "sender late by": Distribution Lower at "{way}.send_lag", LATE, "how late frames left";
    "sent": Count Neither at "{way}.sent_datagrams", DATAGRAMS, "datagrams that the sender handed to its kernel";
    "received": Count Neither at "{way}.received_datagrams", DATAGRAMS, "datagrams that came whole and right, each once";
    "lost" as "datagrams lost": Count Lower at "{way}.lost_datagrams", DATAGRAMS, "datagrams of which nothing came";
    "lost_in_network": Count Lower at "{way}.lost_in_network", DATAGRAMS, "of those, lost before the receiver";
    "lost_in_socket": Count Lower at "{way}.lost_in_socket", DATAGRAMS, "of those, dropped by the receiver's own sockets";
    "lost_unreadable": Count Lower at "{way}.lost_unreadable", DATAGRAMS, "of those, so damaged that nobody knows which they were";
    "damaged" as "datagrams damaged": Count Lower at "{way}.damaged_datagrams", DATAGRAMS, "datagrams that came damaged";
    "duplicates" as "datagrams doubled": Count Lower at "{way}.duplicates", DATAGRAMS, "datagrams that came once more";
    "reordered" as "datagrams reordered": Count Lower at "{way}.reordered", DATAGRAMS, "datagrams that came after one of a higher number";
    "bursts": Count Lower at "{way}.bursts.bursts", DATAGRAMS, "runs of neighbouring numbers that were lost";
    "bursts.lost": Count Lower at "{way}.bursts.lost", DATAGRAMS, "numbers in all of them";
    "bursts.longest": Count Lower at "{way}.bursts.longest", DATAGRAMS, "numbers in the longest";
    "bursts.lengths": Count Neither at "{way}.bursts.lengths[]", DATAGRAMS, "runs by length, each class twice as wide as the one before";
    "failed": Count Lower at "{way}.failed", FRAMES, "streams that ended before their time, at either end";
}
