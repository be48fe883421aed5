//! What the radio of a path said over a whole test: where it began, where it ended, and what changed.

use std::collections::BTreeMap;

use pathscope_core::quantity::{BitRate, counted};
use pathscope_core::record::WirelessFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path's radio, as its driver told once a second. What the driver did not tell is absent.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct WirelessReport {
    /// As it was first.
    pub start: WirelessFacts,
    /// As it was last.
    pub end: WirelessFacts,
    /// Times that the driver was asked, and told something.
    pub readings: u64,
    /// The weakest signal.
    pub signal_min_dbm: Option<i32>,
    /// Half of the readings were no stronger.
    pub signal_median_dbm: Option<i32>,
    /// The strongest.
    pub signal_max_dbm: Option<i32>,
    /// The radio's rate of what is sent, at the least.
    pub send_min_bps: Option<u64>,
    /// The same at the most.
    pub send_max_bps: Option<u64>,
    /// The radio's rate of what is received, at the least.
    pub receive_min_bps: Option<u64>,
    /// The same at the most.
    pub receive_max_bps: Option<u64>,
    /// Times that the network was another one than before.
    pub network_changes: u64,
    /// Times that the channel was another one than before.
    pub channel_changes: u64,
}

/// Another network or channel than before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WirelessChange {
    /// `network` or `channel`.
    pub what: &'static str,
    /// From which to which.
    pub why: String,
}

/// One path's radio so far, in fixed room: a signal is one of 256 strengths.
#[derive(Clone, Debug, Default)]
pub struct WirelessTally {
    report: WirelessReport,
    signals: BTreeMap<i32, u64>,
}

impl WirelessTally {
    /// Adds what the driver says now; returns what is another than before. What it does not say for a while, between
    /// two access points, is no change.
    pub fn saw(&mut self, facts: &WirelessFacts) -> Vec<WirelessChange> {
        let report = &mut self.report;
        report.readings += 1;
        if report.readings == 1 {
            report.start.clone_from(facts);
        }
        let before = std::mem::take(&mut report.end);
        let mut changes = Vec::new();
        if let (Some(one), Some(other)) = (&before.ssid, &facts.ssid)
            && one != other
        {
            let why = format!("the network is '{other}' now, it was '{one}'");
            changes.push(WirelessChange { what: "network", why });
            report.network_changes += 1;
        }
        if let (Some(one), Some(other)) = (place(&before), place(facts))
            && one != other
        {
            let why = format!("the radio is on {other} now, it was on {one}");
            changes.push(WirelessChange { what: "channel", why });
            report.channel_changes += 1;
        }
        report.end = WirelessFacts {
            ssid: facts.ssid.clone().or(before.ssid),
            band: facts.band.clone().or(before.band),
            channel: facts.channel.or(before.channel),
            frequency_mhz: facts.frequency_mhz.or(before.frequency_mhz),
            width_mhz: facts.width_mhz.or(before.width_mhz),
            ..facts.clone()
        };
        if let Some(signal) = facts.signal_dbm {
            *self.signals.entry(signal).or_default() += 1;
        }
        let least = |before: Option<u64>, now| before.into_iter().chain(now).min();
        report.send_min_bps = least(report.send_min_bps, facts.send_bps);
        report.send_max_bps = report.send_max_bps.max(facts.send_bps);
        report.receive_min_bps = least(report.receive_min_bps, facts.receive_bps);
        report.receive_max_bps = report.receive_max_bps.max(facts.receive_bps);
        changes
    }

    /// All of it; `None` where nothing was ever told.
    pub fn report(&self) -> Option<WirelessReport> {
        let half = self.signals.values().sum::<u64>().div_ceil(2);
        let mut seen = 0;
        let median = self.signals.iter().find(|(_, count)| {
            seen += **count;
            seen >= half
        });
        (self.report.readings > 0).then(|| WirelessReport {
            signal_min_dbm: self.signals.keys().next().copied(),
            signal_median_dbm: median.map(|(signal, _)| *signal),
            signal_max_dbm: self.signals.keys().next_back().copied(),
            ..self.report.clone()
        })
    }
}

/// The channel in words.
fn place(facts: &WirelessFacts) -> Option<String> {
    let frequency = facts.frequency_mhz?;
    Some(match (&facts.band, facts.channel) {
        (Some(band), Some(channel)) => format!("channel {channel} of {band}"),
        _ => format!("{frequency} MHz"),
    })
}

impl WirelessReport {
    /// How strong it was, in a few words.
    pub fn signal(&self) -> String {
        match (self.signal_median_dbm, self.signal_min_dbm) {
            (Some(median), Some(least)) => format!("{median} dBm, {least} at the weakest"),
            _ => "no signal told".to_owned(),
        }
    }

    /// Network, channel, rates and what changed, in a few words.
    pub fn association(&self) -> String {
        let end = &self.end;
        let mut words = Vec::new();
        words.extend(end.ssid.as_ref().map(|ssid| format!("'{ssid}'")));
        words.extend(place(end));
        words.extend(end.width_mhz.map(|width| format!("{width} MHz wide")));
        let range = |what: &str, least: Option<u64>, most: Option<u64>| {
            let [least, most] = [BitRate(least?), BitRate(most?)];
            let rates = if least == most { most.to_string() } else { format!("{least} to {most}") };
            Some(format!("{what} at {rates}"))
        };
        words.extend(range("sends", self.send_min_bps, self.send_max_bps));
        words.extend(range("receives", self.receive_min_bps, self.receive_max_bps));
        let changes =
            [(self.network_changes, "network change"), (self.channel_changes, "channel change")];
        let told = changes.iter().filter(|(number, _)| *number > 0);
        words.extend(told.map(|(number, what)| counted(*number, what)));
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(ssid: &str, channel: Option<(&str, u32, u32)>, signal_dbm: i32) -> WirelessFacts {
        WirelessFacts {
            ssid: Some(ssid.to_owned()),
            band: channel.map(|(band, ..)| band.to_owned()),
            channel: channel.map(|(_, channel, _)| channel),
            frequency_mhz: channel.map(|(.., frequency)| frequency),
            width_mhz: channel.map(|_| 80),
            signal_dbm: Some(signal_dbm),
            send_bps: Some(u64::from(signal_dbm.unsigned_abs()) * 10_000_000),
            receive_bps: Some(866_700_000),
        }
    }

    const FIVE: Option<(&str, u32, u32)> = Some(("5 GHz", 36, 5_180));
    const TWO: Option<(&str, u32, u32)> = Some(("2.4 GHz", 11, 2_462));

    #[test]
    fn a_radio_that_moves_is_told_once_for_each_move() {
        let mut tally = WirelessTally::default();
        assert_eq!(tally.report(), None);
        assert_eq!(tally.saw(&facts("home", FIVE, -50)), []);
        // Between two access points nothing is known, which is no move.
        assert_eq!(tally.saw(&WirelessFacts::default()), []);
        let moved = tally.saw(&facts("home", TWO, -70));
        let why = "the radio is on channel 11 of 2.4 GHz now, it was on channel 36 of 5 GHz";
        assert_eq!(moved, [WirelessChange { what: "channel", why: why.to_owned() }]);
        let moved = tally.saw(&facts("café", TWO, -60));
        let why = "the network is 'café' now, it was 'home'";
        assert_eq!(moved, [WirelessChange { what: "network", why: why.to_owned() }]);
        assert_eq!(tally.saw(&facts("café", TWO, -60)), []);

        let report = tally.report().expect("it was told");
        assert_eq!((report.readings, report.network_changes, report.channel_changes), (5, 1, 1));
        assert_eq!(report.start, facts("home", FIVE, -50));
        assert_eq!(report.end, facts("café", TWO, -60));
        let signal = [report.signal_min_dbm, report.signal_median_dbm, report.signal_max_dbm];
        assert_eq!(signal, [Some(-70), Some(-60), Some(-50)]);
        assert_eq!(
            (report.send_min_bps, report.send_max_bps),
            (Some(500_000_000), Some(700_000_000))
        );
        assert_eq!(report.signal(), "-60 dBm, -70 at the weakest");
        assert_eq!(
            report.association(),
            "'café', channel 11 of 2.4 GHz, 80 MHz wide, sends at 500.0 Mbit/s to 700.0 Mbit/s, \
             receives at 866.7 Mbit/s, 1 network change, 1 channel change"
        );
    }

    #[test]
    fn a_driver_that_says_little_is_told_with_little() {
        let mut tally = WirelessTally::default();
        tally.saw(&WirelessFacts { frequency_mhz: Some(923), ..WirelessFacts::default() });
        let report = tally.report().expect("it was told");
        assert_eq!(
            (report.signal().as_str(), report.association().as_str()),
            ("no signal told", "923 MHz")
        );
        assert_eq!((report.signal_median_dbm, report.send_min_bps), (None, None));
    }
}
