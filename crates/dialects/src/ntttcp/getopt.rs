//! How ntttcp's words are split: as GNU's `getopt_long` does it. Letters may stand together, a value behind its letter or in the next
//! word, long names may be cut short, and words that are no option are passed over. Not what the options mean (`settings`).

use std::fmt::Write as _;

/// What an option takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Takes {
    Nothing,
    /// A value, in the same word or in the next.
    Value(&'static str),
    /// A value or none; in the next word where that does not begin with a dash.
    Optional(&'static str),
}

/// An option: by what it is known here, how it is typed, what it takes, and what it is.
pub(super) struct Flag {
    /// The letter; of one that has a long name alone, the name.
    pub name: &'static str,
    pub takes: Takes,
    /// Nothing of a name that was another's before, and is understood.
    pub about: &'static str,
}

const fn flag(name: &'static str, takes: Takes, about: &'static str) -> Flag {
    Flag { name, takes, about }
}

/// All of them. A name of one letter stands behind one dash.
pub(super) const FLAGS: [Flag; 36] = [
    flag("r", Takes::Optional("ip"), "receive; the address to listen on [all]"),
    flag("s", Takes::Optional("ip"), "send, to the receiver at this address [this machine]"),
    flag("D", Takes::Nothing, "go on in the background"),
    flag("M", Takes::Nothing, "receiver: many senders in one test"),
    flag("L", Takes::Nothing, "sender: the last of many, with whom the test begins"),
    flag("e", Takes::Nothing, "receiver: epoll, which is what this one always uses"),
    flag("H", Takes::Nothing, "receiver: serve one test after the other"),
    flag("P", Takes::Value("n"), "ports of the receiver, 512 at the most [16]"),
    flag("n", Takes::Value("n"), "sender: threads for each port, 25600 at the most [4]"),
    flag("l", Takes::Value("n"), "sender: connections of each thread, 1000 at the most [1]"),
    flag("a", Takes::Value("ip"), "sender: the address to send from"),
    flag("6", Takes::Nothing, "IPv6 [IPv4]"),
    flag("u", Takes::Nothing, "UDP [TCP]"),
    flag(
        "p",
        Takes::Value("n"),
        "the first port of the receiver; the one before it is for the sync [5001]",
    ),
    flag(
        "f",
        Takes::Optional("n"),
        "sender: the first port to send from [any; without a number 25001]",
    ),
    flag("b", Takes::Value("n[KMG]"), "bytes of a read or a write [64K to receive, 128K to send]"),
    flag("B", Takes::Value("n[KMG]"), "sender: bits a second, of all connections together"),
    flag("fq-rate-limit", Takes::Value("n[KMG]"), "the same"),
    flag("W", Takes::Value("s"), "seconds before what is measured [0]"),
    flag("t", Takes::Value("s"), "seconds that are measured; 0: until it is interrupted [60]"),
    flag("C", Takes::Value("s"), "seconds after what is measured [0]"),
    flag("N", Takes::Nothing, "no sync"),
    flag("O", Takes::Optional("file"), "log lines to a file, too [ntttcp-for-linux-log.log]"),
    flag("x", Takes::Optional("file"), "the result as XML [ntttcp-for-linux-log.xml]"),
    flag("j", Takes::Optional("file"), "the result as JSON [ntttcp-for-linux-log.json]"),
    flag("Q", Takes::Nothing, "no lines of what is going through"),
    flag("V", Takes::Nothing, "every setting, every connection and every thread"),
    flag(
        "m",
        Takes::Value("n,cpu,ip"),
        "ports of one thread each, a processor or *, and the address",
    ),
    flag("no-delay", Takes::Nothing, "TCP_NODELAY"),
    flag("show-tcp-retrans", Takes::Nothing, "segments that the machine sent again"),
    flag("show-nic-packets", Takes::Value("if"), "packets over this interface"),
    flag(
        "show-dev-interrupts",
        Takes::Value("text"),
        "interrupts of devices with this in their name",
    ),
    flag("h", Takes::Nothing, "this text"),
    flag("R", Takes::Nothing, ""),
    flag("K", Takes::Value("if"), ""),
    flag("I", Takes::Value("text"), ""),
];

/// All long names.
pub(super) fn longs() -> impl Iterator<Item = &'static str> + Clone {
    FLAGS.iter().map(|flag| flag.name).filter(|name| name.len() > 1)
}

/// One option as it was typed, and its value where it has one.
pub(super) type Found = (&'static str, Option<String>);

/// The options of a line, in their order; or what is wrong, a sentence.
pub(super) fn split(words: &[String]) -> Result<Vec<Found>, String> {
    let mut found = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            // Nothing behind it is an option.
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            let (typed, glued) =
                long.split_once('=').map_or((long, None), |(it, value)| (it, Some(value)));
            let flag = by_long_name(typed)?;
            let value = match (flag.takes, glued) {
                (Takes::Nothing, Some(_)) => return Err(format!("--{typed} takes no value")),
                (Takes::Nothing | Takes::Optional(_), glued) => glued.map(str::to_owned),
                (Takes::Value(_), Some(value)) => Some(value.to_owned()),
                (Takes::Value(_), None) => {
                    Some(following(&mut words, &format!("--{}", flag.name))?)
                }
            };
            found.push((flag.name, value));
            continue;
        }
        let Some(letters) = word.strip_prefix('-').filter(|it| !it.is_empty()) else { continue };
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            let flag = by_letter(letter)?;
            let rest = letters.as_str();
            match flag.takes {
                Takes::Nothing => {
                    found.push((flag.name, None));
                    continue;
                }
                _ if !rest.is_empty() => found.push((flag.name, Some(rest.to_owned()))),
                Takes::Value(_) => {
                    found.push((flag.name, Some(following(&mut words, &format!("-{letter}"))?)));
                }
                Takes::Optional(_) => {
                    let value = words.next_if(|next| !next.starts_with('-'));
                    found.push((flag.name, value.cloned()));
                }
            }
            break;
        }
    }
    Ok(found)
}

fn following<'words>(
    words: &mut impl Iterator<Item = &'words String>,
    option: &str,
) -> Result<String, String> {
    words.next().cloned().ok_or_else(|| format!("{option} needs a value"))
}

fn by_letter(letter: char) -> Result<&'static Flag, String> {
    let is_own = |flag: &&Flag| flag.name.len() == 1 && flag.name.starts_with(letter);
    FLAGS.iter().find(is_own).ok_or_else(|| format!("there is no option '-{letter}'"))
}

/// A long name, or the begin of one that no other has.
fn by_long_name(typed: &str) -> Result<&'static Flag, String> {
    let long = || FLAGS.iter().filter(|flag| flag.name.len() > 1);
    if let Some(flag) = long().find(|flag| flag.name == typed) {
        return Ok(flag);
    }
    let mut alike = long().filter(|flag| flag.name.starts_with(typed));
    match (alike.next(), alike.next()) {
        (Some(flag), None) => Ok(flag),
        (Some(one), Some(other)) => {
            Err(format!("'--{typed}' may be --{} or --{}", one.name, other.name))
        }
        (None, _) => Err(format!("there is no option '--{typed}'")),
    }
}

/// What all of them are, with the ends of lines.
pub(super) fn usage() -> String {
    let mut text = String::from("Usage: ntttcp [-r[ip] | -s[ip]] [OPTIONS]\n\n");
    for Flag { name, takes, about } in FLAGS.iter().filter(|flag| !flag.about.is_empty()) {
        let dashes = if name.len() == 1 { "-" } else { "--" };
        let value = match takes {
            Takes::Nothing => String::new(),
            Takes::Value(value) => format!(" <{value}>"),
            Takes::Optional(value) => format!(" [{value}]"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:<28} {about}", format!("{dashes}{name}{value}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn found(line: &str) -> String {
        let all = split(&words(line)).unwrap_or_else(|why| panic!("{line}: {why}"));
        let one = |(name, value): &Found| {
            value.as_ref().map_or((*name).to_owned(), |it| format!("{name}={it}"))
        };
        all.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn letters_and_values_are_split_as_getopt_does_it() {
        for (line, expected) in [
            ("-s10.0.0.1 -P 2 -n4 -l 1", "s=10.0.0.1 P=2 n=4 l=1"),
            ("-s 10.0.0.1 -VQe -t5", "s=10.0.0.1 V Q e t=5"),
            ("-r -6 -x -j out.json -O", "r 6 x j=out.json O"),
            ("-QVP16", "Q V P=16"),
            ("-f -W -1", "f W=-1"),
            ("--show-nic-packets=eth0 --no-delay", "show-nic-packets=eth0 no-delay"),
            ("--fq 1G --show-t", "fq-rate-limit=1G show-tcp-retrans"),
            ("-r -- -V", "r"),
            ("-", ""),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
        let lisa = "-P 4 -t 10 -W 1 -C 1 -b 64k --show-nic-packets eth0  -e --show-dev-interrupts Hypervisor callback interrupts";
        assert_eq!(
            found(lisa),
            "P=4 t=10 W=1 C=1 b=64k show-nic-packets=eth0 e show-dev-interrupts=Hypervisor"
        );
    }

    #[test]
    fn what_is_no_option_is_told() {
        for (line, why) in [
            ("-s -Z", "there is no option '-Z'"),
            ("-P", "-P needs a value"),
            ("--show 1", "may be --show-tcp-retrans or --show-nic-packets"),
            ("--nothing", "no option '--nothing'"),
            ("--no-delay=1", "--no-delay takes no value"),
        ] {
            let told = split(&words(line)).expect_err(line);
            assert!(told.contains(why), "{line}: {told}");
        }
        for flag in FLAGS.iter().filter(|flag| !flag.about.is_empty()) {
            assert!(usage().contains(flag.about));
        }
    }
}
