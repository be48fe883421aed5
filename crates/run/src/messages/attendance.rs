//! How many connections of a test are attached at its server, where they follow one another: each is counted from its
//! attachment until it is given up, wherever that is. Which ones they are is `peers`' affair.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The count of one test.
#[derive(Clone, Debug)]
pub(crate) struct Attendance {
    present: Arc<AtomicU32>,
    most: u32,
}

/// One that is counted; until this is dropped.
#[derive(Debug)]
pub(crate) struct Attended(Arc<AtomicU32>);

impl Attendance {
    /// Nobody yet, and at most so many at once.
    pub fn new(most: u32) -> Self {
        Self { present: Arc::default(), most }
    }

    /// Counts one more, where there is room.
    pub fn enter(&self) -> Option<Attended> {
        let more = |present: u32| (present < self.most).then_some(present + 1);
        let entered = self.present.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        entered.ok().map(|_| Attended(Arc::clone(&self.present)))
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_again_when_one_is_given_up() {
        let attendance = Attendance::new(2);
        let first = attendance.enter().expect("there is room");
        let _second = attendance.enter().expect("there is room");
        assert!(attendance.clone().enter().is_none());
        drop(first);
        assert!(attendance.enter().is_some());
    }
}
