//! The parts of iperf3's JSON, each as programs read it. What is ours alone stands under one key, `pathscope`. When each is written is the
//! affair of the screens.

use pathscope_core::record::{SocketFacts, WorkerUsage};

use super::asked::Way;
use super::clock::Time;
use super::json::{Object, Value};
use super::outcome::{self, Datagrams, Half, Outcome};
use super::rows::host_and_port;
use super::shape::Shape;
use super::streams::{Interval, Row, Stream, Streams, lost_percent, rate_bps, sum};

/// The key of what the original does not have.
pub(super) const OURS: &str = "pathscope";
/// What `version` begins with, as consumers test; the rest says whose it is.
pub(super) const VERSION: &str = concat!("iperf 3.21 (pathscope ", env!("CARGO_PKG_VERSION"), ")");

/// The sockets of all streams.
pub(super) fn connected(streams: &Streams) -> Value {
    let each = |stream: &Stream| {
        let [local, remote] = stream.ends.each_ref().map(|end| host_and_port(end));
        let port = |port: &str| port.parse::<u64>().unwrap_or(0);
        let object = Object::new()
            .with("socket", stream.socket)
            .with("local_host", local.0)
            .with("local_port", port(local.1))
            .with("remote_host", remote.0)
            .with("remote_port", port(remote.1));
        Value::from(object)
    };
    streams.all.iter().map(each).collect::<Vec<_>>().into()
}

/// A host and its port.
pub(super) fn place(host: &str, port: u16) -> Object {
    Object::new().with("host", host).with("port", u64::from(port))
}

/// When a test began.
pub(super) fn timestamp(unix_ns: u64) -> Object {
    let unix_s = unix_ns / 1_000_000_000;
    let time = Time { unix_s: unix_s as i64, offset_s: 0 };
    Object::new()
        .with("time", time.of_mail())
        .with("timesecs", unix_s)
        .with("timemillisecs", unix_ns / 1_000_000)
}

/// The largest segment: the one that was asked for, or the first connection's. Over UDP there is none.
pub(super) fn segments(
    start: Object,
    shape: &Shape,
    asked: Option<u64>,
    sockets: Option<&SocketFacts>,
) -> Object {
    if shape.is_udp {
        return start;
    }
    match asked {
        Some(asked) => start.with("tcp_mss", asked),
        None => start.with_some("tcp_mss_default", sockets.and_then(|it| it.segment_bytes)),
    }
}

/// What buffers were asked for (0: none), and what the kernel gave the first connection.
pub(super) fn buffers(start: Object, asked: Option<u64>, sockets: Option<&SocketFacts>) -> Object {
    start
        .with("sock_bufsize", asked.unwrap_or(0))
        .with_some("sndbuf_actual", sockets.and_then(|it| it.send_buffer_bytes))
        .with_some("rcvbuf_actual", sockets.and_then(|it| it.receive_buffer_bytes))
}

/// The document of a server's client that came to no test.
pub(super) fn of_nothing(machine: &str, why: String) -> Object {
    let start = Object::new()
        .with("connected", Vec::new())
        .with("version", VERSION)
        .with("system_info", machine);
    Object::new()
        .with("start", start)
        .with("intervals", Vec::new())
        .with("end", Object::new())
        .with("error", why)
        .with(OURS, Object::new().with("version", env!("CARGO_PKG_VERSION")))
}

/// One interval, with the sums of its directions.
pub(super) fn interval(streams: &Streams, rows: &Interval) -> Object {
    let shape = &streams.shape;
    let each = rows.iter().filter_map(|(place, it)| Some((streams.all.get(*place)?, it)));
    let objects = each.clone().map(|(stream, it)| {
        let object = Object::new().with("socket", stream.socket);
        Value::from(row(object, shape, it, (stream.sends, true)))
    });
    let mut object = Object::new().with("streams", objects.collect::<Vec<_>>());
    for (key, is_first) in halves(shape, "sum", "sum_bidir_reverse") {
        let of_half = each.clone().filter(|(it, _)| is_of(shape, it, is_first));
        let sends = of_half.clone().next().is_some_and(|(it, _)| it.sends);
        if let Some(all) = sum(of_half.map(|(_, row)| row)) {
            object.add(key, row(Object::new(), shape, &all, (sends, false)));
        }
    }
    object
}

/// The directions of a test: the key of each, and whether it is that of the first streams.
fn halves(
    shape: &Shape,
    first: &'static str,
    second: &'static str,
) -> impl Iterator<Item = (&'static str, bool)> {
    let second = (shape.way == Way::Both).then_some((second, false));
    [(first, true)].into_iter().chain(second)
}

fn is_of(shape: &Shape, stream: &Stream, is_first: bool) -> bool {
    shape.way != Way::Both || (stream.flow < shape.streams) == is_first
}

fn row(object: Object, shape: &Shape, row: &Row, (sends, is_one): (bool, bool)) -> Object {
    let origin_ns = if row.is_omitted { 0 } else { shape.omit_ns };
    let [start, end] = [row.start_ns, row.end_ns].map(|it| seconds(it.saturating_sub(origin_ns)));
    let mut object = object
        .with("start", start)
        .with("end", end)
        .with("seconds", seconds(row.end_ns.saturating_sub(row.start_ns)))
        .with("bytes", row.bytes)
        .with("bits_per_second", row.rate_bps());
    if shape.is_udp {
        let datagrams = row.datagrams.unwrap_or_default();
        if sends {
            object.add("packets", datagrams.sent);
        } else {
            let all = datagrams.expected.unwrap_or(0).max(datagrams.received);
            let lost = all - datagrams.received;
            object = losses(object, datagrams.jitter_ns, lost, all);
            object.add("omitted", row.is_omitted);
            object.add("sender", false);
            let ours = Object::new()
                .with("duplicates", datagrams.duplicates)
                .with("out_of_order", datagrams.reordered);
            return object.with(OURS, ours);
        }
    } else if let Some(retransmits) = row.retransmits.filter(|_| sends) {
        object.add("retransmits", retransmits);
        if let Some(look) = row.look.filter(|_| is_one) {
            let micros = |ns: Option<u64>| ns.map(|ns| ns / 1_000);
            object = object
                .with("snd_cwnd", look.congestion_window_bytes.unwrap_or(0))
                .with_some("snd_wnd", look.peer_window_bytes)
                .with("rtt", micros(look.rtt_ns).unwrap_or(0))
                .with_some("rttvar", micros(look.rtt_variation_ns))
                .with_some("pmtu", look.path_mtu_bytes)
                .with_some("reorder", look.reorderings);
        }
    }
    object.with("omitted", row.is_omitted).with("sender", sends)
}

fn losses(object: Object, jitter_ns: Option<u64>, lost: u64, all: u64) -> Object {
    object
        .with("jitter_ms", jitter_ns.unwrap_or(0) as f64 / 1e6)
        .with("lost_packets", lost)
        .with("packets", all)
        .with("lost_percent", lost_percent(lost, all))
}

/// How all ended: the streams, and the sums of each direction.
pub(super) fn end(streams: &Streams, outcomes: &[Outcome]) -> Object {
    let shape = &streams.shape;
    let all = || streams.all.iter().zip(outcomes);
    let objects = all().map(|(stream, outcome)| Value::from(of_stream(shape, stream, outcome)));
    let mut object = Object::new().with("streams", objects.collect::<Vec<_>>());
    let keys = [
        ["sum", "sum_sent", "sum_received"],
        ["sum_bidir_reverse", "sum_sent_bidir_reverse", "sum_received_bidir_reverse"],
    ];
    for (_, is_first) in halves(shape, "", "") {
        let of_half = || all().filter(|(it, _)| is_of(shape, it, is_first));
        let sends = of_half().next().is_some_and(|(it, _)| it.sends);
        let sum = Outcome {
            sent: outcome::sum(of_half().filter_map(|(_, it)| it.sent)),
            received: outcome::sum(of_half().filter_map(|(_, it)| it.received)),
        };
        let [both, sent, received] = keys[usize::from(!is_first)];
        if shape.is_udp {
            object.add(both, datagrams(Object::new(), &sum, (sends, false)));
            object.add(sent, half(Object::new(), sum.sent, (true, true, true)));
            object.add(received, half(Object::new(), sum.received, (false, true, false)));
        } else {
            object.add(sent, half(Object::new(), sum.sent, (sends, false, true)));
            object.add(received, half(Object::new(), sum.received, (sends, false, false)));
        }
    }
    object
}

fn of_stream(shape: &Shape, stream: &Stream, outcome: &Outcome) -> Object {
    let socket = || Object::new().with("socket", stream.socket);
    if shape.is_udp {
        return Object::new().with("udp", datagrams(socket(), outcome, (stream.sends, true)));
    }
    let known = outcome.sent.unwrap_or_default();
    let mut sender = times(socket(), &known).with_some("retransmits", known.retransmits);
    if known.retransmits.is_some() {
        // Who only receives sees none of them, and tells zeros as the original does.
        let seen = &stream.round_trips;
        let micros = |ns: u64| ns / 1_000;
        sender = sender
            .with_some("reorder", stream.whole.look.and_then(|look| look.reorderings))
            .with("max_snd_cwnd", seen.most_window_bytes)
            .with("max_snd_wnd", seen.most_peer_window_bytes)
            .with("max_rtt", micros(seen.most_rtt_ns))
            .with("min_rtt", micros(seen.least_rtt_ns))
            .with("mean_rtt", micros(seen.mean_rtt_ns()));
    }
    let sender = sender.with("sender", stream.sends);
    let sender = if known.retransmits.is_some() && !stream.sends {
        sender.with(OURS, Object::new().with("are_round_trips_known", false))
    } else {
        known_or_not(sender, outcome.sent)
    };
    let receiver = half(socket(), outcome.received, (stream.sends, false, false));
    Object::new().with("sender", sender).with("receiver", receiver)
}

/// One end of a stream, or of all in a direction.
fn half(
    object: Object,
    half: Option<Half>,
    (sender, is_udp, is_sent): (bool, bool, bool),
) -> Object {
    let known = half.unwrap_or_default();
    let mut object = times(object, &known);
    if is_udp {
        let Datagrams { all, lost, jitter_ns, .. } = known.datagrams.unwrap_or_default();
        object = losses(object, jitter_ns, lost, all);
    } else if is_sent {
        object = object.with_some("retransmits", known.retransmits);
    }
    known_or_not(object.with("sender", sender), half)
}

/// What is not known is told as nothing, as the original does, and said to be so.
fn known_or_not(object: Object, half: Option<Half>) -> Object {
    if half.is_none() { object.with(OURS, Object::new().with("is_known", false)) } else { object }
}

/// Both ends of streams of datagrams: what was sent, and what became of it.
fn datagrams(object: Object, outcome: &Outcome, (sender, is_one): (bool, bool)) -> Object {
    let moved = outcome.sent.or(outcome.received).unwrap_or_default();
    let came = outcome.received.and_then(|it| it.datagrams);
    let sent = outcome.sent.and_then(|it| it.datagrams).unwrap_or_default();
    let Datagrams { all, lost, jitter_ns, reordered, duplicates } = came.unwrap_or(sent);
    let object = times(object, &moved);
    losses(object, jitter_ns, lost, all.max(sent.all))
        .with_some("out_of_order", is_one.then_some(reordered))
        .with("sender", sender)
        .with(OURS, Object::new().with("duplicates", duplicates).with("is_known", came.is_some()))
}

fn times(object: Object, half: &Half) -> Object {
    object
        .with("start", 0.0)
        .with("end", seconds(half.time_ns))
        .with("seconds", seconds(half.time_ns))
        .with("bytes", half.bytes)
        .with("bits_per_second", rate_bps(half.bytes, half.time_ns))
}

fn seconds(time_ns: u64) -> f64 {
    // To the microsecond, as the original's clock has it.
    (time_ns / 1_000) as f64 / 1e6
}

/// A share of one processor, in hundredths: all of it, and of that what was in user mode and in the kernel.
pub(super) fn cpu_percent(workers: &[WorkerUsage]) -> [f64; 3] {
    let longest_ns = workers.iter().map(|it| it.elapsed_ns).max().unwrap_or(0);
    if longest_ns == 0 {
        return [0.0; 3];
    }
    let share = |of: fn(&WorkerUsage) -> u64| {
        workers.iter().map(|it| of(it) as f64).sum::<f64>() * 100.0 / longest_ns as f64
    };
    let [user, system] = [share(|it| it.user_ns), share(|it| it.system_ns)];
    [user + system, user, system]
}

/// The same of both ends; of the other it may not be known.
pub(super) fn cpu(here: &[WorkerUsage], there: &[WorkerUsage]) -> Object {
    let is_known = !there.is_empty();
    let [here, there] = [here, there].map(cpu_percent);
    let object = Object::new()
        .with("host_total", here[0])
        .with("host_user", here[1])
        .with("host_system", here[2])
        .with("remote_total", there[0])
        .with("remote_user", there[1])
        .with("remote_system", there[2]);
    if is_known { object } else { object.with(OURS, Object::new().with("is_remote_known", false)) }
}
