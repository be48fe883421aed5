//! The font of plots: how wide words are, and the outlines of their letters. `font/README.md` says which it is.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    Face::parse(include_bytes!("font/dejavu-sans.ttf"), 0)
        .expect("the font is a part of the program")
});

/// How wide words are, `size` pixels high.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|character| advance(glyph(character))).sum::<f64>() * scale(size)
}

/// The words, or as many of their letters as are at most `limit` wide, and an ellipsis.
pub fn clipped(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_owned();
    }
    let mut used = width("…", size);
    let kept = text.chars().take_while(|&character| {
        used += advance(glyph(character)) * scale(size);
        used <= limit
    });
    kept.chain(['…']).collect()
}

/// Draws the outlines of words: for each letter what makes its pen, from where the letter begins, in pixels.
pub fn outline<Pen: OutlineBuilder>(
    text: &str,
    size: f64,
    mut pen_at: impl FnMut(f64, f64) -> Pen,
    mut drawn: impl FnMut(Pen),
) {
    let mut left = 0.0;
    for glyph in text.chars().map(glyph) {
        let mut pen = pen_at(left, scale(size));
        if FACE.outline_glyph(glyph, &mut pen).is_some() {
            drawn(pen);
        }
        left += advance(glyph) * scale(size);
    }
}

/// The letter's; that of no letter where the font has none.
fn glyph(character: char) -> GlyphId {
    FACE.glyph_index(character).unwrap_or(GlyphId(0))
}

fn advance(glyph: GlyphId) -> f64 {
    f64::from(FACE.glyph_hor_advance(glyph).unwrap_or(0))
}

/// Pixels for each unit of the font.
fn scale(size: f64) -> f64 {
    size / f64::from(FACE.units_per_em())
}
