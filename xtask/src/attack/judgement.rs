//! The bounds that a server with default limits keeps whatever strangers do, and what of them was broken.

use pathscope_core::quantity;

use super::figures::Figures;
use super::honest::is_refused;
use super::stage::GIVEN_BACK_WITHIN;

/// What strangers can make a server hold at the most.
pub const MOST_BYTES: u64 = 1 << 30;
/// Threads on a machine of two processors.
pub const MOST_THREADS: u64 = 65;
/// For each further processor.
pub const THREADS_PER_PROCESSOR: u64 = 4;
/// Of its descriptors, in percent.
pub const MOST_DESCRIPTORS_PERCENT: u64 = 80;
/// Within this an honest caller is answered, in milliseconds.
pub const GREETED_WITHIN_MS: u64 = 1_000;
/// How long a thread that is ready may have to wait for one other: a slice of the scheduler.
const SLICE_NS: f64 = 4e6;
/// A shared machine's speed wanders by as much from one run to the next.
const NOISE: f64 = 2.0;

/// What was broken, as sentences.
pub fn broken(figures: &Figures) -> Vec<String> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    judge(figures, processors)
}

fn judge(figures: &Figures, processors: u64) -> Vec<String> {
    let mut broken = figures.told.broken.clone();
    let most = &figures.observed.most;
    if most.most_resident_bytes > MOST_BYTES {
        broken.push(format!(
            "the server had {} resident, more than {}",
            quantity::bytes(most.most_resident_bytes),
            quantity::bytes(MOST_BYTES)
        ));
    }
    let threads = MOST_THREADS + THREADS_PER_PROCESSOR * processors.saturating_sub(2);
    if most.threads > threads {
        broken.push(format!("the server had {} threads, more than {threads}", most.threads));
    }
    let descriptors = figures.observed.descriptor_limit * MOST_DESCRIPTORS_PERCENT / 100;
    if most.descriptors > descriptors {
        broken.push(format!(
            "the server had {} descriptors open, more than {descriptors}, {MOST_DESCRIPTORS_PERCENT} % of its {}",
            most.descriptors, figures.observed.descriptor_limit
        ));
    }
    let late = figures.greetings.iter();
    let late = late.filter(|ms| ms.is_none_or(|ms| ms > GREETED_WITHIN_MS)).count();
    if late > 0 || figures.greetings.is_empty() {
        broken.push(format!(
            "{late} of {} greetings of an honest caller were not answered within {GREETED_WITHIN_MS} ms",
            figures.greetings.len()
        ));
    }
    broken.extend(unfair(figures, processors));
    broken.extend(inexact(figures));
    if figures.given_back.is_none() {
        broken.push(format!(
            "{} s after the attack the server still held more than before",
            GIVEN_BACK_WITHIN.as_secs()
        ));
    }
    broken
}

/// The honest client has its share of what the attack's own programs leave of the machine: one among the callers that
/// work at once and itself.
fn unfair(figures: &Figures, processors: u64) -> Vec<String> {
    let beside = match &figures.beside {
        Ok(beside) => beside,
        // Strangers from many places can have every place that there is; that is told by the limit's name.
        Err(error) if is_refused(error) && !figures.case.is_of_one_place() => return Vec::new(),
        Err(error) => return vec![format!("an honest client failed to {error}")],
    };
    let Share { least_goodput_bps, most_p99_ns } = share(figures, processors);
    let mut broken = Vec::new();
    if beside.goodput_bps < least_goodput_bps {
        broken.push(format!(
            "an honest client had {}, less than its share of {}",
            quantity::bit_rate(beside.goodput_bps),
            quantity::bit_rate(least_goodput_bps)
        ));
    }
    if beside.p99_ns as f64 > most_p99_ns {
        broken.push(format!(
            "one in a hundred pings of an honest client took {}, more than its share explains: {}",
            quantity::duration_ns(beside.p99_ns),
            quantity::duration_ns(most_p99_ns as u64)
        ));
    }
    broken
}

/// An honest client of iperf3 has each byte of its transfers, and is served unless strangers from many places have every place.
fn inexact(figures: &Figures) -> Vec<String> {
    let Some(made) = &figures.transfers else { return Vec::new() };
    let failed = made.failed.iter();
    let mut broken: Vec<String> =
        failed.map(|why| format!("an honest client of iperf3 failed to {why}")).collect();
    if made.whole == 0 && (made.refused == 0 || figures.case.is_of_one_place()) {
        broken.push("an honest client of iperf3 was not served once".to_owned());
    }
    if made.refused > 0 && figures.case.is_of_one_place() {
        let refused = quantity::count(made.refused);
        broken.push(format!("an honest client of iperf3 was refused, times: {refused}"));
    }
    broken.dedup();
    broken
}

struct Share {
    least_goodput_bps: f64,
    most_p99_ns: f64,
}

fn share(figures: &Figures, processors: u64) -> Share {
    let time = figures.observed.seconds.max(0.1) * processors as f64 * 100.0;
    // However much an attack takes of the machine that it shares with the server, a tenth is left to judge by.
    let left = (1.0 - figures.observed.attack_ticks as f64 / time).max(0.1);
    let shares = figures.case.callers as f64 + 1.0;
    Share {
        least_goodput_bps: figures.alone.goodput_bps * left / shares / NOISE,
        most_p99_ns: (figures.alone.p99_ns as f64 + shares * SLICE_NS) / left * NOISE,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::attack::case::Case;
    use crate::attack::honest::{Measured, Transfers};
    use crate::attack::run::Told;
    use crate::attack::samples::Sample;
    use crate::attack::stage::Observed;

    fn good() -> Figures {
        let measured = Measured { goodput_bps: 8e9, p99_ns: 1_000_000 };
        Figures {
            case: Case { callers: 3, ..Case::default() },
            alone: measured,
            beside: Ok(measured),
            observed: Observed {
                most: Sample {
                    most_resident_bytes: 1,
                    threads: MOST_THREADS,
                    descriptors: 800,
                    ..Sample::default()
                },
                descriptor_limit: 1_000,
                seconds: 8.0,
                attack_ticks: 800,
                ..Observed::default()
            },
            greetings: vec![Some(1_000)],
            given_back: Some(Duration::ZERO),
            told: Told::default(),
            transfers: Some(Transfers { whole: 1, ..Transfers::default() }),
            broken: Vec::new(),
        }
    }

    #[test]
    fn what_lies_within_its_bounds_is_not_broken() {
        assert_eq!(judge(&good(), 2), Vec::<String>::new());
        // Half of the machine is left, a quarter of that is its share, and half of that is allowed for noise.
        let share = share(&good(), 2);
        assert!((share.least_goodput_bps - 0.5e9).abs() < 1.0, "{}", share.least_goodput_bps);
        assert!((share.most_p99_ns - 68e6).abs() < 1.0, "{}", share.most_p99_ns);
    }

    #[test]
    fn each_bound_that_is_broken_has_a_sentence() {
        let breaks: [fn(&mut Figures); 12] = [
            |it| it.observed.most.most_resident_bytes = MOST_BYTES + 1,
            |it| it.observed.most.threads = MOST_THREADS + 1,
            |it| it.observed.most.descriptors = 801,
            |it| it.greetings = vec![Some(1_001)],
            |it| it.greetings = vec![Some(1), None],
            |it| it.greetings.clear(),
            |it| it.beside = Ok(Measured { goodput_bps: 0.4e9, p99_ns: 1 }),
            |it| it.beside = Ok(Measured { goodput_bps: 8e9, p99_ns: 69_000_000 }),
            |it| it.given_back = None,
            |it| it.transfers = Some(Transfers::default()),
            |it| it.transfers.iter_mut().for_each(|made| made.failed.push("count it".to_owned())),
            |it| {
                it.case.name = "iperf3-one-address".to_owned();
                it.transfers.iter_mut().for_each(|made| made.refused = 1);
            },
        ];
        for (index, break_it) in breaks.iter().enumerate() {
            let mut figures = good();
            break_it(&mut figures);
            assert_eq!(judge(&figures, 2).len(), 1, "the bound of number {index}");
        }
    }

    #[test]
    fn who_is_refused_by_name_was_served_unless_one_caller_has_it_all() {
        let beside = |name: &str, error: &str| {
            let mut figures = good();
            figures.case.name = name.to_owned();
            figures.beside = Err(error.to_owned());
            judge(&figures, 2).len()
        };
        let refused =
            "read the goodput: be measured: refused by the server: 1 thread for a session";
        assert_eq!(beside("random-bytes", refused), 0);
        assert_eq!(beside("sessions-256-one-address", refused), 1);
        assert_eq!(beside("random-bytes", "read the goodput: be measured: without a reason"), 1);
    }

    #[test]
    fn strangers_of_many_places_may_have_every_transfer_refused_and_of_one_none() {
        let transfers = |name: &str, whole, refused| {
            let mut figures = good();
            figures.case.name = name.to_owned();
            figures.transfers = Some(Transfers { whole, refused, failed: Vec::new() });
            judge(&figures, 2).len()
        };
        assert_eq!(transfers("ntttcp-silent", 0, 9), 0);
        assert_eq!(transfers("ntttcp-silent", 0, 0), 1);
        assert_eq!(transfers("iperf3-silent-one-address", 8, 0), 0);
        assert_eq!(transfers("iperf3-silent-one-address", 0, 9), 2);
    }

    #[test]
    fn more_processors_allow_more_threads() {
        let mut figures = good();
        figures.observed.most.threads = 72;
        assert!(judge(&figures, 4).is_empty());
        assert_eq!(judge(&figures, 3).len(), 1);
    }
}
