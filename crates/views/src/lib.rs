//! How results are shown: a folder for each way, and [`registry`], the one place that lists them.
//!
//! A view is told events and writes to what it was handed. It computes no figure, knows no mode, opens
//! no file and does not ask what a terminal can do: whoever makes it says so in [`Options`].

#![forbid(unsafe_code)]

mod at_end;
mod course;
mod findings;
mod grid;
mod html;
mod joined;
pub mod journal;
mod json;
mod markdown;
mod places;
mod plot;
pub mod registry;
mod text;
mod value;
mod view;
mod words;

pub use registry::{Format, Picture, UnknownFormat, UnknownPicture};
pub use view::{Charset, Color, Detail, Live, Options, View};
pub use words::ascii;
