//! The banners of the guide, but for what is of Windows alone.

use super::super::read;
use super::*;

fn shown(words: &str, addresses: &[&str]) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let settings = read::settings(&words).expect("it is a line");
    banner(&settings, &Addresses(addresses.iter().map(|&it| it.to_owned()).collect()))
}

#[test]
fn the_guides_client_over_tcp() {
    let words = "-target:localhost -consoleverbosity:1 -statusfilename:clientstatus.csv -connectionfilename:clientconnections.csv";
    let text = shown(words, &["[::1]:4444", "127.0.0.1:4444"]);
    let expected = "
  Configured Settings
  -------------------
\tProtocol: TCP
\tOptions: None
\tIO function: sockets of this system
\tIoPattern: Push <TCP client send/server recv>
\tPrePostRecvs: 1
\tPrePostSends: 1
\tLevel of verification: Connections & Data
\tPort: 4444
\tBuffer used for each IO request: 65536 [0x10000] bytes
\tTotal transfer per connection: 1073741824 bytes
\tConnecting out to addresses:\u{20}
\t\t[::1]:4444
\t\t127.0.0.1:4444
\tBinding to local addresses for outgoing connections:\u{20}
\t\t0.0.0.0
\t\t::
\tConnection limit (maximum established connections): 8 [0x8]
\tConnection throttling rate (maximum pended connection attempts): 1000 [0x3e8]
\tTotal outgoing connections before exit (iterations * concurrent connections) : 0xffffffffffffffff

";
    assert_eq!(text, expected);
}

#[test]
fn the_guides_client_over_udp() {
    let words = "-target:localhost -protocol:udp -bitspersecond:25000000 -framerate:60 -bufferdepth:1 -streamlength:60 \
                 -connections:1 -iterations:1 -consoleverbosity:1";
    let text = shown(words, &["[::1]:4444", "127.0.0.1:4444"]);
    for line in [
        "Protocol: UDP",
        "Options: SO_RCVBUF(1048576)",
        "IO function: MediaStream Client",
        "IoPattern: MediaStream <UDP controlled stream from server to client>",
        "Total transfer per connection: 187498800 bytes",
        "UDP Stream BitsPerSecond: 25000000 bits per second",
        "UDP Stream FrameRate: 60 frames per second",
        "UDP Stream BufferDepth: 1 seconds",
        "UDP Stream StreamLength: 60 seconds (3600 frames)",
        "UDP Stream FrameSize: 52083 bytes",
        "Connection limit (maximum established connections): 1 [0x1]",
        "Total outgoing connections before exit (iterations * concurrent connections) : 1 [0x1]",
    ] {
        assert!(text.lines().any(|it| it == format!("\t{line}")), "{line} is not in {text}");
    }
}

#[test]
fn a_server_says_where_it_listens_and_what_it_expects() {
    let text = shown(
        "-listen:::1 -listen:h4 -pattern:pushpull -pushbytes:5 -buffer:[1024,1048576] -serverexitlimit:10 -ratelimit:5000",
        &[],
    );
    for line in [
        "Options: KeepAlive",
        "IoPattern: PushPull <TCP client/server alternate send/recv>",
        "PushBytes: 5",
        "PullBytes: 1048576",
        "Buffer used for each IO request: [1024, 1048576] [0x400, 0x100000] bytes",
        "Sending throughput rate limited down to: 5000 bytes/second",
        "Server-accepted connections before exit : 10 [0xa]",
        "\t[::1]:4444",
        "\th4:4444",
    ] {
        assert!(text.lines().any(|it| it == format!("\t{line}")), "{line} is not in {text}");
    }
}
