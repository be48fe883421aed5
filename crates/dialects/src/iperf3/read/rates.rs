//! Rates as three options say them: of a client's streams, and what a server lets a test move.

use super::{Line, of, out_of_range, parsed};
use crate::iperf3::numbers::{Suffix, number};

/// Bits a second of a stream over UDP.
const UDP_RATE: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;

impl Line {
    /// Bits a second of each stream, and how many blocks leave at once.
    pub(super) fn rate(&self, is_udp: bool) -> Result<(Option<u64>, Option<u64>), String> {
        let Some(typed) = self.value("bitrate") else {
            return Ok((is_udp.then_some(UDP_RATE), None));
        };
        let (rate, burst) = match typed.split_once('/') {
            Some((rate, burst)) => (rate, Some(parsed::<u64>("bitrate", burst)?)),
            None => (typed, None),
        };
        let within = 1..=1_000;
        if let Some(burst) = burst.filter(|burst| !within.contains(burst)) {
            return Err(out_of_range("bitrate", format!("/{burst}"), &within));
        }
        let rate = if rate.is_empty() && is_udp {
            UDP_RATE
        } else {
            number(rate, Suffix::Rate).map_err(|why| of("bitrate", why))?
        };
        if (1..1_000).contains(&rate) {
            return Err(of(
                "bitrate",
                format!("{rate} is less than 1K, the least that is held here"),
            ));
        }
        Ok(((rate > 0).then_some(rate), burst.filter(|_| rate > 0)))
    }

    /// Bits a second of each stream that the kernel is to hold: who is to hold them here goes to the notes.
    pub(super) fn fq_rate(&self, notes: &mut Vec<String>) -> Result<Option<u64>, String> {
        const NAME: &str = "fq-rate";
        let Some(typed) = self.value(NAME) else { return Ok(None) };
        let rate = number(typed, Suffix::Rate).map_err(|why| of(NAME, why))?;
        if (1..1_000).contains(&rate) {
            return Err(of(NAME, format!("{rate} is less than 1K, the least that is held here")));
        }
        if rate > 0 {
            let why = "held by this program's own clock, as -b is, and not by the kernel";
            notes.push(of(NAME, why));
        }
        Ok((rate > 0).then_some(rate))
    }

    /// What a test may move in all, and over how many nanoseconds that is averaged. What is less than a report's time goes to the notes.
    pub(super) fn most_rate(&self, notes: &mut Vec<String>) -> Result<Option<(u64, u64)>, String> {
        const NAME: &str = "server-bitrate-limit";
        let Some(typed) = self.value(NAME) else { return Ok(None) };
        let (rate, over_s) = match typed.split_once('/') {
            Some((rate, over)) => (rate, parsed::<f64>(NAME, over)?),
            None => (typed, 5.0),
        };
        if !(0.1..=60.0).contains(&over_s) {
            return Err(of(NAME, format!("/{over_s} is out of range: 0.1 to 60 seconds")));
        }
        let rate = number(rate, Suffix::Rate).map_err(|why| of(NAME, why))?;
        if over_s < 1.0 {
            let text = format!("/{over_s} counts as 1: what a test moves is told once a second");
            notes.push(of(NAME, text));
        }
        let over_ns = (over_s.max(1.0) * SECOND_NS as f64).round() as u64;
        Ok((rate > 0).then_some((rate, over_ns)))
    }
}
