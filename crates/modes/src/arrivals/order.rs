//! In which order they came: reordering by RFC 4737.

/// Gaps remembered. What comes for an older one counts as reordered, of an extent that is not known.
const GAPS: usize = 256;

/// The order of first arrivals of one flow.
#[derive(Debug)]
pub struct Order {
    /// One above the highest sequence number that came.
    next_expected: u64,
    /// First arrivals so far.
    arrived: u64,
    /// Who comes late was overtaken first by the one behind its gap, so others need not be remembered.
    leaps: Vec<Leap>,
    leaped: usize,
}

/// An arrival that left a gap before it.
#[derive(Clone, Copy, Debug)]
struct Leap {
    /// The numbers of the gap: from this one on, and below that of the arrival.
    from: u64,
    sequence: u64,
    /// Its place among all arrivals.
    place: u64,
}

impl Order {
    /// What it takes beside itself, at the most.
    pub(crate) const BYTES: usize = GAPS * size_of::<Leap>();

    /// What it takes where there is room for so many gaps at once.
    pub(crate) fn memory_bytes(gaps: usize) -> u64 {
        (gaps.min(GAPS) * size_of::<Leap>()) as u64
    }

    /// Nothing has come. There is room for all gaps that are remembered.
    pub fn new() -> Self {
        Self::with_room(GAPS)
    }

    /// The same where flows are many, and few of them have many gaps: there is room for so many, and for more once they come.
    pub fn with_room(gaps: usize) -> Self {
        let leaps = Vec::with_capacity(gaps.min(GAPS));
        Self { next_expected: 0, arrived: 0, leaps, leaped: 0 }
    }

    /// One above the highest sequence number that came.
    pub fn next_expected(&self) -> u64 {
        self.next_expected
    }

    /// First arrivals so far.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// `sequence` came for the first time. `None`: in order. Else it is reordered, since one of a higher
    /// number came before it (RFC 4737, section 3.3), and this is its extent: how many arrivals ago that was,
    /// the first of them (section 4.2.1); zero where that is forgotten.
    #[inline]
    pub fn saw(&mut self, sequence: u64) -> Option<u64> {
        let place = self.arrived;
        self.arrived += 1;
        if sequence < self.next_expected {
            return Some(self.extent(sequence, place));
        }
        if sequence > self.next_expected {
            let from = self.next_expected;
            let leap = Leap { from, sequence, place };
            match self.leaps.get_mut(self.leaped % GAPS) {
                Some(oldest) => *oldest = leap,
                None => self.leaps.push(leap),
            }
            self.leaped += 1;
        }
        self.next_expected = sequence.saturating_add(1);
        None
    }

    fn extent(&self, sequence: u64, place: u64) -> u64 {
        let overtook = |leap: &&Leap| leap.from <= sequence && sequence < leap.sequence;
        self.leaps.iter().find(overtook).map_or(0, |leap| place - leap.place)
    }
}

impl Default for Order {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_extent_counts_from_the_first_that_overtook() {
        let mut order = Order::new();
        // Three are overtaken by four: 3 by 6 to 9, and each after it by one more arrival.
        let extents = [0, 1, 2, 6, 7, 8, 9, 3, 4, 5, 10].map(|it| order.saw(it));
        assert_eq!(extents[..7], [None; 7]);
        assert_eq!(extents[7..], [Some(4), Some(5), Some(6), None]);
        assert_eq!((order.arrived(), order.next_expected()), (11, 11));
    }

    #[test]
    fn what_came_before_the_remembered_gaps_is_reordered_by_an_unknown_extent() {
        let mut order = Order::new();
        // Every second number is left out.
        (0..=GAPS as u64 + 1).for_each(|it| assert_eq!(order.saw(2 * it), None));
        assert_eq!((order.saw(1), order.saw(3)), (Some(0), Some(GAPS as u64 + 1)));
    }

    #[test]
    fn the_highest_number_there_is_does_no_harm() {
        let mut order = Order::new();
        assert_eq!((order.saw(u64::MAX), order.saw(u64::MAX - 1)), (None, Some(1)));
    }

    proptest! {
        #[test]
        fn extents_are_those_of_the_definition(
            kept in prop::collection::vec(prop::bool::weighted(0.9), 200),
            swaps in prop::collection::vec((0..200_usize, 1..30_usize), 0..60),
        ) {
            let mut numbers: Vec<u64> = (0..200).collect();
            for (at, by) in swaps {
                let late = numbers.remove(at);
                numbers.insert((at + by).min(numbers.len()), late);
            }
            numbers.retain(|&number| kept[number as usize]);
            let mut order = Order::new();
            for (place, &number) in numbers.iter().enumerate() {
                let first = numbers[..place].iter().position(|&earlier| earlier > number);
                prop_assert_eq!(order.saw(number), first.map(|first| (place - first) as u64));
            }
        }
    }
}
