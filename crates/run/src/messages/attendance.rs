//! How many connections of a test are attached at its server, where they follow one another: each is counted from its
//! attachment until it is given up, wherever that is; and what comes with a socket. Which ones they are is `peers`' affair.

use std::sync::Arc;

use pathscope_core::Tick;

/// The count of one test.
#[derive(Debug)]
pub(crate) struct Attendance {
    /// Shared with everyone who is counted.
    present: Arc<()>,
    most: u32,
}

/// One that is counted; until this is dropped.
#[derive(Debug)]
pub(crate) struct Attended {
    _present: Arc<()>,
}

/// What is known of a flow's socket beside itself, when it arrives.
#[derive(Debug, Default)]
pub(crate) struct Arrival {
    /// Client, of a TCP connection: when it was begun, before its SYN.
    pub begun: Option<Tick>,
    /// Client, of a TCP connection: how long it took to be established.
    pub connect_ns: Option<u64>,
    /// Client, of a TCP connection that was to be opened with what it says first: whether it was, where that is known so early.
    pub opened_fast: Option<bool>,
    /// What the server calls it, where it is called anything.
    pub called: Option<String>,
    /// Server: its place among those that follow one another.
    pub attended: Option<Attended>,
}

impl Attendance {
    /// Nobody yet, and at most so many at once.
    pub fn new(most: u32) -> Self {
        Self { present: Arc::default(), most }
    }

    /// Counts one more, where there is room.
    pub fn enter(&mut self) -> Option<Attended> {
        let present = Arc::strong_count(&self.present) - 1;
        (present < self.most as usize).then(|| Attended { _present: Arc::clone(&self.present) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_again_when_one_is_given_up() {
        let mut attendance = Attendance::new(2);
        let first = attendance.enter().expect("there is room");
        let _second = attendance.enter().expect("there is room");
        assert!(attendance.enter().is_none());
        drop(first);
        assert!(attendance.enter().is_some());
    }
}
