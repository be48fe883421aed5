//! Drawings that others have made, as images: what is in an image cannot reach the page, and runs no script.

use maud::{Markup, html};
use pathscope_core::presentation::Picture;

use crate::words::clean;

/// The drawings of a result, below each other.
pub(super) fn pictures(pictures: &[Picture]) -> Markup {
    html! {
        @for picture in pictures {
            figure.picture {
                figcaption { (clean(&picture.title)) }
                @if !picture.note.is_empty() { p.note { (clean(&picture.note)) } }
                div tabindex="0" role="region" aria-label=(clean(&picture.title)) {
                    img src=(address(&picture.svg)) alt=(clean(&format!("{}. {}", picture.title, picture.note)));
                }
            }
        }
    }
}

/// A document as the address of an image (RFC 2397), with every byte escaped that an address does not take as it is (RFC 3986, 2.3).
fn address(svg: &str) -> String {
    let mut address = "data:image/svg+xml;charset=utf-8,".to_owned();
    for byte in svg.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
            address.push('%');
            address.extend(digits.into_iter().flatten().map(|digit| digit.to_ascii_uppercase()));
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_drawing_is_a_part_of_the_page() {
        let svg = "<svg onload=\"alert(1)\"><text>é & 'x'</text></svg>".to_owned();
        let picture = Picture { title: "a <b>".to_owned(), note: "\"read\"".to_owned(), svg };
        let page = pictures(&[picture]).into_string();
        assert!(
            page.contains(
                "src=\"data:image/svg+xml;charset=utf-8,%3Csvg%20onload%3D%22alert%281%29%22%3E"
            ),
            "{page}"
        );
        assert!(page.contains("%C3%A9%20%26%20%27x%27"), "{page}");
        assert!(
            !page.contains("<svg") && !page.contains("<b>") && page.contains("a &lt;b&gt;"),
            "{page}"
        );
    }
}
