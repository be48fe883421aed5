//! Every option, its values and its errors.

use super::super::options::{Effect, OPTIONS};
use super::*;

fn read(words: &str) -> Result<Settings, String> {
    settings(&words.split_whitespace().collect::<Vec<_>>())
}

fn tcp_of(words: &str) -> Tcp {
    match read(words).expect(words).traffic {
        Traffic::Tcp(tcp) => tcp,
        Traffic::Udp(_) => panic!("{words}: it is TCP"),
    }
}

fn client_of(words: &str) -> Client {
    match read(words).expect(words).role {
        Role::Client(client) => client,
        Role::Server(_) => panic!("{words}: it is a client"),
    }
}

#[test]
fn what_is_not_given_is_as_it_has_it() {
    let settings = read("-target:h1").expect("a client");
    assert_eq!(settings.port, 4_444);
    assert_eq!(settings.log.verbosity, 4);
    assert_eq!(settings.log.status_update_ms, 5_000);
    let client = client_of("-target:h1");
    assert_eq!((client.connections, client.iterations, client.throttle), (8, None, Some(1_000)));
    let tcp = tcp_of("-target:h1");
    assert_eq!(tcp.pattern, Pattern::Push);
    assert_eq!((tcp.transfer, tcp.buffer), (Range::one(1 << 30), Range::one(65_536)));
    assert_eq!((tcp.push_bytes, tcp.pull_bytes), (1 << 20, 1 << 20));
    assert_eq!((tcp.verifies_data, tcp.shutdown), (true, Shutdown::Graceful));
    assert_eq!(tcp.keepalive, Keepalive::Never);
    assert_eq!(tcp_of("-listen:*").keepalive, Keepalive::Usual);
    let server = read("-listen:*").expect("a server").role;
    assert_eq!(server, Role::Server(Server::default()));
}

#[test]
fn values_are_read_in_any_case_and_in_sixteens() {
    let words = "-TARGET:fe80::1%eth0 -target:h2 -Bind:* -bind:10.0.0.1 -PORT:0x1000 -LOCALPORT:[20000,20015] -ifindex:2 \
                 -Connections:0x10 -Iterations:3 -ThrottleConnections:0";
    let client = client_of(words);
    assert_eq!(client.targets, ["fe80::1%eth0", "h2"]);
    assert_eq!(client.bind, ["10.0.0.1"]);
    assert_eq!(client.local_ports, Some(Range { low: 20_000, high: 20_015 }));
    assert_eq!((client.interface, client.connections), (Some(2), 16));
    assert_eq!((client.iterations, client.throttle), (Some(3), None));
    assert_eq!(read(words).expect(words).port, 4_096);
    let words = "-target:a -PATTERN:FLOOD -transfer:[0xff,0xffffff] -Buffer:[1024,1048576] -verify:Connection -shutdown:RANDOM \
                 -ratelimit:[1000,2000] -ratelimitperiod:50";
    let tcp = tcp_of(words);
    assert_eq!((tcp.pattern, tcp.shutdown), (Pattern::Duplex, Shutdown::Random));
    assert_eq!(tcp.transfer, Range { low: 255, high: 0xff_ffff });
    assert_eq!(tcp.buffer, Range { low: 1_024, high: 1_048_576 });
    assert!(!tcp.verifies_data);
    let rate = Rate { limit: Range { low: 1_000, high: 2_000 }, period_ms: 50 };
    assert_eq!(tcp.rate, Some(rate));
    let words = "-target:a -pattern:pushpull -pushbytes:7 -pullbytes:9 -burstcount:2 -burstdelay:150 -keepalivevalue:5000";
    let tcp = tcp_of(words);
    assert_eq!((tcp.push_bytes, tcp.pull_bytes), (7, 9));
    assert_eq!((tcp.burst, tcp.keepalive), (Some((2, 150)), Keepalive::AfterMs(5_000)));
    assert_eq!(
        tcp_of("-target:a -options:KeepAlive -options:tcpfastpath").keepalive,
        Keepalive::Usual
    );
    assert_eq!(tcp_of("-target:a -conn:connectbyname").shutdown, Shutdown::Rude);
    let words = "-listen:10.0.0.1 -listen:::1 -serverexitlimit:10 -timelimit:90 -pauseatend:8 -qosdscpvalue:46 \
                 -recvbufvalue:7000 -sendbufvalue:8000 -statusupdate:500 -consoleverbosity:6";
    let settings = read(words).expect(words);
    let listen = vec!["10.0.0.1".to_owned(), "::1".to_owned()];
    assert_eq!(
        settings.role,
        Role::Server(Server { listen, exit_limit: Some(10), ..Server::default() })
    );
    assert_eq!((settings.time_limit_ms, settings.pause_at_end_ms), (Some(90), Some(8)));
    assert_eq!((settings.dscp, settings.log.status_update_ms), (Some(46), 500));
    assert_eq!((settings.receive_buffer, settings.send_buffer), (Some(7_000), Some(8_000)));
    let words = "-target:a -protocol:UDP -bitspersecond:25000007 -framerate:60 -bufferdepth:2 -streamlength:60 \
                 -datagrambytesize:1470 -jitterfilename:J.CSV";
    let udp = Udp {
        bits_per_second: 25_000_000,
        frame_rate: 60,
        stream_length: 60,
        buffer_depth: 2,
        datagram_bytes: 1_470,
    };
    assert_eq!(read(words).expect(words).traffic, Traffic::Udp(udp));
    assert_eq!(client_of(words).connections, 1);
}

#[test]
fn zero_iterations_and_no_limit_of_a_server_are_for_ever() {
    assert_eq!(client_of("-target:a -iterations:0").iterations, None);
    let server = read("-listen:* -serverexitlimit:0").expect("a server").role;
    assert_eq!(server, Role::Server(Server::default()));
    let server = read("-listen:10.0.0.1 -listen:*").expect("a server").role;
    assert_eq!(server, Role::Server(Server::default()));
}

#[test]
fn what_has_no_effect_is_told_as_it_was_typed() {
    let words =
        "-target:a -io:RIOIOCP -prepostsends:0 -msgwaitall:off -verify:connection -prepostrecvs:3";
    let idle = read(words).expect(words).idle;
    assert_eq!(idle, ["-MsgWaitAll:off", "-IO:RIOIOCP", "-PrePostRecvs:3", "-PrePostSends:0"]);
    assert_eq!(read("-target:a -options:keepalive").expect("a client").idle, [""; 0]);
    let fast = read("-target:a -options:TcpFastPath").expect("a client");
    assert_eq!(fast.idle, ["-Options:TcpFastPath"]);
}

#[test]
fn every_option_is_read_by_somebody() {
    const UDP: &str = "-protocol:udp -bitspersecond:8000000 -framerate:10 -streamlength:1";
    for known in OPTIONS.iter().filter(|known| !matches!(known.effect, Effect::Refused(_))) {
        // What no option takes is refused where it is read, on one of these lines.
        let word = format!("-{}:\u{1}", known.name);
        let lines =
            ["-target:a -pattern:pushpull", "-listen:*", "-target:a {UDP}", "-listen:* {UDP}"];
        let takes_text = [
            "Listen",
            "Target",
            "Bind",
            "Allow",
            "StatusFilename",
            "ConnectionFilename",
            "ErrorFilename",
            "Threadpool",
        ];
        let is_refused = lines.iter().any(|line| {
            let line = line.replace("{UDP}", UDP);
            let others = line.split(' ').filter(|it| {
                !it.to_ascii_lowercase()
                    .starts_with(&format!("-{}:", known.name.to_ascii_lowercase()))
            });
            let words: Vec<&str> = others.chain([word.as_str()]).collect();
            settings(&words)
                .is_err_and(|error| error.contains("\\u{1}") && error.contains(known.name))
        });
        let is_named = known.name.ends_with("Filename") || is_refused;
        assert!(is_named || takes_text.contains(&known.name), "{} is not read", known.name);
    }
}

#[test]
fn what_is_wrong_is_named() {
    const UDP: &str =
        "-target:a -protocol:udp -bitspersecond:8000000 -framerate:10 -streamlength:1";
    for (words, part) in [
        ("-port:5", "-Target:HOST, or be one with -Listen:*"),
        ("-listen:* -target:a", "-Listen makes a server and -Target a client"),
        ("-target:a framerate:60", "'framerate:60' is no option"),
        ("-target:a -port:0", "-Port: '0' is not a whole number from 1 to 65535"),
        ("-target:a -port:65536", "-Port: '65536'"),
        ("-target:a -protocol:sctp", "-Protocol: 'sctp' is not known; choose tcp, udp"),
        ("-target:a -pattern:pish", "choose push, pull, pushpull, duplex, flood"),
        ("-target:a -transfer:0", "-Transfer: '0' is not a whole number from 1 on"),
        ("-target:a -transfer:1GB", "-Transfer: '1GB'"),
        ("-target:a -buffer:128KB", "-Buffer: '128KB'"),
        ("-target:a -buffer:[5,4]", "-Buffer: '[5,4]' ends before it begins"),
        ("-target:a -pushbytes:5", "-PushBytes is of -Pattern:pushpull"),
        ("-target:a -pattern:pushpull -pullbytes:0", "-PullBytes: '0'"),
        ("-target:a -connections:0", "-Connections: '0'"),
        ("-target:a -connections:-1", "-Connections: '-1'"),
        ("-target:a -localport:[5000,5003]", "4 ports, and there are 8 connections"),
        ("-target:a -ifindex:0", "-IfIndex: '0'"),
        ("-target:a -ifindex:eth0", "-IfIndex: 'eth0'"),
        ("-target:a -timelimit:0", "-TimeLimit: '0'"),
        ("-target:a -pauseatend:0", "-PauseAtEnd: '0'"),
        ("-target:a -statusupdate:0", "-StatusUpdate: '0'"),
        (
            "-target:a -consoleverbosity:7",
            "-ConsoleVerbosity: '7' is not a whole number from 0 to 6",
        ),
        ("-target:a -verify:all", "-Verify: 'all' is not known"),
        ("-target:a -shutdown:kill", "-Shutdown: 'kill' is not known"),
        ("-target:a -qosdscpvalue:64", "-QosDscpValue: '64' is not a whole number from 0 to 63"),
        ("-target:a -keepalivevalue:0", "-KeepAliveValue: '0'"),
        ("-target:a -options:nagle", "-Options: 'nagle' is not known; choose keepalive"),
        ("-target:a -ratelimit:0", "-RateLimit: '0'"),
        ("-target:a -ratelimitperiod:5", "-RateLimitPeriod is of -RateLimit"),
        ("-target:a -ratelimit:10 -ratelimitperiod:50", "less than one in 50 ms"),
        ("-target:a -burstcount:5", "-BurstCount and -BurstDelay go together"),
        ("-target:a -burstcount:5 -burstdelay:5 -ratelimit:5000", "two ways to slow down"),
        ("-target:a -prepostrecvs:2", "needs -Verify:connection"),
        ("-target:a -prepostrecvs:0", "-PrePostRecvs: '0'"),
        ("-target:a -io:wsapoll", "-IO: 'wsapoll' is not known"),
        ("-target:a -conn:dial", "-Conn: 'dial' is not known"),
        ("-target:a -cpusetgroupid:1", "processors have no groups here"),
        ("-target:a -onerror:break", "no debugger here"),
        ("-target:a -errorfilename:e.csv", "-ErrorFilename is a file of text"),
        ("-target:a -tcpinfofilename:e.txt", "-TcpInfoFilename is a file of CSV"),
        ("-target:a -statusfilename:a.csv -connectionfilename:a.csv", "are one file of CSV"),
        ("-target:a -protocol:udp", "-BitsPerSecond is missing"),
        ("-target:a -protocol:udp -bitspersecond:8000", "-FrameRate is missing"),
        (
            "-target:a -protocol:udp -bitspersecond:8000000 -framerate:10001 -streamlength:1",
            "-FrameRate: '10001' is not a whole number from 1 to 10000",
        ),
        (
            "-target:a -protocol:udp -bitspersecond:8000 -framerate:60 -streamlength:5",
            "frames of 16 bytes",
        ),
        (
            "-target:a -protocol:udp -bitspersecond:7 -framerate:60 -streamlength:5",
            "-BitsPerSecond: '7'",
        ),
        ("-target:a -bitspersecond:8000", "-BitsPerSecond is of UDP"),
        ("-target:a -jitterfilename:j.csv", "-JitterFilename is of UDP"),
        ("-listen:* -shutdown:rude", "-Shutdown is of clients"),
        ("-listen:* -bind:a", "-Bind is of clients"),
        (
            "-listen:* -protocol:udp -bitspersecond:8000000 -framerate:10 -streamlength:1 -shardcount:4",
            "-EnableRecvSharding:on",
        ),
    ] {
        let error = read(words).expect_err(words);
        assert!(error.contains(part), "{words}: {error}");
    }
    for (words, part) in [
        (
            "-datagrambytesize:127",
            "-DatagramByteSize: '127' is not a whole number from 128 to 65507",
        ),
        ("-bufferdepth:0", "-BufferDepth: '0'"),
        ("-bufferdepth:61", "-BufferDepth: '61' is not a whole number from 1 to 60"),
        ("-transfer:5", "-Transfer is of TCP"),
        ("-connections:2 -jitterfilename:j.csv", "give -Connections:1"),
    ] {
        let error = read(&format!("{UDP} {words}")).expect_err(words);
        assert!(error.contains(part), "{words}: {error}");
    }
}

#[test]
fn two_logs_may_be_one_file_of_text() {
    let log = read("-target:a -statusfilename:a.txt -connectionfilename:a.txt").expect("text").log;
    assert_eq!(log.status, log.connections);
}
