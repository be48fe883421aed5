//! What the kernel says of the connections that a document tells one by one (`TCP_INFO`, as each ends), as a few figures.

use serde::Serialize;
use serde_json::Value;

use pathscope_core::quantity;

/// Those of one end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sample {
    /// Of so many the kernel was asked.
    connections: u64,
    /// Smoothed round trips: the middle one of all.
    rtt_median_ns: Option<u64>,
    /// The longest.
    rtt_longest_ns: Option<u64>,
    /// Segments that all of them have sent again.
    retransmits: u64,
    /// The smallest of their congestion windows.
    window_smallest_bytes: Option<u64>,
}

impl Sample {
    /// Of the client's connections in a run's document.
    pub fn of(document: &Value) -> Self {
        let flows = document.pointer("/measurements/0/client/goodput/flows");
        let flows = flows.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let told: Vec<&Value> =
            flows.iter().map(|it| &it["tcp"]).filter(|it| !it.is_null()).collect();
        let all = |name: &str| told.iter().filter_map(|it| it[name].as_u64()).collect::<Vec<_>>();
        let mut round_trips = all("rtt_ns");
        round_trips.sort_unstable();
        Self {
            connections: told.len() as u64,
            rtt_median_ns: round_trips.get(round_trips.len() / 2).copied(),
            rtt_longest_ns: round_trips.last().copied(),
            retransmits: all("retransmits").iter().sum(),
            window_smallest_bytes: all("congestion_window_bytes").into_iter().min(),
        }
    }

    /// Nothing where the kernel was asked of none.
    pub fn in_words(&self) -> Option<String> {
        let time = |ns: Option<u64>| ns.map_or_else(|| "unknown".to_owned(), quantity::duration_ns);
        let words = || {
            format!(
                "TCP_INFO of {}: round trip {} in the middle, {} at the most, {} segments sent again, window {} at the least",
                quantity::count(self.connections),
                time(self.rtt_median_ns),
                time(self.rtt_longest_ns),
                quantity::count(self.retransmits),
                self.window_smallest_bytes.map_or_else(|| "unknown".to_owned(), quantity::bytes),
            )
        };
        (self.connections > 0).then(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_which_the_kernel_was_asked_are_summed_up() {
        let flow = |rtt: u64, again: u64, window: u64| {
            format!(
                "{{\"tcp\": {{\"rtt_ns\": {rtt}, \"retransmits\": {again}, \"congestion_window_bytes\": {window}}}}}"
            )
        };
        let flows =
            [flow(5_000, 1, 9), flow(1_000, 0, 7), "{\"tcp\": null}".to_owned(), flow(2_000, 2, 8)];
        let text = format!(
            "{{\"measurements\": [{{\"client\": {{\"goodput\": {{\"flows\": [{}]}}}}}}]}}",
            flows.join(",")
        );
        let sample = Sample::of(&serde_json::from_str(&text).expect("it is JSON"));
        assert_eq!(
            (sample.connections, sample.rtt_median_ns, sample.rtt_longest_ns),
            (3, Some(2_000), Some(5_000))
        );
        assert_eq!((sample.retransmits, sample.window_smallest_bytes), (3, Some(7)));
        assert_eq!(Sample::of(&Value::Null).in_words(), None);
    }
}
