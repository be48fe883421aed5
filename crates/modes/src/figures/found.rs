//! All numbers of a measurement that are figures, with their ids: what is compared with the truth figure by figure, and with
//! other runs.

use serde_json::Value;

use super::{FigureDefinition, Group, STATISTICS, Unit, groups};

/// The words that stand for a mark in a place.
const MARKS: [(&str, [&str; 2]); 2] = [("{way}", ["up", "down"]), ("{end}", ["client", "server"])];

/// One number of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Of what.
    pub group: &'static Group,
    /// Which figure.
    pub figure: &'static FigureDefinition,
    /// `up`, `down`, `client` or `server`, where there is one for each.
    pub side: Option<&'static str>,
    /// Which entry of a list, from 0, where there is one for each.
    pub entry: Option<usize>,
    /// What that entry is called, where it has a name that stays from run to run: an interface, an address, a policy.
    pub name: Option<String>,
    /// Which number of a distribution: `min`, `p99`.
    pub statistic: Option<String>,
    /// How much, in the figure's base unit.
    pub number: f64,
}

impl Found {
    /// The id without its side and its entry: `goodput.rate`, `latency.rtt.p99`.
    pub fn kind(&self) -> String {
        let mut kind = self.group.id(self.figure);
        if let Some(statistic) = &self.statistic {
            kind.push('.');
            kind.push_str(statistic);
        }
        kind
    }

    /// Whether it is one of those that its group is measured for.
    pub fn is_primary(&self) -> bool {
        is_primary(&self.kind())
    }

    /// The id, complete but for its entry: `goodput.rate.up`, `latency.rtt.p99`.
    pub fn id(&self) -> String {
        whole(self.group, self.figure, self.side, self.statistic.as_deref())
    }

    /// What it is called in a column: its label with its statistic and its side.
    pub fn label(&self) -> String {
        let words = [Some(self.figure.label), self.statistic.as_deref(), self.side];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// What it is a number of.
    pub fn unit(&self) -> Unit {
        unit(self.figure, self.statistic.as_deref())
    }
}

/// Whether an id, with or without its side, is that of a figure that its group is measured for.
pub fn is_primary(id: &str) -> bool {
    groups().any(|group| {
        let rest = id.strip_prefix(group.name).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| {
            let mut sides = MARKS.iter().flat_map(|(_, words)| words);
            let bare = sides.find_map(|side| rest.strip_suffix(side)?.strip_suffix('.'));
            group.primary.contains(&bare.unwrap_or(rest))
        })
    })
}

/// Every figure that a measurement has, as a document has it.
pub fn found(measurement: &Value) -> Vec<Found> {
    let mut found = Vec::new();
    for group in groups() {
        for figure in group.figures {
            for (side, place) in sides(&group.place_of(figure)) {
                for (entry, value) in entries(measurement, &place) {
                    let name = entry.and_then(|entry| name_of(measurement, &place, entry));
                    for (statistic, number) in numbers(figure.unit, value) {
                        let name = name.clone();
                        found.push(Found { group, figure, side, entry, name, statistic, number });
                    }
                }
            }
        }
    }
    found
}

/// The id of a number, with its side and its statistic.
pub(super) fn whole(
    group: &Group,
    figure: &FigureDefinition,
    side: Option<&str>,
    statistic: Option<&str>,
) -> String {
    let id = group.id(figure);
    [Some(id.as_str()), side, statistic].into_iter().flatten().collect::<Vec<_>>().join(".")
}

/// What a figure is a number of, or which number of a distribution.
pub(super) fn unit(figure: &FigureDefinition, statistic: Option<&str>) -> Unit {
    let Some(name) = statistic else { return figure.unit };
    let statistic = STATISTICS.iter().find(|it| it.name == name);
    statistic.map_or(Unit::Duration, |statistic| statistic.unit)
}

/// The name of a number of a distribution; a percentile may be typed otherwise: `p99.90`.
pub(super) fn statistic(typed: &str) -> Option<String> {
    if STATISTICS.iter().any(|it| it.name == typed && typed != "pN") {
        return Some(typed.to_owned());
    }
    let percent: f64 = typed.strip_prefix('p')?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then(|| format!("p{percent}"))
}

/// A place for each side, where there are sides.
pub(super) fn sides(place: &str) -> Vec<(Option<&'static str>, String)> {
    match MARKS.into_iter().find(|(mark, _)| place.contains(mark)) {
        None => vec![(None, place.to_owned())],
        Some((mark, words)) => {
            words.into_iter().map(|word| (Some(word), place.replace(mark, word))).collect()
        }
    }
}

/// What the entries of lists are called by, the first that one has.
const NAMES: [&str; 5] = ["interface", "name", "policy", "address", "cpu"];

/// What an entry of the first list on the way to a place is called.
fn name_of(measurement: &Value, place: &str, entry: usize) -> Option<String> {
    let (list, _) = place.split_once("[]")?;
    let entry = at(measurement, list)?.get(entry)?;
    let name = NAMES.iter().find_map(|name| entry.get(name))?;
    name.as_str().map(str::to_owned).or_else(|| name.as_u64().map(|number| number.to_string()))
}

/// What is at a place without lists, if it is anything.
fn at<'value>(value: &'value Value, place: &str) -> Option<&'value Value> {
    let mut steps = place.split('.').filter(|step| !step.is_empty());
    // A number is a place in a list.
    let get = |at: &'value Value, step: &str| match at {
        Value::Array(_) => at.get(step.parse::<usize>().ok()?),
        _ => at.get(step),
    };
    steps.try_fold(value, get).filter(|it| !it.is_null())
}

/// What is at a place; of a list each entry, of one that holds others their first ones alone.
pub(super) fn entries<'value>(
    measurement: &'value Value,
    place: &str,
) -> Vec<(Option<usize>, &'value Value)> {
    let Some((list, rest)) = place.split_once("[]") else {
        return at(measurement, place).map(|value| (None, value)).into_iter().collect();
    };
    let list = at(measurement, list).and_then(Value::as_array);
    let list = list.into_iter().flatten().enumerate();
    let rest = rest.replace("[]", ".0");
    list.filter_map(|(index, value)| Some((Some(index), at(value, &rest)?))).collect()
}

/// The numbers that a value is; of a distribution each with its name.
pub(super) fn numbers(unit: Unit, value: &Value) -> Vec<(Option<String>, f64)> {
    if unit != Unit::Distribution {
        return value.as_f64().map(|number| (None, number)).into_iter().collect();
    }
    let statistics = STATISTICS.iter().filter_map(|statistic| {
        let number = value.get(statistic.place).and_then(Value::as_f64)?;
        Some((Some(statistic.name.to_owned()), number))
    });
    let percentiles = value.get("percentiles").and_then(Value::as_array).into_iter().flatten();
    let percentiles = percentiles.filter_map(|entry| {
        let percent = entry.get("percent").and_then(Value::as_f64)?;
        Some((Some(format!("p{percent}")), entry.get("value_ns").and_then(Value::as_f64)?))
    });
    statistics.chain(percentiles).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::found;

    #[test]
    fn entries_are_called_by_what_stays() {
        let measurement = json!({
            "summary": {
                "goodput": { "up": { "goodput_bps": 5.5 }, "remotes": [ { "address": "::1", "failed": 2 } ] },
                "multipath": { "paths": [ { "sent": 3, "interface": "eth0", "latency": { "max_ns": 4 } } ] },
            },
            "client": { "host": { "cpus": [ { "cpu": 7, "busy": 0.5 } ] }, "workers": [ { "user_ns": 1 } ] },
        });
        let all: Vec<_> = found(&measurement).into_iter().map(|it| (it.id(), it.name)).collect();
        let expected = [
            ("goodput.rate.up", None),
            ("goodput.address.failed", Some("::1")),
            ("multipath.path.latency.max", Some("eth0")),
            ("multipath.path.sent", Some("eth0")),
            ("end.cpu.busy.client", Some("7")),
            ("end.worker.user.client", None),
        ];
        let expected = expected.map(|(id, name)| (id.to_owned(), name.map(str::to_owned)));
        assert_eq!(all, expected);
    }

    #[test]
    fn each_number_has_its_id_its_side_and_its_entry() {
        let measurement = json!({
            "summary": {
                "goodput": { "up": { "goodput_bps": 5.5 }, "down": null, "failed": 0 },
                "latency": { "rtt": { "count": 2, "min_ns": 7, "percentiles": [
                    { "percent": 99.9, "value_ns": 9 }, { "percent": 50.0, "value_ns": null } ] } },
                "multipath": { "paths": [
                    { "sent": 3 }, { "sent": 4, "gaps": { "told": [ { "datagrams": 8 }, { "datagrams": 9 } ] } } ] },
            },
            "client": { "elapsed_ns": 12 },
        });
        let all: Vec<_> = found(&measurement)
            .iter()
            .map(|it| (it.kind(), it.side, it.entry, it.number))
            .collect();
        let expected = [
            ("goodput.rate", Some("up"), None, 5.5),
            ("goodput.failed", None, None, 0.0),
            ("latency.rtt.count", None, None, 2.0),
            ("latency.rtt.min", None, None, 7.0),
            ("latency.rtt.p99.9", None, None, 9.0),
            ("multipath.path.gap.numbers", None, Some(1), 8.0),
            ("multipath.path.sent", None, Some(0), 3.0),
            ("multipath.path.sent", None, Some(1), 4.0),
            ("end.elapsed", Some("client"), None, 12.0),
        ];
        let expected =
            expected.map(|(kind, side, entry, number)| (kind.to_owned(), side, entry, number));
        assert_eq!(all, expected);
    }
}
