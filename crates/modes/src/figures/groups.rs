//! The groups, one line for each.

use super::Group;
use crate::{datagrams, goodput, latency, media, multipath, search};

/// All groups, in the order in which they are told.
pub const GROUPS: &[Group] = &[
    Group {
        name: "goodput",
        title: "Goodput over TCP",
        place: "summary.goodput",
        figures: goodput::figures::FIGURES,
    },
    Group {
        name: "datagrams",
        title: "Goodput over UDP",
        place: "summary.datagrams",
        figures: datagrams::figures::FIGURES,
    },
    Group {
        name: "search",
        title: "The highest rate without loss",
        place: "rate_search",
        figures: search::figures::FIGURES,
    },
    Group {
        name: "latency",
        title: "Latency",
        place: "summary.latency",
        figures: latency::figures::FIGURES,
    },
    Group {
        name: "loaded",
        title: "Latency beside a load",
        place: "summary.probe",
        figures: latency::figures::FIGURES,
    },
    Group {
        name: "media",
        title: "Media streams",
        place: "summary.media",
        figures: media::figures::FIGURES,
    },
    Group {
        name: "multipath",
        title: "Several paths at once",
        place: "summary.multipath",
        figures: multipath::figures::FIGURES,
    },
    Group {
        name: "end",
        title: "The ends themselves",
        place: "{end}",
        figures: super::ends::FIGURES,
    },
];
