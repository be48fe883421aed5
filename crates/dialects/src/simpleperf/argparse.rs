//! Words as Python's argparse takes them: long options by any beginning that is clear, values glued, behind `=` or as a word of
//! their own, short options without values in one word. Not here: what an option means.

use std::ffi::OsString;

use pathscope_core::edits::edits;
use pathscope_core::quantity::shown;

/// An option.
#[derive(Debug)]
pub(super) struct Flag {
    /// Its short form, without the dash.
    pub short: char,
    /// Its long forms, without dashes; the first is the one that errors name.
    pub long: &'static [&'static str],
    /// What its value is called; none: it takes none.
    pub value: Option<&'static str>,
}

/// An option as it was found, by its short form, with its value.
pub(super) type Found = (char, String);

/// The options of a line in order; of one without a value that is empty. Or why it cannot be read: a sentence.
pub(super) fn parse(flags: &[Flag], words: &[OsString]) -> Result<Vec<Found>, String> {
    let mut parser = Parser { flags, found: Vec::new(), unknown: Vec::new() };
    let mut words = words.iter().map(|word| word.to_string_lossy().into_owned()).peekable();
    while let Some(word) = words.next() {
        if !is_option(&word) {
            parser.unknown.push(word);
            continue;
        }
        if let Some(flag) = parser.take(&word)? {
            let value = words.next_if(|next| !is_option(next));
            let value = value.ok_or_else(|| expected(flag))?;
            parser.found.push((flag.short, value));
        }
    }
    match parser.unknown.first() {
        Some(word) => Err(unknown(flags, word)),
        None => Ok(parser.found),
    }
}

struct Parser<'line> {
    flags: &'line [Flag],
    found: Vec<Found>,
    unknown: Vec<String>,
}

impl<'line> Parser<'line> {
    /// Takes a word of options. What is returned wants a value, which is the next word.
    fn take(&mut self, word: &str) -> Result<Option<&'line Flag>, String> {
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            return match self.long(name)? {
                Some(flag) => self.with(flag, value),
                None => Ok(self.is_unknown(word)),
            };
        }
        let mut rest = word.trim_start_matches('-').chars();
        while let Some(letter) = rest.next() {
            let flag = self.flags.iter().find(|flag| flag.short == letter);
            let Some(flag) = flag else { return Ok(self.is_unknown(word)) };
            if flag.value.is_some() {
                let glued = rest.as_str();
                let glued = glued.strip_prefix('=').unwrap_or(glued);
                return self.with(flag, (!rest.as_str().is_empty()).then_some(glued));
            }
            self.with(flag, None)?;
        }
        Ok(None)
    }

    /// An option, by its name or by a beginning that no other has.
    fn long(&self, name: &str) -> Result<Option<&'line Flag>, String> {
        let flags = self.flags;
        let exact = flags.iter().find(|flag| flag.long.contains(&name));
        if exact.is_some() || name.is_empty() {
            return Ok(exact);
        }
        let begins = |flag: &&Flag| flag.long.iter().any(|long| long.starts_with(name));
        let all: Vec<&Flag> = flags.iter().filter(begins).collect();
        if let [_, _, ..] = &all[..] {
            let names: Vec<String> = all.iter().map(|flag| format!("--{}", flag.long[0])).collect();
            let name = shown(name);
            return Err(format!("--{name} could be {}: write out which", names.join(" or ")));
        }
        Ok(all.first().copied())
    }

    fn with(
        &mut self,
        flag: &'line Flag,
        value: Option<&str>,
    ) -> Result<Option<&'line Flag>, String> {
        match (flag.value, value) {
            (Some(_), None) => return Ok(Some(flag)),
            (None, Some(value)) => {
                return Err(format!("{} takes no value, and has '{}'", name(flag), shown(value)));
            }
            (_, value) => self.found.push((flag.short, value.unwrap_or_default().to_owned())),
        }
        Ok(None)
    }

    fn is_unknown<T>(&mut self, word: &str) -> Option<T> {
        self.unknown.push(word.to_owned());
        None
    }
}

/// Whether a word is an option, and not the value of one. A number below zero is a value.
fn is_option(word: &str) -> bool {
    let is_number = |rest: &str| {
        let digits = rest.replacen('.', "", 1);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    word.strip_prefix('-')
        .is_some_and(|rest| !rest.is_empty() && !is_number(rest) && !word.contains(' '))
}

/// An option as errors name it: `-p/--port`.
pub(super) fn name(flag: &Flag) -> String {
    format!("-{}/--{}", flag.short, flag.long[0])
}

fn expected(flag: &Flag) -> String {
    format!("{} lacks its value", name(flag))
}

/// What is no option of this tool, with the one that was likely meant.
fn unknown(flags: &[Flag], word: &str) -> String {
    /// A longer word was not meant to be one of these.
    const LONGEST: usize = 40;
    let typed = word.split('=').next().unwrap_or_default().trim_start_matches('-');
    let said = if is_option(word) { "there is no option" } else { "no option awaits" };
    let said = format!("{said} '{}'", shown(word));
    let names = flags.iter().flat_map(|flag| flag.long).filter(|_| typed.len() <= LONGEST);
    let near = names.map(|long| (edits(typed, long), long)).min();
    match near.filter(|(distance, long)| *distance <= 1 + long.len() / 4) {
        Some((_, long)) => format!("{said}; did you mean --{long}?"),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: [Flag; 5] = [
        Flag { short: 's', long: &["server"], value: None },
        Flag { short: 'I', long: &["serverip"], value: Some("IP") },
        Flag { short: 'p', long: &["port"], value: Some("N") },
        Flag { short: 'P', long: &["parallel", "parallels"], value: Some("N") },
        Flag { short: 't', long: &["time"], value: Some("S") },
    ];

    fn parsed(words: &[&str]) -> Result<Vec<Found>, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&FLAGS, &words)
    }

    #[test]
    fn values_are_glued_or_follow() {
        let at = |short, value: &str| (short, value.to_owned());
        for words in [
            &["-s", "-p", "8088"][..],
            &["-s", "-p8088"],
            &["-sp8088"],
            &["-sp", "8088"],
            &["--server", "--port=8088"],
            &["--server", "--po", "8088"],
            &["-s", "-p=8088"],
        ] {
            assert_eq!(parsed(words), Ok(vec![at('s', ""), at('p', "8088")]), "{words:?}");
        }
        assert_eq!(parsed(&["-t", "-5"]), Ok(vec![at('t', "-5")]));
        assert_eq!(parsed(&["--par", "2"]), Ok(vec![at('P', "2")]));
        assert_eq!(parsed(&["--parallels=2"]), Ok(vec![at('P', "2")]));
        assert_eq!(parsed(&["--port="]), Ok(vec![at('p', "")]));
        assert_eq!(parsed(&[]), Ok(Vec::new()));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (words, said) in [
            (&["--p", "1"][..], "--p could be --port or --parallel: write out which"),
            (&["--prot", "1"], "there is no option '--prot'; did you mean --port?"),
            (&["--serverip"], "-I/--serverip lacks its value"),
            (&["-t", "-s"], "-t/--time lacks its value"),
            (&["--server=1"], "-s/--server takes no value, and has '1'"),
            (&["-x"], "there is no option '-x'"),
            (&["-sx"], "there is no option '-sx'"),
            (&["server"], "no option awaits 'server'; did you mean --server?"),
            (&["--"], "there is no option '--'"),
            (&["-"], "no option awaits '-'"),
        ] {
            assert_eq!(parsed(words), Err(said.to_owned()), "{words:?}");
        }
    }
}
