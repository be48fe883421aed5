//! When the pings of one flow leave: at fixed distances, at random ones, one in each period, or when an answer lets them.

use pathscope_core::Tick;

use super::{Arrivals, Extent, LatencyPlan, LoadModel};

/// The times at which pings of an open loop are due. Knows no answers.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    gaps: Gaps,
    due: Tick,
}

#[derive(Clone, Debug)]
enum Gaps {
    /// No schedule: an answer lets the next ping leave.
    None,
    Fixed {
        period_ns: u64,
    },
    /// One in each period, at random within it: stratified random sampling (Claffy, Polyzos and Braun, SIGCOMM 1993). A load
    /// that is sent by the clock would meet probes of a fixed period in the same phase each time (RFC 2330, section 11.1);
    /// and of a Poisson process some seconds have too few.
    Within {
        period_ns: u64,
        /// When the period began in which the next one is due.
        begin: Tick,
        state: u64,
    },
    /// Exponential gaps of this mean, so that arrivals are a Poisson process (RFC 2330, section 11.1.1).
    Poisson {
        mean_ns: u64,
        state: u64,
    },
}

impl Schedule {
    /// That of the `index`-th flow of a plan. Flows begin evenly spread over one period.
    pub fn new(plan: &LatencyPlan, index: u32) -> Self {
        let gaps = match plan.load_model {
            LoadModel::Closed => Gaps::None,
            LoadModel::Open { period_ns, arrivals: Arrivals::Fixed }
                if plan.extent == Extent::WithLoad =>
            {
                // The same in each run, so that what comes of two can be compared.
                let mut state = u64::from(index) << 32;
                state = next_random(&mut state);
                Gaps::Within { period_ns: period_ns.0, begin: Tick::ZERO, state }
            }
            LoadModel::Open { period_ns, arrivals: Arrivals::Fixed } => {
                Gaps::Fixed { period_ns: period_ns.0 }
            }
            LoadModel::Open { period_ns, arrivals: Arrivals::Poisson { seed } } => {
                let mut state = seed.wrapping_add(u64::from(index) << 32);
                // One step, so that flows of neighbouring numbers do not begin alike.
                state = next_random(&mut state);
                Gaps::Poisson { mean_ns: period_ns.0, state }
            }
        };
        Self { gaps, due: Tick::ZERO }
    }

    /// The run begins. `index` of `flows` flows.
    pub fn start(&mut self, now: Tick, index: u32, flows: u32) {
        self.due = match &mut self.gaps {
            Gaps::None => now,
            Gaps::Fixed { period_ns } => {
                let shift = u128::from(*period_ns) * u128::from(index) / u128::from(flows.max(1));
                now.plus_nanos(shift as u64)
            }
            Gaps::Within { period_ns, begin, state } => {
                *begin = now;
                now.plus_nanos(below(*period_ns, state))
            }
            Gaps::Poisson { mean_ns, state } => now.plus_nanos(exponential(*mean_ns, state)),
        };
    }

    /// When the next ping is due. Without a schedule, when the run began.
    pub fn due(&self) -> Tick {
        self.due
    }

    /// That ping has left.
    pub fn advance(&mut self) {
        let gap = match &mut self.gaps {
            Gaps::None => return,
            Gaps::Fixed { period_ns } => *period_ns,
            Gaps::Within { period_ns, begin, state } => {
                *begin = begin.plus_nanos(*period_ns);
                self.due = begin.plus_nanos(below(*period_ns, state));
                return;
            }
            Gaps::Poisson { mean_ns, state } => exponential(*mean_ns, state),
        };
        self.due = self.due.plus_nanos(gap);
    }

    /// Pings due from the next one on and before `end`: of a random schedule, as many as there are on
    /// average.
    pub fn left_before(&self, end: Tick) -> u64 {
        match self.gaps {
            Gaps::None => 0,
            Gaps::Fixed { period_ns: gap }
            | Gaps::Within { period_ns: gap, .. }
            | Gaps::Poisson { mean_ns: gap, .. } => end.nanos_since(self.due).div_ceil(gap.max(1)),
        }
    }
}

/// A gap of an exponential distribution, by inversion.
fn exponential(mean_ns: u64, state: &mut u64) -> u64 {
    // 53 bits, so that the share is exact and never 1.
    let share = (next_random(state) >> 11) as f64 / (1_u64 << 53) as f64;
    (-(-share).ln_1p() * mean_ns as f64).round() as u64
}

/// Somewhere from 0 to below this.
fn below(period_ns: u64, state: &mut u64) -> u64 {
    // Upper half of a product: even to within 2⁻⁶⁴ of a period (Lemire, 2019).
    ((u128::from(next_random(state)) * u128::from(period_ns)) >> 64) as u64
}

/// `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014): the same seed, the same schedule, on every machine.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
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
            let due = schedule.due().as_nanos();
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
