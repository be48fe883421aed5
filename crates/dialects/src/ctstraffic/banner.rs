//! What is shown before anything moves: the settings, and what the columns of status mean. Not the rows themselves.

use std::fmt::Write as _;

use super::grammar::Range;
use super::settings::{Client, Keepalive, Pattern, Role, Server, Settings, Tcp, Traffic, Udp};

/// Where the far end is, or where this one listens, as far as it is known when the banner is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Addresses(pub Vec<String>);

/// The settings, a line each.
pub fn banner(settings: &Settings, addresses: &Addresses) -> String {
    let mut text = "\n  Configured Settings\n  -------------------\n".to_owned();
    let mut line = |label: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\t{label}: {value}");
    };
    match &settings.traffic {
        Traffic::Tcp(tcp) => tcp_lines(settings, tcp, &mut line),
        Traffic::Udp(udp) => udp_lines(settings, udp, &mut line),
    }
    if let Some(dscp) = settings.dscp {
        line("DSCP of what is sent", &dscp.to_string());
    }
    match &settings.role {
        Role::Client(client) => client_lines(client, addresses, &mut line, settings.port),
        Role::Server(server) => server_lines(server, addresses, &mut line, settings.port),
    }
    text.push('\n');
    text
}

type Say<'text> = dyn FnMut(&str, &str) + 'text;

fn tcp_lines(settings: &Settings, tcp: &Tcp, line: &mut Say<'_>) {
    line("Protocol", "TCP");
    let keepalive = match tcp.keepalive {
        Keepalive::Never => None,
        Keepalive::Usual => Some("KeepAlive".to_owned()),
        Keepalive::AfterMs(milliseconds) => Some(format!("KeepAlive({milliseconds} ms)")),
    };
    line("Options", &options(settings, keepalive));
    line("IO function", "sockets of this system");
    line("IoPattern", pattern(tcp.pattern));
    if tcp.pattern == Pattern::PushPull {
        line("PushBytes", &tcp.push_bytes.to_string());
        line("PullBytes", &tcp.pull_bytes.to_string());
    }
    line("PrePostRecvs", "1");
    line("PrePostSends", "1");
    line(
        "Level of verification",
        if tcp.verifies_data { "Connections & Data" } else { "Connections" },
    );
    line("Port", &settings.port.to_string());
    line("Buffer used for each IO request", &in_hex(tcp.buffer));
    line("Total transfer per connection", &bytes(tcp.transfer));
    if let Some(rate) = tcp.rate {
        line(
            "Sending throughput rate limited down to",
            &format!("{} bytes/second", plain(rate.limit)),
        );
        line("Period of that limit", &format!("{} ms", rate.period_ms));
    }
    if let Some((count, delay)) = tcp.burst {
        line("Pause between bursts of sends", &format!("{delay} ms after each {count}"));
    }
}

fn udp_lines(settings: &Settings, udp: &Udp, line: &mut Say<'_>) {
    let is_client = matches!(settings.role, Role::Client(_));
    line("Protocol", "UDP");
    line("Options", &options(settings, None));
    line("IO function", if is_client { "MediaStream Client" } else { "MediaStream Server" });
    line("IoPattern", "MediaStream <UDP controlled stream from server to client>");
    line("PrePostRecvs", "1");
    line("PrePostSends", "1");
    line("Level of verification", "Connections & Data");
    line("Port", &settings.port.to_string());
    line(
        "Buffer used for each IO request",
        &in_hex(Range::one(udp.datagram_bytes.min(udp.frame_bytes()))),
    );
    line("Total transfer per connection", &bytes(Range::one(udp.total_bytes())));
    line("UDP Stream BitsPerSecond", &format!("{} bits per second", udp.bits_per_second));
    line("UDP Stream FrameRate", &format!("{} frames per second", udp.frame_rate));
    if is_client {
        line("UDP Stream BufferDepth", &format!("{} seconds", udp.buffer_depth));
    }
    let length = format!("{} seconds ({} frames)", udp.stream_length, udp.frames());
    line("UDP Stream StreamLength", &length);
    line("UDP Stream FrameSize", &format!("{} bytes", udp.frame_bytes()));
}

fn client_lines(client: &Client, addresses: &Addresses, line: &mut Say<'_>, port: u16) {
    if let Some(interface) = client.interface {
        line("Interface Index", &interface.to_string());
    }
    let out = listed(&addresses.0, &client.targets, Some(port));
    line("Connecting out to addresses", &out);
    let any = ["0.0.0.0".to_owned(), "::".to_owned()];
    let bind = if client.bind.is_empty() { &any[..] } else { &client.bind };
    line("Binding to local addresses for outgoing connections", &listed(&[], bind, None));
    if let Some(ports) = client.local_ports {
        line("Using local ports for outgoing connections", &plain(ports));
    }
    line("Connection limit (maximum established connections)", &counted(client.connections));
    let throttle = client.throttle.map_or_else(|| "none".to_owned(), counted);
    line("Connection throttling rate (maximum pended connection attempts)", &throttle);
    let total = client.iterations.map(|times| times.saturating_mul(client.connections));
    line(
        "Total outgoing connections before exit (iterations * concurrent connections) ",
        &limit(total),
    );
}

fn server_lines(server: &Server, addresses: &Addresses, line: &mut Say<'_>, port: u16) {
    let any = ["0.0.0.0".to_owned(), "[::]".to_owned()];
    let typed = if server.listen.is_empty() { &any[..] } else { &server.listen };
    line("Accepting connections on addresses", &listed(&addresses.0, typed, Some(port)));
    line("Server-accepted connections before exit ", &limit(server.exit_limit));
}

/// Addresses below their label: those that are known, or else what was typed.
fn listed(known: &[String], typed: &[String], port: Option<u16>) -> String {
    let typed = typed.iter().map(|host| match port {
        Some(port) if host.matches(':').count() > 1 && !host.starts_with('[') => {
            format!("[{host}]:{port}")
        }
        Some(port) => format!("{host}:{port}"),
        None => host.clone(),
    });
    let all: Vec<String> = if known.is_empty() { typed.collect() } else { known.to_vec() };
    all.iter().flat_map(|address| ["\n\t\t", address.as_str()]).collect()
}

fn options(settings: &Settings, keepalive: Option<String>) -> String {
    let buffer = |name: &str, bytes: Option<u64>| bytes.map(|bytes| format!("{name}({bytes})"));
    let is_receiver = settings.is_udp() && matches!(settings.role, Role::Client(_));
    let received = settings.receive_buffer.or(is_receiver.then_some(1 << 20));
    let given =
        [keepalive, buffer("SO_RCVBUF", received), buffer("SO_SNDBUF", settings.send_buffer)];
    let given: Vec<String> = given.into_iter().flatten().collect();
    if given.is_empty() { "None".to_owned() } else { given.join(" ") }
}

const fn pattern(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Push => "Push <TCP client send/server recv>",
        Pattern::Pull => "Pull <TCP client recv/server send>",
        Pattern::PushPull => "PushPull <TCP client/server alternate send/recv>",
        Pattern::Duplex => "Duplex <TCP client/server both sending and receiving>",
    }
}

fn plain(range: Range) -> String {
    range.typed("")
}

fn bytes(range: Range) -> String {
    format!("{} bytes", plain(range))
}

fn in_hex(range: Range) -> String {
    let Range { low, high } = range;
    if range.is_range() {
        format!("[{low}, {high}] [0x{low:x}, 0x{high:x}] bytes")
    } else {
        format!("{low} [0x{low:x}] bytes")
    }
}

fn counted(number: u64) -> String {
    format!("{number} [0x{number:x}]")
}

/// A number of connections after which it ends; in sixteens alone where that is more than anybody counts.
fn limit(number: Option<u64>) -> String {
    match number {
        Some(number @ 0..=0x7fff_ffff) => counted(number),
        number => format!("0x{:x}", number.unwrap_or(u64::MAX)),
    }
}

/// What the columns of status mean.
pub const fn legend(is_udp: bool) -> &'static str {
    if is_udp {
        "  Legend:\n\
         \t* TimeSlice - (seconds) cumulative runtime\n\
         \t* Streams - count of current number of UDP streams\n\
         \t* Bits/Sec - bits streamed within the TimeSlice period\n\
         \t* Completed Frames - count of frames successfully processed within the TimeSlice\n\
         \t* Dropped Frames - count of frames that were never seen within the TimeSlice\n\
         \t* Repeated Frames - count of frames received multiple times within the TimeSlice\n\
         \t* Stream Errors - count of invalid frames or buffers within the TimeSlice\n\n"
    } else {
        "  Legend:\n\
         \t* TimeSlice - (seconds) cumulative runtime\n\
         \t* Send & Recv Rates - bytes/sec that were transferred within the TimeSlice period\n\
         \t* In-Flight - count of established connections transmitting IO pattern data\n\
         \t* Completed - cumulative count of successfully completed IO patterns\n\
         \t* Network Errors - cumulative count of failed IO patterns due to Winsock errors\n\
         \t* Data Errors - cumulative count of failed IO patterns due to data errors\n\n"
    }
}

#[cfg(test)]
mod tests;
