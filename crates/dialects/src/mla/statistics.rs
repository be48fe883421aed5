//! The figures of `MultipathLatencyAnalyzer` by its own rules, from the stamps of every datagram, and its page of them.
//!
//! Not here: pathscope's own figures of the same test, which stand in its document and follow other rules: of percentiles, of
//! what was saved over the same datagrams alone, of lateness.

use std::fmt::Write as _;

/// When one number left on a path and came back, in microseconds since the test began; none: that did not happen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Stamps {
    pub sent_us: Option<u64>,
    /// By the server's clock, which no figure needs.
    pub echoed_us: Option<u64>,
    pub received_us: Option<u64>,
}

/// Of a datagram's payload: what a kilobyte of its page is.
const DATAGRAM_BYTES: u64 = 1_024;

/// What the page is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Statistics {
    /// Numbers that it was told of.
    numbers: u64,
    /// Numbers sent on either path.
    sent: u64,
    /// Numbers received on either path.
    received: u64,
    first_on_secondary: u64,
    paths: [Path; 2],
    effective_us: Latencies,
    /// The first sending of the first number that was received, and of the last.
    span_us: Option<(u64, u64)>,
}

#[derive(Clone, Debug, Default)]
struct Path {
    sent: u64,
    corrupt: u64,
    latencies_us: Latencies,
}

/// What was measured on one path, or on both together.
#[derive(Clone, Debug, Default)]
struct Latencies(Vec<u32>);

impl Statistics {
    /// What became of the next number: on the primary, and on the secondary.
    pub fn add(&mut self, paths: &[Stamps; 2]) {
        let first = |stamp: fn(&Stamps) -> Option<u64>| paths.iter().filter_map(stamp).min();
        let sent = first(|stamps| stamps.sent_us);
        let received = first(|stamps| stamps.received_us);
        self.numbers += 1;
        self.sent += u64::from(sent.is_some());
        for (path, stamps) in self.paths.iter_mut().zip(paths) {
            path.sent += u64::from(stamps.sent_us.is_some());
            path.latencies_us.extend(stamps.sent_us.zip(stamps.received_us));
        }
        let Some(times) = sent.zip(received) else { return };
        self.received += 1;
        self.effective_us.extend(Some(times));
        let [primary, secondary] = paths.map(|stamps| stamps.received_us);
        let is_first = secondary.is_some_and(|at| primary.is_none_or(|primary| at < primary));
        self.first_on_secondary += u64::from(is_first);
        let begin = self.span_us.map_or(times.0, |(begin, _)| begin);
        self.span_us = Some((begin, times.0));
    }

    /// Whether it was told of none.
    pub fn is_empty(&self) -> bool {
        self.numbers == 0
    }

    /// Datagrams that came with other bytes than were sent, by path.
    pub fn set_corrupt(&mut self, corrupt: [u64; 2]) {
        for (path, corrupt) in self.paths.iter_mut().zip(corrupt) {
            path.corrupt = corrupt;
        }
    }

    /// The page, line by line as its users know it.
    pub fn page(mut self) -> String {
        let mut page = Page(String::from(HEAD));
        self.paths.iter_mut().for_each(|path| path.latencies_us.sort());
        self.effective_us.sort();
        self.overview(&mut page);
        self.counts(&mut page);
        self.latencies(&mut page);
        page.0
    }

    fn lost(&self) -> u64 {
        self.sent.saturating_sub(self.received)
    }

    fn overview(&self, page: &mut Page) {
        let [primary, _] = &self.paths;
        let kilobytes = self.sent * DATAGRAM_BYTES / 1_024;
        let span_us = self.span_us.map_or(0, |(begin, end)| end.saturating_sub(begin));
        let (seconds, shown) = seconds(span_us);
        let rate = if seconds > 0.0 { kilobytes as f64 * 8.0 / seconds } else { 0.0 };
        page.line(format_args!(
            "{kilobytes} kB ({} datagrams) were sent in {shown} seconds. The effective bitrate was {:.2} kb/s.",
            self.sent, cut(rate)
        ));
        let saved_us = primary.latencies_us.sum().saturating_sub(self.effective_us.sum());
        let prevented = primary.lost().saturating_sub(self.lost());
        page.line("");
        page.line(format_args!("The secondary interface prevented {prevented} lost datagrams"));
        page.line(format_args!(
            "The secondary interface reduced the overall time waiting for datagrams by {} ms{}",
            milliseconds(saved_us as f64),
            share(saved_us, primary.latencies_us.sum()),
        ));
        let first = self.first_on_secondary;
        page.line(format_args!(
            "{first} datagrams were received first on the secondary interface{}",
            share(first, self.received)
        ));
        page.line("");
    }

    fn counts(&self, page: &mut Page) {
        page.line("--- DETAILS ---");
        page.line("");
        for (name, path) in self.named() {
            page.line(format_args!("Sent datagrams on {name} interface: {}", path.sent));
        }
        page.line("");
        for (name, path) in self.named() {
            let received = path.received();
            let share = share(received, path.sent);
            page.line(format_args!("Received datagrams on {name} interface: {received}{share}"));
        }
        page.line("");
        for (name, path) in self.named() {
            let (lost, share) = (path.lost(), share(path.lost(), path.sent));
            page.line(format_args!("Lost datagrams on {name} interface: {lost}{share}"));
        }
        let (lost, share) = (self.lost(), share(self.lost(), self.sent));
        page.line(format_args!("Lost datagrams on both interface simultaneously: {lost}{share}"));
        page.line("");
    }

    fn latencies(&self, page: &mut Page) {
        let [primary, _] = &self.paths;
        let (primary, all) = (&primary.latencies_us, &self.effective_us);
        self.each(page, "Average latency", Latencies::average);
        let better = improvement(primary.average(), all.average());
        let average = told(all.average());
        page.line(format_args!(
            "Average effective latency on combined interface: {average}{better}"
        ));
        page.line("");
        self.each(page, "Jitter (standard deviation)", Latencies::deviation);
        let deviation = told(all.deviation());
        page.line(format_args!("Jitter (standard deviation) on combined interfaces: {deviation}"));
        page.line("");
        self.each(page, "Median latency", Latencies::median);
        let better = improvement(primary.median(), all.median());
        let median = told(all.median());
        page.line(format_args!(
            "Median effective latency on combined interfaces: {median}{better}"
        ));
        page.line("");
        self.each(page, "Interquartile range", Latencies::interquartile_range);
        let range = told(all.interquartile_range());
        page.line(format_args!("Interquartile range latency on combined interfaces: {range}"));
        page.line("");
        for (name, path) in self.named() {
            let (low, high) = (told(path.latencies_us.lowest()), told(path.latencies_us.highest()));
            page.line(format_args!(
                "Minimum / Maximum latency on {name} interface: {low} / {high}"
            ));
        }
        page.line("");
        for (name, path) in self.named() {
            page.line(format_args!("Corrupt datagrams on {name} interface: {}", path.corrupt));
        }
    }

    fn each(&self, page: &mut Page, what: &str, figure: fn(&Latencies) -> Option<f64>) {
        for (name, path) in self.named() {
            let figure = told(figure(&path.latencies_us));
            page.line(format_args!("{what} on {name} interface: {figure}"));
        }
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        ["primary", "secondary"].into_iter().zip(&self.paths)
    }
}

impl Path {
    fn received(&self) -> u64 {
        self.latencies_us.0.len() as u64
    }

    fn lost(&self) -> u64 {
        self.sent.saturating_sub(self.received())
    }
}

/// By the rules of the original, in microseconds. Sorted before they are asked.
impl Latencies {
    fn extend(&mut self, times_us: Option<(u64, u64)>) {
        let latency = times_us.map(|(sent, received)| received.saturating_sub(sent));
        self.0.extend(latency.map(|latency| u32::try_from(latency).unwrap_or(u32::MAX)));
    }

    fn sort(&mut self) {
        self.0.sort_unstable();
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|&latency| u64::from(latency)).sum()
    }

    fn whole_average(&self) -> Option<u64> {
        self.sum().checked_div(self.0.len() as u64)
    }

    fn average(&self) -> Option<f64> {
        self.whole_average().map(|average| average as f64)
    }

    /// Of the whole population, in whole steps.
    fn deviation(&self) -> Option<f64> {
        let average = u128::from(self.whole_average()?);
        let squares: u128 = self.0.iter().map(|&latency| u128::from(latency).pow(2)).sum();
        let mean = squares / self.0.len() as u128;
        Some((mean.saturating_sub(average * average) as f64).sqrt())
    }

    fn median(&self) -> Option<f64> {
        self.at(self.0.len() / 2)
    }

    fn interquartile_range(&self) -> Option<f64> {
        let number = self.0.len();
        Some(self.at(3 * number / 4)? - self.at(number / 4)?)
    }

    fn lowest(&self) -> Option<f64> {
        self.0.first().map(|&latency| f64::from(latency))
    }

    fn highest(&self) -> Option<f64> {
        self.0.last().map(|&latency| f64::from(latency))
    }

    fn at(&self, place: usize) -> Option<f64> {
        self.0.get(place).map(|&latency| f64::from(latency))
    }
}

const HEAD: &str = "
-----------------------------------------------------------------------
                            STATISTICS
-----------------------------------------------------------------------

--- OVERVIEW ---

";

struct Page(String);

impl Page {
    fn line(&mut self, text: impl std::fmt::Display) {
        // Text takes whatever is written to it.
        let _ = writeln!(self.0, "{text}");
    }
}

/// How long it lasted, and how that is shown: a page says whole seconds, where that says enough.
fn seconds(span_us: u64) -> (f64, String) {
    const WHOLE_FROM_US: u64 = 100_000_000;
    if span_us >= WHOLE_FROM_US {
        let whole = span_us / 1_000_000;
        return (whole as f64, whole.to_string());
    }
    let seconds = span_us as f64 / 1e6;
    (seconds, format!("{:.2}", cut(seconds)))
}

/// Two decimals that are cut off, not rounded.
fn cut(figure: f64) -> f64 {
    // What is a whole number of hundredths stays one, whatever its nearest binary number is.
    (figure * 100.0 + 1e-6).floor() / 100.0
}

/// In milliseconds.
fn milliseconds(figure_us: f64) -> String {
    format!("{:.2}", cut(figure_us / 1e3))
}

/// A latency; one that nothing was measured of is a dash.
fn told(figure_us: Option<f64>) -> String {
    figure_us.map_or_else(|| "-".to_owned(), |figure| format!("{} ms", milliseconds(figure)))
}

/// ` (9.79%)`.
fn share(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    format!(" ({:.2}%)", cut(percent))
}

/// By how much less the second is: of both as they are shown.
fn improvement(primary: Option<f64>, all: Option<f64>) -> String {
    let shown = |figure_us: Option<f64>| figure_us.map(|figure| cut(figure / 1e3));
    let (Some(primary), Some(all)) = (shown(primary), shown(all)) else { return String::new() };
    if primary <= 0.0 {
        return String::new();
    }
    let percent = (primary - all) * 100.0 / primary;
    // Worse is cut off towards nothing, too.
    let percent = if percent < 0.0 { -cut(-percent) } else { cut(percent) };
    format!(" ({percent:.2}% improvement over primary)")
}

#[cfg(test)]
mod tests;
