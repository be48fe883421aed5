//! What a server's operator says of ctsTraffic's clients: where they come, and all that both ends must have been told alike, since nothing of it
//! is said on the wire. What is not said is as ctsTraffic has it.

use clap::Args;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_modes::goodput::{GoodputPlan, Iterations};
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;
use pathscope_modes::load::LoadArgs;

use super::stream_words::StreamWords;
use crate::in_band::AHEAD;
use crate::operator::OperatorWords;

/// Bytes of a connection.
const TRANSFER: &str = "1GiB";
/// Bytes of a segment of pushpull.
const SEGMENT: Bytes = Bytes(1 << 20);
/// Connections of one client at once, unless more are asked for.
const CONNECTIONS: u32 = 512;
/// Asked for by default, as there: what systems wait by themselves.
const KEEPALIVE: Period = Period::from_secs(7_200);

/// The options.
#[derive(Args, Clone, Debug, Default)]
#[group(skip)]
pub struct CtsTrafficWords {
    /// TCP and UDP port at which ctsTraffic clients are served [default: 4444]
    #[arg(id = "ctstraffic_port", long = "ctstraffic-port", value_name = "PORT")]
    port: Option<u16>,
    /// Who sends when with ctsTraffic clients: push, pull, pushpull or duplex [default: push]
    #[arg(id = "ctstraffic_pattern", long = "ctstraffic-pattern", value_name = "PATTERN")]
    pattern: Option<String>,
    /// Bytes on each of their connections, both directions together; the same as theirs [default: 1GiB]
    #[arg(id = "ctstraffic_transfer", long = "ctstraffic-transfer", value_name = "BYTES")]
    transfer: Option<String>,
    /// In pushpull: bytes that they send in turn; the same as theirs [default: 1 MiB]
    #[arg(id = "ctstraffic_push_bytes", long = "ctstraffic-push-bytes", value_name = "BYTES")]
    push_bytes: Option<Bytes>,
    /// In pushpull: bytes that they receive in turn; the same as theirs [default: 1 MiB]
    #[arg(id = "ctstraffic_pull_bytes", long = "ctstraffic-pull-bytes", value_name = "BYTES")]
    pull_bytes: Option<Bytes>,
    /// Which of the bytes that they send are checked: full, sampled or off [default: full]
    #[arg(id = "ctstraffic_verify", long = "ctstraffic-verify", value_name = "HOW")]
    verify: Option<String>,
    /// The most handed to the kernel at once, or taken from it, or its range [default: 512 KiB]
    #[arg(id = "ctstraffic_buffer", long = "ctstraffic-buffer", value_name = "BYTES")]
    buffer: Option<String>,
    /// The most that is sent to them on one connection, or its range
    #[arg(id = "ctstraffic_rate_limit", long = "ctstraffic-rate-limit", value_name = "RATE")]
    rate_limit: Option<String>,
    /// Time whose share of that leaves at once, at its begin [default: 1ms or less]
    #[arg(
        id = "ctstraffic_rate_period",
        long = "ctstraffic-rate-period",
        value_name = "TIME",
        requires = "ctstraffic_rate_limit"
    )]
    rate_period: Option<Period>,
    /// Sends to them before each pause of --ctstraffic-burst-delay
    #[arg(
        id = "ctstraffic_burst_count",
        long = "ctstraffic-burst-count",
        value_name = "N",
        requires = "ctstraffic_burst_delay"
    )]
    burst_count: Option<u32>,
    /// Pause after each --ctstraffic-burst-count sends
    #[arg(
        id = "ctstraffic_burst_delay",
        long = "ctstraffic-burst-delay",
        value_name = "TIME",
        requires = "ctstraffic_burst_count"
    )]
    burst_delay: Option<Period>,
    /// Code point (DSCP) of what is sent to them, 0 to 63
    #[arg(id = "ctstraffic_dscp", long = "ctstraffic-dscp", value_name = "N")]
    dscp: Option<u64>,
    /// Send buffer of connections and streams with them [default: the system's own, which adapts]
    #[arg(id = "ctstraffic_send_buffer", long = "ctstraffic-send-buffer", value_name = "BYTES")]
    send_buffer: Option<Bytes>,
    /// Receive buffer of connections and streams with them [default: the system's own, which adapts]
    #[arg(
        id = "ctstraffic_receive_buffer",
        long = "ctstraffic-receive-buffer",
        value_name = "BYTES"
    )]
    receive_buffer: Option<Bytes>,
    /// From one row of status of theirs to the next [default: 1s]
    #[arg(id = "ctstraffic_report_every", long = "ctstraffic-report-every", value_name = "TIME")]
    report_every: Option<Period>,
    /// Connections of one of them at once [default: 512]
    #[arg(id = "ctstraffic_connections", long = "ctstraffic-connections", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: Option<u32>,
    /// When a connection is tried on which nothing moves [default: 2h, as the system does]
    #[arg(id = "ctstraffic_keepalive", long = "ctstraffic-keepalive", value_name = "TIME")]
    keepalive: Option<Period>,
    #[command(flatten)]
    streams: StreamWords,
}

impl OperatorWords for CtsTrafficWords {
    fn is_said(&self) -> bool {
        let texts = [&self.pattern, &self.transfer, &self.verify, &self.buffer, &self.rate_limit];
        texts.into_iter().any(Option::is_some)
            || self.push_bytes.or(self.pull_bytes).is_some()
            || self.send_buffer.or(self.receive_buffer).is_some()
            || self.rate_period.or(self.burst_delay).or(self.report_every).is_some()
            || self.dscp.is_some()
            || self.port.is_some()
            || self.connections.is_some()
            || self.keepalive.is_some()
            || self.streams.is_said()
    }

    fn port(&self) -> Option<u16> {
        self.port
    }

    fn tests(&self) -> Result<Vec<Test>, PlanError> {
        let usual = LoadArgs::usual();
        let mut words = LoadArgs {
            pattern: self.pattern.clone().unwrap_or(usual.pattern),
            verify: self.verify.clone().unwrap_or(usual.verify),
            transfer: Some(self.transfer.clone().unwrap_or_else(|| TRANSFER.to_owned())),
            buffer: self.buffer.clone(),
            rate: self.rate_limit.clone(),
            rate_period: self.rate_period,
            burst_count: self.burst_count,
            burst_delay: self.burst_delay,
            connections: Some(self.connections.unwrap_or(CONNECTIONS)),
            connect_limit: Some(AHEAD),
            ..LoadArgs::usual()
        };
        words.sockets.keepalive = Some(self.keepalive.unwrap_or(KEEPALIVE));
        words.sockets.dscp = self.dscp;
        words.sockets.send_buffer = self.send_buffer;
        words.sockets.receive_buffer = self.receive_buffer;
        let report_every = self.report_every.unwrap_or(Period::from_secs(1));
        let streams = self.streams.test(&words.sockets, report_every);
        let mut plan = GoodputPlan::of(words)?;
        plan.push_bytes = self.push_bytes.unwrap_or(SEGMENT);
        plan.pull_bytes = self.pull_bytes.unwrap_or(SEGMENT);
        plan.shape.iterations = Iterations::Forever;
        let test = Test::new(plan.into(), None, report_every);
        test.validate()?;
        Ok([test].into_iter().chain(streams?).collect())
    }
}
