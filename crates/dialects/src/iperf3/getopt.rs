//! Words as GNU `getopt_long` takes them: short options in one word, values glued or as the next word, long options by any beginning that
//! only one has, `=` before a value. Not here: what an option means.

use std::ffi::OsString;

use pathscope_core::edits::edits;
use pathscope_core::quantity::shown;

use crate::one_dash;

/// What stands behind an option.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Value {
    No,
    Needed,
    /// Glued to it alone, behind `=` where the option is long.
    Optional,
}

/// An option.
#[derive(Debug)]
pub(super) struct Flag {
    /// Its short form, without the dash.
    pub short: Option<char>,
    /// Its long forms, without dashes; the first is its name here.
    pub long: &'static [&'static str],
    pub value: Value,
}

impl Flag {
    /// As sentences name it.
    pub fn name(&self) -> String {
        match self.short {
            Some(short) => format!("-{short}/--{}", self.long[0]),
            None => format!("--{}", self.long[0]),
        }
    }
}

/// An option as it was found, by the first of its long forms, with its value if it has one.
pub(super) type Found = (&'static str, Option<String>);

/// All long forms.
pub(super) fn longs(flags: &'static [Flag]) -> impl Iterator<Item = &'static str> + Clone {
    flags.iter().flat_map(|flag| flag.long).copied()
}

/// Whether a word with one dash is the whole name of a long option: letter by letter `-udp` is a test over UDP with `--debug=p`, and `-client`
/// one of the host `lient`, which nobody meant.
fn is_long(flags: &'static [Flag], word: &str) -> bool {
    one_dash::exact(word, longs(flags)).is_some()
}

fn two_dashes(word: &str) -> String {
    let (word, letter) = (shown(word), word.chars().nth(1).unwrap_or_default());
    let behind = shown(word.chars().skip(2).collect::<String>().as_str());
    format!("'{word}': did you mean -{word}? If not, write '-{letter} {behind}'")
}

/// The options of a line in order, and the words that are none. Or why it cannot be read: a sentence.
pub(super) fn parse(
    flags: &'static [Flag],
    words: &[OsString],
) -> Result<(Vec<Found>, Vec<String>), String> {
    let (mut found, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(word) = word.to_str() else {
            return Err(format!("'{}' is not text in UTF-8", shown(&word.to_string_lossy())));
        };
        let mut next = || words.next().and_then(|word| word.to_str()).map(str::to_owned);
        match word.strip_prefix("--") {
            Some("") => {
                rest.extend(words.map(|word| word.to_string_lossy().into_owned()));
                break;
            }
            Some(long) => found.push(of_long(flags, long, &mut next)?),
            None if is_long(flags, word) => return Err(two_dashes(word)),
            None => match word.strip_prefix('-') {
                Some(cluster) if !cluster.is_empty() => {
                    of_cluster(flags, cluster, &mut next, &mut found)?;
                }
                _ => rest.push(word.to_owned()),
            },
        }
    }
    Ok((found, rest))
}

fn of_long(
    flags: &'static [Flag],
    typed: &str,
    next: &mut dyn FnMut() -> Option<String>,
) -> Result<Found, String> {
    let (name, glued) = match typed.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (typed, None),
    };
    let flag = named(flags, name)?;
    let value = match (flag.value, glued) {
        (Value::No, Some(_)) => return Err(format!("--{name} takes no value")),
        (Value::No, None) => None,
        (Value::Optional, glued) => glued,
        (Value::Needed, Some(glued)) => Some(glued),
        (Value::Needed, None) => Some(next().ok_or_else(|| lacks_value(flag))?),
    };
    Ok((flag.long[0], value))
}

fn named(flags: &'static [Flag], name: &str) -> Result<&'static Flag, String> {
    let with = |is: &dyn Fn(&str) -> bool| -> Vec<(&'static Flag, &'static str)> {
        let of = |flag: &'static Flag| flag.long.iter().map(move |long| (flag, *long));
        flags.iter().flat_map(of).filter(|(_, long)| is(long)).collect()
    };
    if let [(flag, _), ..] = with(&|long| long == name)[..] {
        return Ok(flag);
    }
    let begun = with(&|long| long.starts_with(name));
    match &begun[..] {
        [] => Err(unknown(flags, name)),
        [(flag, _), others @ ..] if others.iter().all(|(it, _)| it.long[0] == flag.long[0]) => {
            Ok(flag)
        }
        all => {
            let all: Vec<String> = all.iter().map(|(_, long)| format!("--{long}")).collect();
            Err(format!("--{} is ambiguous: it begins {}", shown(name), all.join(", ")))
        }
    }
}

fn unknown(flags: &'static [Flag], name: &str) -> String {
    /// More typing errors than that make another word of it.
    const NEAR: usize = 2;
    let near = flags.iter().flat_map(|flag| flag.long).map(|long| (edits(name, long), long));
    let near = near.min().filter(|(edits, _)| *edits <= NEAR);
    let hint = near
        .map_or_else(|| "-h lists all".to_owned(), |(_, long)| format!("did you mean --{long}?"));
    format!("there is no option '--{}'; {hint}", shown(name))
}

fn of_cluster(
    flags: &'static [Flag],
    cluster: &str,
    next: &mut dyn FnMut() -> Option<String>,
    found: &mut Vec<Found>,
) -> Result<(), String> {
    let mut rest = cluster.chars();
    while let Some(short) = rest.next() {
        let Some(flag) = flags.iter().find(|flag| flag.short == Some(short)) else {
            return Err(format!(
                "there is no option '-{}'; -h lists all",
                shown(&short.to_string())
            ));
        };
        let glued = rest.as_str();
        let value = match flag.value {
            Value::No => {
                found.push((flag.long[0], None));
                continue;
            }
            Value::Optional => (!glued.is_empty()).then(|| glued.to_owned()),
            Value::Needed if glued.is_empty() => Some(next().ok_or_else(|| lacks_value(flag))?),
            Value::Needed => Some(glued.to_owned()),
        };
        found.push((flag.long[0], value));
        break;
    }
    Ok(())
}

fn lacks_value(flag: &Flag) -> String {
    format!("{} needs a value behind it", flag.name())
}

#[cfg(test)]
mod tests {
    use super::super::options::FLAGS;
    use super::*;

    fn found(line: &str) -> Result<String, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let (found, rest) = parse(&FLAGS, &words)?;
        let found = found.into_iter().map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.to_owned(),
        });
        Ok(found
            .chain(rest.into_iter().map(|word| format!("'{word}'")))
            .collect::<Vec<_>>()
            .join(" "))
    }

    #[test]
    fn words_are_taken_in_the_ways_of_getopt_long() {
        for (line, all) in [
            ("-c h4 -P4", "client=h4 parallel=4"),
            ("-uRP 4 -ch4", "udp reverse parallel=4 client=h4"),
            ("--parallel=4 --par 5", "parallel=4 parallel=5"),
            ("--bidir --bandwidth 1M", "bidir bitrate=1M"),
            ("--timestamps --timestamps=%F", "timestamps timestamps=%F"),
            ("-d --debug=3", "debug debug=3"),
            ("-s stray -1", "server one-off 'stray'"),
            ("-J -- -s", "json '-s'"),
            // A whole name is that option, though another one begins so.
            ("--json --bind 10.0.0.1", "json bind=10.0.0.1"),
        ] {
            assert_eq!(found(line).as_deref(), Ok(all), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (line, said) in [
            ("--bi", "--bi is ambiguous: it begins --bind, --bind-dev, --bitrate, --bidir"),
            ("--paralel 4", "there is no option '--paralel'; did you mean --parallel?"),
            ("--zzzzzz", "-h lists all"),
            ("-uQ", "there is no option '-Q'"),
            ("-P", "-P/--parallel needs a value behind it"),
            ("--udp=1", "--udp takes no value"),
            ("-parallel 4", "'-parallel': did you mean --parallel? If not, write '-p arallel'"),
            ("-c h4 -udp", "'-udp': did you mean --udp? If not, write '-u dp'"),
            ("-client h4", "did you mean --client?"),
            ("-help", "did you mean --help?"),
            ("-bitrate=5M", "did you mean --bitrate=5M?"),
        ] {
            let error = found(line).expect_err(line);
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
