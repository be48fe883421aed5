//! The words of a command line that the parser cannot take as they are: bytes that are no text, and numbers below zero,
//! which it takes for options.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::Path;

use clap::error::ErrorKind;
use pathscope_core::quantity::shown;
use pathscope_core::shell;

/// The command line as text, word by word. A file's name may hold any bytes: those that are no UTF-8 stand as `\xff`.
pub fn as_typed(words: impl Iterator<Item = OsString>) -> Vec<String> {
    words.map(|word| text(&word)).collect()
}

fn text(word: &OsStr) -> String {
    let mut text = String::new();
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// A file's name as a shell takes it for one word.
pub fn quoted(file: &Path) -> String {
    shell::quoted(file.as_os_str().as_encoded_bytes())
}

/// What is wrong, where the parser's own words would mislead.
pub fn explain(kind: ErrorKind, words: impl Iterator<Item = OsString>) -> Option<String> {
    let words: Vec<OsString> = words.collect();
    match kind {
        ErrorKind::InvalidUtf8 => {
            let word = words.iter().find(|word| word.to_str().is_none())?;
            Some(format!(
                "'{}' is no text (UTF-8), and only the name of a file may be other bytes",
                shown(&text(word))
            ))
        }
        ErrorKind::UnknownArgument => {
            let typed: Vec<String> = words.iter().map(|word| text(word)).collect();
            let options = typed.iter().take_while(|word| *word != "--");
            let mut pairs = options.clone().zip(options.skip(1));
            let (option, value) =
                pairs.find(|(option, value)| option.starts_with('-') && is_below_zero(value))?;
            Some(format!(
                "{} {}: no option takes a number below zero; see --help for what it takes",
                shown(option),
                shown(value)
            ))
        }
        _ => None,
    }
}

/// Whether this is meant as a number: no option begins with a digit.
fn is_below_zero(word: &str) -> bool {
    let rest = word.strip_prefix('-').map(|rest| rest.strip_prefix('.').unwrap_or(rest));
    rest.is_some_and(|rest| rest.starts_with(|character: char| character.is_ascii_digit()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn words(typed: &[&[u8]]) -> impl Iterator<Item = OsString> {
        typed.iter().map(|word| OsString::from_vec(word.to_vec())).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn bytes_that_are_no_text_are_told_apart() {
        let typed: [&[u8]; 4] = [b"-o", b"a\xff\xfeb.json", "\u{e4}".as_bytes(), b""];
        assert_eq!(as_typed(words(&typed)), ["-o", "a\\xff\\xfeb.json", "\u{e4}", ""]);
        let said = explain(ErrorKind::InvalidUtf8, words(&typed)).expect("the second word");
        assert!(said.contains("'a\\xff\\xfeb.json' is no text"), "{said}");
        assert_eq!(explain(ErrorKind::InvalidUtf8, words(&[b"a"])), None);
    }

    #[test]
    fn a_name_is_one_word_for_a_shell() {
        for (name, wanted) in [
            (&b"run.json"[..], "run.json"),
            ("\u{e4}/b-1.json".as_bytes(), "\u{e4}/b-1.json"),
            (b"a b.json", "'a b.json'"),
            (b"$(x)'y", "'$(x)'\\''y'"),
            (b"", "''"),
            (b"a\x1b[2J\n'", "$'a\\033[2J\\012\\''"),
            (b"a\xff.json", "$'a\\377.json'"),
        ] {
            let name = OsString::from_vec(name.to_vec());
            assert_eq!(quoted(Path::new(&name)), wanted);
        }
    }

    #[test]
    fn a_number_below_zero_is_no_option() {
        for (typed, said) in [
            (&[&b"goodput"[..], b"h", b"--rate", b"-5Mbit"][..], Some("--rate -5Mbit: no option")),
            (&[b"latency", b"h", b"-n", b"-1"], Some("-n -1: no option")),
            (&[b"latency", b"h", b"-t", b"-.5s"], Some("-t -.5s")),
            (&[b"latency", b"h", b"--nonsense"], None),
            (&[b"lab", b"exec", b"h", b"--", b"-n", b"-1"], None),
        ] {
            let told = explain(ErrorKind::UnknownArgument, words(typed));
            match said {
                Some(said) => assert!(told.is_some_and(|told| told.contains(said)), "{typed:?}"),
                None => assert_eq!(told, None, "{typed:?}"),
            }
        }
    }
}
