//! What each end says of a test when it is over, as JSON: the client first, then the server. Not here: what of it is this end's, and what
//! becomes of the other's (`reports`).

use pathscope_core::record::Printed;
use serde_json::{Map, Value};

use super::framing::RESULTS_MOST;
use super::json::{self, count, number, whole};
use super::parameters::STREAMS_MOST;

/// The most streams of a test, both ways together.
const MOST: usize = 2 * STREAMS_MOST as usize;
/// Letters of a name that is kept.
const LETTERS: usize = 64;
/// More segments than this nobody sends again: who does not count them says numbers beyond it.
const RETRANSMITS_MOST: u64 = 1 << 48;
/// What a server prints, in either form.
const OUTPUT_TEXT: &str = "server_output_text";
const OUTPUT_JSON: &str = "server_output_json";
/// So many values within each other are kept as JSON: the original has six.
const DEEPEST: usize = 32;
/// Retransmits that nobody can count.
const UNKNOWN: i64 = -1;

/// What one end says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Results {
    /// Processor time of the program, as a percentage of one processor: all, the program's own, the system's.
    pub cpu: [f64; 3],
    /// Whether it sends and can count what was sent again; nothing of an end that only receives.
    pub counts_retransmits: Option<bool>,
    pub congestion: Option<String>,
    /// Of a server: what its program prints of the test.
    pub output: Option<Printed>,
    pub streams: Vec<Stream>,
}

/// What it says of one stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stream {
    pub id: u64,
    /// Sent by an end that sends on it, else received, without the warm-up.
    pub bytes: u64,
    pub retransmits: Option<u64>,
    /// In seconds.
    pub jitter: f64,
    /// Datagrams that were lost, by gaps in their numbers, and the part of the warm-up.
    pub errors: u64,
    pub omitted_errors: Option<u64>,
    /// Datagrams sent; at a receiver the highest number that came; and the part of the warm-up.
    pub packets: u64,
    pub omitted_packets: Option<u64>,
    /// Seconds from the end of the warm-up to the end.
    pub end_time: Option<f64>,
}

/// What the stream at this place is called, from 0: the second number is never used.
pub(super) const fn id_of(place: u64) -> u64 {
    if place == 0 { 1 } else { place + 2 }
}

/// The place of the stream that is called so.
pub(super) const fn place_of(id: u64) -> Option<u64> {
    match id {
        1 => Some(0),
        0 | 2 => None,
        _ => Some(id - 2),
    }
}

impl Results {
    /// As they are said. What is printed is left out where all would be too long with it.
    pub fn write(&self) -> Vec<u8> {
        let whole = self.written(self.output.as_ref());
        if whole.len() > RESULTS_MOST { self.written(None) } else { whole }
    }

    fn written(&self, output: Option<&Printed>) -> Vec<u8> {
        let retransmits = self.counts_retransmits.map_or(UNKNOWN, i64::from);
        let streams = self.streams.iter().map(Stream::value).collect();
        let [all, user, system] = self.cpu;
        let mut object = Map::new();
        object.insert("cpu_util_total".to_owned(), all.into());
        object.insert("cpu_util_user".to_owned(), user.into());
        object.insert("cpu_util_system".to_owned(), system.into());
        object.insert("sender_has_retransmits".to_owned(), retransmits.into());
        if let Some(congestion) = &self.congestion {
            object.insert("congestion_used".to_owned(), congestion.clone().into());
        }
        match output {
            Some(Printed::Text(text)) => {
                object.insert(OUTPUT_TEXT.to_owned(), text.clone().into());
            }
            Some(Printed::Json(json)) => {
                object.insert(OUTPUT_JSON.to_owned(), json.clone());
            }
            None => {}
        }
        object.insert("streams".to_owned(), Value::Array(streams));
        Value::Object(object).to_string().into_bytes()
    }

    /// What the other end says, or why it cannot be read.
    pub fn read(document: &[u8]) -> Result<Self, String> {
        let mut object = json::object(document)?;
        let output = output(&mut object);
        let object = &object;
        let Some(Value::Array(streams)) = json::find(object, "streams") else {
            return Err("it says nothing of streams".to_owned());
        };
        if streams.len() > MOST {
            return Err(format!(
                "it says something of {} streams, and there are {MOST} at the most",
                streams.len()
            ));
        }
        let cpu = ["cpu_util_total", "cpu_util_user", "cpu_util_system"];
        let retransmits = whole(object, "sender_has_retransmits");
        Ok(Self {
            cpu: cpu.map(|key| number(object, key).unwrap_or(0.0)),
            counts_retransmits: retransmits.filter(|&it| it >= 0).map(|it| it > 0),
            congestion: json::text(object, "congestion_used", LETTERS),
            output,
            streams: streams.iter().map(Stream::of).collect::<Result<_, _>>()?,
        })
    }
}

/// A document where there is one, as in the original, else lines.
fn output(object: &mut Map<String, Value>) -> Option<Printed> {
    match (object.remove(OUTPUT_JSON), object.remove(OUTPUT_TEXT)) {
        (Some(json @ Value::Object(_)), _) if is_flat(&json, DEEPEST) => Some(Printed::Json(json)),
        // In a result of ours it would be deeper still than what readers of JSON take.
        (Some(json @ Value::Object(_)), _) => Some(Printed::Text(json.to_string())),
        (_, Some(Value::String(text))) => Some(Printed::Text(text)),
        _ => None,
    }
}

/// Whether a value has no more of others within each other than that.
fn is_flat(value: &Value, deepest: usize) -> bool {
    let Some(deeper) = deepest.checked_sub(1) else { return false };
    match value {
        Value::Array(values) => values.iter().all(|it| is_flat(it, deeper)),
        Value::Object(members) => members.values().all(|it| is_flat(it, deeper)),
        _ => true,
    }
}

impl Stream {
    fn value(&self) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("id", self.id.into());
        put("bytes", self.bytes.into());
        let retransmits = self.retransmits.and_then(|it| i64::try_from(it).ok());
        put("retransmits", retransmits.unwrap_or(UNKNOWN).into());
        put("jitter", self.jitter.into());
        put("errors", self.errors.into());
        put("packets", self.packets.into());
        // Where one of the two is there, the other has to be.
        if let (Some(errors), Some(packets)) = (self.omitted_errors, self.omitted_packets) {
            put("omitted_errors", errors.into());
            put("omitted_packets", packets.into());
        }
        if let Some(end) = self.end_time {
            put("start_time", 0.into());
            put("end_time", end.into());
        }
        Value::Object(object)
    }

    fn of(value: &Value) -> Result<Self, String> {
        let object = value.as_object().ok_or("a stream of it is no object")?;
        let needed =
            |key| count(object, key).ok_or(format!("a stream of it has no number '{key}'"));
        let retransmits = whole(object, "retransmits");
        Ok(Self {
            id: needed("id")?,
            bytes: needed("bytes")?,
            retransmits: retransmits
                .and_then(|it| u64::try_from(it).ok())
                .filter(|&it| it <= RETRANSMITS_MOST),
            jitter: number(object, "jitter").unwrap_or(0.0),
            errors: count(object, "errors").unwrap_or(0),
            omitted_errors: count(object, "omitted_errors"),
            packets: count(object, "packets").unwrap_or(0),
            omitted_packets: count(object, "omitted_packets"),
            end_time: number(object, "end_time"),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn streams_are_called_as_they_always_were() {
        let ids: Vec<_> = (0..5).map(id_of).collect();
        assert_eq!(ids, [1, 3, 4, 5, 6]);
        assert_eq!([0, 1, 2, 3, 4].map(place_of), [None, Some(0), None, Some(1), Some(2)]);
    }

    #[test]
    fn what_a_server_printed_is_no_deeper_than_readers_of_a_result_take() {
        let said = |depth: usize| {
            let nested = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            let said = format!(r#"{{"streams":[],"server_output_json":{{"a":{nested}}}}}"#);
            Results::read(said.as_bytes()).expect("valid").output
        };
        assert!(matches!(said(DEEPEST - 2), Some(Printed::Json(_))));
        let deep = said(DEEPEST - 1);
        assert!(matches!(&deep, Some(Printed::Text(text)) if text.starts_with("{\"a\":[[")));
    }

    #[test]
    fn what_a_real_server_says_is_read_with_what_is_missing_and_what_is_more() {
        // As 3.12 says it.
        let said = r#"{"cpu_util_total":15.2,"cpu_util_user":0.2,"cpu_util_system":15.0,"sender_has_retransmits":-1,
            "congestion_used":"cubic","more":[],"streams":[{"id":1,"bytes":1048576,"retransmits":-1,"jitter":0,
            "errors":0,"packets":0,"start_time":0,"end_time":1.000123}]}"#;
        let results = Results::read(said.as_bytes()).expect("valid");
        assert_eq!((results.counts_retransmits, results.streams.len()), (None, 1));
        let stream = &results.streams[0];
        assert_eq!(
            (stream.bytes, stream.retransmits, stream.end_time),
            (1 << 20, None, Some(1.000_123))
        );
        let least = br#"{"streams":[{"id":1,"bytes":7}]}"#;
        assert_eq!(Results::read(least).expect("enough").streams[0].bytes, 7);
    }

    #[test]
    fn what_a_server_prints_is_said_in_either_form_and_left_out_where_there_is_no_room() {
        let json = Printed::of_json("{\"end\":{}}").expect("it is JSON");
        for output in [Printed::Text("lines\n".to_owned()), json] {
            let results = Results { output: Some(output), ..Results::default() };
            assert_eq!(Results::read(&results.write()), Ok(results));
        }
        // What is neither an object nor text says nothing.
        let said = br#"{"server_output_json":[1],"server_output_text":2,"streams":[]}"#;
        assert_eq!(Results::read(said).expect("valid").output, None);
        let output = Some(Printed::Text("a".repeat(RESULTS_MOST)));
        let written = Results { output, ..Results::default() }.write();
        assert_eq!(Results::read(&written), Ok(Results::default()));
    }

    #[test]
    fn what_cannot_be_results_is_told() {
        for (said, told) in [
            ("{}", "nothing of streams"),
            (r#"{"streams": 7}"#, "nothing of streams"),
            (r#"{"streams": [7]}"#, "no object"),
            (r#"{"streams": [{"bytes": 7}]}"#, "'id'"),
            (r#"{"streams": [{"id": 1, "bytes": "7"}]}"#, "'bytes'"),
            ("nothing", "no JSON"),
        ] {
            let error = Results::read(said.as_bytes()).expect_err(said);
            assert!(error.contains(told), "{said}: {error}");
        }
        let many = format!(r#"{{"streams": [{}]}}"#, vec!["{}"; MOST + 1].join(","));
        assert!(Results::read(many.as_bytes()).expect_err("too many").contains("257 streams"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            cpu in prop::array::uniform3(0.0..400.0_f64), counts in prop::option::of(any::<bool>()),
            streams in prop::collection::vec((any::<u64>(), any::<u32>(), 0.0..9.0_f64, any::<bool>()), 0..9),
        ) {
            let streams = (0..).zip(streams).map(|(place, (bytes, other, time, is_pair))| Stream {
                id: id_of(place), bytes, retransmits: is_pair.then_some(other.into()), jitter: time, errors: other.into(),
                omitted_errors: is_pair.then_some(1), packets: bytes / 2, omitted_packets: is_pair.then_some(2),
                end_time: is_pair.then_some(time),
            });
            let results = Results { cpu, counts_retransmits: counts, congestion: None, output: None, streams: streams.collect() };
            prop_assert_eq!(Results::read(&results.write()), Ok(results));
        }

        #[test]
        fn whatever_comes_is_read_or_refused(said in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Results::read(&said);
        }
    }
}
