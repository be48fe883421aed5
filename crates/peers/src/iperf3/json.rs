//! JSON as these programs read it: keys in whatever case, numbers as whole ones or not, and what is of another kind than it should be as
//! if it were not there.

use serde_json::{Map, Value};

/// What a document has under a name. Of several that differ in their case alone, one.
pub(super) fn find<'value>(object: &'value Map<String, Value>, key: &str) -> Option<&'value Value> {
    let same = |(name, _): &(&String, &Value)| name.eq_ignore_ascii_case(key);
    object.get(key).or_else(|| object.iter().find(same).map(|(_, value)| value))
}

/// A number, cut to a whole one.
pub(super) fn whole(object: &Map<String, Value>, key: &str) -> Option<i64> {
    let value = find(object, key)?;
    // A float beyond its range is its nearest end.
    value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))
}

/// A number that counts something: what is below zero counts nothing.
pub(super) fn count(object: &Map<String, Value>, key: &str) -> Option<u64> {
    let value = find(object, key)?;
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
}

/// A number.
pub(super) fn number(object: &Map<String, Value>, key: &str) -> Option<f64> {
    find(object, key)?.as_f64()
}

/// Whether it is said to be so: by nothing but `true`.
pub(super) fn is_true(object: &Map<String, Value>, key: &str) -> bool {
    find(object, key) == Some(&Value::Bool(true))
}

/// Whether it is said to be so where that is said by a number, whichever.
pub(super) fn is_numbered(object: &Map<String, Value>, key: &str) -> bool {
    find(object, key).is_some_and(Value::is_number)
}

/// A text of so many letters at the most: of a longer one as many.
pub(super) fn text(object: &Map<String, Value>, key: &str, most: usize) -> Option<String> {
    find(object, key)?.as_str().map(|text| text.chars().take(most).collect())
}

/// The object that a document is; no document is nested so deeply that reading it could do harm.
pub(super) fn object(document: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(document) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is JSON, and no object".to_owned()),
        Err(error) => Err(format!("it is no JSON: {error}")),
    }
}
