//! What a link can be told while it carries traffic: other conditions, a cut, its end.
//!
//! The same words stand in a lab's TOML, as `delay = "20ms"`, and on a command line, as
//! `delay=20ms`: one reader and one writer serve both.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use pathscope_core::quantity::Period;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::ConditionsError;
use super::words::{self, WordError};
use super::{Chance, Loss, Queue, Rate, Reordering};

/// A partial set of conditions: those that are named become so, the others stay.
///
/// The keys are `rate`, `delay`, `jitter`, `queue`, `loss`, `dup`, `corrupt` and `reorder`.
/// As serde sees it, a map of keys to words.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Change {
    /// `rate=40Mbit`, `rate=none`
    pub rate: Option<Rate>,
    /// `delay=20ms`
    pub delay: Option<Period>,
    /// `jitter=2ms`
    pub jitter: Option<Period>,
    /// `queue=67p`, `queue=100KB`
    pub queue: Option<Queue>,
    /// `loss=1%`, `loss=burst:1%,30%`, `loss=none`
    pub loss: Option<Loss>,
    /// `dup=1%`
    pub duplication: Option<Chance>,
    /// `corrupt=0.1%`
    pub corruption: Option<Chance>,
    /// `reorder=1%x3`, `reorder=none`
    pub reordering: Option<Reordering>,
}

/// What a link can be told. In words a [`Change`], or `cut` or `restore` alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Order {
    /// Have other conditions.
    Change(Change),
    /// Lose everything that is offered, waiting or on its way, until further notice.
    Cut,
    /// Carry frames again, under the conditions there are by then.
    Restore,
}

/// The keys, in the order in which they are shown.
const KEYS: [&str; 8] = ["rate", "delay", "jitter", "queue", "loss", "dup", "corrupt", "reorder"];

impl Change {
    /// Takes over one word, as `delay` and `20ms`.
    fn set(&mut self, key: &str, value: &str) -> Result<(), ConditionsError> {
        match key {
            "rate" => read("rate", value, &mut self.rate),
            "delay" => read("delay", value, &mut self.delay),
            "jitter" => read("jitter", value, &mut self.jitter),
            "queue" => read("queue", value, &mut self.queue),
            "loss" => read("loss", value, &mut self.loss),
            "dup" => read("dup", value, &mut self.duplication),
            "corrupt" => read("corrupt", value, &mut self.corruption),
            "reorder" => read("reorder", value, &mut self.reordering),
            _ => Err(no_such_word(&format!("{key}={value}"))),
        }
    }

    /// Its keys and words, those that are named.
    fn words(&self) -> impl Iterator<Item = (&'static str, String)> {
        let words = [
            self.rate.map(|it| it.to_string()),
            self.delay.map(words::period),
            self.jitter.map(words::period),
            self.queue.map(|it| it.to_string()),
            self.loss.map(|it| it.to_string()),
            self.duplication.map(|it| it.to_string()),
            self.corruption.map(|it| it.to_string()),
            self.reordering.map(|it| it.to_string()),
        ];
        KEYS.into_iter().zip(words).filter_map(|(key, word)| Some((key, word?)))
    }
}

fn read<T>(key: &'static str, typed: &str, into: &mut Option<T>) -> Result<(), ConditionsError>
where
    T: FromStr,
    T::Err: Into<WordError>,
{
    if into.is_some() {
        return Err(ConditionsError::Twice { key });
    }
    let fault = |fault: T::Err| ConditionsError::Word { key, fault: fault.into() };
    *into = Some(typed.parse().map_err(fault)?);
    Ok(())
}

fn no_such_word(typed: &str) -> ConditionsError {
    ConditionsError::NoSuchWord { typed: typed.to_owned(), keys: KEYS.join(", ") }
}

impl Order {
    /// Reads words as they stand on a command line.
    pub fn from_words<'word>(
        words: impl IntoIterator<Item = &'word str>,
    ) -> Result<Self, ConditionsError> {
        let words: Vec<&str> = words.into_iter().collect();
        match words.as_slice() {
            [] => Err(ConditionsError::Nothing),
            ["cut"] => Ok(Self::Cut),
            ["restore"] => Ok(Self::Restore),
            words => {
                let mut change = Change::default();
                for word in words {
                    let (key, value) = word.split_once('=').ok_or_else(|| no_such_word(word))?;
                    change.set(key, value)?;
                }
                Ok(Self::Change(change))
            }
        }
    }
}

impl FromStr for Order {
    type Err = ConditionsError;

    fn from_str(typed: &str) -> Result<Self, ConditionsError> {
        Self::from_words(typed.split_whitespace())
    }
}

/// As it would be typed: `delay=20ms loss=1%`.
impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.words().map(|(key, word)| format!("{key}={word}")).collect();
        formatter.write_str(&words.join(" "))
    }
}

impl fmt::Display for Order {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change(change) => change.fmt(formatter),
            Self::Cut => formatter.write_str("cut"),
            Self::Restore => formatter.write_str("restore"),
        }
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.words())
    }
}

impl<'de> Deserialize<'de> for Change {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = BTreeMap::<String, String>::deserialize(deserializer)?;
        let mut change = Self::default();
        for (key, word) in words {
            change.set(&key, &word).map_err(D::Error::custom)?;
        }
        Ok(change)
    }
}

impl Serialize for Order {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::BitRate;
    use proptest::prelude::*;

    use super::*;
    use crate::link::Conditions;

    fn chance() -> impl Strategy<Value = Chance> {
        (0..=Chance::ALWAYS.0).prop_map(Chance)
    }

    fn conditions() -> impl Strategy<Value = Conditions> {
        let rate = prop::option::of(1_u64..=100_000_000_000);
        let rate =
            rate.prop_map(|rate| rate.map_or(Rate::Unlimited, |it| Rate::Limited(BitRate(it))));
        let times = (0_u64..=60_000_000_000).prop_flat_map(|delay| (Just(delay), 0..=delay));
        let queue = prop_oneof![
            (1_u32..=100_000).prop_map(Queue::Packets),
            (1_u64..=128 << 20).prop_map(Queue::Bytes)
        ];
        let burst = (chance(), 1..=Chance::ALWAYS.0, chance(), chance());
        let loss = prop_oneof![
            Just(Loss::None),
            (1..=Chance::ALWAYS.0).prop_map(|it| Loss::Random(Chance(it))),
            burst.prop_map(|(to_bad, to_good, loss_good, loss_bad)| {
                Loss::GilbertElliott { to_bad, to_good: Chance(to_good), loss_good, loss_bad }
            })
        ];
        let reordering = (chance(), 1_u32..=1_000, 1_u64..=60_000_000_000).prop_map(
            |(chance, distance, patience)| Reordering {
                chance,
                distance,
                patience: Period(patience),
            },
        );
        (rate, times, queue, loss, chance(), chance(), reordering).prop_map(
            |(rate, (delay, jitter), queue, loss, duplication, corruption, reordering)| {
                let (delay, jitter) = (Period(delay), Period(jitter));
                Conditions { rate, delay, jitter, queue, loss, duplication, corruption, reordering }
            },
        )
    }

    proptest! {
        #[test]
        fn whatever_a_link_can_be_like_is_written_and_read(conditions in conditions()) {
            let order: Order = conditions.to_string().parse().expect("as it was written");
            prop_assert_eq!(order, Order::Change(conditions.into()));
            let stored = serde_json::to_string(&conditions).expect("words are JSON");
            let read: Conditions = serde_json::from_str(&stored).expect("as written");
            prop_assert_eq!(read, conditions);
        }

        #[test]
        fn no_words_panic(words in ".*|(loss|queue|reorder|rate|delay)=[0-9a-z.,:()%]{0,20}") {
            let _ = words.parse::<Order>();
        }
    }

    #[test]
    fn a_line_of_words_is_a_change_and_reads_back() {
        let typed = "rate=40Mbit delay=20ms jitter=2ms queue=67p loss=burst:1%,30% dup=1% \
                     corrupt=0.1% reorder=1%x3";
        let order: Order = typed.parse().expect("every word is known");
        assert_eq!(order.to_string(), typed);
        let Order::Change(change) = order else { panic!("{order:?}") };
        let conditions = Conditions::default().after(&change).expect("a link can be like that");
        assert_eq!(conditions.to_string(), typed);
        let stored = serde_json::to_string(&conditions).expect("words are JSON");
        assert!(stored.contains(r#""queue":"67p""#), "{stored}");
        assert_eq!(serde_json::from_str::<Conditions>(&stored).expect("as written"), conditions);
    }

    #[test]
    fn a_change_leaves_the_rest_as_it_was() {
        let before = Conditions { delay: Period::from_millis(20), ..Conditions::default() };
        let change = Change { jitter: Some(Period::from_millis(2)), ..Change::default() };
        let after = before.after(&change).expect("jitter is less than delay");
        assert_eq!(after, Conditions { jitter: Period::from_millis(2), ..before });
        assert!(Conditions::default().after(&change).is_err(), "no delay to differ from");
    }

    #[test]
    fn a_link_is_cut_and_restored_by_a_word_alone() {
        assert_eq!("cut".parse(), Ok(Order::Cut));
        assert_eq!("restore".parse(), Ok(Order::Restore));
        let both = "cut delay=1ms".parse::<Order>().expect_err("either").to_string();
        assert!(both.contains("'cut' or 'restore' alone"), "{both}");
    }

    #[test]
    fn what_cannot_be_meant_names_key_word_and_limit() {
        for (typed, words) in [
            ("", "change a link by nothing"),
            ("los=1%", "understand 'los=1%' of a link; write KEY=VALUE with a key of rate, delay"),
            ("loss", "understand 'loss'"),
            ("loss=1", "set loss: '1' is not a chance"),
            ("loss=101%", "set loss: '101%' is too much: a chance is never more than 100%"),
            ("delay=20", "set delay: '20' has no unit"),
            ("loss=1% loss=2%", "set loss twice at once"),
        ] {
            let error = typed.parse::<Order>().expect_err(typed).to_string();
            assert!(error.contains(words), "{typed}: {error}");
        }
    }

    #[test]
    fn stored_conditions_are_as_strict_as_typed_ones() {
        for (stored, words) in [
            (r#"{"delay":"61s"}"#, "set delay=61s: a delay is 60s at most"),
            (r#"{"delays":"1s"}"#, "understand 'delays=1s'"),
            (r#"{"queue":"0p"}"#, "set queue=0p"),
            (r#"{"loss":"burst:1%,0%"}"#, "a burst that never ends"),
        ] {
            let error = serde_json::from_str::<Conditions>(stored).expect_err(stored).to_string();
            assert!(error.contains(words), "{stored}: {error}");
        }
        let order = serde_json::from_str::<Order>(r#""delay=1ms loss=1%""#).expect("known words");
        assert_eq!(serde_json::to_string(&order).expect("a string"), r#""delay=1ms loss=1%""#);
    }
}
