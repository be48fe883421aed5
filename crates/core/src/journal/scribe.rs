//! Who makes of what is written down of one test what the other end is told that this end's program printed of it. What that looks like is
//! the affair of who stands in for the program.

use std::fmt;
use std::sync::Arc;

use super::Entry;
use crate::record::Printed;

/// Hears of one test, entry by entry.
pub trait Scribe: Send {
    /// Something has been written down of it.
    fn hear(&mut self, entry: &Entry);

    /// What has come of it. Nothing is heard any more.
    fn printed(&mut self) -> Option<Printed>;
}

/// Makes scribes, one for each test that is to have one.
#[derive(Clone)]
pub struct Scribes(Arc<dyn Fn(u64) -> Box<dyn Scribe> + Send + Sync>);

impl fmt::Debug for Scribes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Scribes")
    }
}

impl Scribes {
    /// That are made so, each being told when times of entries begin: by the wall clock, in nanoseconds since 1970.
    pub fn new(make: impl Fn(u64) -> Box<dyn Scribe> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    /// One, whose times begin then.
    pub fn begin(&self, wall_unix_ns: u64) -> Box<dyn Scribe> {
        (self.0)(wall_unix_ns)
    }
}
