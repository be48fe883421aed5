//! The options of iperf3: how each is written, at which end it means something, and what there is here in place of it.

use super::getopt::{Flag, Value};

/// At which end an option means something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Side {
    Both,
    Client,
    Server,
}

const fn flag(short: Option<char>, long: &'static [&'static str], value: Value) -> Flag {
    Flag { short, long, value }
}

const NO: Value = Value::No;
const NEEDED: Value = Value::Needed;
const OPTIONAL: Value = Value::Optional;

/// All of them.
pub(super) const FLAGS: [Flag; 71] = [
    flag(Some('p'), &["port"], NEEDED),
    flag(Some('f'), &["format"], NEEDED),
    flag(Some('i'), &["interval"], NEEDED),
    flag(Some('I'), &["pidfile"], NEEDED),
    flag(Some('F'), &["file"], NEEDED),
    flag(Some('A'), &["affinity"], NEEDED),
    flag(Some('B'), &["bind"], NEEDED),
    flag(None, &["bind-dev"], NEEDED),
    flag(Some('V'), &["verbose"], NO),
    flag(Some('J'), &["json"], NO),
    flag(None, &["json-stream"], NO),
    flag(None, &["json-stream-full-output"], NO),
    flag(None, &["logfile"], NEEDED),
    flag(None, &["forceflush"], NO),
    flag(None, &["timestamps"], OPTIONAL),
    flag(None, &["rcv-timeout"], NEEDED),
    flag(None, &["snd-timeout"], NEEDED),
    flag(None, &["cntl-ka"], OPTIONAL),
    flag(Some('m'), &["mptcp"], NO),
    flag(Some('d'), &["debug"], OPTIONAL),
    flag(Some('v'), &["version"], NO),
    flag(Some('h'), &["help"], NO),
    flag(Some('4'), &["version4"], NO),
    flag(Some('6'), &["version6"], NO),
    flag(Some('s'), &["server"], NO),
    flag(Some('D'), &["daemon"], NO),
    flag(Some('1'), &["one-off"], NO),
    flag(None, &["server-bitrate-limit"], NEEDED),
    flag(None, &["server-max-duration"], NEEDED),
    flag(None, &["idle-timeout"], NEEDED),
    flag(None, &["rsa-private-key-path"], NEEDED),
    flag(None, &["authorized-users-path"], NEEDED),
    flag(None, &["time-skew-threshold"], NEEDED),
    flag(None, &["use-pkcs1-padding"], NO),
    flag(Some('c'), &["client"], NEEDED),
    flag(None, &["sctp"], NO),
    flag(Some('X'), &["xbind"], NEEDED),
    flag(None, &["nstreams"], NEEDED),
    flag(Some('u'), &["udp"], NO),
    flag(None, &["connect-timeout"], NEEDED),
    flag(Some('b'), &["bitrate", "bandwidth"], NEEDED),
    flag(None, &["pacing-timer"], NEEDED),
    flag(None, &["fq-rate"], NEEDED),
    flag(None, &["no-fq-socket-pacing"], NO),
    flag(Some('t'), &["time"], NEEDED),
    flag(Some('n'), &["bytes"], NEEDED),
    flag(Some('k'), &["blockcount"], NEEDED),
    flag(Some('l'), &["length"], NEEDED),
    flag(None, &["cport"], NEEDED),
    flag(Some('P'), &["parallel"], NEEDED),
    flag(Some('R'), &["reverse"], NO),
    flag(None, &["bidir"], NO),
    flag(Some('w'), &["window"], NEEDED),
    flag(Some('C'), &["congestion", "linux-congestion"], NEEDED),
    flag(Some('M'), &["set-mss"], NEEDED),
    flag(Some('N'), &["no-delay"], NO),
    flag(Some('S'), &["tos"], NEEDED),
    flag(None, &["dscp"], NEEDED),
    flag(Some('L'), &["flowlabel"], NEEDED),
    flag(Some('Z'), &["zerocopy"], NO),
    flag(None, &["skip-rx-copy"], NO),
    flag(Some('O'), &["omit"], NEEDED),
    flag(Some('T'), &["title"], NEEDED),
    flag(None, &["extra-data"], NEEDED),
    flag(None, &["get-server-output"], NO),
    flag(None, &["udp-counters-64bit"], NO),
    flag(None, &["gsro"], NO),
    flag(None, &["repeating-payload"], NO),
    flag(None, &["dont-fragment"], NO),
    flag(None, &["username"], NEEDED),
    flag(None, &["rsa-public-key-path"], NEEDED),
];

/// At which end an option means something.
pub(super) fn side(name: &str) -> Side {
    match name {
        "server"
        | "daemon"
        | "one-off"
        | "server-bitrate-limit"
        | "server-max-duration"
        | "idle-timeout"
        | "rsa-private-key-path"
        | "authorized-users-path"
        | "time-skew-threshold"
        | "use-pkcs1-padding" => Side::Server,
        "client"
        | "sctp"
        | "nstreams"
        | "udp"
        | "connect-timeout"
        | "bitrate"
        | "pacing-timer"
        | "fq-rate"
        | "no-fq-socket-pacing"
        | "time"
        | "bytes"
        | "blockcount"
        | "length"
        | "cport"
        | "parallel"
        | "reverse"
        | "bidir"
        | "window"
        | "congestion"
        | "set-mss"
        | "no-delay"
        | "tos"
        | "dscp"
        | "flowlabel"
        | "zerocopy"
        | "skip-rx-copy"
        | "omit"
        | "title"
        | "extra-data"
        | "get-server-output"
        | "udp-counters-64bit"
        | "gsro"
        | "repeating-payload"
        | "dont-fragment"
        | "username"
        | "rsa-public-key-path" => Side::Client,
        _ => Side::Both,
    }
}

/// Authentication needs RSA decryption whose timing tells nothing.
const RSA: &str = "RSA is not offered: the libraries for it have an open advisory on their timing (RUSTSEC-2023-0071)";
const SCTP: &str = "SCTP is not offered: TCP and UDP (-u) are";

/// What would be another test without it, and why it is not offered.
pub(super) const REFUSED: [(&str, &str); 11] = [
    ("sctp", SCTP),
    ("xbind", SCTP),
    ("nstreams", SCTP),
    (
        "mptcp",
        "Multipath TCP is not offered, since the kernel tells of one path alone what was sent again: leave it out for TCP",
    ),
    (
        "file",
        "what is sent and received is no file's: a pattern is sent, and what comes is counted",
    ),
    ("username", RSA),
    ("rsa-public-key-path", RSA),
    ("rsa-private-key-path", RSA),
    ("authorized-users-path", RSA),
    ("time-skew-threshold", RSA),
    ("use-pkcs1-padding", RSA),
];

/// What changes nothing here, and why.
pub(super) const IDLE: [(&str, &str); 9] = [
    ("gsro", "how many datagrams the kernel takes at once is this program's own choice"),
    ("zerocopy", "what is sent is not copied by this program in any case"),
    ("skip-rx-copy", "what comes is taken from the kernel"),
    ("repeating-payload", "the other end cannot tell what bytes are made of"),
    ("pacing-timer", "senders are paced to the moment"),
    ("no-fq-socket-pacing", "the kernel does no pacing for it"),
    (
        "rcv-timeout",
        "an end of which nothing comes is given up after 120 s, behind the end of a test after 30 s",
    ),
    ("cntl-ka", "a lost control connection is noticed in any case"),
    ("debug", "'pathscope goodput -vv --peer iperf3' tells each step"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_one_option_and_what_is_refused_or_idle_is_there() {
        let mut names: Vec<&str> = FLAGS.iter().flat_map(|flag| flag.long).copied().collect();
        let is_there = |name: &&str| FLAGS.iter().any(|flag| flag.long[0] == *name);
        assert!(REFUSED.iter().chain(&IDLE).all(|(name, _)| is_there(name)));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        let mut shorts: Vec<char> = FLAGS.iter().filter_map(|flag| flag.short).collect();
        let all = shorts.len();
        shorts.sort_unstable();
        shorts.dedup();
        assert_eq!(shorts.len(), all);
    }
}
