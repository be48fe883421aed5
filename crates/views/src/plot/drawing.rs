//! A picture before it is of any form: lines, areas and words, in pixels from its upper left corner.

/// What is to be drawn, from back to front.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
    /// What it shows, for whoever does not see it.
    pub title: String,
    /// What it is made of.
    pub marks: Vec<Mark>,
}

/// A place: from the left, and from the top.
pub type Place = (f64, f64);

/// A part of a picture.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A line through places.
    Line { through: Vec<Place>, color: Color, width: f64, dash: Dash },
    /// What places surround, filled.
    Area { within: Vec<Place>, color: Color, opacity: f64 },
    /// Words, where their line stands.
    Text { at: Place, text: String, size: f64, anchor: Anchor, color: Color, is_bold: bool },
}

/// Red, green and blue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Color(pub u8, pub u8, pub u8);

/// Lengths of what is drawn and of what is not, in turns; none: all is drawn.
pub type Dash = &'static [f32];

/// Which end of words stands at their place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Anchor {
    /// The first.
    Start,
    /// Neither: they are centered.
    Middle,
    /// The last.
    End,
}
