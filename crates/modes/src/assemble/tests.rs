//! Whatever the other end reports makes a measurement, and whatever a file says is shown: nothing of it panics.

mod untold;

use std::cell::Cell;

use crate::document::Document;
use crate::registry::EndInterval;
use pathscope_core::id::FlowId;
use schemars::schema_for;
use serde_json::{Map, Value, json};

use crate::assemble::{Findings, measurement};
use crate::end::Hosts;
use crate::groups::Test;
use crate::registry::EndReport;

/// Fills a schema: every field is there, and of alternatives it is this one.
struct Filler<'schema> {
    definitions: &'schema Value,
    numbers: Numbers,
    variant: usize,
}

/// What stands for its numbers.
#[derive(Clone)]
enum Numbers {
    /// This one, everywhere.
    One(i128),
    /// Each time another of [`NUMBERS`], as a generator of Knuth's has it.
    Mixed(Cell<u64>),
}

impl Numbers {
    fn next(&self) -> i128 {
        match self {
            Self::One(number) => *number,
            Self::Mixed(state) => {
                let next = state.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state.set(next);
                NUMBERS[(next >> 33) as usize % NUMBERS.len()]
            }
        }
    }
}

/// Deeper than any result nests.
const DEEPEST: usize = 40;

impl Filler<'_> {
    fn fill(&self, schema: &Value, depth: usize) -> Value {
        assert!(depth < DEEPEST, "a schema that contains itself");
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            return self.fill(&self.definitions[name], depth + 1);
        }
        let alternatives = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
        if let Some(alternatives) = alternatives {
            let some: Vec<&Value> =
                alternatives.iter().filter(|schema| schema["type"] != "null").collect();
            let chosen = self.fill(some[self.variant % some.len()], depth + 1);
            // A variant with a tag beside its content.
            let (Value::Object(mut chosen), Some(_)) = (chosen.clone(), schema.get("properties"))
            else {
                return chosen;
            };
            chosen.extend(self.object(schema, depth));
            return chosen.into();
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return values[self.variant % values.len()].clone();
        }
        let kinds =
            schema["type"].as_array().map_or(vec![&schema["type"]], |all| all.iter().collect());
        let kind = kinds.into_iter().find(|kind| **kind != "null").and_then(Value::as_str);
        match kind {
            Some("integer") => self.integer(schema),
            Some("number") => json!(self.numbers.next() as f64),
            Some("boolean") => json!(self.variant.is_multiple_of(2)),
            Some("string") => match schema["format"].as_str() {
                Some("ip" | "ipv4") => json!("127.0.0.1"),
                _ => json!("1"),
            },
            Some("array") => {
                let least = schema["minItems"].as_u64().unwrap_or(2);
                (0..least).map(|_| self.fill(&schema["items"], depth + 1)).collect()
            }
            Some("object") => self.object(schema, depth).into(),
            _ => Value::Null,
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Map<String, Value> {
        let fields = schema["properties"].as_object().into_iter().flatten();
        let mut object: Map<String, Value> =
            fields.map(|(name, schema)| (name.clone(), self.fill(schema, depth + 1))).collect();
        if schema["additionalProperties"].is_object() {
            object.insert("1".to_owned(), self.fill(&schema["additionalProperties"], depth + 1));
        }
        object
    }

    fn integer(&self, schema: &Value) -> Value {
        let (least, most) = match schema["format"].as_str() {
            Some("uint8") => (0, u8::MAX.into()),
            Some("uint16") => (0, u16::MAX.into()),
            Some("uint32") => (0, u32::MAX.into()),
            Some("int32") => (i32::MIN.into(), i32::MAX.into()),
            Some("int64") => (i64::MIN.into(), i64::MAX.into()),
            _ => (0, i128::from(u64::MAX)),
        };
        let number = self.numbers.next().clamp(least, most);
        u64::try_from(number).map_or_else(|_| json!(number as i64), |number| json!(number))
    }
}

fn filled<T: schemars::JsonSchema + serde::de::DeserializeOwned>(
    number: i128,
    variant: usize,
) -> T {
    filled_with(Numbers::One(number), variant)
}

fn filled_with<T: schemars::JsonSchema + serde::de::DeserializeOwned>(
    numbers: Numbers,
    variant: usize,
) -> T {
    let schema = schema_for!(T).to_value();
    let filler = Filler { definitions: &schema["$defs"], numbers, variant };
    let value = filler.fill(&schema, 0);
    serde_json::from_str(&value.to_string()).unwrap_or_else(|error| panic!("{error}"))
}

const NUMBERS: [i128; 5] = [0, 1, 1 << 40, u64::MAX as i128, i64::MIN as i128];

/// Assembles and shows what an end reports, beside the same of this end or nothing.
fn assert_assembled(numbers: &Numbers, variant: usize) {
    let test: Test = filled(1_000, variant);
    let report: EndReport = filled_with(numbers.clone(), variant);
    for client in [report.clone(), EndReport::default()] {
        let hosts = Hosts::default();
        let findings = Findings {
            name: "all".to_owned(),
            test: test.clone(),
            substitutions: Vec::new(),
            start_ns: 0,
            duration_ns: 1,
            intervals: vec![filled_with(numbers.clone(), variant)],
            client,
            server: Some(report.clone()),
            failed_there: vec![(FlowId(0), filled_with(numbers.clone(), variant))],
        };
        let measurements = vec![measurement(findings, &hosts)];
        let document = Document { measurements, ..Document::default() };
        let _ = crate::presentation::presentation(&document);
    }
}

#[test]
fn whatever_the_other_end_reports_makes_a_measurement() {
    for number in NUMBERS {
        (0..6).for_each(|variant| assert_assembled(&Numbers::One(number), variant));
    }
}

#[test]
fn whatever_numbers_the_other_end_reports_beside_each_other_make_a_measurement() {
    for seed in 0..60 {
        assert_assembled(&Numbers::Mixed(Cell::new(seed)), seed as usize % 6);
    }
}

#[test]
fn whatever_the_other_end_says_of_an_interval_moved_or_did_not() {
    for number in NUMBERS {
        let interval: EndInterval = filled(number, 0);
        for variant in 0..6 {
            let test: Test = filled(1_000, variant);
            assert_eq!(test.plan.has_moved_in(&interval), number > 0, "{number}");
        }
    }
}

#[test]
fn whatever_a_result_file_says_is_shown() {
    for number in NUMBERS {
        for variant in 0..6 {
            let document: Document = filled(number, variant);
            let _ = crate::presentation::presentation(&document);
        }
    }
}

#[test]
fn whatever_numbers_stand_beside_each_other_are_shown() {
    for seed in 0..60 {
        let variant = seed as usize % 6;
        let document: Document = filled_with(Numbers::Mixed(Cell::new(seed)), variant);
        let _ = crate::presentation::presentation(&document);
    }
}
