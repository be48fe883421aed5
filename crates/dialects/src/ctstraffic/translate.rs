//! What a command line of ctsTraffic is in words of ours. What it shows of it is the screen's affair, and so are its files.

use std::ffi::OsString;

use super::grammar::Range;
use super::settings::{
    Client, Keepalive, Pattern, Role, Server, Settings, Shutdown, Tcp, Traffic, Udp,
};

/// What Windows waits for where a program asks for keepalive and says no more, as ours would; Linux waits as long.
const USUAL_KEEPALIVE_MS: u64 = 7_200_000;
/// Whole seconds are what Linux counts.
const LEAST_KEEPALIVE_MS: u64 = 1_000;

/// The words, and what is said of those that have no effect.
pub fn words(settings: &Settings) -> (Vec<OsString>, Vec<String>) {
    let mut words = Words(Vec::new());
    match (&settings.role, &settings.traffic) {
        (Role::Client(client), Traffic::Tcp(tcp)) => goodput(&mut words, settings, client, tcp),
        (Role::Client(client), Traffic::Udp(udp)) => media(&mut words, settings, client, udp),
        (Role::Server(server), traffic) => serve(&mut words, settings, server, traffic),
    }
    (words.0, notes(settings))
}

fn notes(settings: &Settings) -> Vec<String> {
    let mut notes = Vec::new();
    let mut idle = settings.idle.clone();
    if settings.is_udp() && matches!(settings.role, Role::Client(_)) {
        // It sends next to nothing.
        idle.extend(settings.send_buffer.map(|bytes| format!("-SendBufValue:{bytes}")));
    }
    if !idle.is_empty() {
        notes.push(format!("without effect here: {}", idle.join(" ")));
    }
    if let Traffic::Tcp(Tcp { keepalive: Keepalive::AfterMs(asked), .. }) = settings.traffic
        && asked % LEAST_KEEPALIVE_MS != 0
    {
        notes.push(format!(
            "-KeepAliveValue:{asked} is {} s here: whole seconds are counted",
            seconds(asked)
        ));
    }
    notes
}

/// Whole seconds, not less than one.
fn seconds(milliseconds: u64) -> u64 {
    milliseconds.div_ceil(LEAST_KEEPALIVE_MS)
}

/// Words of ours, one behind the other.
struct Words(Vec<OsString>);

impl Words {
    fn word(&mut self, word: &str) {
        self.0.push(word.into());
    }

    fn option(&mut self, option: &str, value: impl Into<OsString>) {
        self.0.extend([option.into(), value.into()]);
    }

    fn option_of(&mut self, option: &str, value: Option<impl Into<OsString>>) {
        value.into_iter().for_each(|value| self.option(option, value));
    }
}

fn bytes(number: u64) -> String {
    format!("{number}B")
}

fn in_bits(bytes: Range) -> Range {
    Range { low: bytes.low.saturating_mul(8), high: bytes.high.saturating_mul(8) }
}

fn milliseconds(number: u64) -> String {
    format!("{number}ms")
}

fn goodput(words: &mut Words, settings: &Settings, client: &Client, tcp: &Tcp) {
    words.word("goodput");
    words.word("--no-probe");
    words.option("--pattern", pattern(tcp.pattern));
    words.option("--connections", client.connections.to_string());
    words.option("--transfer", tcp.transfer.typed("B"));
    words.option("--buffer", tcp.buffer.typed("B"));
    if tcp.pattern == Pattern::PushPull {
        words.option("--push-bytes", bytes(tcp.push_bytes));
        words.option("--pull-bytes", bytes(tcp.pull_bytes));
    }
    words.option("--verify", if tcp.verifies_data { "full" } else { "off" });
    words.option(
        "--shutdown",
        match tcp.shutdown {
            Shutdown::Graceful => "graceful",
            Shutdown::Rude => "rude",
            Shutdown::Random => "random",
        },
    );
    words.option("--connect-limit", client.throttle.unwrap_or(0).to_string());
    // What is sent at the most is each end's own affair: of a client that sends nothing it says nothing.
    let sends = tcp.pattern != Pattern::Pull;
    if let Some(rate) = tcp.rate.filter(|_| sends) {
        words.option("--rate", in_bits(rate.limit).typed("bit"));
        words.option("--rate-period", milliseconds(rate.period_ms));
    }
    if let Some((count, delay)) = tcp.burst.filter(|_| sends) {
        words.option("--burst-count", count.to_string());
        words.option("--burst-delay", milliseconds(delay));
    }
    let keepalive = match tcp.keepalive {
        Keepalive::Never => None,
        Keepalive::Usual => Some(USUAL_KEEPALIVE_MS),
        Keepalive::AfterMs(asked) => Some(asked),
    };
    words.option_of("--keepalive", keepalive.map(|asked| format!("{}s", seconds(asked))));
    words.option_of("--receive-buffer", settings.receive_buffer.map(bytes));
    client_words(words, settings, client);
}

fn media(words: &mut Words, settings: &Settings, client: &Client, udp: &Udp) {
    words.word("media");
    words.option("--rate", format!("{}bit", udp.bits_per_second));
    words.option("--frame-rate", udp.frame_rate.to_string());
    words.option("--duration", format!("{}s", udp.stream_length));
    words.option("--buffer-depth", format!("{}s", udp.buffer_depth));
    words.option("--datagram", bytes(udp.datagram_bytes));
    words.option("--streams", client.connections.to_string());
    words.option_of("--receive-buffer", settings.receive_buffer.map(bytes));
    client_words(words, settings, client);
}

/// What both kinds of client say, and their servers, which nothing else may follow.
fn client_words(words: &mut Words, settings: &Settings, client: &Client) {
    let times = client.iterations.map_or_else(|| "forever".to_owned(), |times| times.to_string());
    words.option("--iterations", times);
    words.option_of("--time-limit", settings.time_limit_ms.map(milliseconds));
    words
        .option_of("--send-buffer", settings.send_buffer.filter(|_| !settings.is_udp()).map(bytes));
    words.option_of("--dscp", settings.dscp.map(|dscp| dscp.to_string()));
    client.bind.iter().for_each(|address| words.option("--bind", address.clone()));
    words.option_of("--source-port", client.local_ports.map(|ports| ports.typed("")));
    words.option_of("--interface", client.interface.map(|index| index.to_string()));
    words.option("--report-every", milliseconds(settings.log.status_update_ms));
    words.word("--quiet");
    words.option("--peer", "ctstraffic");
    words.option("--port", settings.port.to_string());
    words.word("--");
    client.targets.iter().for_each(|target| words.word(target));
}

fn serve(words: &mut Words, settings: &Settings, server: &Server, traffic: &Traffic) {
    words.word("server");
    words.word("--quiet");
    words.option("--accept", "ctstraffic");
    words.option("--ctstraffic-port", settings.port.to_string());
    server.listen.iter().for_each(|address| words.option("--listen", address.clone()));
    server.allow.iter().for_each(|network| words.option("--allow", network.clone()));
    words.option_of("--exit-after", server.exit_limit.map(|limit| limit.to_string()));
    words.option_of("--time-limit", settings.time_limit_ms.map(milliseconds));
    // Rows are made of intervals of all clients, which begin when each comes: shorter ones fit better.
    let every = Some(settings.log.status_update_ms).filter(|&update| update < 1_000);
    words.option_of("--ctstraffic-report-every", every.map(milliseconds));
    words.option_of("--ctstraffic-dscp", settings.dscp.map(|dscp| dscp.to_string()));
    words.option_of("--ctstraffic-send-buffer", settings.send_buffer.map(bytes));
    words.option_of("--ctstraffic-receive-buffer", settings.receive_buffer.map(bytes));
    match traffic {
        Traffic::Tcp(tcp) => {
            words.option("--ctstraffic-pattern", pattern(tcp.pattern));
            words.option("--ctstraffic-transfer", tcp.transfer.typed("B"));
            words.option("--ctstraffic-buffer", tcp.buffer.typed("B"));
            words.option("--ctstraffic-verify", if tcp.verifies_data { "full" } else { "off" });
            if tcp.pattern == Pattern::PushPull {
                words.option("--ctstraffic-push-bytes", bytes(tcp.push_bytes));
                words.option("--ctstraffic-pull-bytes", bytes(tcp.pull_bytes));
            }
            // A server that sends nothing has nothing to slow down.
            let sends = tcp.pattern != Pattern::Push;
            if let Some(rate) = tcp.rate.filter(|_| sends) {
                words.option("--ctstraffic-rate-limit", in_bits(rate.limit).typed("bit"));
                words.option("--ctstraffic-rate-period", milliseconds(rate.period_ms));
            }
            if let Some((count, delay)) = tcp.burst.filter(|_| sends) {
                words.option("--ctstraffic-burst-count", count.to_string());
                words.option("--ctstraffic-burst-delay", milliseconds(delay));
            }
            if let Keepalive::AfterMs(asked) = tcp.keepalive {
                words.option("--ctstraffic-keepalive", format!("{}s", seconds(asked)));
            }
        }
        Traffic::Udp(udp) => {
            words.option("--ctstraffic-bits-per-second", format!("{}bit", udp.bits_per_second));
            words.option("--ctstraffic-frame-rate", udp.frame_rate.to_string());
            words.option("--ctstraffic-stream-length", format!("{}s", udp.stream_length));
            words.option("--ctstraffic-datagram", bytes(udp.datagram_bytes));
        }
    }
}

const fn pattern(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Push => "push",
        Pattern::Pull => "pull",
        Pattern::PushPull => "pushpull",
        Pattern::Duplex => "duplex",
    }
}

#[cfg(test)]
mod tests;
