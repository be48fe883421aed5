//! Words as a POSIX shell takes them, to be copied into one (POSIX.1-2024, section 2.2). Whatever the words are, what comes of them is one line
//! that moves no cursor, and a shell makes the same words of it again.

/// These words as a command line.
pub fn command_line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word.as_bytes())).collect::<Vec<_>>().join(" ")
}

/// One word: as it is where nothing in it means something to a shell, in quotes, or in dollar-quotes where it has bytes that are not to be
/// printed.
pub fn quoted(word: &[u8]) -> String {
    match std::str::from_utf8(word) {
        Ok(text) if is_plain(text) => text.to_owned(),
        Ok(text) if !text.chars().any(is_hidden) => format!("'{}'", text.replace('\'', "'\\''")),
        _ => dollar_quoted(word),
    }
}

/// Whether no shell sees anything but letters in it. An assignment is a word before a command; an option is none.
fn is_plain(text: &str) -> bool {
    let is_option = text.starts_with('-');
    let is_plain = |character: char| {
        character.is_alphanumeric() && !is_invisible(character)
            || matches!(character, '/' | '.' | '_' | '-' | '+' | ',' | ':' | '@' | '%')
            || is_option && character == '='
    };
    !text.is_empty() && text.chars().all(is_plain)
}

/// What would not be seen as it is.
fn is_hidden(character: char) -> bool {
    character.is_control() || is_invisible(character)
}

/// Characters that print nothing and change how others are shown or read: joiners, marks and overrides
/// of direction (Unicode Technical Report 36, section 3), separators of lines, tags.
pub const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Bytes that are no text and characters that are not seen stand as three octal digits each, which end by themselves.
fn dollar_quoted(word: &[u8]) -> String {
    let octal = |byte: &u8| format!("\\{byte:03o}");
    let mut quoted = "$'".to_owned();
    for chunk in word.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' | '\'' => quoted.extend(['\\', character]),
                hidden if is_hidden(hidden) => {
                    let mut buffer = [0; 4];
                    let bytes = hidden.encode_utf8(&mut buffer).as_bytes();
                    quoted.extend(bytes.iter().map(octal));
                }
                seen => quoted.push(seen),
            }
        }
        quoted.extend(chunk.invalid().iter().map(octal));
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_see_more_in_them() {
        let words: [(&[u8], &str); 11] = [
            (b"goodput", "goodput"),
            (b"--rate=5Mbit", "--rate=5Mbit"),
            (b"A=b", "'A=b'"),
            (b"", "''"),
            (b"goodput.rate.up>9Mbit", "'goodput.rate.up>9Mbit'"),
            (b"it's $HOME", "'it'\\''s $HOME'"),
            ("gr\u{fc}n.json".as_bytes(), "gr\u{fc}n.json"),
            (b"a\nb\x1b[31m'", "$'a\\012b\\033[31m\\''"),
            ("\u{3164}".as_bytes(), "$'\\343\\205\\244'"),
            ("x\u{202e}y".as_bytes(), "$'x\\342\\200\\256y'"),
            (b"a\xffb\\", "$'a\\377b\\\\'"),
        ];
        for (word, wanted) in words {
            assert_eq!(quoted(word), wanted);
        }
        let words = ["pathscope", "show", "my result.json"].map(str::to_owned);
        assert_eq!(command_line(&words), "pathscope show 'my result.json'");
    }
}
