//! An honest client: goodput over one connection, and pings beside it, by two processes of ours.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::stage::Stage;
use crate::ends::{End, now, pause};

/// How long it measures while nobody attacks: long enough for a thousand pings.
pub const ALONE_SECONDS: u64 = 3;

/// From one ping to the next.
const PERIOD: &str = "2ms";

/// What it measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Of one connection to the server.
    pub goodput_bps: f64,
    /// Of round trips; the greatest one where there were too few.
    pub p99_ns: u64,
}

/// It runs.
pub struct Client {
    goodput: End,
    latency: End,
    seconds: u64,
}

impl Client {
    /// Starts both.
    pub fn start(stage: &Stage, server: SocketAddr, seconds: u64) -> Result<Self> {
        let duration = format!("{seconds}s");
        let start = |words: &[&str]| {
            let mut command = stage.honest(&stage.pathscope);
            command.args(words).args([&server.ip().to_string(), "--json", "--quiet"]);
            command.args(["--duration", &duration]);
            End::start(command)
        };
        Ok(Self {
            goodput: start(&[
                "goodput",
                "--connections",
                "1",
                "--no-probe",
                "--congestion",
                "cubic",
            ])?,
            latency: start(&["latency", "--period", PERIOD])?,
            seconds,
        })
    }

    /// What both came to.
    pub fn finish(mut self) -> Result<Measured> {
        let patience = Duration::from_secs(self.seconds + 40);
        let goodput = summary(&self.goodput.output(patience)?).context("read the goodput")?;
        let latency = summary(&self.latency.output(patience)?).context("read the latency")?;
        Ok(Measured {
            goodput_bps: goodput["goodput"]["up"]["goodput_bps"]
                .as_f64()
                .context("measure goodput beside it")?,
            p99_ns: p99(&latency["latency"]["rtt"]).context("measure latency beside it")?,
        })
    }
}

/// What transfers over iperf3's wire came to that an honest client made one after the other.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    /// Those of which each byte was counted at both ends.
    pub whole: u64,
    /// Those that the server refused.
    pub refused: u64,
    /// What came of others, as sentences.
    pub failed: Vec<String>,
}

/// Of a transfer, over two streams together.
const TRANSFER_BYTES: u64 = 1 << 20;

impl Transfers {
    /// As many as there is time for, one at a time with a pause behind each.
    pub fn make(stage: &Stage, server: SocketAddr, lasts: Duration) -> Result<Self> {
        let (start, mut all) = (now(), Self::default());
        while start.elapsed() < lasts {
            let mut command = stage.honest(&stage.pathscope);
            command.args(["iperf3", "-J", "-P", "2", "-n", &TRANSFER_BYTES.to_string()]);
            command.args(["-c", &server.ip().to_string()]);
            let output = End::start(command)?.output(Duration::from_secs(60))?;
            all.take(&output);
            pause(Duration::from_millis(250));
        }
        Ok(all)
    }

    fn take(&mut self, output: &str) {
        let document: Value = serde_json::from_str(output).unwrap_or_default();
        let sums = ["sum_sent", "sum_received"].map(|sum| document["end"][sum]["bytes"].as_u64());
        match document["error"].as_str() {
            None if sums == [Some(TRANSFER_BYTES); 2] => self.whole += 1,
            None => self.failed.push(format!("count {sums:?} of {TRANSFER_BYTES} bytes")),
            Some(error) if is_refused(error) => self.refused += 1,
            Some(error) => self.failed.push(format!("be served: {error}")),
        }
    }
}

/// Whether a client that measured nothing was told by the server which of its limits others have used up.
pub fn is_refused(error: &str) -> bool {
    error.contains("refused by the server: ")
}

fn summary(document: &str) -> Result<Value> {
    let document: Value =
        serde_json::from_str(document).context("find a document in its output")?;
    let reason = document["outcome"]["reason"].as_str().unwrap_or("without a reason");
    let summary = document["measurements"][0]["summary"].clone();
    anyhow::ensure!(summary.is_object(), "be measured: {reason}");
    Ok(summary)
}

fn p99(rtt: &Value) -> Option<u64> {
    let percentiles = rtt["percentiles"].as_array()?;
    let p99 = percentiles.iter().find(|one| one["percent"].as_f64() == Some(99.0))?;
    p99["value_ns"].as_u64().or_else(|| rtt["max_ns"].as_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_whole_refused_or_failed() {
        let mut all = Transfers::default();
        let counted = |sent, received| {
            format!(
                r#"{{"end":{{"sum_sent":{{"bytes":{sent}}},"sum_received":{{"bytes":{received}}}}}}}"#
            )
        };
        all.take(&counted(1_048_576, 1_048_576));
        all.take(r#"{"error":"refused by the server: it runs another test"}"#);
        assert_eq!((all.whole, all.refused, all.failed.len()), (1, 1, 0));
        all.take(&counted(1_048_576, 1_048_575));
        all.take(r#"{"error":"the server closed the connection"}"#);
        all.take("");
        assert_eq!((all.whole, all.refused, all.failed.len()), (1, 1, 3));
    }

    #[test]
    fn the_99th_percentile_or_else_the_greatest() {
        let rtt = |value: &str| -> Value {
            let text = format!(
                r#"{{"max_ns":9,"percentiles":[{{"percent":50,"value_ns":1}},{{"percent":99,"value_ns":{value}}}]}}"#
            );
            serde_json::from_str(&text).expect("JSON")
        };
        assert_eq!(p99(&rtt("7")), Some(7));
        assert_eq!(p99(&rtt("null")), Some(9));
        assert_eq!(p99(&Value::Null), None);
    }
}
