//! What is said to who asks for help, or for the version.

use super::objects::VERSION;

/// The version.
pub(super) fn version() -> String {
    format!("{VERSION}\nThis is pathscope, which speaks iperf3's protocol and takes its options.\n")
}

/// The options.
pub(super) fn text() -> String {
    TEXT.to_owned()
}

const TEXT: &str = "\
iperf3, as pathscope speaks it: how much TCP and UDP carry

Usage: iperf3 -s [options]         be a server, of many clients at once
       iperf3 -c HOST [options]    be a client

Both ends:
  -p, --port N             port of the server (5201)
  -f, --format UNIT        unit of rates: k m g t bits, K M G T bytes (what suits)
  -i, --interval S         from one row to the next, 0.1 to 60 s; 0: one row (1)
  -A, --affinity N[,M]     processor of this end, and of the other
  -B, --bind HOST[%DEV]    address of this end, and its interface
      --bind-dev DEV       interface of this end (client)
  -4, --version4, -6, --version6
                           addresses of one family alone
  -V, --verbose            say more
  -J, --json               one JSON document at the end
      --json-stream        a line of JSON for each event
      --json-stream-full-output
                           with it the whole document at the end, too
      --timestamps[=FORM]  time before each line, as strftime has it (%c)
      --logfile FILE       what is shown is added to this file
  -I, --pidfile FILE       the number of the process goes to this file
      --forceflush         as it is in any case
  -h, --help, -v, --version

Server:
  -s, --server
  -D, --daemon             go on in the background
  -1, --one-off            serve one test and end
      --idle-timeout S     with -1: end when nobody has come for so long
      --server-max-duration S
                           length of one test, warm-up included
      --server-bitrate-limit N[KMGT][/S]
                           what one test may move in all, averaged over S seconds (5)

Client:
  -c, --client HOST[%DEV]
  -u, --udp                datagrams
  -b, --bitrate N[KMGT][/B]
                           bits a second of each stream; 0: as fast as it goes; over TCP B blocks at once
                           (TCP 0, UDP 1048576)
      --fq-rate N[KMGT]    the same, in the option that the kernel holds elsewhere; the lower of both counts
  -t, --time S             how long; 0: until it is stopped (10)
  -n, --bytes N[KMGT]      or how many bytes, on all streams together
  -k, --blockcount N[KMGT] or how many blocks
  -l, --length N[KMGT]     bytes of a block, or of a datagram (TCP 128K, UDP 1448)
  -P, --parallel N         streams in each direction, 1 to 128 (1)
  -R, --reverse            the server sends
      --bidir              both send, each on streams of its own
  -O, --omit S             seconds at the start that are left out of the figures
  -w, --window N[KMGT]     socket buffers of both ends
  -C, --congestion NAME    congestion control
  -M, --set-mss N          largest segment
  -N, --no-delay           hold no small segments back
  -S, --tos N, --dscp N    the byte in the header of IP, or the code point in it, by number or name
  -L, --flowlabel N        label of this end's IPv6 packets
      --cport N            port of this end
      --connect-timeout MS for how long the server may let its connection wait (5000)
      --snd-timeout MS     give a connection up on which what was sent is not acknowledged for so long
      --dont-fragment      datagrams leave whole or not at all
  -T, --title TEXT         before each line, and in the JSON of both ends
      --extra-data TEXT    in the JSON of both ends
      --get-server-output  show what the server prints of the test, too

What is not offered, and what has no effect, is said where it is typed.
";
