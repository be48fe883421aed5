//! How long a report of very many samples takes, what it takes meanwhile, how large its page is, and whether the extremes are in it.
//!
//! No comparison: the bounds are a time, an amount of memory and a length. The samples are those of a real run over loopback.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use pathscope_core::quantity;
use serde::Serialize;
use serde_json::Value;

use super::case::Protocol;
use super::conditions::Conditions;
use super::ends::{End, free_port, now};
use super::statistics::median;
use crate::console::say;
use crate::folder;

/// What `--case` calls it.
pub const NAME: &str = "report-10M-samples";

/// Pings of the run.
const SAMPLES: u64 = 10_000_000;
/// Flows that they are of: one alone takes minutes longer.
const FLOWS: u64 = 16;
/// What one report may take.
const MOST_TIME: Duration = Duration::from_secs(10);
const MOST_RESIDENT_BYTES: u64 = 512 << 20;
const MOST_PAGE_BYTES: u64 = 10_000_000;
/// After which it is given up.
const PATIENCE: Duration = Duration::from_secs(120);
/// And the run that makes the samples.
const RUN_PATIENCE: Duration = Duration::from_secs(1_200);
/// More reports of the same file are no surer.
const MOST_REPETITIONS: usize = 5;

/// One report.
#[derive(Clone, Debug, Serialize)]
pub struct Reading {
    /// The form of the samples: `csv`, `parquet`.
    form: &'static str,
    /// How many there are.
    samples: u64,
    /// How long their file is.
    file_bytes: u64,
    /// From its start to its end.
    wall_ns: u64,
    /// Processor time of the process, in ticks of 10 ms.
    cpu_ns: u64,
    /// The most memory that it had resident.
    resident_bytes: u64,
    /// How long the page is.
    page_bytes: u64,
    /// Whether the least and the greatest round trip of all samples are among the numbers that its charts are drawn from.
    has_extremes: bool,
}

/// What the run says itself of its samples, without having read any of them again.
struct Truth {
    samples: u64,
    least_ns: f64,
    greatest_ns: f64,
}

/// Measures samples in both forms, has each reported again and again, and prints a row for each form.
pub fn run(conditions: &Conditions, repetitions: usize) -> Result<Vec<Reading>> {
    let folder = folder::temporary()?;
    say(format_args!("\n{NAME}: `pathscope report` of a file of samples, medians"))?;
    say(format_args!(
        "{:>8} {:>10} {:>10} {:>10} {:>10} {:>12} {:>10} {:>9}  verdict",
        "form", "samples", "file", "wall time", "cpu time", "resident", "page", "extremes"
    ))?;
    let mut all = Vec::new();
    for form in ["csv", "parquet"] {
        let samples = folder.path().join(format!("samples.{form}"));
        let truth = measure(conditions, &samples)?;
        let readings = (0..repetitions.min(MOST_REPETITIONS))
            .map(|_| once(conditions, form, &samples, &truth))
            .collect::<Result<Vec<Reading>>>()?;
        say(row(&readings))?;
        all.extend(readings);
        fs::remove_file(&samples).with_context(|| format!("remove {}", samples.display()))?;
    }
    Ok(all)
}

/// Writes the samples: pings as fast as they go, on both processors.
fn measure(conditions: &Conditions, samples: &Path) -> Result<Truth> {
    let (program, port) = (path(&conditions.pathscope)?, free_port()?);
    let server = ["server", "--listen", "127.0.0.1", "--port", &port.to_string()];
    let mut server = End::start(conditions.server_core, program, &server.map(str::to_owned))?;
    server.wait_until_listening(port, Protocol::Tcp)?;
    let each = (SAMPLES / FLOWS).to_string();
    let (flows, port) = (FLOWS.to_string(), port.to_string());
    let client = [
        "latency",
        "127.0.0.1",
        "--port",
        &port,
        "--protocol",
        "udp",
        "--connections",
        &flows,
        "--iterations",
        &each,
        "--json",
        "--samples",
        path(samples)?,
    ];
    let mut client = End::start(conditions.client_core, program, &client.map(str::to_owned))?;
    let document = client.finish(RUN_PATIENCE)?;
    let document: Value = serde_json::from_str(&document).context("read the run's document")?;
    let rtt = document.pointer("/measurements/0/summary/latency/rtt");
    let number = |name: &str| rtt?.get(name)?.as_f64();
    let truth = || {
        let samples = number("count")? as u64;
        Some(Truth { samples, least_ns: number("min_ns")?, greatest_ns: number("max_ns")? })
    };
    truth().context("find round trips in the run's document")
}

fn once(
    conditions: &Conditions,
    form: &'static str,
    samples: &Path,
    truth: &Truth,
) -> Result<Reading> {
    let page = samples.with_extension("html");
    let words = ["report", path(samples)?, "-o", path(&page)?].map(str::to_owned);
    let began = now();
    let mut report = End::start(conditions.client_core, path(&conditions.pathscope)?, &words)?;
    report.finish(PATIENCE)?;
    let wall_ns = began.elapsed().as_nanos() as u64;
    let text = fs::read_to_string(&page).with_context(|| format!("read {}", page.display()))?;
    let drawn = Drawn::on(&text)?;
    ensure!(
        drawn.samples == truth.samples,
        "find all {} samples in the page's distribution: there are {}",
        truth.samples,
        drawn.samples
    );
    Ok(Reading {
        form,
        samples: drawn.samples,
        file_bytes: fs::metadata(samples).map_or(0, |file| file.len()),
        wall_ns,
        cpu_ns: report.cpu_ns()?,
        resident_bytes: report.resident_bytes(),
        page_bytes: text.len() as u64,
        has_extremes: [truth.least_ns, truth.greatest_ns]
            .iter()
            .all(|extreme| drawn.over_time.contains(extreme)),
    })
}

/// What a page's charts are drawn from.
struct Drawn {
    /// How many samples its distribution has.
    samples: u64,
    /// The numbers of all lines over time.
    over_time: Vec<f64>,
}

impl Drawn {
    /// As the page holds it for its script.
    fn on(page: &str) -> Result<Self> {
        let begin = "<script id=\"charts\" type=\"application/json\">";
        let rest = page.split_once(begin).context("find the charts of the page")?.1;
        let charts = rest.split_once("</script>").context("find the end of the charts")?.0;
        let charts: Vec<Value> = serde_json::from_str(charts).context("read the charts")?;
        let of = |kind: &'static str, list: &'static str| {
            let own = charts.iter().filter(move |chart| chart["kind"] == kind);
            own.flat_map(move |chart| chart[list].as_array().into_iter().flatten())
        };
        let buckets = of("distribution", "shapes").filter_map(|shape| shape["buckets"].as_array());
        let samples = buckets.flatten().filter_map(|bucket| bucket[1].as_u64()).sum();
        let lines = of("time", "panels").filter_map(|panel| panel["lines"].as_array()).flatten();
        let points = lines.filter_map(|line| line["points"].as_array()).flatten();
        Ok(Self { samples, over_time: points.filter_map(|point| point[1].as_f64()).collect() })
    }
}

/// The medians of readings of one form, and whether each reading kept within the bounds.
fn row(readings: &[Reading]) -> String {
    let of = |value: fn(&Reading) -> u64| {
        median(&readings.iter().map(|it| value(it) as f64).collect::<Vec<_>>()) as u64
    };
    let keeps = |it: &Reading| {
        u128::from(it.wall_ns) <= MOST_TIME.as_nanos()
            && it.resident_bytes <= MOST_RESIDENT_BYTES
            && it.page_bytes <= MOST_PAGE_BYTES
            && it.has_extremes
    };
    let kept = readings.iter().filter(|it| keeps(it)).count();
    let whole = if readings.iter().all(|it| it.has_extremes) { "all" } else { "missing" };
    format!(
        "{:>8} {:>10} {:>10} {:>10} {:>10} {:>12} {:>10} {whole:>9}  {kept} of {} within {}, {}, {}",
        readings.first().map_or("", |it| it.form),
        quantity::count(of(|it| it.samples)),
        quantity::bytes(of(|it| it.file_bytes)),
        quantity::duration_ns(of(|it| it.wall_ns)),
        quantity::duration_ns(of(|it| it.cpu_ns)),
        quantity::bytes(of(|it| it.resident_bytes)),
        quantity::bytes(of(|it| it.page_bytes)),
        readings.len(),
        quantity::duration_ns(MOST_TIME.as_nanos() as u64),
        quantity::bytes(MOST_RESIDENT_BYTES),
        quantity::bytes(MOST_PAGE_BYTES),
    )
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("name {}: it is no text", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_draws_is_read_from_it() {
        let page = r#"<p>x</p><script id="charts" type="application/json">[
            {"kind": "time", "panels": [{"lines": [{"points": [[0.0, null], [1.0, 7.5]]}]}, {"lines": []}]},
            {"kind": "distribution", "shapes": [{"buckets": [[8, 2], [9, 3]]}]},
            {"kind": "heat", "maps": []}]</script><script>1</script>"#;
        let drawn = Drawn::on(page).expect("charts");
        assert_eq!((drawn.samples, &drawn.over_time[..]), (5, &[7.5][..]));
        assert!(Drawn::on("<p>no charts</p>").is_err());
    }

    #[test]
    fn a_reading_that_lost_an_extreme_or_took_too_much_is_not_within() {
        let good = Reading {
            form: "csv",
            samples: SAMPLES,
            file_bytes: 1,
            wall_ns: 1,
            cpu_ns: 1,
            resident_bytes: 1,
            page_bytes: 1,
            has_extremes: true,
        };
        let bad = [
            Reading { has_extremes: false, ..good.clone() },
            Reading { wall_ns: 10_000_000_001, ..good.clone() },
            Reading { resident_bytes: MOST_RESIDENT_BYTES + 1, ..good.clone() },
            Reading { page_bytes: MOST_PAGE_BYTES + 1, ..good.clone() },
        ];
        for bad in bad {
            let row = row(&[good.clone(), bad]);
            assert!(row.contains("1 of 2 within"), "{row}");
        }
        assert!(row(&[good]).contains("all  1 of 1 within"));
    }
}
