//! Lines, what they ask for, and what is wrong with them.

use super::*;

fn asked(line: &str) -> Result<Asked, String> {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    read(&words)
}

fn client(line: &str) -> Client {
    match asked(line) {
        Ok(Asked::Client(client)) => *client,
        other => panic!("{line}: {other:?}"),
    }
}

fn server(line: &str) -> Server {
    match asked(line) {
        Ok(Asked::Server(server)) => *server,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn defaults_are_those_of_the_original() {
    let usual = client("-c h4");
    assert_eq!((usual.common.port, usual.common.interval_ns), (5_201, 1_000_000_000));
    assert_eq!((usual.extent, usual.streams, usual.way), (Extent::Seconds(10), 1, Way::Push));
    assert_eq!((usual.block_bytes, usual.rate_bps), (131_072, None));
    let udp = client("-uc h4");
    assert_eq!((udp.block_bytes, udp.rate_bps), (1_448, Some(1_048_576)));
    assert!(server("-s").common.json == Json::No && !server("-s").is_daemon);
    assert_eq!(asked("-c x --help -P 0"), Ok(Asked::Help));
    assert_eq!(asked("-v"), Ok(Asked::Version));
}

#[test]
fn every_value_is_read() {
    let all = client(
        "-c h4%eth0 -p 5300 -f M -i 0.5 -A 1,2 -B 10.0.0.1 -4 -V --json-stream --json-stream-full-output --timestamps=%s \
         -b 10M/5 -n 1.5M -l 8K -P 3 --bidir -w 1M -C cubic -M 1400 -N -S 0x10 --cport 4000 -T a --extra-data b \
         -L 0xfffff --snd-timeout 250 --get-server-output",
    );
    assert_eq!((all.host.as_str(), all.common.device.as_deref()), ("h4", Some("eth0")));
    assert_eq!((all.common.port, all.common.interval_ns), (5_300, 500_000_000));
    assert_eq!((all.common.affinity, all.common.family), (Some((1, Some(2))), Some(4)));
    assert_eq!(all.common.json, Json::Stream { is_whole_too: true });
    assert_eq!((all.rate_bps, all.burst), (Some(10_000_000), Some(5)));
    assert_eq!((all.extent, all.block_bytes), (Extent::Bytes(1_572_864), 8_192));
    assert_eq!((all.streams, all.way, all.window_bytes), (3, Way::Both, Some(1 << 20)));
    assert_eq!((all.mss, all.tos, all.client_port), (Some(1_400), 16, Some(4_000)));
    assert!(all.is_no_delay && all.common.is_verbose && all.common.notes.is_empty());
    assert_eq!((all.title.as_deref(), all.extra_data.as_deref()), (Some("a"), Some("b")));
    assert_eq!((all.flow_label, all.send_timeout_ms), (Some(0xf_ffff), Some(250)));
    assert!(all.wants_server_output && !client("-c h4").wants_server_output);
    assert_eq!(client("-c h4 --snd-timeout 0").send_timeout_ms, None);
    assert_eq!(client("-c h4 --dscp ef").tos, 184);
    assert_eq!(client("-c h4 -k 10").extent, Extent::Blocks(10));
    // No bytes and no blocks are as if they were not said.
    for (line, extent) in [
        ("-c h4 -t 2 -n 0", Extent::Seconds(2)),
        ("-c h4 -k 0 -n 0 -t 2", Extent::Seconds(2)),
        ("-c h4 -n 0", Extent::Seconds(10)),
        ("-c h4 -n 1K -k 0", Extent::Bytes(1_024)),
        ("-c h4 -n 0 -k 3", Extent::Blocks(3)),
    ] {
        assert_eq!(client(line).extent, extent, "{line}");
    }
    assert_eq!(client("-t inf -c h4").extent, Extent::Seconds(0));
    assert_eq!(client("-c h4 -u -b 0").rate_bps, None);
    assert_eq!(client("-c h4 -u -b /7").burst, Some(7));
    assert_eq!(client("-c fe80::1%eth0").host, "fe80::1%eth0");
    assert_eq!(client("-c h4 -B 10.0.0.1%eth1").common.device.as_deref(), Some("eth1"));
    assert_eq!(client("-c h4 --timestamps").common.timestamps.as_deref(), Some("%c "));
    assert_eq!(server("-s1D --server-max-duration 60").most_seconds, Some(60));
    for (typed, rate) in [
        ("20M", Some((20_000_000, 5_000_000_000))),
        ("1.5g/2.5", Some((1_500_000_000, 2_500_000_000))),
        ("1M/0.5", Some((1_000_000, 1_000_000_000))),
        ("0", None),
    ] {
        let server = server(&format!("-s --server-bitrate-limit {typed}"));
        assert_eq!(server.most_rate, rate, "{typed}");
        assert_eq!(server.common.notes.len(), usize::from(typed == "1M/0.5"), "{typed}");
    }
}

#[test]
fn what_has_no_effect_is_named_once() {
    for (line, said) in [
        ("-c h4 -Z", "-Z/--zerocopy has no effect here: "),
        ("-c h4 stray", "'stray' is no option"),
        ("-c h4 -u -N", "-N/--no-delay has no effect with -u"),
        ("-c h4 -u --snd-timeout 9", "--snd-timeout has no effect with -u"),
        ("-c h4 --dont-fragment", "no effect without -u"),
        ("-c h4 --fq-rate 1G", "--fq-rate: held by this program's own clock"),
    ] {
        let notes = client(line).common.notes;
        assert!(matches!(&notes[..], [note] if note.contains(said)), "{line}: {notes:?}");
    }
    let short = client("-c h4 -t 1.5");
    assert_eq!(short.extent, Extent::Seconds(1));
    assert_eq!(short.common.notes, ["-t/--time: 1.5 counts as 1, since whole seconds are taken"]);
    let whole = client("-c h4 -t 5.0 -O 2.5");
    assert_eq!((whole.extent, whole.omit_s), (Extent::Seconds(5), 2));
    assert_eq!(whole.common.notes, ["-O/--omit: 2.5 counts as 2, since whole seconds are taken"]);
    let notes = server("-s --idle-timeout 5 -d").common.notes;
    assert_eq!(notes.len(), 2, "{notes:?}");
    let one = server("-s -1 --idle-timeout 5");
    assert_eq!((one.idle_s, one.common.notes.len()), (Some(5), 0));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    for (line, said) in [
        ("", "say -c HOST to be a client, or -s to be a server"),
        ("-s -c h4", "-s and -c exclude each other"),
        ("-s -u", "-u/--udp is for a client, and this is a server"),
        ("-c h4 -D", "-D/--daemon is for a server, and this is a client"),
        ("-c h4 -R --bidir", "-R and --bidir exclude each other"),
        ("-c h4 -4 -6", "-4 and -6 exclude each other"),
        ("-c h4 -t 5 -n 1M", "-t/--time and -n/--bytes exclude each other"),
        ("-c h4 -k 5 -n 1M", "-n/--bytes and -k/--blockcount exclude each other"),
        ("-c h4 -t -1", "-t/--time: '-1' is no number of whole seconds: say one from 0 to 86400"),
        ("-c h4 -t 5x", "-t/--time: '5x' is no number of whole seconds"),
        // The original takes it for 0: until it is stopped.
        ("-c h4 -t 0.5", "-t/--time: '0.5' is no number of whole seconds"),
        ("-c h4 -t 1.5.2", "'1.5.2' is no number of whole seconds"),
        ("-c h4 -O .5", "-O/--omit: '.5' is no number of whole seconds: say one from 0 to 600"),
        ("-c h4 -O 1 -n 1M", "-O/--omit: bytes and blocks are counted from the first on"),
        ("-c h4 -P 129", "-P/--parallel: 129 is out of range: 1 to 128"),
        ("-c h4 -M 87", "-M/--set-mss: 87 is out of range: 88 to 32767"),
        ("-c h4 -M 32768", "-M/--set-mss: 32768 is out of range: 88 to 32767"),
        ("-c h4 -P x", "-P/--parallel: 'x' is no number"),
        (
            "-c h4 -paralel 4",
            "'aralel' is no number that it takes; in place of '-paralel', did you mean --parallel?",
        ),
        (
            "-c h4 -reverese",
            "there is no option '-r'; -h lists all; in place of '-reverese', did you mean --reverse?",
        ),
        ("-c h4 -p 0", "-p/--port: 0 is out of range"),
        ("-c h4 -i 61", "-i/--interval: 61 is out of range: 0.1 to 60, or 0"),
        ("-c h4 -l 2M", "-l/--length: 2097152 is out of range"),
        ("-c h4 -u -l 65508", "-l/--length: 65508 is out of range: 16 to 65507"),
        ("-c h4 -u -l 15", "-l/--length: 15 is out of range: 16 to 65507"),
        ("-c h4 -b 1X", "-b/--bitrate: '1X' has no suffix"),
        ("-c h4 -b 1M/1001", "-b/--bitrate: /1001 is out of range: 1 to 1000"),
        ("-c h4 -b 999", "999 is less than 1K"),
        ("-c h4 --fq-rate 999", "--fq-rate: 999 is less than 1K"),
        ("-c h4 -w 1G", "-w/--window: 1073741824 is out of range"),
        ("-c h4 -S 256", "-S/--tos: '256' is no number from 0 to 255"),
        ("-c h4 --dscp best", "--dscp: 'best' is no code point"),
        ("-c h4 -f x", "-f/--format: 'x' is none of"),
        ("-c h4 -t 86401", "-t/--time: 86401 is out of range"),
        ("-c h4 --sctp", "--sctp: SCTP is not offered"),
        ("-s --rsa-private-key-path k", "RUSTSEC-2023-0071"),
        ("-s --server-bitrate-limit 1G/0", "/0 is out of range: 0.1 to 60 seconds"),
        ("-s --server-bitrate-limit 1G/x", "--server-bitrate-limit: 'x' is no number"),
        ("-s --server-bitrate-limit x/5", "--server-bitrate-limit: 'x' has no suffix"),
        ("-c h4 --server-bitrate-limit 1G", "--server-bitrate-limit is for a server"),
        ("-c h4 --connect-timeout 0", "--connect-timeout: 0 is out of range: 1 to 3600000"),
        ("-s -1 --idle-timeout 0", "--idle-timeout: 0 is out of range: 1 to 86400"),
        ("-s --bind-dev eth0", "--bind-dev: a server listens on addresses"),
        ("-c h4 -m", "Multipath TCP is not offered"),
        ("-c h4 -L 0", "-L/--flowlabel: '0' is no number from 1 to 0xfffff"),
        ("-c h4 -L 0x100000", "'0x100000' is no number from 1 to 0xfffff"),
        ("-c h4 --snd-timeout x", "--snd-timeout: 'x' is no number"),
    ] {
        let error = asked(line).expect_err(line);
        assert!(error.contains(said), "{line}: {error}");
    }
}
