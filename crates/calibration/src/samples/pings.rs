//! Single pings from the file of a run.

use std::collections::BTreeMap;

use super::Durations;

/// The round trips that count, and what else is known of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pings {
    /// Rows, by what became of the ping: answered, left out as warm-up, corrupt, lost.
    pub answered: f64,
    /// Left out at the start.
    pub warm_up: f64,
    /// With data that are not what was sent.
    pub corrupt: f64,
    /// Never answered in time.
    pub lost: f64,
    /// Answered after a later one of their flow (RFC 4737, section 3.3).
    pub reordered: f64,
    /// Arrivals from the first that overtook a reordered one to that one itself, of all of them together (section 4.2.1).
    pub extents: f64,
    /// The same of the one with the most.
    pub longest_extent: f64,
    /// Of answered ones, in nanoseconds: round trips.
    pub rtt: Durations,
    /// From when each was due.
    pub since_scheduled: Durations,
    /// From the send that the system accepted.
    pub service: Durations,
    /// What each waited for before it left.
    pub send_lag: Durations,
    /// In the server's program.
    pub residence: Durations,
    /// There and back, by the clock that both ends read.
    pub one_way: [Durations; 2],
    /// How much round trips vary, ways there, and ways back.
    pub variation: [Variation; 3],
    /// Flows that have rows.
    pub flows: usize,
}

/// How much what neighbouring pings took differs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variation {
    /// Of neighbours (RFC 3393).
    pub ipdv: Durations,
    /// The smoothed differences of RFC 3550, in the order in which they came; those of all flows.
    pub jitter: Vec<f64>,
}

/// One flow, row by row.
#[derive(Default)]
struct Flow {
    /// The numbers of those that were answered, in the order of their answers.
    order: Vec<f64>,
    /// The last that counts: its number, and what it took as a whole, there and back.
    last: Option<(f64, [Option<f64>; 3])>,
    smoothed: [f64; 3],
}

impl Pings {
    /// Reads a file as `latency --samples` writes it; absent where it is none.
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next()?.split(',').collect();
        let column = |name: &str| head.iter().position(|it| *it == name);
        let (outcome, rtt, sent) = (column("outcome")?, column("rtt_ns")?, column("sent_ns")?);
        let (scheduled, received) = (column("scheduled_ns")?, column("received_ns")?);
        let (residence, counted) = (column("server_residence_ns")?, column("counted_from_ns")?);
        let (flow, ping) = (column("flow")?, column("ping")?);
        let there = column("server_received_ns")?;
        let mut pings = Self::default();
        let mut flows: BTreeMap<&str, Flow> = BTreeMap::new();
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |at: usize| cells.get(at)?.parse::<f64>().ok().filter(|it| it.is_finite());
            let what = *cells.get(outcome)?;
            let flow = flows.entry(*cells.get(flow)?).or_default();
            if matches!(what, "answered" | "warm_up") {
                flow.order.push(number(ping)?);
            }
            if what != "warm_up" {
                // It is known of pings that never came back, too.
                pings
                    .send_lag
                    .sorted
                    .extend(number(counted).zip(number(scheduled)).map(|(a, b)| a - b));
            }
            match what {
                "warm_up" => pings.warm_up += 1.0,
                "corrupt" => pings.corrupt += 1.0,
                "lost" => pings.lost += 1.0,
                "answered" => {
                    pings.answered += 1.0;
                    pings.rtt.sorted.push(number(rtt)?);
                    pings.since_scheduled.sorted.push(number(received)? - number(scheduled)?);
                    pings.service.sorted.push(number(received)? - number(sent)?);
                    pings.residence.sorted.extend(number(residence));
                    let forward = number(there).zip(number(counted)).map(|(a, b)| a - b);
                    let back = number(rtt).zip(number(residence)).zip(forward);
                    let back = back.map(|((rtt, residence), forward)| rtt - residence - forward);
                    for (all, one) in pings.one_way.iter_mut().zip([forward, back]) {
                        all.sorted.extend(one);
                    }
                    pings.vary(flow, number(ping)?, [number(rtt), forward, back]);
                }
                _ => return None,
            }
        }
        pings.flows = flows.len();
        flows.values().for_each(|flow| pings.order(&flow.order));
        for durations in pings.durations() {
            durations.sorted.sort_by(f64::total_cmp);
        }
        Some(pings)
    }

    /// An answer that counts.
    fn vary(&mut self, flow: &mut Flow, number: f64, took: [Option<f64>; 3]) {
        let Some((before, last)) = flow.last.replace((number, took)) else { return };
        let each = self.variation.iter_mut().zip(&mut flow.smoothed);
        for ((variation, smoothed), pair) in each.zip(took.into_iter().zip(last)) {
            let (Some(now), Some(last)) = pair else { continue };
            let difference = (now - last).abs();
            *smoothed += (difference - *smoothed) / 16.0;
            variation.jitter.push(*smoothed);
            if (number - before - 1.0).abs() < 0.5 {
                variation.ipdv.sorted.push(difference);
            }
        }
    }

    /// The numbers of one flow in the order of their answers.
    fn order(&mut self, order: &[f64]) {
        // The greatest so far at each place: the first that exceeds a number is who overtook it first.
        let mut greatest: Vec<f64> = Vec::with_capacity(order.len());
        for (place, &number) in order.iter().enumerate() {
            let before = greatest.last().copied().unwrap_or(f64::NEG_INFINITY);
            if number < before {
                let first = greatest.partition_point(|it| *it <= number);
                let extent = (place - first) as f64;
                self.reordered += 1.0;
                self.extents += extent;
                self.longest_extent = self.longest_extent.max(extent);
            }
            greatest.push(before.max(number));
        }
    }

    /// All that were sent.
    pub fn sent(&self) -> f64 {
        self.answered + self.warm_up + self.corrupt + self.lost
    }

    /// Makes every duration longer by this factor, and every count greater by one.
    pub fn stretch(&mut self, factor: f64) {
        self.durations().for_each(|durations| durations.stretch(factor));
        for variation in &mut self.variation {
            variation.jitter.iter_mut().for_each(|jitter| *jitter *= factor);
        }
        let counts = [
            &mut self.answered,
            &mut self.warm_up,
            &mut self.corrupt,
            &mut self.lost,
            &mut self.reordered,
            &mut self.extents,
            &mut self.longest_extent,
        ];
        counts.into_iter().for_each(|count| *count += 1.0);
    }

    fn durations(&mut self) -> impl Iterator<Item = &mut Durations> {
        let those = [
            &mut self.rtt,
            &mut self.since_scheduled,
            &mut self.service,
            &mut self.send_lag,
            &mut self.residence,
        ];
        let variations = self.variation.iter_mut().map(|variation| &mut variation.ipdv);
        those.into_iter().chain(&mut self.one_way).chain(variations)
    }
}

#[cfg(test)]
mod tests {
    use super::{Pings, Variation};
    use crate::samples::Durations;

    #[test]
    fn rows_are_read_by_their_heads() {
        let text = "flow,ping,scheduled_ns,sent_ns,received_ns,rtt_ns,server_residence_ns,outcome,counted_from_ns,server_received_ns\n\
            0,0,0,1,9,8,2,warm_up,1,3\n0,1,100,103,110,8,3,answered,102,103\n0,2,200,,,,,lost,200,\n0,3,300,300,306,6,1,answered,300,304\n";
        let pings = Pings::read(text).expect("samples");
        assert_eq!(
            (pings.answered, pings.warm_up, pings.lost, pings.corrupt, pings.sent()),
            (2.0, 1.0, 1.0, 0.0, 4.0)
        );
        assert_eq!(pings.rtt, Durations::new(vec![6.0, 8.0]));
        assert_eq!(pings.since_scheduled, Durations::new(vec![6.0, 10.0]));
        assert_eq!(pings.service, Durations::new(vec![6.0, 7.0]));
        assert_eq!(
            (pings.send_lag, pings.residence),
            (Durations::new(vec![0.0, 0.0, 2.0]), Durations::new(vec![1.0, 3.0]))
        );
        assert_eq!(pings.one_way, [Durations::new(vec![1.0, 4.0]), Durations::new(vec![1.0, 4.0])]);
        // Across a loss there are no neighbours.
        let of = |jitter: f64| Variation { ipdv: Durations::new(vec![]), jitter: vec![jitter] };
        assert_eq!(pings.variation, [2.0, 3.0, 3.0].map(|difference| of(difference / 16.0)));
    }

    /// One row of an answer: number and round trip.
    fn answers(flow: u32, rows: &[(u32, u32)]) -> String {
        let row =
            |(ping, rtt): &(u32, u32)| format!("{flow},{ping},0,0,{rtt},{rtt},,answered,0,\n");
        rows.iter().map(row).collect()
    }

    const HEAD: &str = "flow,ping,scheduled_ns,sent_ns,received_ns,rtt_ns,server_residence_ns,outcome,counted_from_ns,server_received_ns\n";

    #[test]
    fn variation_and_order_are_those_of_each_flow() {
        // 2 and 3 come behind 5: overtaken by two and three arrivals.
        let one = answers(0, &[(0, 10), (1, 26), (5, 26), (4, 26), (2, 42), (3, 42)]);
        let other = answers(7, &[(0, 100), (1, 100)]);
        let pings = Pings::read(&format!("{HEAD}{one}{other}")).expect("samples");
        assert_eq!((pings.reordered, pings.extents, pings.longest_extent), (3.0, 6.0, 3.0));
        let [round_trips, forward, _] = &pings.variation;
        assert_eq!(round_trips.ipdv, Durations::new(vec![0.0, 0.0, 16.0]));
        assert_eq!((&round_trips.jitter[..2], pings.flows), (&[1.0, 0.9375][..], 2));
        // TCP's have no stamps of the server.
        assert_eq!(*forward, Variation::default());
    }

    #[test]
    fn what_is_no_file_of_samples_is_none() {
        assert_eq!(Pings::read(""), None);
        assert_eq!(Pings::read("a,b\n1,2\n"), None);
        assert_eq!(Pings::read(&format!("{HEAD}0,1,2\n")), None);
        assert_eq!(Pings::read(&format!("{HEAD}0,1,0,0,1e999,1e999,,answered,0,\n")), None);
    }
}
