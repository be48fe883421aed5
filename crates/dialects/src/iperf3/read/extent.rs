//! How long a client's test is, by whichever of three options says so; and options that count whole seconds.

use std::ops::RangeInclusive;

use pathscope_core::quantity::shown;

use super::{Line, MOST_BYTES, named, of, out_of_range};
use crate::iperf3::asked::Extent;

impl Line {
    /// When the test is over. What has no effect of a value goes to the notes.
    pub(super) fn extent(&self, notes: &mut Vec<String>) -> Result<Extent, String> {
        // The original takes no bytes and no blocks for what was not said.
        let size = |name| self.size(name, &(0..=MOST_BYTES)).map(|it| it.filter(|&it| it > 0));
        let (bytes, blocks) = (size("bytes")?, size("blockcount")?);
        let ends = [
            ("time", self.has("time")),
            ("bytes", bytes.is_some()),
            ("blockcount", blocks.is_some()),
        ];
        let said: Vec<String> =
            ends.iter().filter(|(_, is_said)| *is_said).map(|(name, _)| named(name)).collect();
        if said.len() > 1 {
            return Err(format!("{} exclude each other: leave one out", said.join(" and ")));
        }
        if let Some(bytes) = bytes {
            return Ok(Extent::Bytes(bytes));
        }
        if let Some(blocks) = blocks {
            return Ok(Extent::Blocks(blocks));
        }
        if self.value("time").is_some_and(|typed| typed.eq_ignore_ascii_case("inf")) {
            // Scripts write it for a test without an end: the original reads no number in it, which is 0.
            return Ok(Extent::Seconds(0));
        }
        Ok(Extent::Seconds(self.seconds("time", &(0..=86_400), notes)?.unwrap_or(10)))
    }

    /// Whole seconds. Of a fraction the original takes what stands before the point, and so does this: but it says so. Of less than one
    /// that is 0, which means something else.
    pub(super) fn seconds(
        &self,
        name: &str,
        within: &RangeInclusive<u64>,
        notes: &mut Vec<String>,
    ) -> Result<Option<u64>, String> {
        let Some(typed) = self.value(name) else { return Ok(None) };
        let (whole, fraction) = typed.split_once('.').unwrap_or((typed, ""));
        let is_number = fraction.bytes().all(|it| it.is_ascii_digit());
        let has_fraction = fraction.bytes().any(|it| it != b'0');
        let seconds: Option<u64> = whole.parse().ok().filter(|_| is_number);
        let Some(seconds) = seconds.filter(|&it| it > 0 || !has_fraction) else {
            let (typed, least, most) = (shown(typed), within.start(), within.end());
            let why =
                format!("'{typed}' is no number of whole seconds: say one from {least} to {most}");
            return Err(of(name, why));
        };
        if !within.contains(&seconds) {
            return Err(out_of_range(name, seconds, within));
        }
        if has_fraction {
            let text = format!("{typed} counts as {seconds}, since whole seconds are taken");
            notes.push(of(name, text));
        }
        Ok(Some(seconds))
    }
}
