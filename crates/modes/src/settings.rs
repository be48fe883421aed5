//! Settings of a test by ids that stay, as figures have them: one for each value of its plan, so that no mode lists its own.
//! `setting.goodput.connections` is where the document has `test.plan.goodput.connections`. `docs/settings.md` is written
//! from the schema in the same way.
//!
//! Not here: what a setting means and which ones there are (plans), and what is said of them in words (`Mode::subtitle`).

use pathscope_core::figure::Unit;
use pathscope_core::presentation::{Figure, Value};
use serde_json::Value as Json;

use crate::figure::Amount as _;
use crate::groups::Test;

/// What names of fields end with, and what such a value is a number of.
const UNITS: [(&str, Unit); 3] =
    [("_ns", Unit::Duration), ("_bps", Unit::BitRate), ("_bytes", Unit::Bytes)];

/// All settings that a test states, in the order of the document; what it leaves open is none.
pub fn settings(test: &Test) -> Vec<Figure> {
    let mut settings = Vec::new();
    // What cannot be written has no settings; a document with it is refused elsewhere.
    collect("", &serde_json::to_value(test).unwrap_or_default(), &mut settings);
    settings
}

/// The id of the setting at this place of a test, and what it is a number of: of `plan.goodput.warm_up_ns`
/// `setting.goodput.warm_up` and durations.
pub fn setting_at(place: &str) -> (String, Unit) {
    let bare = place.strip_prefix("plan.").unwrap_or(place);
    let of_unit = |(end, unit)| Some((bare.strip_suffix(end)?, unit));
    let (name, unit) = UNITS.into_iter().find_map(of_unit).unwrap_or((bare, Unit::Number));
    (format!("setting.{name}"), unit)
}

fn collect(place: &str, value: &Json, settings: &mut Vec<Figure>) {
    match value {
        Json::Null => {}
        Json::Object(fields) => {
            for (name, field) in fields {
                let dot = if place.is_empty() { "" } else { "." };
                collect(&format!("{place}{dot}{name}"), field, settings);
            }
        }
        _ => settings.push(setting(place, value)),
    }
}

fn setting(place: &str, value: &Json) -> Figure {
    let (id, unit) = setting_at(place);
    let label = id.rsplit('.').next().unwrap_or_default().replace('_', " ");
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let value = match value {
        Json::Number(number) => number.as_u64().value(unit),
        Json::Array(all) => Value::Text(all.iter().map(text).collect::<Vec<_>>().join(", ")),
        one => Value::Text(text(one)),
    };
    Figure { id, unit, ..Figure::new(label, value) }
}
