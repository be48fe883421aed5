//! Every line of the guide that starts ctsTraffic, and every option that has a word of ours.

use std::ffi::OsStr;

use super::super::read;

fn said(line: &str) -> (String, Vec<String>) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let settings = read::settings(&words).expect("it is a line");
    let (words, notes) = super::words(&settings);
    (words.join(OsStr::new(" ")).into_string().expect("it was text"), notes)
}

/// What a client says that says nothing else.
const PUSH: &str =
    "--transfer 1073741824B --buffer 65536B --verify full --shutdown graceful --connect-limit 1000";
const TO: &str = "--report-every 5000ms --quiet --peer ctstraffic --port 4444 --";

#[test]
fn the_guides_lines_over_tcp() {
    for (line, native) in [
        (
            "-listen:* -consoleverbosity:1",
            "server --quiet --accept ctstraffic --ctstraffic-port 4444 --ctstraffic-pattern push --ctstraffic-transfer 1073741824B \
             --ctstraffic-buffer 65536B --ctstraffic-verify full"
                .to_owned(),
        ),
        (
            "-target:h4 -consoleverbosity:1 -statusfilename:clientstatus.csv -connectionfilename:clientconnections.csv",
            format!("goodput --no-probe --pattern push --connections 8 {PUSH} --iterations forever {TO} h4"),
        ),
        (
            "-target:h4 -consoleverbosity:1 -pattern:pull",
            format!("goodput --no-probe --pattern pull --connections 8 {PUSH} --iterations forever {TO} h4"),
        ),
        (
            "-target:localhost -consoleverbosity:1 -transfer:64 -connections:100 -shutdown:rude",
            format!(
                "goodput --no-probe --pattern push --connections 100 --transfer 64B --buffer 65536B --verify full --shutdown rude \
                 --connect-limit 1000 --iterations forever {TO} localhost"
            ),
        ),
        (
            "-target:h4 -pattern:duplex -buffer:[1024,1048576]",
            format!(
                "goodput --no-probe --pattern duplex --connections 8 --transfer 1073741824B --buffer [1024B,1048576B] --verify full \
                 --shutdown graceful --connect-limit 1000 --iterations forever {TO} h4"
            ),
        ),
    ] {
        assert_eq!(said(line), (native, Vec::new()), "{line}");
    }
}

#[test]
fn the_guides_lines_over_udp() {
    let stream = "-protocol:udp -bitspersecond:25000000 -framerate:60 -bufferdepth:1 -streamlength:60 -consoleverbosity:1";
    let files = "-connections:1 -iterations:1 -statusfilename:udpclient.csv -connectionfilename:udpconnection.csv \
                 -jitterfilename:jitter.csv";
    assert_eq!(
        said(&format!("-target:localhost {stream} {files}")).0,
        format!(
            "media --rate 25000000bit --frame-rate 60 --duration 60s --buffer-depth 1s --datagram 1400B --streams 1 \
             --iterations 1 {TO} localhost"
        )
    );
    assert_eq!(
        said(&format!("-listen:* {stream}")).0,
        "server --quiet --accept ctstraffic --ctstraffic-port 4444 --ctstraffic-bits-per-second 25000000bit --ctstraffic-frame-rate 60 \
         --ctstraffic-stream-length 60s --ctstraffic-datagram 1400B"
    );
    let set = "-datagrambytesize:1470 -qosdscpvalue:46 -sendbufvalue:70000 -recvbufvalue:80000";
    let (words, notes) = said(&format!("-listen:* {stream} {set}"));
    assert!(words.ends_with("--ctstraffic-datagram 1470B"), "{words}");
    let of_server =
        "--ctstraffic-dscp 46 --ctstraffic-send-buffer 70000B --ctstraffic-receive-buffer 80000B";
    assert!(words.contains(of_server) && notes.is_empty(), "{words} {notes:?}");
    let (words, notes) = said(&format!("-target:h4 {stream} {set}"));
    assert!(words.contains("--receive-buffer 80000B") && words.contains("--dscp 46"), "{words}");
    assert_eq!(notes, ["without effect here: -SendBufValue:70000"]);
    assert!(
        said(&format!("-target:h4 {stream} -statusUpdate:500")).0.contains("--report-every 500ms")
    );
}

#[test]
fn every_option_of_a_client_has_a_word_of_ours() {
    let (words, notes) = said(
        "-target:h1 -target:fe80::1%eth0 -bind:10.0.0.1 -bind:::1 -port:5000 -localport:[20000,20007] -ifindex:2 -iterations:3 \
         -throttleconnections:0 -timelimit:1500 -qosdscpvalue:46 -recvbufvalue:70000 -sendbufvalue:80000 -keepalivevalue:2500 \
         -ratelimit:[1000,2000] -ratelimitperiod:50 -prepostsends:0 -io:RioIocp -statusupdate:250",
    );
    for part in [
        "--connect-limit 0 --rate [8000bit,16000bit] --rate-period 50ms --keepalive 3s --receive-buffer 70000B",
        "--iterations 3 --time-limit 1500ms --send-buffer 80000B --dscp 46 --bind 10.0.0.1 --bind ::1",
        "--source-port [20000,20007] --interface 2 --report-every 250ms --quiet --peer ctstraffic --port 5000 -- h1 fe80::1%eth0",
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    assert_eq!(
        notes,
        [
            "without effect here: -IO:RioIocp -PrePostSends:0",
            "-KeepAliveValue:2500 is 3 s here: whole seconds are counted"
        ]
    );
    let pushpull =
        said("-target:a -pattern:pushpull -pushbytes:7 -pullbytes:9 -burstcount:2 -burstdelay:150")
            .0;
    for part in ["--push-bytes 7B --pull-bytes 9B", "--burst-count 2 --burst-delay 150ms"] {
        assert!(pushpull.contains(part), "{part} is not in {pushpull}");
    }
    // A client that sends nothing has nothing to slow down.
    assert!(!said("-target:a -pattern:pull -ratelimit:10000").0.contains("--rate"));
    assert!(
        said("-target:a -verify:connection -options:keepalive").0.contains("--keepalive 7200s")
    );
}

#[test]
fn every_option_of_a_server_has_a_word_of_ours() {
    let (words, _) = said(
        "-listen:10.0.0.1 -listen:::1 -port:5000 -serverexitlimit:10 -timelimit:90000 -pattern:pushpull -pushbytes:7 -pullbytes:9 \
         -verify:connection -ratelimit:1000 -statusupdate:500 -keepalivevalue:5000 -qosdscpvalue:46 -sendbufvalue:70000 -recvbufvalue:80000",
    );
    for part in [
        "server --quiet --accept ctstraffic --ctstraffic-port 5000 --listen 10.0.0.1 --listen ::1 --exit-after 10 --time-limit 90000ms",
        "--ctstraffic-verify off",
        "--ctstraffic-report-every 500ms",
        "--ctstraffic-push-bytes 7B --ctstraffic-pull-bytes 9B",
        "--ctstraffic-rate-limit 8000bit --ctstraffic-rate-period 100ms",
        "--ctstraffic-dscp 46 --ctstraffic-send-buffer 70000B --ctstraffic-receive-buffer 80000B",
        "--ctstraffic-keepalive 5s",
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
}

#[test]
fn a_server_of_streams_says_whom_it_answers() {
    let stream = "-protocol:udp -bitspersecond:25000000 -framerate:60 -streamlength:60";
    let (words, notes) = said(&format!("-listen:* {stream} -allow:10.0.0.0/8 -ALLOW:fd00::/8"));
    assert!(words.contains(" --allow 10.0.0.0/8 --allow fd00::/8 "), "{words}");
    assert_eq!(notes, [""; 0]);
}
