//! Every option where it means nothing: refused with a sentence that names it, and never accepted in silence. And words
//! that no option takes: none ends in a panic.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::common::{Running, Server, pathscope, run};

/// What is run, and what the refusal says. Each begins with a command line that is accepted by itself.
const REFUSED: &[(&str, &str)] = &[
    // Goodput over TCP.
    ("goodput h --segments 1MiB", "--segments has no effect where nobody sends in turns"),
    ("goodput h --pattern pull --segments 1MiB", "--segments has no effect"),
    ("goodput h --pattern duplex --segments 1MiB", "--segments has no effect"),
    ("goodput h --pattern duplex --push-bytes 1MiB", "--push-bytes has no effect"),
    ("goodput h --pattern pull --pull-bytes 1MiB", "--pull-bytes has no effect"),
    ("goodput h --pattern pushpull --pull-bytes 0", "--pull-bytes 0 B"),
    ("goodput h --seed 7", "--seed has no effect where nothing is drawn"),
    ("goodput h --seed 7 --shutdown rude", "--seed has no effect"),
    ("goodput h --datagram 512", "--datagram and --protocol tcp"),
    ("goodput h --offload off", "--offload and --protocol tcp"),
    ("goodput h --find-rate", "--find-rate and --protocol tcp"),
    ("goodput h --rate-period 1s", "--rate-period and no --rate"),
    ("goodput h -t 1s --iterations 2", "--iterations and --duration"),
    ("goodput h -t 1s --time-limit 5s", "--time-limit and --duration"),
    ("goodput h -n 1MiB --warm-up 1s", "cannot be used with"),
    ("goodput h --iterations 2 --warm-up 1s", "--warm-up and a transfer"),
    ("goodput h --no-probe --probe-rate 5/s", "cannot be used with"),
    // Goodput over UDP: what is TCP's.
    ("goodput h --protocol udp --iterations 1", "--iterations and --protocol udp"),
    ("goodput h --protocol udp --connect-limit 9", "--connect-limit and --protocol udp"),
    ("goodput h --protocol udp --fast-open", "--fast-open and --protocol udp"),
    ("goodput h --fast-open", "--fast-open has no effect where no connection follows another"),
    ("goodput h --protocol udp --time-limit 9s", "--time-limit and --protocol udp"),
    ("goodput h --protocol udp --buffer 512KiB", "--buffer and --protocol udp"),
    ("goodput h --protocol udp --seed 7", "--seed and --protocol udp"),
    ("goodput h --protocol udp --shutdown graceful", "--shutdown and --protocol udp"),
    ("goodput h --protocol udp --segments 1MiB", "--segments and --protocol udp"),
    ("goodput h --protocol udp --push-bytes 1MiB", "--push-bytes and --protocol udp"),
    ("goodput h --protocol udp --rate 1Mbit --rate-period 1s", "--rate-period and --protocol udp"),
    (
        "goodput h --protocol udp --burst-count 1 --burst-delay 1s",
        "--burst-count and --protocol udp",
    ),
    ("goodput h --protocol udp --congestion reno", "--congestion and --protocol udp"),
    ("goodput h --protocol udp --notsent-lowat 16KiB", "--notsent-lowat and UDP"),
    ("goodput h --protocol udp --mss 1000", "--mss and UDP"),
    ("goodput h --protocol udp --keepalive 9s", "--keepalive and UDP"),
    ("goodput h --protocol udp --nagle", "--nagle and UDP"),
    ("goodput h --protocol udp --pattern pushpull", "--pattern pushpull"),
    ("goodput h --protocol udp --status-file s.csv", "--status-file has no effect over UDP"),
    (
        "goodput h --protocol udp --connection-file c.csv",
        "--connection-file has no effect over UDP",
    ),
    ("goodput h --protocol udp --error-file e.csv", "--error-file has no effect over UDP"),
    // A search for a rate.
    ("goodput h --protocol udp --find-rate --pattern duplex", "--find-rate and --pattern duplex"),
    ("goodput h --protocol udp --find-rate -n 1MiB", "--find-rate and --transfer"),
    // Latency.
    ("latency h --seed 7", "--seed and pings that are not random"),
    ("latency h --rate 9/s --seed 7", "--seed and pings that are not random"),
    ("latency h --arrivals poisson", "--arrivals poisson and a closed loop"),
    ("latency h --rate 9/s --closed --arrivals poisson", "--arrivals poisson and a closed loop"),
    ("latency h --rate 9/s --outstanding 2", "--outstanding and --period or --rate"),
    ("latency h --rate 9/s --closed --outstanding 2", "--outstanding and --closed at a rate"),
    ("latency h --timestamps kernel", "--timestamps kernel and TCP"),
    ("latency h -n 9 --warm-up 1s", "cannot be used with"),
    ("latency h --protocol udp --congestion reno", "--congestion and UDP"),
    ("latency h --protocol udp --notsent-lowat 16KiB", "--notsent-lowat and UDP"),
    ("latency h --protocol udp --mss 1000", "--mss and UDP"),
    ("latency h --protocol udp --keepalive 9s", "--keepalive and UDP"),
    ("latency h --protocol udp --nagle", "--nagle and UDP"),
    // Streams of frames.
    ("media h --profile hd --direction up --jitter-file j.csv", "--jitter-file holds the frames"),
    // Paths.
    ("multipath h --secondary 0 --order alternate", "--order has no effect with one path"),
    ("multipath h --secondary 0 --late-by 9ms", "--late-by has no effect with one path"),
    ("multipath h --path lo --order alternate", "--order has no effect with one path"),
    ("multipath h --path lo --late-by 9ms", "--late-by has no effect with one path"),
    ("multipath h --secondary 0 --path a --path b", "--secondary 0 and several --path"),
    // A survey, a server, a result.
    ("survey --port 7", "--port has no effect without HOST"),
    ("server --color never", "unexpected argument '--color'"),
    ("server --limit-duration 1ns", "--limit-duration 1 ns would refuse every test"),
    ("show r.json --json --json-stream", "cannot be used with"),
    // Labs.
    ("lab up x.toml --shaper tc --seed 7", "--seed has no effect with --shaper tc"),
    ("lab show x.toml --verbose", "--verbose has no effect beside FILE"),
    ("lab show x.toml --lab a", "--lab has no effect beside FILE"),
    ("lab show --json --verbose", "--verbose has no effect with --json"),
    ("lab down a --lab a", "cannot be used with"),
    ("lab capture a:b -o f --count 0", "0 is not in"),
    ("lab capture a:b -o f --snap 0", "0 is not in"),
];

/// What means something: shown as a plan.
const ACCEPTED: &[&str] = &[
    "goodput h --pattern pushpull --segments 1MiB",
    "goodput h --pattern pushpull --push-bytes 1KiB --pull-bytes 2MiB",
    "goodput h --shutdown random --seed 7",
    "goodput h -n [1KiB,1MiB] --seed 7",
    "goodput h --rate [1Mbit,2Mbit] --seed 7",
    "goodput h --buffer [1KiB,1MiB] --seed 7",
    "goodput h --connect-limit 9 --shutdown rude --nagle --mss 1000 --keepalive 9s",
    "goodput h --total-rate 1Mbit --rate-period 1s",
    "goodput h --iterations 2 --time-limit 5s",
    "goodput h --iterations 2 --fast-open",
    "goodput h --burst-count 1 --burst-delay 1s --congestion reno",
    "goodput h --protocol udp --datagram 512 --offload off --verify off --ttl 9 --dscp 46",
    "goodput h --protocol udp --find-rate --rate 1Gbit --pattern pull --probe-rate 9/s",
    "latency h --closed --rate 9/s",
    "latency h --rate 9/s --arrivals poisson --seed 7",
    "latency h --outstanding 9 -c 3 --congestion reno --nagle",
    "latency h --protocol udp --timestamps kernel",
    "media h --profile voice --pacing spread --receive-buffer 1MiB",
    "media h --profile hd --direction both --jitter-file j.csv",
    "multipath h --path a --path b --order alternate --late-by 9ms",
    "multipath h --order alternate --late-by 9ms",
    "survey h --port 7",
    "survey --congestion reno",
];

#[test]
fn an_option_that_would_do_nothing_is_refused_and_one_that_does_is_not() {
    for (words, said) in REFUSED {
        let words: Vec<&str> = words.split_whitespace().collect();
        run(&words).exits(2).complains(&[said]);
    }
    for words in ACCEPTED {
        let words: Vec<&str> = words.split_whitespace().chain(["--dry-run"]).collect();
        run(&words).exits(0);
    }
}

/// Options with a value that is read as something: a quantity, a number, an address, one of several words.
const READ: &[(&str, &str)] = &[
    (
        "goodput h",
        "--pattern -c --iterations --connect-limit -n --time-limit -t --buffer --seed --shutdown --segments \
         --push-bytes --pull-bytes --rate \
         --total-rate --rate-period --warm-up --verify --wait --cpu --server-cpu --dscp \
         --ttl --send-buffer --receive-buffer --notsent-lowat --mss --keepalive --bind --source-port \
         --protocol --probe-rate -p --report-every --color",
    ),
    ("goodput h --protocol udp", "--datagram --offload"),
    (
        "latency h",
        "--protocol -t -n --period --rate --arrivals --outstanding -c --size --request-size --reply-size --percentiles \
         --histogram --warm-up --timestamps",
    ),
    (
        "media h --profile hd",
        "--rate --frame-rate --buffer-depth -t --streams --direction --datagram --pacing --receive-buffer --dscp \
         --bind --iterations --wait",
    ),
    ("media h", "--profile"),
    ("multipath h", "--rate --grouping --datagram -t --order --secondary --late-by"),
    ("survey h", "-c -t --probe-rate"),
];

/// Options with a name as systems have them, which may be nearly any word.
const NAMED: &[(&str, &str)] = &[
    ("goodput h", "--congestion --engine --interface"),
    ("latency h", "--congestion --engine --interface"),
    ("media h --profile hd", "--engine --interface"),
    ("multipath h", "--path"),
    ("survey h", "--congestion"),
];

/// Values that no name has.
const NO_NAMES: [&str; 4] = ["", " ", "a\nb", "\u{1b}[2J/"];

/// Values that none of them takes.
const NONSENSE: [&str; 9] = [
    "",
    " ",
    "-5",
    "-5Mbit",
    "NaN",
    "99999999999999999999999999999999",
    "1e999",
    "a\nb",
    "\u{1b}[2J/",
];

#[test]
fn no_option_takes_nonsense_and_none_panics() {
    let read = READ.iter().map(|row| (row, &NONSENSE[..]));
    let named = NAMED.iter().map(|row| (row, &NO_NAMES[..]));
    for ((command, options), values) in read.chain(named) {
        for option in options.split_whitespace() {
            for value in values {
                let words: Vec<&str> =
                    command.split_whitespace().chain([option, *value, "--dry-run"]).collect();
                let ran = run(&words).exits(2);
                assert!(!ran.stderr.contains("panicked"), "{words:?}: {}", ran.said());
                assert!(
                    ran.stderr.contains(option.trim_start_matches('-')),
                    "{words:?}: {}",
                    ran.said()
                );
            }
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_by_name_where_they_name_no_file() {
    let odd = || OsString::from_vec(b"h\xff".to_vec());
    for words in [&["latency"][..], &["goodput", "h", "--pattern"], &["media", "h", "--rate"]] {
        let mut command = pathscope(words);
        command.arg(odd());
        let ran = Running::start(command).finish().exits(2);
        ran.complains(&["'h\\xff' is no text"]);
    }
}

#[test]
fn a_file_s_name_may_be_any_bytes() {
    let (server, folder) = (Server::start(), tempfile::tempdir().expect("a folder"));
    let file = folder.path().join(OsString::from_vec(b"r\xff\n.json".to_vec()));
    let mut command = pathscope(&["latency", &server.host(), "-n", "10", "-q", "-o"]);
    command.arg(&file);
    Running::start(command).finish().exits(0);
    let document = crate::common::document_in(&file);
    let said = document.command.last().map(String::as_str);
    assert!(said.is_some_and(|said| said.ends_with("r\\xff\n.json")), "{said:?}");
    let mut command = pathscope(&["show"]);
    command.arg(&file);
    Running::start(command).finish().exits(0);
}

#[test]
fn a_host_that_is_none_is_told_before_anything_is_done() {
    for (words, said) in [
        (
            &["latency", "http://b/x"][..],
            "'http://b/x' names no server: it is a URL; give its host alone: b",
        ),
        (&["latency", "b\nc"], "'b\\nc' names no server: no name or address has a blank"),
        (&["latency", "b:7", "-p", "8"], "its port is 7, and --port says 8; leave one of them out"),
        (&["goodput", "a", "b:7", "-p", "8"], "'b:7' names no server: its port is 7"),
        (
            &["goodput", "h", "--rate", "-5Mbit"],
            "--rate -5Mbit: no option takes a number below zero",
        ),
        (
            &["goodput", "h", "--rate=-5Mbit"],
            "'-5Mbit' is less than nothing; write for example 25Mbit",
        ),
        (
            &["media", "h"],
            "--profile NAME (one of sd, hd, 4k, voice, conference, cloud-game), or --rate",
        ),
        (&["server", "--listen", "127.0.0.1:7"], "--listen '127.0.0.1:7': give the address alone"),
        (&["server", "--listen", "[::1]:7"], "--listen '[::1]:7': give the address alone"),
        (&["server", "--listen", ""], "--listen '': give an address"),
    ] {
        let ran = run(words).exits(2).complains(&[said]);
        assert_eq!(ran.stdout, "", "{words:?}");
    }
    run(&["latency", "b:7", "-p", "7", "--dry-run"]).exits(0);
}

#[test]
fn addresses_of_a_link_and_those_that_stand_for_others_are_reached() {
    let server = Server::start();
    let mapped = format!("[::ffff:127.0.0.1]:{}", server.port);
    for words in [
        &["latency", &mapped, "-n", "10"][..],
        &["latency", &mapped, "-n", "10", "--bind", "::ffff:127.0.0.1", "--protocol", "udp"],
    ] {
        run(words).exits(0);
    }
    let none = ["latency", "fe80::1%none0", "-n", "1"];
    run(&none).exits(3).complains(&["has no interface 'none0'; it has lo"]);
}
