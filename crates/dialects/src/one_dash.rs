//! A long option behind one dash, as `-parallel 4`: tools that take letters in one word read it letter by letter (`-p arallel`), and what they
//! then say helps nobody. Which long option was meant. Not how the words of a tool are split.

use pathscope_core::edits::edits;
use pathscope_core::quantity::shown;

/// A longer word was not meant to be an option.
const LONGEST: usize = 40;
/// A beginning as long as that tells what was meant; what is shorter may be letters.
const TELLING: usize = 4;

/// The name behind one dash; none where the word has no dash, two, or nothing behind it.
fn name(word: &str) -> Option<&str> {
    let name = word.strip_prefix('-').filter(|it| !it.starts_with('-') && it.len() <= LONGEST)?;
    name.split('=').next().filter(|it| it.chars().count() > 1)
}

/// The long option that stands behind one dash, letter by letter.
pub(crate) fn exact<'names>(
    word: &str,
    mut longs: impl Iterator<Item = &'names str>,
) -> Option<&'names str> {
    let name = name(word)?;
    longs.find(|long| *long == name)
}

/// The long option that was likely meant: by its name, by a beginning, or by one with few errors of typing.
fn likely<'names>(
    word: &str,
    longs: impl Iterator<Item = &'names str> + Clone,
) -> Option<&'names str> {
    if let Some(long) = exact(word, longs.clone()) {
        return Some(long);
    }
    let name = name(word).filter(|it| it.chars().count() >= TELLING)?;
    if let Some(long) = longs.clone().find(|long| long.starts_with(name)) {
        return Some(long);
    }
    let near = longs.map(|long| (edits(name, long), long)).min();
    near.filter(|(distance, long)| 4 * distance <= long.len()).map(|(_, long)| long)
}

/// Why a line means nothing, and where one of its words was likely meant to be a long option, which one.
pub(crate) fn hinted<'names>(
    why: String,
    words: impl IntoIterator<Item: AsRef<str>>,
    longs: &(impl Iterator<Item = &'names str> + Clone),
) -> String {
    if why.contains("did you mean") {
        return why;
    }
    for word in words {
        let word = word.as_ref();
        if word == "--" {
            break;
        }
        if let Some(long) = likely(word, longs.clone()) {
            return format!("{why}; in place of '{}', did you mean --{long}?", shown(word));
        }
    }
    why
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGS: [&str; 5] = ["parallel", "port", "time", "udp", "show-nic-packets"];

    #[test]
    fn a_word_with_one_dash_that_reads_as_a_long_option_is_told_with_two() {
        for (line, meant) in [
            ("-parallel 3", Some("'-parallel', did you mean --parallel?")),
            ("-s -para=3", Some("'-para=3', did you mean --parallel?")),
            ("-paralell 3", Some("'-paralell', did you mean --parallel?")),
            ("-udp", Some("'-udp', did you mean --udp?")),
            ("-show-nic lo", Some("'-show-nic', did you mean --show-nic-packets?")),
            ("-tmie", None),
            // Letters, values, and what is no option at all.
            ("-p 3 -P4 -uRP4 -t5 -par -ud", None),
            ("--parallel", None),
            ("-- -parallel", None),
            ("parallel - =", None),
        ] {
            let said = hinted("it is wrong".to_owned(), line.split(' '), &LONGS.into_iter());
            let expected = meant.map(|it| format!("it is wrong; in place of {it}"));
            assert_eq!(said, expected.unwrap_or_else(|| "it is wrong".to_owned()), "{line}");
        }
        let told = "there is no option '-x'; did you mean --port?".to_owned();
        assert_eq!(hinted(told.clone(), ["-parallel"], &LONGS.into_iter()), told);
        let long = format!("-{}", "parallel".repeat(1_000));
        assert_eq!(hinted("no".to_owned(), [long], &LONGS.into_iter()), "no");
    }

    #[test]
    fn a_whole_name_alone_is_exact() {
        let longs = || LONGS.into_iter();
        assert_eq!(exact("-udp", longs()), Some("udp"));
        assert_eq!(exact("-time=5", longs()), Some("time"));
        for word in ["-para", "--udp", "udp", "-", "", "-u"] {
            assert_eq!(exact(word, longs()), None, "{word}");
        }
    }
}
