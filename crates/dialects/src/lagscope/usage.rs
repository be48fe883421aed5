//! The options of lagscope: which there are, what each takes, and how its usage lists them.

use std::fmt::Write;

/// What an option takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Nothing.
    Switch,
    /// A value, in the same word or in the next.
    Value,
    /// A value or none, in the same word.
    Optional,
}

/// Each with what it takes, as it is written, and what it is.
const OPTIONS: [(char, Kind, &str, &str); 20] = [
    (
        'r',
        Kind::Optional,
        "-r[ip]",
        "receive: echo what senders send; the address to listen on [all]",
    ),
    ('s', Kind::Optional, "-s[ip]", "send: ping the receiver at this address [127.0.0.1]"),
    ('D', Kind::Switch, "-D", "go on in the background"),
    ('f', Kind::Value, "-f<n>", "keep to this processor [any]"),
    ('6', Kind::Switch, "-6", "IPv6 [IPv4]"),
    ('p', Kind::Value, "-p<n>", "port of the receiver [6001]"),
    (
        'o',
        Kind::Value,
        "-o<n>",
        "sender: port to send from, 0 for any; where it is taken, any [25001]",
    ),
    ('b', Kind::Value, "-b<n>", "bytes of each socket buffer [what the system gives]"),
    ('z', Kind::Value, "-z<n>", "bytes of a message, 4 at the least [4]"),
    ('t', Kind::Value, "-t<s>", "sender: for so many seconds [60]"),
    ('n', Kind::Value, "-n<n>", "sender: so many pings, where no -t is given [1000000]"),
    ('i', Kind::Value, "-i<s>", "sender: whole seconds from ping to ping [0]"),
    (
        'R',
        Kind::Optional,
        "-R[file]",
        "sender: write every latency to a file of CSV [latencies_log.csv]",
    ),
    (
        'P',
        Kind::Optional,
        "-P[file]",
        "sender: print percentiles; and write how often each latency was seen, as JSON",
    ),
    ('H', Kind::Switch, "-H", "sender: print a histogram"),
    ('a', Kind::Value, "-a<us>", "where its first bucket begins [0]"),
    ('l', Kind::Value, "-l<us>", "how wide a bucket is [100]"),
    ('c', Kind::Value, "-c<n>", "how many buckets, 98 at the most [10]"),
    ('V', Kind::Switch, "-V", "say every setting and every ping"),
    ('h', Kind::Switch, "-h", "this text"),
];

/// What an option takes, if there is one of this letter.
pub(super) fn kind(letter: char) -> Option<Kind> {
    // It is known, and not listed: it has never worked.
    let hidden = (letter == 'u').then_some(Kind::Switch);
    OPTIONS.iter().find(|(own, ..)| *own == letter).map(|(_, kind, ..)| *kind).or(hidden)
}

/// The option that is most like a word that is none: by its letter in the other case, or by the first letter of a long name.
pub(super) fn nearest(word: &str) -> Option<(&'static str, &'static str)> {
    let letters = word.trim_start_matches('-');
    let letter = letters.chars().next()?;
    let is_of = |own: char| own == letter || own.eq_ignore_ascii_case(&letter);
    let of_letter = OPTIONS.iter().filter(|(own, ..)| is_of(*own));
    of_letter.max_by_key(|(own, ..)| *own == letter).map(|(_, _, written, what)| (*written, *what))
}

/// The whole text, with the ends of its lines.
pub(super) fn text() -> String {
    let mut text = String::from("Usage: lagscope [-r[ip] | -s[ip]] [OPTIONS]\n\n");
    for (_, _, written, what) in OPTIONS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {written:<9} {what}");
    }
    text.push_str(
        "\nA value stands in the same word as its option, or in the next; those of -r, -s, -P and -R in the same word alone.\n",
    );
    text
}
