//! Of streams of frames.

use super::{Axis, Chosen, Design, Extent, words};
use crate::cell::{Asked, Cell, Conditions};
use crate::place::Place;

pub(super) const DESIGN: Design = Design {
    group: "media",
    axes: &[
        Axis::new("direction", &["down", "up", "both"]),
        Axis::new("datagrams a frame", &["1", "5"]),
        Axis::new("bytes", &["200", "1200"]),
        Axis::new("frame rate", &["10", "50", "200"]),
        Axis::new("streams", &["1", "4"]),
        Axis::new("pacing", &["back-to-back", "spread"]),
        Axis::new("wait", &["sleep", "spin"]),
        Axis::new("engine", &["epoll", "plain"]),
        Axis::new("place", &["loopback", "wire", "link"]),
        Axis::new("addresses", &["IPv4", "IPv6"]),
    ],
    is_possible: |chosen| {
        let frames = chosen.number("frame rate") * chosen.number("streams");
        !chosen.is("place", "link") || frames * chosen.number("datagrams a frame") <= 2_500
    },
    cell,
};

fn cell(chosen: &Chosen, extent: Extent) -> Cell {
    let (place, family) = (chosen.place(), chosen.family());
    let (streams, bytes) = (chosen.number("streams"), chosen.number("bytes"));
    let frame_rate = chosen.number("frame rate");
    let has_samples = !chosen.is("direction", "up");
    let text = format!(
        "media {} --direction {} --rate {}bit --frame-rate {frame_rate} --datagram {bytes} --streams {streams} --pacing {} --wait {} --engine {} -t {}ms{}",
        place.target(family),
        chosen.get("direction"),
        bytes * 8 * chosen.number("datagrams a frame") * frame_rate,
        chosen.get("pacing"),
        chosen.get("wait"),
        chosen.get("engine"),
        extent.millis(),
        // It is of what comes to this end.
        if has_samples { " --jitter-file {samples}" } else { "" },
    );
    Cell {
        name: String::new(),
        settings: Vec::new(),
        place,
        family,
        conditions: if place == Place::Link { vec![Conditions::plain()] } else { Vec::new() },
        later: Vec::new(),
        words: words(&text),
        duration: extent.duration(),
        ping_bytes: None,
        has_samples,
        asked: Asked {
            flows: streams,
            number: Some(extent.of(frame_rate) * streams),
            bytes: Some(bytes),
            ..Asked::default()
        },
    }
}
