//! What a line of iperf3 is in words of ours. Not here: what it asks for, and what its user sees.

use std::fmt::Display;

use pathscope_core::quantity::BitRate;
use pathscope_modes::load::period_of_whole_blocks;

use super::asked::{Client, Common, Extent, Server, Way};

/// What stands for a test without an end: a year.
const ENDLESS_S: u64 = 366 * 86_400;
/// The longest time from one report to the next.
const LONGEST_REPORT_NS: u64 = 3_600_000_000_000;

/// Words, one by one.
#[derive(Debug, Default)]
struct Line(Vec<String>);

impl Line {
    fn word(&mut self, word: &str) {
        self.0.push(word.to_owned());
    }

    fn say(&mut self, option: &str, value: &dyn Display) {
        self.0.extend([option.to_owned(), value.to_string()]);
    }
}

/// The words of a client, and what of its own is not as it was said.
pub(super) fn client(client: &Client) -> (Vec<String>, Vec<String>) {
    let (mut line, mut notes) = (Line::default(), client.common.notes.clone());
    let Client { common, .. } = client;
    line.word("goodput");
    line.word(&client.host);
    line.say("--peer", &"iperf3");
    line.say("--port", &common.port);
    // Behind a sign, so that one that begins with a dash is no option.
    client.title.iter().for_each(|text| line.word(&format!("--title={text}")));
    client.extra_data.iter().for_each(|text| line.word(&format!("--extra-data={text}")));
    if client.wants_server_output {
        line.word("--server-output");
    }
    client.connect_ms.iter().for_each(|ms| line.say("--connect-within", &format!("{ms}ms")));
    line.say("--connections", &client.streams);
    line.say(
        "--pattern",
        &match client.way {
            Way::Push => "push",
            Way::Pull => "pull",
            Way::Both => "bidir",
        },
    );
    extent(client, &mut line);
    if client.is_udp {
        line.say("--protocol", &"udp");
        line.say("--datagram", &bytes(client.block_bytes));
    } else {
        line.say("--buffer", &bytes(client.block_bytes));
    }
    rate(client, &mut line, &mut notes);
    sockets(client, &mut line, &mut notes);
    if let Some((own, other)) = common.affinity {
        line.say("--cpu", &own);
        other.iter().for_each(|cpu| line.say("--server-cpu", &cpu));
    }
    line.say("--report-every", &format!("{}ms", report_every_ns(client) / 1_000_000));
    line.word("--no-probe");
    line.word("--quiet");
    files(common, &mut line);
    family(common, &mut line);
    (line.0, notes)
}

fn extent(client: &Client, line: &mut Line) {
    let each = |all: u64| all.div_ceil(u64::from(client.streams.max(1)));
    match client.extent {
        Extent::Seconds(seconds) => {
            let all = if seconds == 0 { ENDLESS_S } else { seconds + client.omit_s };
            line.say("--duration", &format!("{all}s"));
            line.say("--warm-up", &format!("{}s", client.omit_s));
        }
        Extent::Bytes(all) => line.say("--transfer", &bytes(each(all))),
        Extent::Blocks(all) => {
            line.say("--transfer", &bytes(each(all).saturating_mul(client.block_bytes)));
        }
    }
}

fn rate(client: &Client, line: &mut Line, notes: &mut Vec<String>) {
    let rates = [client.rate_bps, client.fq_rate_bps].into_iter().flatten();
    let Some(rate_bps) = rates.min() else { return };
    line.say("--rate", &format!("{rate_bps}bit"));
    if client.is_udp {
        if client.burst.is_some() {
            let text =
                "-b N/COUNT: with -u the count has no effect: each datagram leaves when it is due";
            notes.push(text.to_owned());
        }
        return;
    }
    // Blocks leave whole, as the original writes them: servers since 3.18 count nothing less.
    let at_once = client.burst.map_or(1, u64::from);
    let period = period_of_whole_blocks(BitRate(rate_bps), client.block_bytes, at_once);
    period.iter().for_each(|period| line.say("--rate-period", &format!("{}ns", period.0)));
}

fn sockets(client: &Client, line: &mut Line, notes: &mut Vec<String>) {
    let Client { common, is_udp, .. } = client;
    if let Some(size) = client.window_bytes {
        line.say("--send-buffer", &bytes(size));
        line.say("--receive-buffer", &bytes(size));
    }
    if !is_udp {
        client.congestion.iter().for_each(|name| line.say("--congestion", &name));
        client.mss.iter().for_each(|size| line.say("--mss", &bytes(*size)));
        client.send_timeout_ms.iter().for_each(|ms| line.say("--user-timeout", &format!("{ms}ms")));
        // The original leaves TCP as the system has it, which holds small segments back.
        if !client.is_no_delay {
            line.word("--nagle");
        }
    }
    if *is_udp {
        line.word(if client.is_whole { "--dont-fragment" } else { "--may-fragment" });
    }
    if client.tos > 0 {
        line.say("--dscp", &(client.tos >> 2));
        if client.tos & 3 != 0 {
            let text = format!(
                "-S {}: its two lowest bits are those of congestion notification (ECN), which are the kernel's",
                client.tos
            );
            notes.push(text);
        }
    }
    client.flow_label.iter().for_each(|label| line.say("--flow-label", label));
    common.bind.iter().for_each(|address| line.say("--bind", &address));
    common.device.iter().for_each(|device| line.say("--interface", &device));
    if let Some(first) = client.client_port {
        let streams = if client.way == Way::Both { client.streams * 2 } else { client.streams };
        let last = u32::from(first).saturating_add(streams).saturating_sub(1).min(65_535);
        if last > u32::from(first) {
            line.say("--source-port", &format!("[{first},{last}]"));
        } else {
            line.say("--source-port", &first);
        }
    }
}

/// From one report to the next: so that a row can begin where the warm-up ends, and rows are as long as was asked.
pub(super) fn report_every_ns(client: &Client) -> u64 {
    let omit_ns = client.omit_s * 1_000_000_000;
    match (client.common.interval_ns, omit_ns) {
        (0, 0) => LONGEST_REPORT_NS,
        (0, omit_ns) => omit_ns,
        (interval_ns, omit_ns) => common_divisor(interval_ns, omit_ns),
    }
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// The words of a server.
pub(super) fn server(server: &Server) -> (Vec<String>, Vec<String>) {
    let (mut line, mut notes) = (Line::default(), server.common.notes.clone());
    let Server { common, .. } = server;
    line.word("server");
    line.say("--accept", &"iperf3");
    line.say("--iperf3-port", &common.port);
    let every = match common.family {
        Some(4) => "0.0.0.0",
        Some(_) => "::",
        None => "*",
    };
    line.say("--listen", &common.bind.as_deref().unwrap_or(every));
    if let Some((own, other)) = common.affinity {
        line.say("--cpu", &own);
        if other.is_some() {
            notes.push("-A N,M: at a server the second number has no effect".to_owned());
        }
    }
    // Without a limit a test may last as long as its client wants.
    line.say("--limit-duration", &format!("{}s", server.most_seconds.unwrap_or(0)));
    if let Some((bits, over_ns)) = server.most_rate {
        line.say("--iperf3-limit-rate", &format!("{bits}bit"));
        line.say("--iperf3-limit-rate-over", &format!("{over_ns}ns"));
        // Whoever says how much a test may move says it of datagrams for other machines, too.
        line.say("--limit-datagram-rate", &format!("{bits}bit"));
    }
    line.word("--quiet");
    if server.is_one_off {
        line.say("--exit-after-tests", &1);
    }
    server.idle_s.iter().for_each(|idle_s| line.say("--exit-after-idle", &format!("{idle_s}s")));
    if server.is_daemon {
        line.word("--daemon");
        line.say("--log-file", &common.log_file.as_deref().map_or("/dev/null".to_owned(), rooted));
        common.pid_file.iter().for_each(|file| line.say("--pid-file", &rooted(file)));
    } else {
        files(common, &mut line);
    }
    (line.0, notes)
}

/// What is shown goes to a file, and the number of the process to another.
fn files(common: &Common, line: &mut Line) {
    common.log_file.iter().for_each(|file| line.say("--log-file", file));
    common.pid_file.iter().for_each(|file| line.say("--pid-file", file));
}

/// A file, where it is: one in the background has the root of the file system as its folder.
fn rooted(file: &str) -> String {
    if file.starts_with('/') { file.to_owned() } else { format!("/{file}") }
}

/// A name may have addresses of both families.
fn family(common: &Common, line: &mut Line) {
    match common.family {
        Some(4) => line.word("-4"),
        Some(_) => line.word("-6"),
        None => {}
    }
}

fn bytes(number: u64) -> String {
    format!("{number}B")
}
