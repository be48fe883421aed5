//! The lines that iperf3's user reads, each by itself. When each is printed is the affair of the screens.

use super::asked::Way;
use super::outcome::{Datagrams, Half, Outcome};
use super::shape::Shape;
use super::streams::{Row, Stream, lost_percent, rate_bps};
use super::units::{Unit, amount, rate};

/// Between the rows of one interval and of the next, and before the summary.
pub(super) const SEPARATOR: &str = "- - - - - - - - - - - - - - - - - - - - - - - - -";
/// Where an interval has neither retransmits nor a window.
const NO_RETRANSMITS: &str = "                  ";
/// Between the datagrams that were sent and what stands before, beside rows with jitter.
const NO_JITTER: &str = "          ";

/// How lines are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub shape: Shape,
    pub unit: Option<Unit>,
}

/// Of which stream a row is, or of all in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of<'stream> {
    One(&'stream Stream),
    All {
        /// Whether this end sends on them.
        sends: bool,
    },
}

impl Of<'_> {
    fn sends(self) -> bool {
        match self {
            Self::One(stream) => stream.sends,
            Self::All { sends } => sends,
        }
    }
}

/// A stream that is about to begin.
pub(super) fn connected(stream: &Stream) -> String {
    let [local, remote] = stream.ends.each_ref().map(|end| host_and_port(end));
    format!(
        "[{:3}] local {} port {} connected to {} port {}",
        stream.socket, local.0, local.1, remote.0, remote.1
    )
}

/// What a test is: its protocol, its streams and their blocks, the seconds that are left out, when it is over, and the byte in headers.
pub(super) fn starting(
    (protocol, streams, block_bytes): (&str, u32, u64),
    (omit_s, extent): (u64, &str),
    tos: u32,
) -> String {
    format!(
        "Starting Test: protocol: {protocol}, {streams} streams, {block_bytes} byte blocks, omitting {omit_s} seconds, {extent}, tos {tos}"
    )
}

/// An address and its port, apart.
pub(super) fn host_and_port(address: &str) -> (&str, &str) {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "0"));
    (host.trim_start_matches('[').trim_end_matches(']'), port)
}

impl Form {
    /// What stands above the rows of intervals.
    pub fn head(&self) -> String {
        let Shape { is_udp, way, is_client, .. } = self.shape;
        let sends = way == Way::Both || (way == Way::Push) == is_client;
        let has_jitter = way == Way::Both || !sends;
        let columns = match (is_udp, sends, has_jitter) {
            (true, _, true) => "         Jitter    Lost/Total Datagrams",
            (true, ..) => "         Total Datagrams",
            (false, true, _) => "         Retr  Cwnd",
            (false, ..) => "",
        };
        self.head_with(columns)
    }

    /// What stands above the rows of the summary.
    pub fn summary_head(&self, has_sender: bool) -> String {
        self.head_with(match (self.shape.is_udp, has_sender) {
            (true, _) => "         Jitter    Lost/Total Datagrams",
            (false, true) => "         Retr",
            (false, false) => "",
        })
    }

    fn head_with(&self, columns: &str) -> String {
        let roles = if self.shape.way == Way::Both { "[Role]" } else { "" };
        format!("[ ID]{roles} Interval           Transfer     Bitrate{columns}")
    }

    /// A row of an interval.
    pub fn row(&self, of: Of<'_>, row: &Row) -> String {
        let end = if row.is_omitted { "(omitted)" } else { "" };
        let origin_ns = if row.is_omitted { 0 } else { self.shape.omit_ns };
        let times = (row.start_ns.saturating_sub(origin_ns), row.end_ns.saturating_sub(origin_ns));
        let begin = self.begin(of, times, row.bytes, row.rate_bps());
        let sends = of.sends();
        if self.shape.is_udp {
            let datagrams = row.datagrams.unwrap_or_default();
            if sends {
                let gap = if self.shape.way == Way::Both { NO_JITTER } else { "" };
                return format!("{begin}  {gap}{}  {end}", datagrams.sent);
            }
            let all = datagrams.expected.unwrap_or(0).max(datagrams.received);
            let lost = all - datagrams.received;
            return format!("{begin}  {}  {end}", losses(datagrams.jitter_ns, lost, all));
        }
        match (row.retransmits.filter(|_| sends), row.look) {
            (Some(retransmits), Some(look)) => {
                let window = amount(look.congestion_window_bytes.unwrap_or(0));
                format!("{begin}  {retransmits:3}   {window}       {end}")
            }
            (Some(retransmits), None) => format!("{begin}  {retransmits:3}             {end}"),
            (None, _) => format!("{begin}{NO_RETRANSMITS}{end}"),
        }
    }

    /// The rows of a stream, or of all in a direction, that sum it up.
    pub fn summary(&self, of: Of<'_>, outcome: &Outcome) -> Vec<String> {
        let row = |half: &Half, end: &str| {
            let rate_bps = rate_bps(half.bytes, half.time_ns);
            let begin = self.begin(of, (0, half.time_ns), half.bytes, rate_bps);
            if let Some(Datagrams { all, lost, jitter_ns, .. }) =
                half.datagrams.or(self.shape.is_udp.then(Datagrams::default))
            {
                return format!("{begin}  {}  {end}", losses(jitter_ns, lost, all));
            }
            match half.retransmits {
                Some(retransmits) => format!("{begin}  {retransmits:3}             {end}"),
                None => format!("{begin}{NO_RETRANSMITS}{end}"),
            }
        };
        let sent = outcome.sent.iter().map(|half| row(half, "sender"));
        sent.chain(outcome.received.iter().map(|half| row(half, "receiver"))).collect()
    }

    fn begin(&self, of: Of<'_>, (start, end): (u64, u64), bytes: u64, bps: f64) -> String {
        let name = match of {
            Of::One(stream) => format!("{:3}", stream.socket),
            Of::All { .. } => "SUM".to_owned(),
        };
        let role = match (self.shape.way, of.sends(), self.shape.is_client) {
            (Way::Both, true, true) => "[TX-C]",
            (Way::Both, false, true) => "[RX-C]",
            (Way::Both, true, false) => "[TX-S]",
            (Way::Both, false, false) => "[RX-S]",
            _ => "",
        };
        let [start, end] = [start, end].map(|it| it as f64 / 1e9);
        let (amount, rate) = (amount(bytes), rate(bps, self.unit));
        format!("[{name}]{role} {start:6.2}-{end:<6.2} sec  {amount}  {rate}")
    }
}

/// How transit times varied, and what never came.
fn losses(jitter_ns: Option<u64>, lost: u64, all: u64) -> String {
    let jitter = jitter_ns.unwrap_or(0) as f64 / 1e6;
    format!("{jitter:5.3} ms  {lost}/{all} ({}%)", two_digits(lost_percent(lost, all)))
}

/// Two digits that count, written out: of a hundred, all three.
fn two_digits(value: f64) -> String {
    if value >= 9.95 {
        return format!("{value:.0}");
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (1.0 - value.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_two_digits_and_no_exponent() {
        for (value, text) in [
            (0.0, "0"),
            (100.0, "100"),
            (12.34, "12"),
            (9.96, "10"),
            (1.25, "1.2"),
            (2.0, "2"),
            (0.0123, "0.012"),
            (0.00001, "0.00001"),
        ] {
            assert_eq!(two_digits(value), text);
        }
    }
}
