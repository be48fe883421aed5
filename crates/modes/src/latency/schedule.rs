//! When the pings of one flow leave: at fixed distances, at random ones, one in each period, or when an answer lets them.

use pathscope_core::Tick;

use super::{Arrivals, Extent, LatencyPlan, LoadModel};
use crate::draw::Draws;

/// The times at which pings of an open loop are due. Knows no answers.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    spread: Spread,
    /// From one ping to the next; of random gaps, the mean.
    period_ns: u64,
    /// What random gaps follow from: the same seed, the same schedule, on every machine.
    draws: Draws,
    /// When the period began in which the next one is due.
    begin: Tick,
    due: Tick,
}

#[derive(Clone, Copy, Debug)]
enum Spread {
    /// No schedule: an answer lets the next ping leave.
    None,
    Fixed,
    /// One in each period, at random within it: stratified random sampling (Claffy, Polyzos and Braun, SIGCOMM 1993). A load
    /// that is sent by the clock would meet probes of a fixed period in the same phase each time (RFC 2330, section 11.1);
    /// and of a Poisson process some seconds have too few.
    Within,
    /// Exponential gaps of this mean, so that arrivals are a Poisson process (RFC 2330, section 11.1.1).
    Poisson,
}

impl Schedule {
    /// That of the `index`-th flow of a plan. Flows begin evenly spread over one period.
    pub fn new(plan: &LatencyPlan, index: u32) -> Self {
        let (spread, period_ns, seed) = match plan.load_model {
            LoadModel::Closed => (Spread::None, 0, 0),
            LoadModel::Open { period_ns, arrivals: Arrivals::Poisson { seed } } => {
                (Spread::Poisson, period_ns.0, seed)
            }
            // The same in each run, so that what comes of two can be compared.
            LoadModel::Open { period_ns, .. } if plan.extent == Extent::WithLoad => {
                (Spread::Within, period_ns.0, 0)
            }
            LoadModel::Open { period_ns, .. } => (Spread::Fixed, period_ns.0, 0),
        };
        let draws = Draws::of(seed.wrapping_add(u64::from(index) << 32));
        Self { spread, period_ns, draws, begin: Tick::ZERO, due: Tick::ZERO }
    }

    /// The run begins. `index` of `flows` flows.
    pub fn start(&mut self, now: Tick, index: u32, flows: u32) {
        self.begin = now;
        self.due = now.plus_nanos(match self.spread {
            Spread::None => 0,
            Spread::Fixed => {
                (u128::from(self.period_ns) * u128::from(index) / u128::from(flows.max(1))) as u64
            }
            Spread::Within | Spread::Poisson => self.drawn_ns(),
        });
    }

    /// When the next ping is due; in a closed loop none is.
    pub fn due(&self) -> Option<Tick> {
        (!matches!(self.spread, Spread::None)).then_some(self.due)
    }

    /// That ping has left.
    pub fn advance(&mut self) {
        self.due = match self.spread {
            Spread::None => self.due,
            Spread::Fixed => self.due.plus_nanos(self.period_ns),
            Spread::Within => {
                self.begin = self.begin.plus_nanos(self.period_ns);
                self.begin.plus_nanos(self.drawn_ns())
            }
            Spread::Poisson => self.due.plus_nanos(self.drawn_ns()),
        };
    }

    /// Pings due from the next one on and before `end`: of a random schedule, as many as there are on
    /// average.
    pub fn left_before(&self, end: Tick) -> u64 {
        match self.spread {
            Spread::None => 0,
            _ => end.nanos_since(self.due).div_ceil(self.period_ns.max(1)),
        }
    }

    /// Where in its period a ping is due, or an exponential gap, by inversion.
    fn drawn_ns(&mut self) -> u64 {
        let drawn = if let Spread::Within = self.spread {
            self.draws.within(0, self.period_ns.saturating_sub(1))
        } else {
            // 53 bits, so that the share is exact and never 1.
            let share = (self.draws.within(0, u64::MAX) >> 11) as f64 / (1_u64 << 53) as f64;
            (-(-share).ln_1p() * self.period_ns as f64).round() as u64
        };
        self.draws.advance();
        drawn
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Frequency, Period};

    use super::*;

    fn open(period_ns: u64, arrivals: Arrivals) -> LatencyPlan {
        LatencyPlan {
            load_model: LoadModel::Open { period_ns: Period(period_ns), arrivals },
            extent: Extent::Iterations(9),
            ..LatencyPlan::probe(Frequency(1))
        }
    }

    #[test]
    fn each_period_has_a_probe_somewhere_in_it_and_all_phases_are_met() {
        let dues = dues(&LatencyPlan::probe(Frequency(1_000)), 0, 10_000);
        let phases = dues.iter().enumerate().map(|(number, due)| {
            due.checked_sub(number as u64 * 1_000_000).filter(|phase| *phase < 1_000_000)
        });
        let phases: Vec<u64> = phases.collect::<Option<_>>().expect("each within its period");
        let mut tenths = [0; 10];
        phases.iter().for_each(|phase| tenths[(phase / 100_000) as usize] += 1);
        // A thousand each, with a deviation of 30.
        assert!(tenths.iter().all(|count| (850..1_150).contains(count)), "{tenths:?}");
    }

    fn dues(plan: &LatencyPlan, index: u32, count: usize) -> Vec<u64> {
        let mut schedule = Schedule::new(plan, index);
        schedule.start(Tick::ZERO, index, 4);
        std::iter::repeat_with(|| {
            let due = schedule.due().expect("an open loop").as_nanos();
            schedule.advance();
            due
        })
        .take(count)
        .collect()
    }

    #[test]
    fn flows_are_spread_over_a_period() {
        let plan = open(1_000, Arrivals::Fixed);
        assert_eq!(dues(&plan, 0, 3), [0, 1_000, 2_000]);
        assert_eq!(dues(&plan, 3, 3), [750, 1_750, 2_750]);
    }

    #[test]
    fn random_gaps_have_the_mean_and_spread_of_their_distribution() {
        let plan = open(1_000_000, Arrivals::Poisson { seed: 7 });
        let dues = dues(&plan, 0, 100_001);
        let gaps: Vec<f64> = dues.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        // The deviation of an exponential distribution is its mean; of the mean of 10⁵, 0.3 % of that.
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / 1e6 - 1.0).abs() < 0.03, "{variance}");
        // Memoryless: gaps beyond twice the mean are e⁻² of all.
        let long = gaps.iter().filter(|&&gap| gap > 2e6).count() as f64 / gaps.len() as f64;
        assert!((long - (-2_f64).exp()).abs() < 0.01, "{long}");
    }

    #[test]
    fn a_seed_is_a_schedule_and_flows_differ() {
        let of = |seed, index| dues(&open(1_000_000, Arrivals::Poisson { seed }), index, 50);
        assert_eq!(of(1, 0), of(1, 0));
        assert_ne!(of(1, 0), of(2, 0));
        assert_ne!(of(1, 0), of(1, 1));
    }
}
