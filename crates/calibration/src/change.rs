//! Which way evidence is changed, and a result with each of its rates and times changed so.

use serde_json::Value;

/// By how much rates are changed: more than twice the widest tolerance that a rule of what was asked for has.
pub(crate) const SHARE: f64 = 0.05;

/// Which way evidence is changed: a bound on one side notices but one of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// More, longer, faster.
    More,
    /// Less.
    Less,
}

impl Change {
    /// Both.
    pub const ALL: [Self; 2] = [Self::More, Self::Less];

    pub fn factor(self, share: f64) -> f64 {
        match self {
            Self::More => 1.0 + share,
            Self::Less => 1.0 - share,
        }
    }

    /// A number that is so much more or less.
    pub fn number(self, number: u64, by: u64) -> u64 {
        match self {
            Self::More => number + by,
            Self::Less => number.saturating_sub(by),
        }
    }
}

/// Makes every number of a result another one, not all by the same share.
pub fn alter(value: &mut Value, change: Change) {
    match value {
        Value::Number(number) => {
            let other =
                number.as_f64().map(|it| it * change.factor(0.07) + 3.0 * change.factor(2.0));
            if let Some(other) = other.and_then(serde_json::Number::from_f64) {
                *number = other;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| alter(value, change)),
        Value::Object(fields) => {
            // Which percentile an entry is of, and when an interval was, is no measured number.
            let is_measured = |name: &str| !matches!(name, "percent" | "start_ns" | "end_ns");
            let others = fields.iter_mut().filter(|(name, _)| is_measured(name));
            others.for_each(|(_, value)| alter(value, change));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
