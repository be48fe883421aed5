//! A picture as SVG. Words stay words, which can be searched for and copied; what they hold is escaped where it is put in.

use maud::{Markup, html};

use super::drawing::{Anchor, Color, Drawing, Mark, Place};

/// Fonts of the systems that there are; all are as narrow as that of `font`, or narrower.
const FONTS: &str = "DejaVu Sans, Verdana, Segoe UI, Roboto, Helvetica, Arial, sans-serif";

/// The whole file.
pub fn written(drawing: &Drawing) -> String {
    let (width, height) = (pixels(drawing.width), pixels(drawing.height));
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img" font-family=(FONTS) {
            title { (valid(&drawing.title)) }
            @for mark in &drawing.marks { (self::mark(mark)) "\n" }
        }
    };
    svg.into_string() + "\n"
}

fn mark(mark: &Mark) -> Markup {
    match mark {
        Mark::Line { through, color, width, dash } => {
            let dashes: Vec<String> = dash.iter().map(ToString::to_string).collect();
            let dashes = (!dashes.is_empty()).then(|| dashes.join(" "));
            html! {
                path d=(path(through)) fill="none" stroke=(hex(*color)) stroke-width=(width) stroke-dasharray=[dashes] stroke-linejoin="round" {}
            }
        }
        Mark::Area { within, color, opacity } => {
            let opacity = (*opacity < 1.0).then_some(opacity);
            html! { path d={ (path(within)) "Z" } fill=(hex(*color)) fill-opacity=[opacity] {} }
        }
        Mark::Text { at: (left, base), text, size, anchor, color, is_bold } => {
            let anchor = match anchor {
                Anchor::Start => None,
                Anchor::Middle => Some("middle"),
                Anchor::End => Some("end"),
            };
            let weight = is_bold.then_some("bold");
            html! {
                text x=(pixels(*left)) y=(pixels(*base)) font-size=(size) text-anchor=[anchor] font-weight=[weight] fill=(hex(*color)) { (valid(text)) }
            }
        }
    }
}

/// Places that a line goes through: `M64 20L70.5 31`.
fn path(through: &[Place]) -> String {
    let mut path = String::new();
    for (at, (left, top)) in through.iter().enumerate() {
        path.push(if at == 0 { 'M' } else { 'L' });
        path += &pixels(*left);
        path.push(' ');
        path += &pixels(*top);
    }
    path
}

/// To a tenth.
fn pixels(number: f64) -> String {
    let rounded = format!("{number:.1}");
    rounded.strip_suffix(".0").unwrap_or(&rounded).to_owned()
}

fn hex(Color(red, green, blue): Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Without the two that no XML may hold; the others (XML 1.0, section 2.2) were taken out as what moves cursors.
fn valid(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
