//! What the kernel's interfaces counted at the ends of relayed links, beside the relay's own totals of the same instant: two
//! accounts of the same frames, of which neither knows the other.

use serde::{Deserialize, Serialize};

use super::RelayAccount;
use crate::kernel::Statistics;
use crate::link::{Counts, Tally};

/// Of all relayed links of a lab.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Counters {
    /// In the order of the topology.
    pub links: Vec<LinkCounters>,
    /// Whether nothing was on its way when they were read, and nothing came meanwhile.
    pub is_steady: bool,
}

/// Of one link.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct LinkCounters {
    /// Its name.
    pub name: String,
    /// What passed the interfaces of the nodes at its first and its second end.
    pub interfaces: [Statistics; 2],
    /// What the relay says of both directions.
    pub totals: [Counts; 2],
}

impl Counters {
    /// Of what the relay said before and after the interfaces were read, and the names of its links.
    pub fn read(
        before: &[[Counts; 2]],
        links: impl IntoIterator<Item = (String, [Statistics; 2])>,
        after: &[[Counts; 2]],
    ) -> Self {
        let is_empty = after.iter().flatten().all(|it| it.in_flight().frames == 0);
        let links = links.into_iter().zip(after);
        let links =
            links.map(|((name, interfaces), &totals)| LinkCounters { name, interfaces, totals });
        Self { links: links.collect(), is_steady: is_empty && before == after }
    }

    /// Whether an account is of the same frames.
    pub fn is_of(&self, account: &RelayAccount) -> bool {
        self.links.len() == account.links.len()
            && self.links.iter().zip(&account.links).all(|(counted, link)| {
                counted.totals == [link.forward.truth.total, link.backward.truth.total]
            })
    }

    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<&LinkCounters> {
        self.links.iter().find(|link| link.name == name)
    }
}

impl LinkCounters {
    /// What passed since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let interface = |end: usize| self.interfaces[end].since(&earlier.interfaces[end]);
        Self {
            name: self.name.clone(),
            interfaces: [interface(0), interface(1)],
            totals: [0, 1].map(|way| self.totals[way].since(&earlier.totals[way])),
        }
    }

    /// What left the interface at a direction's begin, and what came in by the one at its end: 0 is the first end's.
    pub fn of(&self, way: usize) -> [Tally; 2] {
        let (begin, end) = (&self.interfaces[way % 2], &self.interfaces[1 - way % 2]);
        [
            Tally { frames: begin.sent_frames, bytes: begin.sent_bytes },
            Tally { frames: end.received_frames, bytes: end.received_bytes },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(offered: u64, delivered: u64) -> [[Counts; 2]; 1] {
        let tally = |frames| Tally { frames, bytes: 100 * frames };
        let counts =
            Counts { offered: tally(offered), delivered: tally(delivered), ..Counts::default() };
        [[counts; 2]]
    }

    fn links(interfaces: [Statistics; 2]) -> [(String, [Statistics; 2]); 1] {
        [("a:b".to_owned(), interfaces)]
    }

    #[test]
    fn counts_are_steady_where_nothing_is_on_its_way_and_nothing_came_meanwhile() {
        let read = |before: &[_], after: &[_]| {
            Counters::read(before, links([Statistics::default(); 2]), after).is_steady
        };
        assert!(read(&totals(5, 5), &totals(5, 5)));
        assert!(!read(&totals(5, 4), &totals(5, 4)), "one is on its way");
        assert!(!read(&totals(5, 5), &totals(6, 6)), "one came meanwhile");
    }

    #[test]
    fn each_direction_has_the_interfaces_at_its_ends() {
        let interface = |sent, received| Statistics {
            sent_frames: sent,
            sent_bytes: 100 * sent,
            received_frames: received,
            received_bytes: 100 * received,
            ..Statistics::default()
        };
        let totals = totals(7, 7);
        let read = |first, second| Counters::read(&totals, links([first, second]), &totals);
        let earlier = read(interface(1, 2), interface(3, 4));
        let later = read(interface(11, 22), interface(33, 44));
        let step = later.link("a:b").expect("it is so called").since(&earlier.links[0]);
        let frames = |way| step.of(way).map(|tally| tally.frames);
        assert_eq!((frames(0), frames(1)), ([10, 40], [30, 20]));
        assert_eq!(step.of(0)[1].bytes, 4_000);
    }
}
