//! What callers have of something that there is only so much of, in all and by where they come from. What it is, and what
//! is said to who gets none of it, is `limits`'.

use std::collections::HashMap;

use super::Origin;

/// What is taken.
#[derive(Debug, Default)]
pub struct Quota {
    taken: u64,
    by_origin: HashMap<Origin, u64>,
}

/// How much may be; absent: any amount.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bounds {
    /// By all callers together.
    pub all: Option<u64>,
    /// By those from one place.
    pub origin: Option<u64>,
}

/// Why more is not given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Excess {
    /// All callers together have too much of it.
    All {
        /// What is left of it.
        free: u64,
        /// The bound.
        most: u64,
    },
    /// Those from there have.
    Origin {
        /// What others from there have.
        taken: u64,
        /// The bound.
        most: u64,
    },
}

impl Quota {
    /// Takes `wanted` for a caller from `origin` in place of the `had` that was taken for him before. Less is always given.
    pub fn exchange(
        &mut self,
        origin: Origin,
        (had, wanted): (u64, u64),
        bounds: Bounds,
    ) -> Result<(), Excess> {
        let there = self.by_origin.get(&origin).map_or(0, |taken| taken.saturating_sub(had));
        let others = self.taken.saturating_sub(had);
        let (of_origin, of_all) = (there.saturating_add(wanted), others.saturating_add(wanted));
        if wanted > had {
            if let Some(most) = bounds.origin.filter(|&most| of_origin > most) {
                return Err(Excess::Origin { taken: there, most });
            }
            if let Some(most) = bounds.all.filter(|&most| of_all > most) {
                return Err(Excess::All { free: most.saturating_sub(others), most });
            }
        }
        self.taken = of_all;
        if of_origin > 0 {
            self.by_origin.insert(origin, of_origin);
        } else {
            self.by_origin.remove(&origin);
        }
        Ok(())
    }

    /// What is taken by all.
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether nobody has anything, and nobody is remembered.
    pub fn is_empty(&self) -> bool {
        self.taken == 0 && self.by_origin.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn origin(last: u8) -> Origin {
        Origin::of(IpAddr::from([192, 0, 2, last]))
    }

    #[test]
    fn nobody_takes_it_all_and_everything_comes_back() {
        let bounds = Bounds { all: Some(100), origin: Some(60) };
        let (one, other) = (origin(1), origin(2));
        let mut quota = Quota::default();
        assert_eq!(quota.exchange(one, (0, 40), bounds), Ok(()));
        assert_eq!(quota.exchange(one, (0, 20), bounds), Ok(()));
        let excess = Excess::Origin { taken: 60, most: 60 };
        assert_eq!(quota.exchange(one, (0, 1), bounds), Err(excess));
        let excess = Excess::All { free: 40, most: 100 };
        assert_eq!(quota.exchange(other, (0, 41), bounds), Err(excess));
        assert_eq!(quota.exchange(other, (0, 40), bounds), Ok(()));
        // In place of what was taken before: less always, more where there is room.
        assert_eq!(quota.exchange(one, (40, 10), bounds), Ok(()));
        assert_eq!(quota.exchange(other, (40, 60), bounds), Ok(()));
        assert_eq!(quota.taken(), 90);
        for (origin, had) in [(one, 10), (one, 20), (other, 60)] {
            assert_eq!(quota.exchange(origin, (had, 0), bounds), Ok(()));
        }
        assert!(quota.is_empty());
    }

    #[test]
    fn what_is_not_bounded_is_counted_and_nothing_overflows() {
        let mut quota = Quota::default();
        assert_eq!(quota.exchange(origin(1), (0, u64::MAX), Bounds::default()), Ok(()));
        assert_eq!(quota.exchange(origin(2), (0, u64::MAX), Bounds::default()), Ok(()));
        // Who has more than a bound that was lowered may have less.
        let bounds = Bounds { all: Some(1), origin: Some(1) };
        assert_eq!(quota.exchange(origin(1), (u64::MAX, 5), bounds), Ok(()));
        assert!(quota.exchange(origin(1), (5, 6), bounds).is_err());
    }
}
