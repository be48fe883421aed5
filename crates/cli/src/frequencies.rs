//! How often each latency was measured, as lagscope writes it: whole microseconds and their frequencies, for
//! the programs that draw graphs of them. Percentiles are better taken from the result itself.

use pathscope_core::quantity::named;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use pathscope_core::error::Failure;
use pathscope_core::stats::Distribution;
use pathscope_modes::command::NamedFile;
use pathscope_modes::commands::frequencies;
use pathscope_modes::document::Document;
use pathscope_os::outlets::explain;

use crate::Trouble;
use crate::files::Destination;

/// The file of `--frequency-file`. What it held before stays until there is something to write.
#[derive(Debug)]
pub struct FrequencyFile {
    path: PathBuf,
    destination: Destination,
}

impl FrequencyFile {
    /// Makes sure before anything is measured that the file can be written.
    pub fn create((option, path): &NamedFile) -> Result<Self, Trouble> {
        let destination = Destination::prepare(option, path)?;
        Ok(Self { path: path.to_owned(), destination })
    }

    /// Writes the latencies of the document's only measurement, as they were `counted` by the microsecond or else by its histogram; nothing
    /// where there are none.
    pub fn write(
        mut self,
        document: &Document,
        counted: Option<&BTreeMap<u64, u64>>,
    ) -> Result<(), Trouble> {
        let Some(latencies) = frequencies(document) else { return Ok(()) };
        let mut text = Vec::new();
        let written = match counted {
            Some(counted) => write(&mut text, counted),
            None => write(&mut text, &by_microseconds(&latencies)),
        };
        let written =
            written.and_then(|()| self.destination.write(&String::from_utf8_lossy(&text)));
        written.map_err(|error| {
            let (path, why) = (named(&self.path), explain(&error));
            Trouble::new(Failure::Output, format!("cannot write latencies to {path}: {why}"))
        })
    }
}

fn by_microseconds(latencies: &Distribution) -> BTreeMap<u64, u64> {
    let mut frequencies = BTreeMap::new();
    for bucket in &latencies.buckets {
        // A bucket's largest value may lie above all samples.
        let latency = bucket.upper_ns.min(latencies.max_ns.unwrap_or(u64::MAX)) / 1_000;
        *frequencies.entry(latency).or_insert(0_u64) += bucket.count;
    }
    frequencies
}

fn write(out: &mut impl Write, frequencies: &BTreeMap<u64, u64>) -> io::Result<()> {
    writeln!(out, "{{\n\t\"latencies\": [")?;
    for (index, (latency, frequency)) in frequencies.iter().enumerate() {
        let comma = if index + 1 < frequencies.len() { "," } else { "" };
        writeln!(
            out,
            "\t\t{{\n\t\t\t\"latency\": {latency},\n\t\t\t\"frequency\": {frequency}\n\t\t}}{comma}"
        )?;
    }
    write!(out, "\t]\n}}")
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::LatencyHistogram;

    use super::*;

    #[test]
    fn samples_of_one_microsecond_are_one_entry_and_entries_rise() {
        let mut histogram = LatencyHistogram::new();
        [12_100, 12_900, 250, 1_999].into_iter().for_each(|it| histogram.record(it));
        let mut text = Vec::new();
        write(&mut text, &by_microseconds(&histogram.distribution())).expect("memory takes it");
        let text = String::from_utf8(text).expect("digits and words");
        let layout =
            "{\n\t\"latencies\": [\n\t\t{\n\t\t\t\"latency\": 0,\n\t\t\t\"frequency\": 1\n\t\t},\n";
        assert!(text.starts_with(layout), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let pair = |index: usize| {
            let entry = &read["latencies"][index];
            (entry["latency"].as_u64(), entry["frequency"].as_u64())
        };
        assert_eq!([pair(1), pair(2)], [(Some(1), Some(1)), (Some(12), Some(2))]);
        assert_eq!(read["latencies"].as_array().map(Vec::len), Some(3));
    }
}
