//! What the terminal is and wants, and talk on standard error.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use pathscope_core::error::Failure;
use pathscope_dialects::dialect::Manners;
use pathscope_dialects::spelling;
use pathscope_os::{OsError, background};
use pathscope_views as views;

use crate::verbosity::Color;

/// Columns where nothing says how many there are: a classic terminal's, and a file's.
const COLUMNS: usize = 80;

/// How sentences are told; as pathscope does until somebody says otherwise.
static MANNERS: OnceLock<Manners> = OnceLock::new();

/// Standard error as it was before a log took its place.
static BEFORE_LOG: OnceLock<File> = OnceLock::new();

/// The log that is in the place of standard output, as its option and name.
static LOG: OnceLock<String> = OnceLock::new();

/// From now on sentences are told as to the users of another tool: that whose command line it is.
pub fn speak(manners: Manners) {
    // A process has one command line.
    let _ = MANNERS.set(manners);
}

fn manners() -> Manners {
    MANNERS.get().copied().unwrap_or(Manners::OURS)
}

/// What a process ends with that failed so.
pub fn exit_code(failure: Failure) -> u8 {
    match failure {
        Failure::Usage => manners().usage_code,
        other => other.exit_code(),
    }
}

/// A sentence in the words of whose command line it is.
pub fn spelled(text: &str) -> Cow<'_, str> {
    spelling::spelled(text, manners().spellings)
}

/// Says something that is no result. Where a log is full that is said to whoever started the program.
pub fn say(text: &str) {
    let line = format!("{}\n", without_orders(&shown(&spelled(text))));
    // Nobody listens any more: that is no reason to stop measuring.
    if io::stderr().write_all(line.as_bytes()).is_err()
        && let Some(mut before) = BEFORE_LOG.get()
    {
        let _ = before.write_all(line.as_bytes());
    }
}

/// What is said and shown goes to this file from now on.
pub fn show_in(log: &File) -> Result<(), OsError> {
    // Where it cannot be kept, what a full log does not take is told to nobody.
    let before = background::said_to().ok();
    background::show_in(log)?;
    before.into_iter().for_each(|before| drop(BEFORE_LOG.set(before)));
    Ok(())
}

/// What is shown goes to this log, whoever opened it: its option and its name.
pub fn is_shown_in(log: String) {
    // A process has one log.
    let _ = LOG.set(log);
}

/// Where what is shown goes, for sentences.
pub fn output() -> &'static str {
    LOG.get().map_or("standard output", String::as_str)
}

/// The text with nothing in it that a terminal takes for an order, whoever's words are in it: those of a file, of a peer.
fn without_orders(text: &str) -> Cow<'_, str> {
    let is_order = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if !text.contains(is_order) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        if is_order(character) {
            plain.extend(character.escape_default());
        } else {
            plain.push(character);
        }
    }
    Cow::Owned(plain)
}

/// The text in characters that the reader's locale has.
pub fn shown(text: &str) -> Cow<'_, str> {
    match charset() {
        views::Charset::Unicode => Cow::Borrowed(text),
        views::Charset::Ascii => Cow::Owned(views::ascii(text)),
    }
}

/// Says what went wrong.
pub fn complain(text: &str) {
    say(&format!("{}{text}", manners().complaint));
}

/// How results are shown on standard output: with all detail where more was asked for by any `-v`.
pub fn options(color: Color, quiet: bool, verbose: u8) -> views::Options {
    let wanted = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stdout().is_terminal() && wants_color(|name| std::env::var_os(name)),
    };
    views::Options {
        columns: columns(),
        color: if wanted { views::Color::Always } else { views::Color::Never },
        charset: charset(),
        live: if quiet { views::Live::Hidden } else { views::Live::Shown },
        detail: if verbose > 0 { views::Detail::Full } else { views::Detail::Usual },
    }
}

/// Columns of the terminal, where there is one and it says so.
fn columns() -> usize {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    stated.or_else(pathscope_os::terminal::columns).unwrap_or(COLUMNS)
}

/// Whether the environment of a terminal leaves colors to us.
fn wants_color(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    // https://no-color.org: present and not empty.
    let refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = variable("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    !refused && !is_dumb
}

/// The characters that the reader's locale has.
fn charset() -> views::Charset {
    charset_of(|name| std::env::var_os(name))
}

/// The first of these that is set and not empty is the locale of characters (POSIX.1-2024, section 8.2); without any it is
/// `C`, which has ASCII alone.
fn charset_of(variable: impl Fn(&str) -> Option<OsString>) -> views::Charset {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable)
        .find(|locale| !locale.is_empty())
        .map(|locale| locale.to_string_lossy().to_ascii_lowercase());
    let codeset = locale.as_deref().and_then(|locale| locale.split_once('.')).map(|(_, set)| set);
    match codeset.and_then(|set| set.split('@').next()) {
        Some("utf-8" | "utf8") => views::Charset::Unicode,
        _ => views::Charset::Ascii,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment<'set>(
        set: &'set [(&'set str, &'set str)],
    ) -> impl Fn(&str) -> Option<OsString> + 'set {
        move |name| set.iter().find(|(it, _)| *it == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn what_is_said_orders_no_terminal_about() {
        assert_eq!(without_orders("its µs\n\tend"), "its µs\n\tend");
        let hostile = "a\u{1b}]0;title\u{7}\u{9b}31m\r\u{7f}b";
        assert_eq!(without_orders(hostile), "a\\u{1b}]0;title\\u{7}\\u{9b}31m\\r\\u{7f}b");
    }

    #[test]
    fn the_locale_says_which_characters_there_are() {
        use views::Charset::{Ascii, Unicode};
        for (set, charset) in [
            (&[("LANG", "en_GB.UTF-8")][..], Unicode),
            (&[("LANG", "C.utf8")], Unicode),
            (&[("LANG", "de_DE.UTF-8@euro")], Unicode),
            (&[("LANG", "C")], Ascii),
            (&[("LANG", "de_DE")], Ascii),
            (&[("LANG", "de_DE.ISO-8859-1")], Ascii),
            (&[("LANG", "en_GB.UTF-8"), ("LC_CTYPE", "C")], Ascii),
            (&[("LANG", "en_GB.UTF-8"), ("LC_ALL", "POSIX"), ("LC_CTYPE", "C.UTF-8")], Ascii),
            (&[("LANG", "C"), ("LC_ALL", "C.UTF-8")], Unicode),
            (&[("LANG", "C.UTF-8"), ("LC_ALL", "")], Unicode),
            (&[], Ascii),
        ] {
            assert_eq!(charset_of(environment(set)), charset, "{set:?}");
        }
    }

    #[test]
    fn a_terminal_that_is_dumb_or_unknown_has_no_colors() {
        for (set, wanted) in [
            (&[("TERM", "xterm")][..], true),
            (&[("TERM", "dumb")], false),
            (&[], false),
            (&[("TERM", "xterm"), ("NO_COLOR", "1")], false),
            (&[("TERM", "xterm"), ("NO_COLOR", "")], true),
        ] {
            assert_eq!(wants_color(environment(set)), wanted, "{set:?}");
        }
    }
}
