//! Where entries of a journal go, and which of them somebody there reads. Not when something is written down, and what.

use std::fmt;
use std::sync::Arc;

use pathscope_core::Tick;
use pathscope_core::journal::{Each, Entry, Trouble};
use pathscope_core::record::Caveat;
use pathscope_os::clock;

/// Which entries somebody reads: those that cost something to make are not made for nobody.
#[expect(clippy::struct_excessive_bools, reason = "each is wanted or not, whatever the others are")]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wants {
    /// Rows of status, for which the kernel is asked about every connection.
    pub status: bool,
    /// Steps of a session.
    pub steps: bool,
    /// What went through each connection in each report interval.
    pub progress: bool,
    /// Flows of pings as they begin, and each ping; frames of streams, each by itself.
    pub each: bool,
    /// How often the machine was interrupted while a test ran, and by what, beside its status.
    pub interrupts: bool,
}

/// Takes entries. Never blocks, never fails: what cannot be kept is a caveat.
pub trait Sink: Send + Sync {
    /// Which entries it has a use for.
    fn wants(&self) -> Wants;
    /// Something to write down.
    fn take(&self, entry: Entry);
    /// Waits until everything is written, or a while. What could not be kept, so far.
    fn settle(&self) -> Vec<Caveat>;
    /// What could not be kept, so far.
    fn caveats(&self) -> Vec<Caveat>;
}

/// Where entries go, if anywhere. Cheap to clone.
#[derive(Clone, Default)]
pub struct Journal {
    pub(super) open: Option<(Arc<dyn Sink>, Tick)>,
}

impl fmt::Debug for Journal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Journal").field("is_kept", &self.open.is_some()).finish()
    }
}

impl Journal {
    /// Whether anybody reads what is written.
    pub(crate) fn is_kept(&self) -> bool {
        self.open.is_some()
    }

    /// A journal whose times count from then on.
    pub fn begin(sink: Arc<dyn Sink>, began: Tick) -> Self {
        Self { open: Some((sink, began)) }
    }

    /// Something went wrong that is no matter of one connection.
    pub(crate) fn trouble(&self, session: Option<String>, text: impl Into<String>) {
        self.write(clock::now(), |at_ns| {
            Entry::Trouble(Box::new(Trouble { at_ns, text: text.into(), session }))
        });
    }

    pub(crate) fn wants(&self) -> Wants {
        self.open.as_ref().map(|(sink, _)| sink.wants()).unwrap_or_default()
    }

    /// Waits until all is written, or a while. What could not be kept.
    pub(crate) fn settle(&self) -> Vec<Caveat> {
        self.open.as_ref().map(|(sink, _)| sink.settle()).unwrap_or_default()
    }

    /// What could not be kept, so far.
    pub(crate) fn caveats(&self) -> Vec<Caveat> {
        self.open.as_ref().map(|(sink, _)| sink.caveats()).unwrap_or_default()
    }

    /// These were measured one by one, and are told by `each` with times since the journal began.
    pub(crate) fn each<S>(&self, samples: &[S], each: impl Fn(&S, Tick) -> Option<Each>) {
        if let Some((sink, began)) = &self.open {
            let all: Box<[Each]> =
                samples.iter().filter_map(|sample| each(sample, *began)).collect();
            sink.take(Entry::Each(all));
        }
    }

    pub(super) fn write(&self, at: Tick, entry: impl FnOnce(u64) -> Entry) {
        if let Some((sink, began)) = &self.open {
            sink.take(entry(at.nanos_since(*began)));
        }
    }
}
