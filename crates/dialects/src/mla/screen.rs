//! What a user of `MultipathLatencyAnalyzer` sees: its log by levels, and its page of statistics at the end of a client's run.

use std::io::{self, Write};
use std::path::PathBuf;

use pathscope_core::journal::{Each, Entry, Leg, PathChange};
use pathscope_modes::document::Document;

use super::csv::Csv;
use super::options::{Options, Side};
use super::statistics::{Stamps, Statistics};
use crate::screen::{Beginning, End, Ending, Screen, Wants, uncounted};

/// From this level of the log on it is told what becomes of the interfaces, and what goes wrong.
const INTERFACES: u8 = 2;
/// And what is about to happen.
const INFO: u8 = 3;
/// And each step.
const DEBUG: u8 = 4;

/// Of either side.
#[derive(Debug)]
pub(super) struct MlaScreen {
    is_client: bool,
    log_level: u8,
    statistics: Statistics,
    /// The number whose legs come, and what they say of the primary and the secondary.
    number: Option<(u64, [Stamps; 2])>,
    csv: Option<Csv>,
}

impl MlaScreen {
    pub fn new(options: &Options) -> Self {
        let client = match &options.side {
            Side::Client(client) => Some(client),
            Side::Server { .. } => None,
        };
        let output = client.and_then(|client| client.output.as_ref());
        Self {
            is_client: client.is_some(),
            csv: output.map(|path| Csv::new(path.into())),
            log_level: options.log_level,
            statistics: Statistics::default(),
            number: None,
        }
    }

    /// What became of a number on one path: those of one number follow each other, the primary's first.
    fn leg(&mut self, leg: &Leg) {
        if leg.path == 0 {
            self.count();
            self.number = Some((leg.number, [Stamps::default(); 2]));
        }
        let Some((number, paths)) = &mut self.number else { return };
        let path = paths.get_mut(usize::from(leg.path)).filter(|_| *number == leg.number);
        let Some(path) = path else { return };
        let micros = |at_ns: Option<u64>| at_ns.map(|at_ns| at_ns / 1_000);
        let [sent_us, echoed_us, received_us] =
            [leg.sent_ns, leg.echoed_ns, leg.received_ns].map(micros);
        *path = Stamps { sent_us, echoed_us, received_us };
    }

    /// All is known of the number.
    fn count(&mut self) {
        if let Some((number, paths)) = self.number.take() {
            self.statistics.add(&paths);
            self.csv.iter_mut().for_each(|csv| csv.add(number, &paths));
        }
    }
}

/// What becomes of a path, as this tool calls it.
fn tell_path(change: &PathChange, out: &mut dyn Write) -> io::Result<()> {
    let which = match change.path {
        None => "Interfaces",
        Some(0) => "Primary interface",
        Some(1) => "Secondary interface",
        Some(_) => "Further interface",
    };
    let PathChange { interface, what, why, .. } = change;
    let name = if interface.is_empty() { String::new() } else { format!(" {interface}") };
    writeln!(out, "[{}] {which}{name} {what}: {why}", clock(change.at_ns))
}

impl Screen for MlaScreen {
    fn wants(&self) -> Wants {
        Wants { each: self.is_client, steps: self.log_level >= DEBUG, ..Wants::default() }
    }

    fn begin(&mut self, beginning: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()> {
        if self.log_level < INFO {
            return Ok(());
        }
        match beginning.end {
            End::Server { addresses } => {
                addresses.iter().try_for_each(|address| writeln!(out, "Listening on {address}"))
            }
            End::Client { hosts, port, tests, .. } => {
                let hosts = hosts.join(", ");
                let tests: Vec<String> =
                    tests.iter().map(|(_, test)| test.plan.subtitle()).collect();
                writeln!(out, "Sending to {hosts}, port {port}: {}", tests.join("; "))
            }
        }
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        match entry {
            Entry::Each(all) => {
                for each in all {
                    if let Each::Leg(leg) = each {
                        self.leg(leg);
                    }
                }
                Ok(())
            }
            Entry::Path(change) if self.log_level >= INTERFACES => tell_path(change, out),
            Entry::Trouble(trouble) if self.log_level >= INTERFACES => {
                writeln!(out, "[{}] {}", clock(trouble.at_ns), trouble.text)
            }
            Entry::Step(step) if self.log_level >= DEBUG => {
                writeln!(out, "[{}] {}", clock(step.at_ns), step.text)
            }
            _ => Ok(()),
        }
    }

    fn finished(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.count();
        if self.statistics.is_empty() {
            return Ok(());
        }
        let mut statistics = std::mem::take(&mut self.statistics);
        // The page and the rows are of fewer datagrams then.
        for text in ending.document.into_iter().flat_map(uncounted) {
            writeln!(out, "{text}")?;
        }
        statistics.set_corrupt(ending.document.map(corrupt).unwrap_or_default());
        out.write_all(statistics.page().as_bytes())
    }

    fn files(&self) -> Vec<(&'static str, PathBuf)> {
        self.csv.iter().map(|csv| ("-output", csv.path.clone())).collect()
    }

    fn take_rows(&mut self) -> Vec<(usize, String)> {
        self.csv.iter_mut().filter_map(Csv::take).map(|rows| (0, rows)).collect()
    }
}

/// Datagrams that came with other bytes than were sent: of the primary, and of the secondary.
fn corrupt(document: &Document) -> [u64; 2] {
    let summaries = document.measurements.iter().filter_map(|it| it.summary.multipath.as_ref());
    let mut corrupt = [0; 2];
    for path in summaries.flat_map(|summary| &summary.paths) {
        if let Some(corrupt) = corrupt.get_mut(usize::from(path.path)) {
            *corrupt += path.corrupt;
        }
    }
    corrupt
}

/// Seconds since the run began.
fn clock(at_ns: u64) -> String {
    format!("{}.{:03}", at_ns / 1_000_000_000, at_ns / 1_000_000 % 1_000)
}

#[cfg(test)]
mod tests {
    use pathscope_core::record::Caveat;

    use super::super::options::{Asked, read, tests::line};
    use super::*;

    fn screen(words: &str) -> MlaScreen {
        let Ok(Asked::Run(options)) = read(&line(words)) else { panic!("{words}") };
        MlaScreen::new(&options)
    }

    fn leg(number: u64, path: u8, times_ms: [Option<u64>; 2]) -> Each {
        let [sent_ns, received_ns] = times_ms.map(|at| at.map(|ms| ms * 1_000_000));
        Each::Leg(Leg { number, path, sent_ns, echoed_ns: None, received_ns })
    }

    fn shown(screen: &mut MlaScreen, entry: &Entry) -> String {
        let mut text = Vec::new();
        screen.entry(entry, &mut text).expect("text takes all");
        String::from_utf8(text).expect("it is text")
    }

    fn ended(mut screen: MlaScreen, document: Option<&Document>) -> String {
        let mut text = Vec::new();
        let ending = Ending { document, failure: None, wall_unix_ns: 0 };
        screen.finished(&ending, &mut text).expect("text takes all");
        String::from_utf8(text).expect("it is text")
    }

    #[test]
    fn the_page_is_of_every_number_whose_legs_came() {
        let mut screen = screen("-target:h");
        assert!(screen.wants().each);
        let legs = Box::new([
            // Its beginning was lost.
            leg(6, 1, [Some(0), Some(1)]),
            leg(7, 0, [Some(1_000), Some(1_004)]),
            leg(7, 1, [Some(1_000), Some(1_002)]),
            leg(7, 2, [Some(1_000), Some(1_001)]),
            leg(8, 0, [Some(2_000), None]),
            leg(8, 1, [None, None]),
        ]);
        assert_eq!(shown(&mut screen, &Entry::Each(legs)), "");
        let page = ended(screen, Some(&Document::default()));
        for line in [
            "2 kB (2 datagrams) were sent in 0.00 seconds. The effective bitrate was 0.00 kb/s.",
            "1 datagrams were received first on the secondary interface (100.00%)",
            "Sent datagrams on secondary interface: 1",
            "Average latency on primary interface: 4.00 ms",
            "Average effective latency on combined interface: 2.00 ms (50.00% improvement over primary)",
        ] {
            assert!(page.lines().any(|it| it == line), "{line}: {page}");
        }
    }

    #[test]
    fn what_was_not_counted_is_said_before_the_page() {
        let mut screen = screen("-target:h");
        shown(&mut screen, &Entry::Each(Box::new([leg(7, 0, [Some(1), Some(4)])])));
        let caveat = |name: &str, text: &str| Caveat {
            name: name.to_owned(),
            text: text.to_owned(),
            remedy: None,
        };
        let caveats = vec![
            caveat("samples_dropped", "9 samples were dropped"),
            caveat("loopback", "it never left this machine"),
            caveat("file_incomplete", "5 rows were left out"),
        ];
        let page = ended(screen, Some(&Document { caveats, ..Document::default() }));
        assert!(page.starts_with("9 samples were dropped\n5 rows were left out\n"), "{page}");
        assert!(page.contains("1 datagrams") && !page.contains("never left"), "{page}");
    }

    #[test]
    fn the_file_has_a_row_of_each_number_and_both_paths() {
        let mut screen = screen("-target:h -output:a.csv -secondary:0");
        assert_eq!(screen.files(), [("-output", PathBuf::from("a.csv"))]);
        assert_eq!(screen.take_rows().len(), 1, "its head");
        let legs = [leg(7, 0, [Some(1), Some(4)]), leg(8, 0, [Some(2), None])];
        shown(&mut screen, &Entry::Each(Box::new(legs)));
        assert_eq!(screen.take_rows(), [(0, "7, 1000, -1, 4000, -1, -1, -1\n".to_owned())]);
        screen.count();
        assert_eq!(screen.take_rows(), [(0, "8, 2000, -1, -1, -1, -1, -1\n".to_owned())]);
        assert_eq!(screen.take_rows(), []);
    }

    #[test]
    fn where_nothing_was_measured_there_is_no_page() {
        assert_eq!(ended(screen("-target:h"), Some(&Document::default())), "");
        assert_eq!(ended(screen("-listen:*"), None), "");
        assert!(!screen("-listen:*").wants().each);
    }

    #[test]
    fn what_becomes_of_interfaces_is_told_from_its_level_on() {
        let change = Entry::Path(Box::new(PathChange {
            at_ns: 1_234_000_000,
            path: Some(1),
            interface: "wlan1".to_owned(),
            what: "down".to_owned(),
            why: "its link is gone".to_owned(),
            ..PathChange::default()
        }));
        let told = |words: &str| shown(&mut screen(words), &change);
        assert_eq!(told("-target:h -loglevel:1"), "");
        let line = "[1.234] Secondary interface wlan1 down: its link is gone\n";
        assert_eq!(told("-target:h -loglevel:2"), line);
        assert_eq!(told("-target:h"), line);
        assert!(screen("-target:h -loglevel:4").wants().steps);
        assert!(!screen("-target:h").wants().steps);
    }
}
