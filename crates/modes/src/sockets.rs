//! What a test asks of its sockets, for any mode: stated by the client, set at both ends where it concerns
//! both.

mod own;

use std::net::IpAddr;
use std::ops::RangeInclusive;

use clap::Args;
use pathscope_core::quantity::{Bytes, Period, shown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::own::OwnAddress;
pub(crate) use self::own::{interface_of, own_place, settle};
use crate::command::{Machine, Refusal};
use crate::limits::{self, PlanError};
use crate::span::Span;

/// Where and how the sockets of a test are opened and set. The default leaves all to each system.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct SocketPlan {
    /// Differentiated services code point of what both ends send.
    pub dscp: Option<u8>,
    /// Routers that what both ends send may pass (IPv4's time to live, IPv6's hop limit).
    pub hops: Option<u8>,
    /// Send buffer of both ends.
    pub send_buffer_bytes: Option<Bytes>,
    /// Receive buffer of both ends.
    pub receive_buffer_bytes: Option<Bytes>,
    /// The most that waits unsent in the kernel before a sender is asked for more, at both ends.
    pub not_sent_low_water_bytes: Option<Bytes>,
    /// The largest segment that the client offers, and so the largest of both ends.
    pub segment_bytes: Option<Bytes>,
    /// After so long without a word both ends ask whether the other is there.
    pub keepalive_ns: Option<Period>,
    /// A connection over TCP on which what was sent is not acknowledged for so long is over, at both ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_timeout_ns: Option<Period>,
    /// Label of what the client sends over IPv6; absent: the system's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_label: Option<u32>,
    /// Small segments are held back until others are acknowledged (Nagle), at both ends.
    pub nagle: bool,
    /// The client's interface.
    pub interface: Option<String>,
    /// The client's addresses, in turns.
    pub bind: Vec<IpAddr>,
    /// The client's ports; absent: the system's choice.
    pub source_ports: Option<SourcePorts>,
    /// Where a port of these is taken, a connection over TCP has whichever the system chooses.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub source_port_fallback: bool,
}

/// Ports, both ends of the range included.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SourcePorts {
    /// The first.
    pub low: u16,
    /// The last.
    pub high: u16,
}

impl SourcePorts {
    /// How many there are.
    pub const fn count(self) -> u32 {
        (self.high - self.low) as u32 + 1
    }

    fn validate(self, connections: u32) -> Result<(), PlanError> {
        let (low, high) = (u64::from(self.low), u64::from(self.high));
        limits::in_range("--source-port", low, &limits::PORT)?;
        limits::upper_end("--source-port", low, Some(high), &limits::PORT)?;
        if self.count() < connections {
            let why = format!(
                "has {} ports, and there are {connections} connections at a time; give as many ports",
                self.count()
            );
            return Err(PlanError::unfit("--source-port", why));
        }
        Ok(())
    }
}

/// What was typed.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Sockets of data connections and flows")]
pub struct SocketArgs {
    /// Code point (DSCP) of what both ends send, 0 to 63
    #[arg(long, value_name = "N")]
    pub dscp: Option<u64>,
    /// Routers that what both ends send may pass, 1 to 255: time to live, or IPv6's hop limit [default: each
    /// system's own]
    #[arg(long, value_name = "N")]
    pub ttl: Option<u64>,
    /// Send buffer at both ends [default: the system's own, which adapts]
    #[arg(long, value_name = "BYTES")]
    pub send_buffer: Option<Bytes>,
    /// Receive buffer at both ends [default: the system's own, which adapts]
    #[arg(long, value_name = "BYTES")]
    pub receive_buffer: Option<Bytes>,
    /// The most that waits unsent in the kernel, at both ends [default: no limit; in duplex goodput 128 KiB]
    #[arg(long, value_name = "BYTES")]
    pub notsent_lowat: Option<Bytes>,
    /// The largest segment, of both directions
    #[arg(long, value_name = "BYTES")]
    pub mss: Option<Bytes>,
    /// Ask whether the other end is there after so long without a word, at both ends
    #[arg(long, value_name = "TIME")]
    pub keepalive: Option<Period>,
    /// Give a connection up on which what was sent is not acknowledged for so long, at both ends [default: the
    /// system's own, minutes]
    #[arg(long, value_name = "TIME")]
    pub user_timeout: Option<Period>,
    /// Label of this end's IPv6 packets, 1 to 1048575 [default: the system's choice]
    #[arg(long, value_name = "N")]
    pub flow_label: Option<u64>,
    /// Hold small segments back until others are acknowledged, at both ends
    #[arg(long)]
    pub nagle: bool,
    /// Interface of this end, by its name or its number
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// Address of this end, or a name that has some; may be given several times, and connections take all of them in turns; '*': whichever
    /// the system chooses
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Vec<OwnAddress>,
    /// Port of this end, or a range
    #[arg(
        long,
        value_name = "PORT",
        help = "Port of this end; '[low,high]': one of these for each connection at a time"
    )]
    pub source_port: Option<String>,
    /// Where a port of --source-port is taken, use whichever is free
    #[arg(long, requires = "source_port")]
    pub source_port_fallback: bool,
}

impl SocketArgs {
    /// Asks what names of this end and numbers of its interfaces stand for.
    pub(crate) fn settle(&mut self, machine: &dyn Machine) -> Result<(), Refusal> {
        settle(&mut self.bind, &mut self.interface, machine)
    }

    /// The plan that these words make.
    pub fn into_plan(self) -> Result<SocketPlan, PlanError> {
        let dscp = self.dscp.map(|dscp| narrow("--dscp", dscp, &limits::DSCP)).transpose()?;
        let (bind, interface) = own_place(self.bind, self.interface)?;
        let hops = self.ttl.map(|hops| narrow("--ttl", hops, &limits::HOPS)).transpose()?;
        let label = self.flow_label.map(|it| narrow("--flow-label", it, &limits::FLOW_LABEL));
        let flow_label = label.transpose()?;
        Ok(SocketPlan {
            dscp,
            hops,
            send_buffer_bytes: self.send_buffer,
            receive_buffer_bytes: self.receive_buffer,
            not_sent_low_water_bytes: self.notsent_lowat,
            segment_bytes: self.mss,
            keepalive_ns: self.keepalive,
            user_timeout_ns: self.user_timeout,
            flow_label,
            nagle: self.nagle,
            interface,
            bind,
            source_ports: self.source_port.as_deref().map(source_ports).transpose()?,
            source_port_fallback: self.source_port_fallback,
        })
    }
}

/// Ports of this end as typed: one, or a range.
pub(crate) fn source_ports(typed: &str) -> Result<SourcePorts, PlanError> {
    let Span { low, high } = typed.parse().map_err(|_| {
        let why = format!("'{}' is no port and no range; write 4000 or [4000,4999]", shown(typed));
        PlanError::unfit("--source-port", why)
    })?;
    let port = |port| narrow("--source-port", port, &limits::PORT);
    Ok(SourcePorts { low: port(low)?, high: port(high.unwrap_or(low))? })
}

fn narrow<T: TryFrom<u64>>(
    option: &'static str,
    value: u64,
    range: &RangeInclusive<u64>,
) -> Result<T, PlanError> {
    let fitting = T::try_from(value).ok().filter(|_| range.contains(&value));
    fitting.ok_or_else(|| PlanError::out_of_range(option, value, (range.start(), range.end())))
}

impl SocketPlan {
    /// Whether this can be asked for, for so many connections at a time.
    pub fn validate(&self, connections: u32) -> Result<(), PlanError> {
        limits::in_range("--dscp", self.dscp.map(u64::from), &limits::DSCP)?;
        limits::in_range("--ttl", self.hops.map(u64::from), &limits::HOPS)?;
        for (option, bytes, range) in [
            ("--send-buffer", self.send_buffer_bytes, &limits::SOCKET_BUFFER),
            ("--receive-buffer", self.receive_buffer_bytes, &limits::SOCKET_BUFFER),
            ("--notsent-lowat", self.not_sent_low_water_bytes, &limits::SOCKET_BUFFER),
            ("--mss", self.segment_bytes, &limits::MSS),
        ] {
            limits::in_range(option, bytes, range)?;
        }
        limits::in_range("--keepalive", self.keepalive_ns, &limits::KEEPALIVE)?;
        limits::in_range("--user-timeout", self.user_timeout_ns, &limits::USER_TIMEOUT)?;
        limits::in_range("--flow-label", self.flow_label.map(u64::from), &limits::FLOW_LABEL)?;
        limits::interface("--interface", self.interface.as_deref())?;
        if self.bind.len() > limits::BINDS {
            let addresses = format!("{} addresses", self.bind.len());
            return Err(PlanError::out_of_range("--bind", addresses, (1, limits::BINDS)));
        }
        self.source_ports.map_or(Ok(()), |ports| ports.validate(connections))
    }

    /// Whether this can be asked for of sockets that carry datagrams: what belongs to TCP cannot.
    pub fn validate_datagrams(&self, congestion_control: Option<&str>) -> Result<(), PlanError> {
        let asked = [
            ("--congestion", congestion_control.is_some()),
            ("--notsent-lowat", self.not_sent_low_water_bytes.is_some()),
            ("--mss", self.segment_bytes.is_some()),
            ("--keepalive", self.keepalive_ns.is_some()),
            ("--user-timeout", self.user_timeout_ns.is_some()),
            ("--nagle", self.nagle),
            ("--source-port-fallback", self.source_port_fallback),
        ];
        limits::exclude("UDP", "it is an option of TCP: leave it out", &asked)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: SocketArgs,
    }

    fn plan(words: &str) -> Result<SocketPlan, PlanError> {
        let words = std::iter::once("pathscope").chain(words.split_whitespace());
        let plan = Line::try_parse_from(words).expect("known words").args.into_plan()?;
        plan.validate(8).map(|()| plan)
    }

    #[test]
    fn what_is_typed_is_what_is_asked_for() {
        assert_eq!(plan("").expect("nothing"), SocketPlan::default());
        let words = "--dscp 46 --ttl 3 --send-buffer 1MiB --mss 1000 --keepalive 10s --nagle --bind 127.0.0.1 \
                     --bind ::1 --source-port [4000,4007] --interface eth0.5";
        let plan = plan(words).expect("all in range");
        assert_eq!(
            (plan.dscp, plan.hops, plan.segment_bytes),
            (Some(46), Some(3), Some(Bytes(1_000)))
        );
        assert_eq!(plan.source_ports, Some(SourcePorts { low: 4_000, high: 4_007 }));
        assert_eq!((plan.bind.len(), plan.nagle), (2, true));
    }

    #[test]
    fn a_link_behind_an_address_is_the_interface() {
        let of = |words: &str| plan(words).map(|plan| (plan.bind, plan.interface));
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let (eth0, link) = (Some("eth0".to_owned()), vec![address("fe80::1")]);
        for words in
            ["--bind fe80::1%eth0", "--bind [fe80::1%eth0]", "--bind fe80::1%eth0 --interface eth0"]
        {
            assert_eq!(of(words), Ok((link.clone(), eth0.clone())), "{words}");
        }
        assert_eq!(of("--bind ::ffff:192.0.2.1"), Ok((vec![address("192.0.2.1")], None)));
        assert_eq!(of("--bind * --bind 192.0.2.1"), Ok((vec![address("192.0.2.1")], None)));
        assert_eq!(of("--bind *"), Ok((Vec::new(), None)));
        for words in
            ["--bind fe80::1%eth0 --interface eth1", "--bind fe80::1%eth0 --bind fe80::2%eth1"]
        {
            let error = of(words).expect_err(words).to_string();
            assert!(error.contains("--bind ADDRESS%INTERFACE"), "{words}: {error}");
        }
        for typed in ["192.0.2.1%eth0", "*%eth0", "here%eth0", "", "192.0.2.1:80", "192.0.2", "h\n"]
        {
            let error = typed.parse::<OwnAddress>().expect_err(typed);
            assert!(error.contains("is no address") && !error.contains('\n'), "{typed}: {error}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        for (words, parts) in [
            ("--dscp 64", &["--dscp 64", "0 to 63"][..]),
            ("--dscp 300", &["--dscp 300", "0 to 63"]),
            ("--ttl 0", &["--ttl 0", "1 to 255"]),
            ("--ttl 256", &["--ttl 256", "1 to 255"]),
            ("--send-buffer 1", &["--send-buffer 1 B", "1 KiB to"]),
            ("--receive-buffer 2GiB", &["--receive-buffer 2 GiB", "1 GiB"]),
            ("--notsent-lowat 2GiB", &["--notsent-lowat"]),
            ("--mss 87", &["--mss 87 B", "88 B to"]),
            ("--keepalive 1ms", &["--keepalive 1 ms", "1 s to"]),
            ("--user-timeout 25h", &["--user-timeout", "1 ms to"]),
            ("--flow-label 0", &["--flow-label 0", "1 to 1048575"]),
            ("--flow-label 1048576", &["--flow-label 1048576", "1 to 1048575"]),
            ("--source-port 0", &["--source-port 0", "1 to 65535"]),
            ("--source-port 70000", &["--source-port 70000", "1 to 65535"]),
            ("--source-port [9,8]", &["--source-port [9,8]", "[low,high]"]),
            ("--source-port [4000,4003]", &["4 ports", "8 connections"]),
            ("--source-port any", &["--source-port", "any"]),
            ("--interface a/b", &["--interface"]),
        ] {
            let error = plan(words).expect_err(words).to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{words}: {error}");
        }
    }
}
