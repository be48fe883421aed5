//! The main chart of a result as a picture of its own, for a page, a ticket or a paper. Written when the run has ended.
//!
//! `chart` decides what the main chart is, `layout` where each line and word of it stands on its `page`, and `svg` and `png` write
//! that down. Not here: the charts of a page for a browser, which can be looked into.

mod axis;
mod chart;
mod drawing;
mod estimates;
mod font;
mod layout;
mod page;
mod png;
mod svg;
#[cfg(test)]
mod tests;

use pathscope_core::error::Failure;
use pathscope_core::presentation::Presentation;

use self::drawing::Drawing;

/// The main chart as SVG; none where the result has nothing that a chart shows.
pub fn svg(presentation: &Presentation, failure: Option<(Failure, &str)>) -> Option<Vec<u8>> {
    drawing(presentation, failure).map(|drawing| svg::written(&drawing).into_bytes())
}

/// The main chart as PNG, two pixels for each of the SVG; none where the result has nothing that a chart shows.
pub fn png(presentation: &Presentation, failure: Option<(Failure, &str)>) -> Option<Vec<u8>> {
    drawing(presentation, failure).and_then(|drawing| png::painted(&drawing))
}

fn drawing(presentation: &Presentation, failure: Option<(Failure, &str)>) -> Option<Drawing> {
    chart::main(presentation, failure).map(|chart| layout::laid_out(&chart))
}
