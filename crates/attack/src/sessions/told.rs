//! What came of clients: counts, and how long each ping took. What several processes tell is added up.

use serde_json::{Value, json};

/// So many sentences of what broke are kept.
const SENTENCES: usize = 8;

/// What came of some of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Told {
    /// Clients whose test ran.
    pub opened: u64,
    /// Those that the server turned away by a message.
    pub refused: u64,
    /// Those that ended otherwise than in good order, refused ones left out.
    pub broken: u64,
    /// Those that ended in good order.
    pub left: u64,
    /// From the first client to the last whose test ran.
    pub ramp_ns: u64,
    /// Pings of all their time.
    pub sent: u64,
    /// Those of them that were answered with what they said.
    pub answered: u64,
    /// Pings that were due while the one before had no answer yet; they were not sent.
    pub put_off: u64,
    /// Round trips of pings that were sent when all were there.
    pub round_trips_ns: Vec<u64>,
    /// How much later than they were due those were sent.
    pub late_ns: Vec<u64>,
    /// Why the first of them were refused or broke.
    pub sentences: Vec<String>,
}

impl Told {
    /// Something that went wrong, as a sentence.
    pub fn note(&mut self, sentence: String) {
        if self.sentences.len() < SENTENCES && !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
    }

    /// For another process.
    pub fn whole(&self) -> Value {
        let Self { round_trips_ns, late_ns, .. } = self;
        let mut whole = self.counts();
        whole["round_trips_ns"] = json!(round_trips_ns);
        whole["late_ns"] = json!(late_ns);
        whole
    }

    /// What another process tells.
    pub fn read(value: &Value) -> Self {
        let number = |name: &str| value[name].as_u64().unwrap_or_default();
        let numbers = |name: &str| {
            let all = value[name].as_array().map(Vec::as_slice).unwrap_or_default();
            all.iter().filter_map(Value::as_u64).collect()
        };
        let sentences = value["sentences"].as_array().map(Vec::as_slice).unwrap_or_default();
        let sentence = |value: &Value| value.as_str().map(str::to_owned);
        Self {
            opened: number("opened"),
            refused: number("refused"),
            broken: number("broken"),
            left: number("left"),
            ramp_ns: number("ramp_ns"),
            sent: number("sent"),
            answered: number("answered"),
            put_off: number("put_off"),
            round_trips_ns: numbers("round_trips_ns"),
            late_ns: numbers("late_ns"),
            sentences: sentences.iter().filter_map(sentence).collect(),
        }
    }

    /// Adds what came of others, at the same time.
    pub fn add(&mut self, other: Self) {
        self.opened += other.opened;
        self.refused += other.refused;
        self.broken += other.broken;
        self.left += other.left;
        self.ramp_ns = self.ramp_ns.max(other.ramp_ns);
        self.sent += other.sent;
        self.answered += other.answered;
        self.put_off += other.put_off;
        self.round_trips_ns.extend(other.round_trips_ns);
        self.late_ns.extend(other.late_ns);
        other.sentences.into_iter().for_each(|sentence| self.note(sentence));
    }

    /// Counts alone.
    pub fn counts(&self) -> Value {
        let Self { opened, refused, broken, left, ramp_ns, sent, answered, put_off, .. } = self;
        json!({
            "opened": opened, "refused": refused, "broken": broken, "left": left,
            "ramp_ns": ramp_ns, "sent": sent, "answered": answered, "put_off": put_off,
            "sentences": self.sentences,
        })
    }

    /// Counts, and how round trips are distributed.
    pub fn summary(mut self) -> Value {
        let mut summary = self.counts();
        summary["round_trip_ns"] = distribution(&mut self.round_trips_ns);
        summary["late_ns"] = distribution(&mut self.late_ns);
        summary
    }
}

/// The smallest of which so many are not above, of all samples.
fn distribution(samples: &mut [u64]) -> Value {
    samples.sort_unstable();
    let at = |per_mille: usize| {
        let rank = (samples.len() * per_mille).div_ceil(1_000).max(1);
        samples.get(rank - 1).copied()
    };
    json!({
        "count": samples.len(), "p50": at(500), "p90": at(900), "p99": at(990), "p999": at(999),
        "max": samples.last(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_by_their_rank() {
        let mut samples: Vec<u64> = (1..=1_000).rev().collect();
        let told = distribution(&mut samples);
        let expected = json!({
            "count": 1_000, "p50": 500, "p90": 900, "p99": 990, "p999": 999, "max": 1_000,
        });
        assert_eq!(told, expected);
        assert_eq!(distribution(&mut [7])["p50"], 7);
        assert!(distribution(&mut [])["p50"].is_null());
    }

    #[test]
    fn what_two_processes_tell_comes_back_and_is_added_up() {
        let one = Told {
            opened: 3,
            ramp_ns: 9,
            sent: 4,
            answered: 4,
            round_trips_ns: vec![5, 6],
            ..Told::default()
        };
        let mut all = Told::read(&one.whole());
        assert_eq!(all, one);
        let mut other = Told { opened: 1, broken: 1, ramp_ns: 7, ..Told::default() };
        other.note("it broke".to_owned());
        other.note("it broke".to_owned());
        all.add(other);
        assert_eq!((all.opened, all.broken, all.ramp_ns), (4, 1, 9));
        assert_eq!(
            (all.sentences.len(), all.summary()["round_trip_ns"]["max"].as_u64()),
            (1, Some(6))
        );
    }
}
