//! What ctsTraffic's options come to: each value checked as it checks it, and what is not given as it has it.

use std::ops::RangeInclusive;

use pathscope_core::quantity::shown;

use super::grammar::{self, Range};
use super::options::{Line, Over, Side};
use super::settings::{
    Client, Keepalive, Log, Pattern, Rate, Role, Server, Settings, Shutdown, Tcp, Traffic, Udp,
};

const ANY: RangeInclusive<u64> = 0..=u64::MAX;
const POSITIVE: RangeInclusive<u64> = 1..=u64::MAX;
/// What options of 32 bits hold.
const HALF: RangeInclusive<u64> = 0..=u32::MAX as u64;
const POSITIVE_HALF: RangeInclusive<u64> = 1..=u32::MAX as u64;
const PORT: RangeInclusive<u64> = 1..=65_535;
/// What our streams have room for, of what it takes: frames a second, seconds, and bytes of a datagram.
const FRAME_RATE: RangeInclusive<u64> = 1..=10_000;
const BUFFER_DEPTH: RangeInclusive<u64> = 1..=60;
const DATAGRAM: RangeInclusive<u64> = 128..=65_507;
/// The shortest time that a run or an interval of it may have, in milliseconds.
const LEAST_MS: u64 = 10;

/// Reads words of which none is a call for help.
pub fn settings(words: &[&str]) -> Result<Settings, String> {
    let line = Line::read(words)?;
    let side = match (line.has("Listen"), line.has("Target")) {
        (true, true) => {
            return Err(
                "-Listen makes a server and -Target a client; leave one of them out".to_owned()
            );
        }
        (false, false) => {
            return Err("name a server with -Target:HOST, or be one with -Listen:*".to_owned());
        }
        (true, false) => Side::Server,
        (false, true) => Side::Client,
    };
    let over = word(&line, "Protocol", &[("tcp", Over::Tcp), ("udp", Over::Udp)])?;
    let over = over.unwrap_or(Over::Tcp);
    line.misplaced(side, over)?;
    let log = log(&line)?;
    let traffic = match over {
        Over::Udp => Traffic::Udp(udp(&line)?),
        Over::Tcp | Over::Both => Traffic::Tcp(tcp(&line, side)?),
    };
    idle(&line, &traffic)?;
    let role = match side {
        Side::Server => Role::Server(server(&line)?),
        Side::Client | Side::Both => Role::Client(client(&line, over)?),
    };
    if let (Some(file), Role::Client(client)) = (&log.jitter, &role)
        && client.connections != 1
    {
        return Err(format!(
            "-JitterFilename:{} holds the frames of one stream; give -Connections:1",
            shown(file)
        ));
    }
    Ok(Settings {
        role,
        port: u16::try_from(number(&line, "Port", &PORT)?.unwrap_or(4_444)).unwrap_or(4_444),
        traffic,
        receive_buffer: number(&line, "RecvBufValue", &POSITIVE_HALF)?,
        send_buffer: number(&line, "SendBufValue", &POSITIVE_HALF)?,
        dscp: number(&line, "QosDscpValue", &(0..=63))?,
        time_limit_ms: number(&line, "TimeLimit", &(LEAST_MS..=*POSITIVE_HALF.end()))?,
        pause_at_end_ms: number(&line, "PauseAtEnd", &POSITIVE_HALF)?,
        log,
        idle: line.idle(),
    })
}

fn number(line: &Line, name: &str, within: &RangeInclusive<u64>) -> Result<Option<u64>, String> {
    let read = line.one(name).map(|typed| grammar::number(typed, within));
    read.transpose().map_err(|why| format!("-{name}: {why}"))
}

fn range(line: &Line, name: &str, within: &RangeInclusive<u64>) -> Result<Option<Range>, String> {
    let read = line.one(name).map(|typed| grammar::range(typed, within));
    read.transpose().map_err(|why| format!("-{name}: {why}"))
}

/// One of these words, in any case.
fn word<T: Copy>(line: &Line, name: &str, known: &[(&str, T)]) -> Result<Option<T>, String> {
    line.one(name).map(|typed| choice(name, typed, known)).transpose()
}

fn choice<T: Copy>(name: &str, typed: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(it, _)| it.eq_ignore_ascii_case(typed));
    found.map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<&str> = known.iter().map(|&(it, _)| it).collect();
        format!("-{name}: '{}' is not known; choose {}", shown(typed), known.join(", "))
    })
}

fn client(line: &Line, over: Over) -> Result<Client, String> {
    let usual = if over == Over::Udp { 1 } else { 8 };
    let connections = number(line, "Connections", &POSITIVE_HALF)?.unwrap_or(usual);
    let local_ports = range(line, "LocalPort", &PORT)?;
    if let Some(ports) = local_ports.filter(|ports| ports.count() < connections) {
        return Err(format!(
            "-LocalPort: {} are {} ports, and there are {connections} connections at a time; give as many ports",
            ports.typed(""),
            ports.count()
        ));
    }
    let throttle = number(line, "ThrottleConnections", &HALF)?.unwrap_or(1_000);
    // A star is every address, as is no word at all.
    let bind = line.all("Bind").iter().filter(|it| *it != "*").cloned();
    Ok(Client {
        targets: line.all("Target").to_vec(),
        bind: bind.collect(),
        local_ports,
        interface: number(line, "IfIndex", &POSITIVE_HALF)?,
        connections,
        iterations: number(line, "Iterations", &ANY)?.filter(|&times| times > 0),
        throttle: Some(throttle).filter(|&throttle| throttle > 0),
    })
}

fn server(line: &Line) -> Result<Server, String> {
    let listen = line.all("Listen");
    let is_all = listen.iter().any(|it| it == "*");
    Ok(Server {
        listen: if is_all { Vec::new() } else { listen.to_vec() },
        allow: line.all("Allow").to_vec(),
        exit_limit: number(line, "ServerExitLimit", &ANY)?.filter(|&limit| limit > 0),
    })
}

fn tcp(line: &Line, side: Side) -> Result<Tcp, String> {
    const PATTERNS: [(&str, Pattern); 5] = [
        ("push", Pattern::Push),
        ("pull", Pattern::Pull),
        ("pushpull", Pattern::PushPull),
        ("duplex", Pattern::Duplex),
        ("flood", Pattern::Duplex),
    ];
    const VERIFIES: [(&str, bool); 4] =
        [("data", true), ("connection", false), ("always", true), ("never", false)];
    const SHUTDOWNS: [(&str, Shutdown); 3] =
        [("graceful", Shutdown::Graceful), ("rude", Shutdown::Rude), ("random", Shutdown::Random)];
    const CONNECTS: [(&str, Option<Shutdown>); 3] =
        [("ConnectEx", None), ("connect", None), ("ConnectByName", Some(Shutdown::Rude))];
    let pattern = word(line, "Pattern", &PATTERNS)?.unwrap_or(Pattern::Push);
    let segments = ["PushBytes", "PullBytes"];
    if let Some(name) = segments.into_iter().find(|name| line.has(name))
        && pattern != Pattern::PushPull
    {
        return Err(format!("-{name} is of -Pattern:pushpull; leave one of them out"));
    }
    // A connection that was made by its name ends by a reset there, too.
    let by_name = word(line, "Conn", &CONNECTS)?.flatten();
    let shutdown = by_name.or(word(line, "Shutdown", &SHUTDOWNS)?);
    Ok(Tcp {
        pattern,
        transfer: range(line, "Transfer", &POSITIVE)?.unwrap_or(Range::one(1 << 30)),
        buffer: range(line, "Buffer", &POSITIVE_HALF)?.unwrap_or(Range::one(65_536)),
        push_bytes: number(line, "PushBytes", &POSITIVE_HALF)?.unwrap_or(1 << 20),
        pull_bytes: number(line, "PullBytes", &POSITIVE_HALF)?.unwrap_or(1 << 20),
        verifies_data: word(line, "Verify", &VERIFIES)?.unwrap_or(true),
        shutdown: shutdown.unwrap_or(Shutdown::Graceful),
        keepalive: keepalive(line, side)?,
        rate: rate(line)?,
        burst: burst(line)?,
    })
}

fn keepalive(line: &Line, side: Side) -> Result<Keepalive, String> {
    const OPTIONS: [(&str, bool); 2] = [("keepalive", true), ("tcpfastpath", false)];
    let asked = line.all("Options").iter().map(|typed| choice("Options", typed, &OPTIONS));
    let asked = asked.collect::<Result<Vec<bool>, _>>()?;
    Ok(match number(line, "KeepAliveValue", &POSITIVE_HALF)? {
        Some(milliseconds) => Keepalive::AfterMs(milliseconds),
        None if asked.contains(&true) || side == Side::Server => Keepalive::Usual,
        None => Keepalive::Never,
    })
}

fn rate(line: &Line) -> Result<Option<Rate>, String> {
    let period = number(line, "RateLimitPeriod", &POSITIVE_HALF)?;
    let Some(limit) = range(line, "RateLimit", &POSITIVE)? else {
        return match period {
            None => Ok(None),
            Some(_) => Err("-RateLimitPeriod is of -RateLimit; give both, or neither".to_owned()),
        };
    };
    let period_ms = period.unwrap_or(100);
    if u128::from(limit.low) * u128::from(period_ms) < 1_000 {
        return Err(format!(
            "-RateLimit: {} bytes a second are less than one in {period_ms} ms; give a longer -RateLimitPeriod",
            limit.low
        ));
    }
    Ok(Some(Rate { limit, period_ms }))
}

fn burst(line: &Line) -> Result<Option<(u64, u64)>, String> {
    let count = number(line, "BurstCount", &POSITIVE_HALF)?;
    let delay = number(line, "BurstDelay", &POSITIVE_HALF)?;
    if count.is_some() != delay.is_some() {
        return Err("-BurstCount and -BurstDelay go together; give both, or neither".to_owned());
    }
    if count.is_some() && line.has("RateLimit") {
        return Err("-BurstCount and -RateLimit are two ways to slow down; leave one of them out"
            .to_owned());
    }
    Ok(count.zip(delay))
}

fn udp(line: &Line) -> Result<Udp, String> {
    let needed = |name: &str, within: &RangeInclusive<u64>| {
        let missing = || {
            format!(
                "-{name} is missing: a stream over UDP needs -BitsPerSecond, -FrameRate and -StreamLength"
            )
        };
        number(line, name, within)?.ok_or_else(missing)
    };
    let bits = number(line, "BitsPerSecond", &(8..=i64::MAX as u64))?;
    let bits = bits.ok_or(
        "-BitsPerSecond is missing: a stream over UDP needs it, -FrameRate and -StreamLength",
    )?;
    let datagram_bytes = number(line, "DatagramByteSize", &DATAGRAM)?.unwrap_or(1_400);
    // Received frames are compared whatever is asked for.
    word(line, "Verify", &[("data", ()), ("connection", ()), ("always", ()), ("never", ())])?;
    let udp = Udp {
        bits_per_second: bits / 8 * 8,
        frame_rate: needed("FrameRate", &FRAME_RATE)?,
        stream_length: needed("StreamLength", &POSITIVE_HALF)?,
        buffer_depth: number(line, "BufferDepth", &BUFFER_DEPTH)?.unwrap_or(1),
        datagram_bytes,
    };
    match udp.frame_bytes() {
        0..40 => Err(format!(
            "-BitsPerSecond and -FrameRate make frames of {} bytes; the least are 40: give more bits, or fewer frames",
            udp.frame_bytes()
        )),
        40..=0xffff_ffff => Ok(udp),
        bytes => Err(format!(
            "-BitsPerSecond and -FrameRate make frames of {bytes} bytes; the most are 4294967295: give fewer bits, or more frames"
        )),
    }
}

/// What has no effect is checked all the same: a line that is refused there is refused here.
fn idle(line: &Line, traffic: &Traffic) -> Result<(), String> {
    const SWITCH: [(&str, ()); 2] = [("on", ()), ("off", ())];
    for name in ["PortScalability", "MsgWaitAll", "InlineCompletions", "EnableRecvSharding"] {
        word(line, name, &SWITCH)?;
    }
    word(line, "IO", &[("iocp", ()), ("RioIocp", ()), ("ReadWriteFile", ())])?;
    word(line, "Acc", &[("AcceptEx", ()), ("accept", ())])?;
    let policies = [("PerCpu", ()), ("PerGroup", ()), ("RssAligned", ()), ("Manual", ())];
    word(line, "AffinityPolicy", &policies)?;
    number(line, "PrePostSends", &HALF)?;
    number(line, "ShardCount", &HALF)?;
    number(line, "ShardWorkerCount", &POSITIVE_HALF)?;
    number(line, "IocpBatchSize", &(1..=256))?;
    let receives = number(line, "PrePostRecvs", &POSITIVE_HALF)?.unwrap_or(1);
    if let Traffic::Tcp(Tcp { verifies_data: true, .. }) = traffic
        && receives > 1
    {
        return Err("-PrePostRecvs of more than 1 needs -Verify:connection; leave one of them out"
            .to_owned());
    }
    let shards = ["ShardCount", "ShardWorkerCount", "IocpBatchSize", "AffinityPolicy"];
    let is_sharded = line.one("EnableRecvSharding").is_some_and(|it| it.eq_ignore_ascii_case("on"));
    if let Some(name) = shards.into_iter().find(|name| line.has(name) && !is_sharded) {
        return Err(format!("-{name} is of -EnableRecvSharding:on; give both, or neither"));
    }
    // Whatever else a group is, the first is where everything runs.
    if number(line, "CpuSetGroupId", &HALF)?.is_some_and(|group| group > 0) {
        return Err("-CpuSetGroupId: processors have no groups here; name them with --cpu of pathscope goodput, \
                    or start it by taskset -c LIST"
            .to_owned());
    }
    if word(line, "OnError", &[("log", false), ("break", true)])? == Some(true) {
        return Err(
            "-OnError: there is no debugger here that break could stop in; leave it out".to_owned()
        );
    }
    Ok(())
}

fn log(line: &Line) -> Result<Log, String> {
    let file = |name: &str| line.one(name).map(str::to_owned);
    let is_csv =
        |name: &str| line.one(name).map(|file| file.to_ascii_lowercase().ends_with(".csv"));
    if is_csv("ErrorFilename") == Some(true) {
        return Err(
            "-ErrorFilename is a file of text; give it a name that does not end in .csv".to_owned()
        );
    }
    for name in ["JitterFilename", "TcpInfoFilename"] {
        if is_csv(name) == Some(false) {
            return Err(format!("-{name} is a file of CSV; give it a name that ends in .csv"));
        }
    }
    let log = Log {
        verbosity: number(line, "ConsoleVerbosity", &(0..=6))?.unwrap_or(4),
        status_update_ms: number(line, "StatusUpdate", &(LEAST_MS..=3_600_000))?.unwrap_or(5_000),
        status: file("StatusFilename"),
        connections: file("ConnectionFilename"),
        errors: file("ErrorFilename"),
        jitter: file("JitterFilename"),
        tcp_info: file("TcpInfoFilename"),
    };
    let named = [
        ("StatusFilename", &log.status),
        ("ConnectionFilename", &log.connections),
        ("ErrorFilename", &log.errors),
        ("JitterFilename", &log.jitter),
        ("TcpInfoFilename", &log.tcp_info),
    ];
    for (place, (name, file)) in named.iter().enumerate() {
        let same = named.iter().take(place).find(|(_, other)| file.is_some() && other == file);
        if let Some((other, _)) = same
            && is_csv(name) == Some(true)
        {
            return Err(format!(
                "-{other} and -{name} are one file of CSV; give each a file of its own"
            ));
        }
    }
    Ok(log)
}

#[cfg(test)]
mod tests;
