//! Text in columns: what may be shown, how wide it is, where it is cut.

use pathscope_core::shell::is_invisible;

/// What is shown for a character that must not reach a terminal.
const REPLACEMENT: char = '\u{fffd}';

/// The text without anything that could move a cursor, set a color, or turn the direction of reading.
pub fn clean(text: &str) -> String {
    text.chars().map(shown).collect()
}

/// Columns that the text takes once it is clean.
pub fn width(text: &str) -> usize {
    text.chars().map(|character| columns(shown(character))).sum()
}

/// The text in lines: the first at most `first` columns wide, the others `rest`. A word wider than that
/// gets a line of its own, whole, so that it can be copied. Empty text has no lines.
pub fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for words in unbroken(text) {
        let limit = if lines.len() < 2 { first } else { rest };
        let needed = width(&words);
        match lines.last_mut() {
            Some(line) if used + 1 + needed <= limit => {
                line.push(' ');
                line.push_str(&words);
                used += 1 + needed;
            }
            _ => {
                lines.push(words);
                used = needed;
            }
        }
    }
    lines
}

/// Words, and numbers together with their units: `72.15 Gbit/s` is read in one piece.
fn unbroken(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match pieces.last_mut() {
            Some(number)
                if is_unit(word) && number.ends_with(|last: char| last.is_ascii_digit()) =>
            {
                number.push(' ');
                number.push_str(word);
            }
            _ => pieces.push(word.to_owned()),
        }
    }
    pieces
}

fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':', ')']);
    matches!(word, "%" | "ns" | "µs" | "ms" | "s" | "B" | "/s")
        || word.ends_with("bit/s")
        || word.ends_with("iB")
}

/// The text, or as much of it as leaves room for an ellipsis. Never used on numbers: a number that is
/// cut is another number.
pub fn clip(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|&character| {
        used += columns(shown(character));
        used <= limit
    });
    kept.chain(['…']).collect()
}

/// The text in ASCII, each character replaced by what comes nearest and takes as many columns.
pub fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match nearest(character) {
            Some(near) => plain.push(near),
            None => plain.extend(std::iter::repeat_n('?', columns(character))),
        }
    }
    plain
}

/// What comes nearest to a character in ASCII; `None`: nothing does.
const fn nearest(character: char) -> Option<char> {
    Some(match character {
        '\0'..='\u{7f}' => character,
        '─' | '–' | '—' | '‐' | '‑' | '−' | '▄' => '-',
        '→' => '>',
        '✓' | '▆' => '+',
        '✗' | '×' => 'x',
        '·' | '▍' | '▎' | '▏' => '|',
        'µ' | 'μ' => 'u',
        '≤' => '<',
        '…' => '~',
        '‘' | '’' | '´' => '\'',
        '“' | '”' | '„' => '"',
        // Heights of a course, then lengths of a bar; two heights stand above.
        '▁' => '_',
        '▂' => '.',
        '▃' => ':',
        '▅' => '=',
        '▇' => '*',
        '█' | '▉' | '▊' | '▋' | '▌' => '#',
        '\u{a0}' | '\u{2009}' | '\u{202f}' => ' ',
        _ => return None,
    })
}

fn shown(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' => ' ',
        _ if character.is_control() || is_invisible(character) => REPLACEMENT,
        _ => character,
    }
}

/// Columns of one clean character: the ranges of East Asian Width (Unicode Annex 11) and of combining
/// marks that occur in names. A rare script may stand out of line by a column; nothing depends on it.
const fn columns(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' => 0,
        '\u{1100}'..='\u{115e}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_peer_cannot_drive_the_terminal() {
        assert_eq!(
            clean("a\u{1b}[31mb\u{9b}2Jc\r\nd\u{7f}"),
            "a\u{fffd}[31mb\u{fffd}2Jc  d\u{fffd}"
        );
        assert_eq!(clean("user\u{202e}txt.exe"), "user\u{fffd}txt.exe");
        assert_eq!(clean("24.10 µs – 72 %"), "24.10 µs – 72 %");
    }

    #[test]
    fn width_is_columns_not_bytes() {
        assert_eq!(
            (width("µs –"), width("日本"), width("e\u{301}"), width("\u{1b}")),
            (4, 4, 1, 1)
        );
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7, 5), ["one two", "three"]);
        assert_eq!(wrap("unbreakable a b", 4, 3), ["unbreakable", "a b"]);
        assert_eq!(wrap("took 10 s, 97 % busy", 7, 9), ["took", "10 s,", "97 % busy"]);
        assert_eq!(wrap(" \n ", 4, 4), [""; 0]);
        assert_eq!(wrap("a", 0, 0), ["a"]);
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(clip("interface", 5), "inte…");
        assert_eq!(clip("fits", 4), "fits");
        assert_eq!(clip("日本語", 4), "日…");
        assert_eq!(clip("no room", 0), "…");
    }

    #[test]
    fn what_ascii_has_not_is_replaced_by_what_comes_nearest() {
        assert_eq!(ascii("→ 24.10 µs · ✓ ▁▄█ ─ 5–7 …"), "> 24.10 us | + _-# - 5-7 ~");
        assert_eq!(ascii("日本 e\u{301} ö"), "???? e ?");
        assert_eq!(ascii("\u{1b}[1mplain\u{1b}[0m"), "\u{1b}[1mplain\u{1b}[0m");
    }

    proptest! {
        #[test]
        fn ascii_takes_as_many_columns(text in any::<String>()) {
            let clean = clean(&text);
            let plain = ascii(&clean);
            prop_assert!(plain.is_ascii());
            prop_assert_eq!(width(&plain), width(&clean));
        }

        #[test]
        fn wrapping_loses_no_word(text in "\\PC{0,80}", first in 0_usize..40, rest in 0_usize..40) {
            let joined = wrap(&text, first, rest).join(" ");
            let words: Vec<_> = text.split_whitespace().collect();
            prop_assert_eq!(joined, words.join(" "));
        }

        #[test]
        fn what_is_clean_stays_as_it_is(text in any::<String>()) {
            let once = clean(&text);
            prop_assert_eq!(clean(&once), once.clone());
            prop_assert_eq!(width(&once), width(&text));
            prop_assert!(!once.chars().any(char::is_control));
        }
    }
}
