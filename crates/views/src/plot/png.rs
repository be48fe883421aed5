//! A picture as PNG, with the font that this program brings: the same on each machine.

use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Stroke,
    StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::drawing::{Anchor, Color, Drawing, Mark, Place};
use super::font;

/// Pixels for each of the drawing: it is looked at on dense screens, too.
pub const SCALE: f32 = 2.0;
/// How much wider the strokes of bold letters are, in parts of their height.
const BOLD: f64 = 0.04;

/// The whole file; none where it is too large for memory.
pub fn painted(drawing: &Drawing) -> Option<Vec<u8>> {
    let [width, height] = [drawing.width, drawing.height].map(|side| (side as f32 * SCALE).ceil());
    let mut pixmap = Pixmap::new(width as u32, height as u32)?;
    let white = PremultipliedColorU8::from_rgba(255, 255, 255, 255)?;
    pixmap.pixels_mut().fill(white);
    drawing.marks.iter().for_each(|mark| paint(&mut pixmap, mark));
    pixmap.encode_png().ok()
}

fn paint(pixmap: &mut Pixmap, mark: &Mark) {
    let transform = Transform::from_scale(SCALE, SCALE);
    match mark {
        Mark::Line { through, color, width, dash } => {
            let stroke = Stroke {
                width: *width as f32,
                line_join: LineJoin::Round,
                line_cap: LineCap::Butt,
                dash: StrokeDash::new(dash.to_vec(), 0.0),
                ..Stroke::default()
            };
            if let Some(path) = path(through, false) {
                pixmap.stroke_path(&path, &ink(*color, 1.0), &stroke, transform, None);
            }
        }
        Mark::Area { within, color, opacity } => {
            if let Some(path) = path(within, true) {
                pixmap.fill_path(&path, &ink(*color, *opacity), FillRule::Winding, transform, None);
            }
        }
        Mark::Text { at: (left, base), text, size, anchor, color, is_bold } => {
            let width = font::width(text, *size);
            let left = match anchor {
                Anchor::Start => *left,
                Anchor::Middle => left - width / 2.0,
                Anchor::End => left - width,
            };
            let pen_at = |offset: f64, scale: f64| Pen {
                left: (left + offset) as f32,
                base: *base as f32,
                scale: scale as f32,
                path: PathBuilder::new(),
            };
            font::outline(text, *size, pen_at, |pen| {
                let Some(letter) = pen.path.finish() else { return };
                let ink = ink(*color, 1.0);
                pixmap.fill_path(&letter, &ink, FillRule::Winding, transform, None);
                if *is_bold {
                    let stroke = Stroke { width: (size * BOLD) as f32, ..Stroke::default() };
                    pixmap.stroke_path(&letter, &ink, &stroke, transform, None);
                }
            });
        }
    }
}

fn ink(Color(red, green, blue): Color, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint.anti_alias = true;
    paint
}

fn path(through: &[Place], is_closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, &(left, top)) in through.iter().enumerate() {
        let (left, top) = (left as f32, top as f32);
        if at == 0 { path.move_to(left, top) } else { path.line_to(left, top) }
    }
    if is_closed {
        path.close();
    }
    path.finish()
}

/// Draws a letter where it stands. A font's heights rise, and a picture's fall.
struct Pen {
    left: f32,
    base: f32,
    scale: f32,
    path: PathBuilder,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.left + x * self.scale, self.base - y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) =
            (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
