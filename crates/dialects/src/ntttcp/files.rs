//! ntttcp's result as XML and as JSON: names and order are the reference's, section 7. What this program has no figure of is 0 there, as
//! it is of ntttcp. Not the figures (`figures`).

use std::fmt::Write as _;

use super::figures::{Figures, Interrupts, Moved, RETRANSMITS};
use super::settings::{Role, Settings};

/// What is said of the tool's version.
const VERSION: &str = "5.33-linux";
/// The counters of `--show-tcp-retrans` in files: a count, then what each is a second.
const RETRANSMIT_COUNT: &str = "retrans_segs";

/// What both files are of.
pub(super) struct Outcome<'run> {
    pub settings: &'run Settings,
    pub figures: &'run Figures,
    /// This machine's name for itself.
    pub host: &'run str,
}

/// What was asked for: its name in XML, in JSON, and its value.
fn parameters(settings: &Settings) -> Vec<(&'static str, &'static str, String)> {
    let no = || yes(false);
    let (send, receive) = match settings.role {
        Role::Sender => (settings.buffer, 64 << 10),
        Role::Receiver => (128 << 10, settings.buffer),
    };
    let zero = || "0".to_owned();
    vec![
        ("send_socket_buff", "sendSocketBuff", send.to_string()),
        ("recv_socket_buff", "recvSocketBuff", receive.to_string()),
        ("port", "port", settings.port.to_string()),
        ("sync_port", "syncPort", settings.port.saturating_sub(1).to_string()),
        ("no_sync", "noSync", yes(!settings.has_sync)),
        ("wait_timeout_milliseconds", "waitTimeoutMilliseconds", zero()),
        ("async", "async", no()),
        ("verbose", "verbose", yes(settings.is_verbose)),
        ("wsa", "wsa", no()),
        ("use_ipv6", "useIpv6", yes(settings.is_ipv6)),
        ("udp", "udp", yes(settings.is_udp)),
        ("verify_data", "verifyData", no()),
        ("wait_all", "waitAll", no()),
        ("run_time", "runTime", settings.duration_s.to_string()),
        ("warmup_time", "warmupTime", settings.warm_up_s.to_string()),
        ("cooldown_time", "cooldownTime", settings.cool_down_s.to_string()),
        ("dash_n_timeout", "dashNTimeout", zero()),
        ("bind_sender", "bindSender", no()),
        ("sender_name", "senderName", "NA".to_owned()),
        ("max_active_threads", "maxActiveThreads", zero()),
        ("tp", "tp", no()),
        ("no_stdio_buffer", "noStdioBuffer", no()),
        ("throughput_Bpms", "throughputBpms", zero()),
        ("cpu_burn", "cpuBurn", zero()),
        ("latency_measurement", "latencyMeasurement", no()),
        ("use_io_compl_ports", "useIOComplPorts", "NA".to_owned()),
        ("cpu_from_idle_flag", "cpuFromIdleFlag", no()),
        ("get_estats", "getEstats", no()),
        ("qos_flag", "qosFlag", no()),
        ("jitter_measurement", "jitterMeasurement", no()),
        ("packet_spacing", "packetSpacing", zero()),
    ]
}

fn yes(is_so: bool) -> String {
    if is_so { "True" } else { "False" }.to_owned()
}

fn root(settings: &Settings) -> &'static str {
    if settings.role == Role::Sender { "ntttcps" } else { "ntttcpr" }
}

/// Decimal megabytes.
fn megabytes(moved: &Moved) -> f64 {
    moved.bytes as f64 / 1e6
}

/// What is retransmitted, as files have it: a name and a value.
fn retransmits(figures: &Figures) -> Vec<(String, String)> {
    let count = (RETRANSMIT_COUNT.to_owned(), figures.retransmits.to_string());
    let rates = RETRANSMITS.iter().zip(figures.retransmits_per_second);
    let rates =
        rates.map(|((name, _), rate)| (name.replace("/sec", "_per_sec"), format!("{rate:.2}")));
    std::iter::once(count).chain(rates).collect()
}

/// Packets by interrupt, a second and in all.
fn interrupts(figures: &Figures) -> [String; 3] {
    let Interrupts { total, per_second, packets_each } = figures.interrupts;
    [format!("{packets_each:.3}"), format!("{per_second:.3}"), total.to_string()]
}

/// The whole text of the file of XML.
pub(super) fn xml(result: &Outcome<'_>) -> String {
    let Outcome { settings, figures, host } = result;
    let mut xml = Xml(String::new());
    let root = root(settings);
    // Writing to a string cannot fail.
    let _ = writeln!(xml.0, "<{root} computername=\"{}\" version=\"{VERSION}\">", escaped(host));
    xml.0.push_str("\t<parameters>\n");
    for (name, _, value) in parameters(settings) {
        xml.element((2, name), "", &value);
    }
    xml.0.push_str("\t</parameters>\n");
    for (index, thread) in figures.threads.iter().enumerate().filter(|_| settings.is_verbose) {
        let _ = writeln!(xml.0, "\t<thread index=\"{index}\">");
        xml.element((2, "realtime"), "s", &format!("{:.3}", thread.seconds));
        for (metric, value) in [
            ("KB/s", thread.per_second(thread.bytes as f64) / 1e3),
            ("MB/s", thread.per_second(thread.bytes as f64) / 1e6),
            ("mbps", thread.bits_per_second() / 1e6),
        ] {
            xml.element((2, "throughput"), metric, &format!("{value:.3}"));
        }
        xml.element((2, "avg_bytes_per_compl"), "B", "0.000");
        xml.0.push_str("\t</thread>\n");
    }
    if settings.role == Role::Sender {
        xml.element((1, "conns_tested"), "", &figures.connections.to_string());
    }
    let all = &figures.all;
    xml.element((1, "total_bytes"), "MB", &format!("{:.6}", megabytes(all)));
    xml.element((1, "realtime"), "s", &format!("{:.6}", all.seconds));
    for name in ["avg_bytes_per_compl", "threads_avg_bytes_per_compl", "avg_frame_size"] {
        xml.element((1, name), "B", "0.000");
    }
    for (metric, value) in [
        ("MB/s", all.per_second(megabytes(all))),
        ("mbps", all.bits_per_second() / 1e6),
        ("Bps", all.per_second(all.bytes as f64)),
    ] {
        xml.element((1, "throughput"), metric, &format!("{value:.3}"));
    }
    xml.element((1, "total_buffers"), "", "0.000");
    xml.element((1, "throughput"), "buffers/s", "0.000");
    let [each, second, total] = interrupts(figures);
    xml.element((1, "avg_packets_per_interrupt"), "packets/interrupt", &each);
    xml.element((1, "interrupts"), "count/sec", &second);
    xml.element((1, "total_interrupts"), "count", &total);
    xml.element((1, "dpcs"), "count/sec", "0.000");
    xml.element((1, "avg_packets_per_dpc"), "packets/dpc", "0.000");
    let [sent, received] = figures.packets.unwrap_or_default();
    let machine = &figures.machine;
    let cycles = format!("{:.2}", machine.cycles_per_byte);
    xml.element((1, "cycles"), "cycles/byte", &cycles);
    xml.element((1, "packets_sent"), "", &sent.to_string());
    xml.element((1, "packets_received"), "", &received.to_string());
    xml.element((1, "packets_retransmitted"), "", &figures.retransmits.to_string());
    for name in ["errors", "bufferCount", "bufferLen"] {
        xml.element((1, name), "", "0");
    }
    for (metric, value) in retransmits(figures).iter().filter(|_| settings.shows_retransmits) {
        xml.element((1, "tcp_retransmits"), metric, value);
    }
    xml.element((1, "cpu_cores"), "cpu cores", &machine.cores.to_string());
    xml.element((1, "cpu_speed"), "MHz", &format!("{:.3}", machine.mhz));
    for (name, value) in [
        ("user", machine.user),
        ("system", machine.system),
        ("idle", machine.idle),
        ("iowait", machine.iowait),
        ("softirq", machine.softirq),
    ] {
        xml.element((1, name), "%", &format!("{value:.2}"));
    }
    xml.element((1, "cycles_per_byte"), "cycles/byte", &cycles);
    xml.element((1, "cpu_busy_all"), "%", &format!("{:.2}", machine.program));
    xml.element((1, "io"), "", "0");
    if let Some(rtt) = average_rtt(settings, figures) {
        xml.element((1, "tcp_average_rtt"), "us", &rtt.to_string());
    }
    xml.element((1, "os"), "", &machine.os);
    let _ = writeln!(xml.0, "</{root}>");
    xml.0
}

/// What a sender says of round trips.
pub(super) fn average_rtt(settings: &Settings, figures: &Figures) -> Option<u64> {
    figures.rtt_us.filter(|_| settings.is_verbose && settings.role == Role::Sender)
}

struct Xml(String);

impl Xml {
    /// A line with one element, so far indented, with a metric where there is one.
    fn element(&mut self, (depth, name): (usize, &str), metric: &str, value: &str) {
        let indent = "\t".repeat(depth);
        let metric = match metric {
            "" => String::new(),
            metric => format!(" metric=\"{}\"", escaped(metric)),
        };
        let _ = writeln!(self.0, "{indent}<{name}{metric}>{}</{name}>", escaped(value));
    }
}

/// As text or an attribute of XML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            // Nothing else below is allowed there.
            letter if letter < ' ' && !matches!(letter, '\t' | '\n') => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// The whole text of the file of JSON.
pub(super) fn json(result: &Outcome<'_>) -> String {
    let Outcome { settings, figures, host } = result;
    let (all, machine) = (&figures.all, &figures.machine);
    let [each, second, total] = interrupts(figures);
    let [sent, received] = figures.packets.unwrap_or_default();
    let mut members = vec![("computername", text(host)), ("version", text(VERSION))];
    let asked = parameters(settings).into_iter().map(|(_, name, value)| (name, text(&value)));
    members.push(("parameters", object(asked.collect())));
    if settings.is_verbose {
        let threads = figures.threads.iter().enumerate().map(|(index, thread)| {
            let rate = thread.per_second(thread.bytes as f64);
            object(vec![
                ("index", text(&index.to_string())),
                ("realTime", metric("s", &format!("{:.3}", thread.seconds))),
                (
                    "throughputs",
                    array(&[
                        metric("KB/s", &format!("{:.3}", rate / 1e3)),
                        metric("MB/s", &format!("{:.3}", rate / 1e6)),
                        metric("mbps", &format!("{:.3}", thread.bits_per_second() / 1e6)),
                    ]),
                ),
                ("avgBytesPerCompl", metric("B", "0.000")),
            ])
        });
        members.push(("threads", array(&threads.collect::<Vec<_>>())));
    }
    members.extend([
        ("totalBytes", metric("MB", &format!("{:.6}", megabytes(all)))),
        ("realTime", metric("s", &format!("{:.6}", all.seconds))),
        ("avgBytesPerCompl", metric("B", "0.000")),
        ("threadsAvgBytesPerCompl", metric("B", "0.000")),
        ("avgFrameSize", metric("B", "0.000")),
        (
            "throughputs",
            array(&[
                metric("MB/s", &format!("{:.3}", all.per_second(megabytes(all)))),
                metric("mbps", &format!("{:.3}", all.bits_per_second() / 1e6)),
                metric("Bps", &format!("{:.3}", all.per_second(all.bytes as f64))),
                metric("buffer/s", "0.000"),
            ]),
        ),
        ("totalBuffers", text("0.000")),
        ("avgPacketsPerInterrupt", metric("packets/interrupt", &each)),
        ("interrupt", metric("count/sec", &second)),
        ("interruptTotal", metric("count", &total)),
        ("dpcs", metric("count/sec", "0.000")),
        ("avgPacketsPerDpc", metric("packets/dpc", "0.000")),
        ("cycles", metric("cycles/byte", &format!("{:.2}", machine.cycles_per_byte))),
        ("packetsSent", text(&sent.to_string())),
        ("packetsReceived", text(&received.to_string())),
        ("packets_retransmitted", text(&figures.retransmits.to_string())),
        ("errors", text("0")),
        ("cpu", metric("%", &format!("{:.2}", machine.program))),
        ("bufferCount", text("0")),
        ("bufferLen", text("0")),
        ("io", text("0")),
    ]);
    if settings.shows_retransmits {
        let all: Vec<String> =
            retransmits(figures).iter().map(|(name, value)| metric(name, value)).collect();
        members.push(("tcp_retransmits", array(&all)));
    }
    if let Some(rtt) = average_rtt(settings, figures) {
        members.push(("tcpAverageRtt metric", text(&format!("{rtt} us"))));
    }
    members.push(("os", text(&machine.os)));
    format!("{}\n", object(vec![(root(settings), object(members))]))
}

/// What is measured, and in what.
fn metric(metric: &str, value: &str) -> String {
    object(vec![("metric", text(metric)), ("value", text(value))])
}

fn object(members: Vec<(&str, String)>) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(name, value)| format!("{}: {value}", text(name))).collect();
    format!("{{{}}}", members.join(", "))
}

fn array(values: &[String]) -> String {
    format!("[{}]", values.join(", "))
}

/// As a string of JSON.
fn text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
