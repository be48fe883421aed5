//! One test at a server: what is said of it when its streams are there, and when it is over.

use std::io::{self, Write};

use pathscope_core::journal::{Entry, LoadFacts, TestBegan, TestOver};
use pathscope_core::record::SocketFacts;

use super::super::asked::{Json, Way};
use super::super::client::protocol;
use super::super::json::Object;
use super::super::objects::{self, OURS, VERSION};
use super::super::outcome::{self, Outcome};
use super::super::report::Report;
use super::super::rows::{self, host_and_port};
use super::super::shape::Shape;
use super::super::streams::Stream;

/// A test that is under way.
#[derive(Debug)]
pub(super) struct Test {
    pub began: TestBegan,
    pub report: Report,
}

/// What a test is, at a server.
pub(super) fn shape(load: &LoadFacts, interval_ns: u64) -> Shape {
    Shape {
        is_client: false,
        is_udp: load.is_udp,
        way: way(load),
        streams: load.connections,
        omit_ns: load.warm_up_ns,
        interval_ns,
        planned_ns: load.duration_ns,
    }
}

/// What is said of a test before its rows, where more is to be said.
fn starting(load: &LoadFacts) -> String {
    let seconds = |ns: u64| ns / 1_000_000_000;
    let extent = match (load.transfer_bytes, load.duration_ns) {
        (Some(bytes), _) => {
            format!("{} bytes to send", bytes.saturating_mul(load.connections.into()))
        }
        (None, all_ns) => {
            let all_ns = all_ns.unwrap_or(0).saturating_sub(load.warm_up_ns);
            format!("{} second test", seconds(all_ns))
        }
    };
    rows::starting(
        (protocol(load.is_udp), load.connections, load.block_bytes),
        (seconds(load.warm_up_ns), &extent),
        u32::from(load.dscp.unwrap_or(0)) << 2,
    )
}

fn way(load: &LoadFacts) -> Way {
    match (load.is_up, load.is_down) {
        (true, true) => Way::Both,
        (false, true) => Way::Pull,
        _ => Way::Push,
    }
}

impl Test {
    /// A stream of it is about to begin.
    pub fn opened(
        &mut self,
        entry: &Entry,
        (json, is_verbose): (Json, bool),
        machine: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Entry::Opened(connection) = entry else { return Ok(()) };
        self.report.is_at(connection.at_ns);
        let text = rows::connected(self.report.streams.opened(connection));
        if json == Json::No {
            self.report.line(&text, out)?;
        }
        if self.report.streams.are_open() {
            match json {
                Json::No if is_verbose => {
                    self.report.line(&starting(&self.began.load), out)?;
                    self.report.head(out)?;
                }
                Json::No => self.report.head(out)?,
                Json::Stream { .. } => {
                    self.report.event("start", self.start(machine, None).into(), out)?;
                }
                Json::Whole => {}
            }
        }
        Ok(())
    }

    /// It is over.
    pub fn ends(
        &mut self,
        ((json, is_verbose), machine): ((Json, bool), &str),
        over: &TestOver,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.report.end(out)?;
        let shape = self.report.streams.shape;
        let here = |stream: &Stream| {
            let mut outcome = outcome::here(stream, &shape);
            let told = over.sent_there.iter().find(|(flow, _)| flow.0 == stream.flow);
            if let (Some(received), Some((_, all))) = (&mut outcome.received, told) {
                outcome::know_all(received, all.saturating_sub(stream.before));
            }
            outcome
        };
        let outcomes: Vec<Outcome> = self.report.streams.all.iter().map(here).collect();
        if json == Json::No {
            self.report.line(rows::SEPARATOR, out)?;
            if is_verbose {
                self.report.line("Test Complete. Summary Results:", out)?;
            }
            return self.report.summary(&outcomes, out);
        }
        let end = objects::end(&self.report.streams, &outcomes);
        // What the client says of its processors is not kept.
        let cpu = objects::cpu(&over.workers, &[]);
        let control = over.sockets.as_ref().and_then(|it| it.congestion_control.as_deref());
        let of = |sends| {
            let is_there = self.report.streams.all.iter().any(|stream| stream.sends == sends);
            control.filter(|_| is_there && !shape.is_udp)
        };
        let end = end
            .with("cpu_utilization_percent", cpu)
            .with_some("sender_tcp_congestion", of(true))
            .with_some("receiver_tcp_congestion", of(false));
        let why = over.failure.as_deref();
        if let Json::Stream { is_whole_too } = json {
            if let Some(why) = why {
                self.report.event("error", why.into(), out)?;
            }
            self.report.event("end", end.clone().into(), out)?;
            if !is_whole_too {
                return Ok(());
            }
        }
        let document = Object::new()
            .with("start", self.start(machine, over.sockets.as_ref()))
            .with("intervals", self.report.take_intervals())
            .with("end", end)
            .with_some("title", self.began.remarks.title.as_deref())
            .with_some("extra_data", self.began.remarks.extra_data.as_deref())
            .with_some("error", why)
            .with(OURS, self.ours());
        writeln!(out, "{}", document.pretty())
    }

    /// What the original does not tell.
    fn ours(&self) -> Object {
        let left_out = Some(self.report.left_out()).filter(|&number| number > 0);
        Object::new()
            .with("version", env!("CARGO_PKG_VERSION"))
            .with_some("intervals_left_out", left_out)
    }

    fn start(&self, machine: &str, sockets: Option<&SocketFacts>) -> Object {
        let TestBegan { at_ns, load, session, .. } = &self.began;
        let (host, port) = host_and_port(session);
        let rate_bps = load.rate_bps.unwrap_or(0);
        let seconds = |ns: u64| ns / 1_000_000_000;
        let duration_ns = load.duration_ns.map(|it| it.saturating_sub(load.warm_up_ns));
        let test_start = Object::new()
            .with("protocol", protocol(load.is_udp))
            .with("num_streams", load.connections)
            .with("blksize", load.block_bytes)
            .with("omit", seconds(load.warm_up_ns))
            .with("duration", seconds(duration_ns.unwrap_or(0)))
            .with("bytes", load.transfer_bytes.unwrap_or(0).saturating_mul(load.connections.into()))
            .with("blocks", 0_u64)
            .with("reverse", u32::from(way(load) == Way::Pull))
            .with("tos", u32::from(load.dscp.unwrap_or(0)) << 2)
            .with("target_bitrate", rate_bps)
            .with("bidir", u32::from(way(load) == Way::Both))
            .with("fqrate", 0_u64)
            .with("interval", self.report.streams.shape.interval_ns as f64 / 1e9)
            .with("gso", 0_u64)
            .with("gro", 0_u64);
        let start = Object::new()
            .with("connected", objects::connected(&self.report.streams))
            .with("version", VERSION)
            .with("system_info", machine)
            .with("target_bitrate", rate_bps);
        let start = objects::buffers(start, load.send_buffer_bytes, sockets)
            .with("timestamp", objects::timestamp(self.report.unix_ns(*at_ns)))
            .with("accepted_connection", objects::place(host, port.parse().unwrap_or(0)));
        objects::segments(start, &self.report.streams.shape, load.segment_bytes, sockets)
            .with("fq_rate", 0_u64)
            .with("test_start", test_start)
    }
}
