//! What one attack came to, as a row for people at the terminal.

use std::time::Duration;

use anyhow::Result;
use pathscope_core::quantity;

use super::case::Case;
use super::honest::{Measured, Transfers, is_refused};
use super::run::Told;
use super::stage::Observed;
use crate::console::say;

/// One attack.
pub struct Figures {
    /// Which.
    pub case: Case,
    /// What an honest client measured before.
    pub alone: Measured,
    /// The same beside it, or why it could not.
    pub beside: Result<Measured, String>,
    /// What the server took meanwhile.
    pub observed: Observed,
    /// How long each greeting of an honest caller took, in milliseconds.
    pub greetings: Vec<Option<u64>>,
    /// After how long it had given back what it took.
    pub given_back: Option<Duration>,
    /// What the attack says of itself.
    pub told: Told,
    /// What an honest client of iperf3 made beside it, where its clients are served.
    pub transfers: Option<Transfers>,
    /// Bounds that were broken, as sentences.
    pub broken: Vec<String>,
}

/// The heads of the columns.
pub fn head() -> String {
    format!(
        "{:<26} {:>10} {:>7} {:>11} {:>6} {:>6} {:>9} {:>8} {:>22} {:>21} {:>6}  verdict",
        "case",
        "memory",
        "threads",
        "descriptors",
        "server",
        "attack",
        "log",
        "greeting",
        "goodput of alone",
        "p99 of alone",
        "after"
    )
}

impl Figures {
    /// The cells behind the name, in the order of the heads.
    pub fn cells(&self) -> [String; 11] {
        let most = &self.observed.most;
        let cpu =
            |ticks: u64| format!("{:.2}", ticks as f64 / 100.0 / self.observed.seconds.max(0.1));
        let (goodput, p99) = match &self.beside {
            Ok(beside) => {
                (quantity::bit_rate(beside.goodput_bps), quantity::duration_ns(beside.p99_ns))
            }
            Err(error) => {
                let what = if is_refused(error) { "refused" } else { "none" };
                (what.to_owned(), what.to_owned())
            }
        };
        [
            quantity::bytes(most.most_resident_bytes),
            most.threads.to_string(),
            format!("{} of {}", most.descriptors, self.observed.descriptor_limit),
            cpu(self.observed.server_ticks),
            cpu(self.observed.attack_ticks),
            quantity::bytes(self.observed.log_bytes),
            self.slowest_greeting().map_or_else(|| "none".to_owned(), |ms| format!("{ms} ms")),
            format!("{goodput} of {}", quantity::bit_rate(self.alone.goodput_bps)),
            format!("{p99} of {}", quantity::duration_ns(self.alone.p99_ns)),
            self.given_back
                .map_or_else(|| "not".to_owned(), |after| format!("{:.0} s", after.as_secs_f64())),
            if self.broken.is_empty() { "held" } else { "BROKEN" }.to_owned(),
        ]
    }

    /// A row, and what was broken.
    pub fn tell(&self) -> Result<()> {
        let [
            memory,
            threads,
            descriptors,
            server,
            attack,
            log,
            greeting,
            goodput,
            p99,
            after,
            verdict,
        ] = self.cells();
        say(format_args!(
            "{:<26} {memory:>10} {threads:>7} {descriptors:>11} {server:>6} {attack:>6} {log:>9} \
             {greeting:>8} {goodput:>22} {p99:>21} {after:>6}  {verdict}",
            self.case.name
        ))?;
        say(format_args!("    {}", self.counts()))?;
        self.broken.iter().try_for_each(|sentence| say(format_args!("    {sentence}")))
    }

    /// What the attack did, in words.
    pub fn counts(&self) -> String {
        let counts = self.told.counts.iter();
        let counts = counts.map(|(what, times)| format!("{what}: {}", quantity::count(*times)));
        let honest = self.transfers.iter().map(|made| {
            let [whole, refused] = [made.whole, made.refused].map(quantity::count);
            format!("honest transfers of iperf3 beside it: {whole} whole, {refused} refused")
        });
        counts.chain(honest).collect::<Vec<_>>().join(", ")
    }

    /// None where one had no answer, or none was said.
    pub fn slowest_greeting(&self) -> Option<u64> {
        let all: Option<Vec<u64>> = self.greetings.iter().copied().collect();
        all?.into_iter().max()
    }
}
