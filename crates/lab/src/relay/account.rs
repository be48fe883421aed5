//! What a relay did to every frame, and whether it kept up.

use serde::{Deserialize, Serialize};

use crate::kernel::Statistics;
use crate::link::{Conditions, Truth};

/// The 99th percentile of lateness up to which a run counts. Ten times what one link at 100 Mbit/s
/// shows on a quiet machine, and still small beside the delays that labs have.
pub const MOST_LATENESS_NS: u64 = 1_000_000;

/// Of all relayed links of a lab.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RelayAccount {
    /// In the order of the topology.
    pub links: Vec<LinkAccount>,
    /// Whether the thread runs before ordinary ones.
    pub has_priority: bool,
    /// Whether it may keep processors from dozing off.
    pub keeps_awake: bool,
    /// How often it woke up, for frames, for what was due, or to be told something.
    #[serde(default)]
    pub turns: u64,
}

/// Of one link.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct LinkAccount {
    /// Its name.
    pub name: String,
    /// From its first end to its second.
    pub forward: DirectionAccount,
    /// From its second end to its first.
    pub backward: DirectionAccount,
}

/// Of one direction.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct DirectionAccount {
    /// The node where it begins.
    pub from: String,
    /// The node where it ends.
    pub to: String,
    /// What it does to frames now.
    pub conditions: Conditions,
    /// Whether it is cut.
    pub is_cut: bool,
    /// What became of every frame.
    pub truth: Truth,
    /// Frames that the kernel dropped before the relay took them.
    pub missed: u64,
    /// Frames among the delivered that the kernel took from the relay and then dropped: at least so
    /// many, and exactly where nothing is being sent. What the relay cannot see: see
    /// [`see`](RelayAccount::see).
    #[serde(default)]
    pub refused: u64,
    /// Frames that were longer than the link carries.
    pub too_long: u64,
}

/// Why what was measured on a lab was the lab.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shortcoming {
    /// Frames were lost that no condition lost.
    Lost {
        /// Where, as `from` to `to`.
        direction: [String; 2],
        /// So many.
        frames: u64,
    },
    /// Frames were handed over too late.
    Late {
        /// Where, as `from` to `to`.
        direction: [String; 2],
        /// One in a hundred by at least this much.
        p99_ns: u64,
    },
}

impl RelayAccount {
    /// What makes measurements of this time invalid; nothing where the relay kept up.
    pub fn shortcomings(&self) -> Vec<Shortcoming> {
        let directions = self.links.iter().flat_map(|link| [&link.forward, &link.backward]);
        directions.flat_map(DirectionAccount::shortcomings).collect()
    }

    /// What happened since `earlier`, an account of the same relay.
    pub fn since(&self, earlier: &Self) -> Self {
        let links = self.links.iter().zip(&earlier.links);
        Self {
            links: links.map(|(now, then)| now.since(then)).collect(),
            turns: self.turns.saturating_sub(earlier.turns),
            ..self.clone()
        }
    }

    /// Takes in what the interfaces in front of a link's ends count, as read after this account was
    /// asked for and since both were made: a virtual cable drops without a word where the other end has
    /// no room or is down.
    pub fn see(&mut self, wire: usize, ports: [Statistics; 2]) {
        let Some(link) = self.links.get_mut(wire) else { return };
        let [first, second] = ports;
        link.forward.see(&first, &second);
        link.backward.see(&second, &first);
    }

    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<&LinkAccount> {
        self.links.iter().find(|link| link.name == name)
    }
}

impl LinkAccount {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            name: self.name.clone(),
            forward: self.forward.since(&earlier.forward),
            backward: self.backward.since(&earlier.backward),
        }
    }
}

impl DirectionAccount {
    fn see(&mut self, entrance: &Statistics, exit: &Statistics) {
        self.missed = self.missed.saturating_add(entrance.received_dropped);
        // Not what it counts as dropped: kernels differ in whether the relay was told of those.
        self.refused = self.truth.total.delivered.frames.saturating_sub(exit.sent_frames);
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            truth: self.truth.since(&earlier.truth),
            missed: self.missed.saturating_sub(earlier.missed),
            refused: self.refused.saturating_sub(earlier.refused),
            too_long: self.too_long.saturating_sub(earlier.too_long),
            ..self.clone()
        }
    }

    fn shortcomings(&self) -> Vec<Shortcoming> {
        let direction = || [self.from.clone(), self.to.clone()];
        let lost = [self.missed, self.refused, self.too_long];
        let lost = lost.into_iter().fold(self.truth.total.overrun.frames, u64::saturating_add);
        let p99_ns = self.lateness_p99_ns();
        let lost = (lost > 0).then(|| Shortcoming::Lost { direction: direction(), frames: lost });
        let late = p99_ns.filter(|p99_ns| *p99_ns > MOST_LATENESS_NS);
        let late = late.map(|p99_ns| Shortcoming::Late { direction: direction(), p99_ns });
        lost.into_iter().chain(late).collect()
    }

    /// How late one frame in a hundred was at least; nothing below 100 frames.
    pub fn lateness_p99_ns(&self) -> Option<u64> {
        let histogram = self.truth.lateness.histogram();
        histogram.value_at_quantile(0.99).filter(|_| histogram.count() >= 100)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::LatencyHistogram;

    use super::*;
    use crate::link::{Counts, Tally};

    /// An account of one link of which the way forth has so many counts, and so many frames of each
    /// lateness.
    fn account(
        change: impl FnOnce(&mut DirectionAccount),
        lateness: &[(u64, u64)],
    ) -> RelayAccount {
        let mut histogram = LatencyHistogram::new();
        for (frames, nanoseconds) in lateness {
            (0..*frames).for_each(|_| histogram.record(*nanoseconds));
        }
        let direction = |from: &str, to: &str| DirectionAccount {
            from: from.to_owned(),
            to: to.to_owned(),
            conditions: Conditions::default(),
            is_cut: false,
            truth: Truth::default(),
            missed: 0,
            refused: 0,
            too_long: 0,
        };
        let (mut forward, backward) = (direction("a", "b"), direction("b", "a"));
        forward.truth.lateness = histogram.distribution();
        change(&mut forward);
        let links = vec![LinkAccount { name: "a:b".to_owned(), forward, backward }];
        RelayAccount { links, has_priority: true, keeps_awake: true, turns: 0 }
    }

    fn lost(frames: u64) -> Vec<Shortcoming> {
        vec![Shortcoming::Lost { direction: ["a".to_owned(), "b".to_owned()], frames }]
    }

    fn tally(frames: u64) -> Tally {
        Tally { frames, bytes: 100 * frames }
    }

    #[test]
    fn a_relay_that_kept_up_has_no_shortcoming() {
        let fine = account(
            |it| {
                let [offered, delivered] = [tally(9), tally(5)];
                let [dropped, lost] = [tally(3), tally(1)];
                it.truth.total = Counts { offered, delivered, dropped, lost, ..Counts::default() };
            },
            &[(1_000, MOST_LATENESS_NS / 2)],
        );
        assert_eq!(fine.shortcomings(), []);
    }

    #[test]
    fn frames_that_no_condition_lost_are_added_up() {
        let overrun = |it: &mut DirectionAccount| it.truth.total.overrun = tally(7);
        assert_eq!(account(overrun, &[]).shortcomings(), lost(7));
        assert_eq!(account(|it| it.missed = 2, &[]).shortcomings(), lost(2));
        assert_eq!(account(|it| it.refused = 3, &[]).shortcomings(), lost(3));
        assert_eq!(account(|it| it.too_long = 4, &[]).shortcomings(), lost(4));
        let all = |it: &mut DirectionAccount| {
            overrun(it);
            (it.missed, it.refused, it.too_long) = (2, u64::MAX, 4);
        };
        assert_eq!(account(all, &[]).shortcomings(), lost(u64::MAX));
    }

    #[test]
    fn one_late_frame_in_a_hundred_is_late_and_fewer_are_not() {
        let late = 3 * MOST_LATENESS_NS;
        let shortcomings = account(|_| (), &[(980, 10), (20, late)]).shortcomings();
        let [Shortcoming::Late { direction, p99_ns }] = shortcomings.as_slice() else {
            panic!("{shortcomings:?}")
        };
        assert_eq!(direction, &["a", "b"]);
        assert!(*p99_ns >= late && *p99_ns < late + late / 100, "{p99_ns}");
        assert_eq!(account(|_| (), &[(995, 10), (5, late)]).shortcomings(), []);
        // Of fewer than a hundred no hundredth can be told.
        assert_eq!(account(|_| (), &[(99, late)]).shortcomings(), []);
    }

    #[test]
    fn what_interfaces_dropped_is_seen_and_subtracted() {
        let delivered = |frames| {
            move |it: &mut DirectionAccount| {
                it.truth.total.offered = tally(frames);
                it.truth.total.delivered = tally(frames);
                it.missed = 1;
            }
        };
        let counts = |received_dropped, sent_frames| Statistics {
            received_dropped,
            sent_frames,
            ..Statistics::default()
        };
        let mut earlier = account(delivered(10), &[]);
        earlier.see(0, [counts(2, 0), counts(0, 9)]);
        assert_eq!((earlier.links[0].forward.missed, earlier.links[0].forward.refused), (3, 1));
        let mut later = account(delivered(30), &[]);
        later.see(0, [counts(7, 0), counts(1, 25)]);
        let step = later.since(&earlier);
        let link = step.link("a:b").expect("it has that name");
        assert_eq!((link.forward.missed, link.forward.refused), (5, 4));
        assert_eq!((link.backward.missed, link.backward.refused), (1, 0));
        assert_eq!(step.shortcomings()[0], lost(9)[0]);
        // One more sent than delivered: read while frames were on their way. No such link: nothing.
        later.see(0, [counts(0, 0), counts(0, 31)]);
        assert_eq!(later.links[0].forward.refused, 0);
        later.see(1, [counts(9, 9), counts(9, 9)]);
    }
}
