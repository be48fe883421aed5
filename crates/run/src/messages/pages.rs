//! A queue in pages: it grows by a page at a time, and gives each back once it is read. One that doubles would have three times what is
//! in it while it grows, and there may be a million messages.

use std::collections::VecDeque;

/// Places of a page.
const PAGE: usize = 256;

/// Room for so many is kept while there are none.
const KEPT: usize = 8;

/// What waits, the first first.
#[derive(Debug)]
pub(crate) struct Pages<T> {
    /// The page that is read; of those behind it none is empty.
    first: VecDeque<T>,
    others: VecDeque<VecDeque<T>>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { first: VecDeque::new(), others: VecDeque::new() }
    }
}

impl<T> Pages<T> {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.others.is_empty()
    }

    /// One more, behind all others.
    pub fn push(&mut self, one: T) {
        let last = self.others.back_mut().unwrap_or(&mut self.first);
        if last.len() < PAGE {
            return last.push_back(one);
        }
        let mut page = VecDeque::with_capacity(PAGE);
        page.push_back(one);
        self.others.push_back(page);
    }

    /// The first of all.
    pub fn pop(&mut self) -> Option<T> {
        if self.first.is_empty()
            && let Some(page) = self.others.pop_front()
        {
            self.first = page;
        }
        let next = self.first.pop_front();
        if self.is_empty() && self.first.capacity() > KEPT {
            *self = Self::default();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_comes_in_its_order_however_much_there_is() {
        let mut pages = Pages::default();
        let (mut pushed, mut popped) = (0_usize, 0_usize);
        for (more, less) in [(3, 1), (700, 600), (0, 102), (1, 1), (2 * PAGE + 1, 2 * PAGE)] {
            for _ in 0..more {
                pages.push(pushed);
                pushed += 1;
            }
            for _ in 0..less {
                assert_eq!(pages.pop(), Some(popped));
                popped += 1;
            }
            assert_eq!(pages.is_empty(), pushed == popped);
        }
        assert_eq!(pages.pop(), Some(popped));
        assert_eq!((pages.pop(), pages.first.capacity(), pages.others.capacity()), (None, 0, 0));
    }

    #[test]
    fn no_page_has_more_room_than_its_places() {
        let mut pages = Pages::default();
        (0..10 * PAGE).for_each(|number| pages.push(number));
        assert_eq!(pages.others.len(), 9);
        assert!(pages.others.iter().all(|page| page.capacity() < 2 * PAGE));
    }
}
