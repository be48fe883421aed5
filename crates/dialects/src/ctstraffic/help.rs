//! What is said to who asks for help, topic by topic.

/// The code that ctsTraffic ends with when it has helped: `ERROR_INVALID_DATA`.
pub const EXIT_CODE: u8 = 13;

/// What a word asks for, if it asks for help: any that begins with `-Help` does, whatever stands beside it.
fn asked(word: &str) -> Option<&'static str> {
    if word == "-?" {
        return Some(USAGE);
    }
    let begins = word.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("-help"));
    let topic = word.split_once(':').map_or("", |(_, topic)| topic).to_ascii_lowercase();
    begins.then_some(match topic.as_str() {
        "tcp" => TCP,
        "udp" => UDP,
        "logging" => LOGGING,
        "advanced" => ADVANCED,
        _ => USAGE,
    })
}

/// The help that a line asks for; a line without words asks for the shortest.
pub fn of(words: &[&str]) -> Option<&'static str> {
    if words.is_empty() { Some(USAGE) } else { words.iter().find_map(|word| asked(word)) }
}

const USAGE: &str = "\
ctsTraffic, as pathscope speaks it: moves bytes on TCP connections, or streams of frames over UDP

At a server:   ctsTraffic -listen:*        [-Name:value …]
At a client:   ctsTraffic -target:SERVER   [-Name:value …]

Both ends have to be given the same -Port, -Protocol, -Pattern, -Transfer and -Verify; over UDP the same -BitsPerSecond,
-FrameRate and -StreamLength. Names and named values are read in any case; numbers in tens, or in sixteens (0x10000).

  -Listen:ADDRESS|*        be a server, at this address or at all; several times: at each
  -Target:NAME|ADDRESS     be a client of this server; several times: of each, in turns
  -Pattern:HOW             push (the client sends), pull, pushpull, duplex; flood is duplex      [push]
  -Transfer:BYTES          bytes of each connection                                              [1073741824]
  -Connections:N           connections at once                                                   [8; UDP 1]
  -Iterations:N            how often each is made; 0: for ever                                   [for ever]
  -ConsoleVerbosity:0…6    what is shown                                                         [4]

More: -Help:tcp, -Help:udp, -Help:logging, -Help:advanced
";

const TCP: &str = "\
ctsTraffic over TCP

  -Protocol:tcp
  -Port:N                  of the server                                                         [4444]
  -Pattern:HOW             push, pull, pushpull, duplex or flood                                 [push]
  -Transfer:BYTES          of each connection; [LOW,HIGH]: drawn for each, to break them         [1073741824]
  -Buffer:BYTES            of a send or receive; [LOW,HIGH]: drawn for each of them              [65536]
  -PushBytes:BYTES         what a client sends in a turn of pushpull                             [1048576]
  -PullBytes:BYTES         what a server sends in a turn of pushpull                             [1048576]
  -Verify:WHAT             data (each byte) or connection (counts alone)                         [data]
  -Shutdown:HOW            how a client ends: graceful (FIN), rude (RST), random                 [graceful]
  -RateLimit:BYTES         that this end sends a second on each connection                       [no limit]
  -RateLimitPeriod:MS      whose share leaves at once                                            [100]
  -Connections:N           at once, at a client                                                  [8]
  -Iterations:N            how often each is made, at a client; 0: for ever                      [for ever]
  -ServerExitLimit:N       connections after which a server ends; 0: never                       [never]
  -TimeLimit:MS            when it ends, whatever there is left                                  [never]
";

const UDP: &str = "\
ctsTraffic over UDP: a server streams frames to a client, which tells the whole from the dropped

  -Protocol:udp
  -Port:N                  of the server                                                         [4444]
  -BitsPerSecond:N         of a stream                                                           (needed)
  -FrameRate:N             frames a second                                                       (needed)
  -StreamLength:SECONDS    of a stream                                                           (needed)
  -BufferDepth:SECONDS     that a client waits before it plays a frame                           [1]
  -DatagramByteSize:BYTES  the largest datagram, its header included                             [1400]
  -Allow:NETWORK           that a server answers besides this machine and its links, as 10.0.0.0/8;
                           several times: each (of pathscope alone)
  -Connections:N           streams at once, at a client                                          [1]
  -Iterations:N            how often each is asked for, at a client; 0: for ever                 [for ever]
  -ServerExitLimit:N       streams after which a server ends; 0: never                           [never]
";

const LOGGING: &str = "\
What ctsTraffic shows and writes

  -ConsoleVerbosity:N      0 settings and summary; 1 and status; 2 status and errors; 3 connections; 4 connections and
                           errors; 5 all of these; 6 and steps                                   [4]
  -StatusUpdate:MS         from one row of status to the next                                    [5000]
  -StatusFilename:FILE     rows of status                                                        .csv, or text
  -ConnectionFilename:FILE a row for each connection that has ended                              .csv, or text
  -ErrorFilename:FILE      a line for each error                                                 text
  -JitterFilename:FILE     a row for each frame, of a client with one stream                     .csv
  -TcpInfoFilename:FILE    what the kernel says of each connection at its end                    .csv

Files are UTF-8. Two logs may be one file of text.
";

const ADVANCED: &str = "\
Everything else of ctsTraffic

  -Bind:ADDRESS|*          of this end, at a client; several times: in turns                     [*]
  -LocalPort:N             or [LOW,HIGH]: of this end, at a client                               [any]
  -IfIndex:N               interface of this end, at a client, by its number                     [any]
  -ThrottleConnections:N   in the making at once, at a client; 0: any number                     [1000]
  -PauseAtEnd:MS           to stay after all is done                                             [0]
  -RecvBufValue:BYTES      SO_RCVBUF of this end                                                 [the system's; UDP client 1048576]
  -SendBufValue:BYTES      SO_SNDBUF of this end                                                 [the system's]
  -Options:keepalive       ask whether the other end is there                                    [on at a TCP server]
  -KeepAliveValue:MS       the same, after so long without a word
  -QosDscpValue:0…63       code point of what this end sends                                     [the system's]
  -BurstCount:N            sends before each pause of
  -BurstDelay:MS

Without effect here, and read all the same: -IO, -Conn:connect|ConnectEx, -Acc, -InlineCompletions, -MsgWaitAll,
-PrePostRecvs, -PrePostSends, -PortScalability, -Options:tcpfastpath, -Threadpool, -CpuSetGroupId:0, -EnableRecvSharding:on,
-ShardCount, -ShardWorkerCount, -IocpBatchSize, -AffinityPolicy, -OnError:log. -Conn:ConnectByName makes -Shutdown:rude, as ever.
Refused: -Compartment, -CpuSetGroupId of more than 0, -OnError:break, -StreamCodec.
";

#[cfg(test)]
mod tests {
    use super::super::options::OPTIONS;
    use super::*;

    #[test]
    fn help_comes_in_any_case_and_before_everything_else() {
        assert_eq!(of(&[]), Some(USAGE));
        for word in ["-?", "-help", "-HELP", "-Help:", "-Help:acceptance", "-Helpless"] {
            assert_eq!(of(&["-target:a", word]), Some(USAGE), "{word}");
        }
        assert_eq!(of(&["-Help:TCP"]), Some(TCP));
        assert_eq!(of(&["framerate:5", "-help:udp"]), Some(UDP));
        assert_eq!(of(&["-help:Logging"]), Some(LOGGING));
        assert_eq!(of(&["-help:advanced"]), Some(ADVANCED));
        assert_eq!(of(&["-target:-help"]), None);
        assert_eq!(of(&["-hélp"]), None);
    }

    #[test]
    fn every_option_has_a_word_in_some_topic() {
        for known in &OPTIONS {
            let name = format!("-{}", known.name);
            let told = [USAGE, TCP, UDP, LOGGING, ADVANCED].iter().any(|text| text.contains(&name));
            assert!(told, "{name} is in no topic");
        }
    }
}
