//! What somebody sees of a run who is used to another tool. It is told of what happens and writes lines of text; it measures nothing, and
//! whoever measures never waits for it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pathscope_core::error::Failure;
use pathscope_core::journal::{Entry, Scribe};
use pathscope_core::record::Host;
use pathscope_modes::document::Document;
use pathscope_modes::groups::Test;

/// What shows a run as another tool would. It is told one thing after the other, `begin` first and `finished` last.
pub trait Screen: Send {
    /// What it has a use for.
    fn wants(&self) -> Wants;

    /// The run is about to begin.
    fn begin(&mut self, beginning: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Something has been written down: connections and streams that begin and end, status, trouble.
    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()>;

    /// When it wants to be told the time, since times of entries began: it shows something then, whether anything happens or not. It is asked
    /// after all that it is told.
    fn wakes_at_ns(&self) -> Option<u64> {
        None
    }

    /// So late it is.
    fn wake(&mut self, _at_ns: u64, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// How long is waited before the end is shown: nothing is measured any more then, and a signal ends the program at once.
    fn pause_before_end(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether what it shows says what went wrong, of single tests and at the end: nobody else says it then.
    fn tells_failures(&self) -> bool {
        false
    }

    /// The run is over.
    fn finished(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// The files of the tool's own form that it writes meanwhile, each with the option that names it. They are opened, and emptied, before
    /// the run begins.
    fn files(&self) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }

    /// Whole rows for these files, each with the place of its file, since this was asked last. It is asked after all that it is told.
    fn take_rows(&mut self) -> Vec<(usize, String)> {
        Vec::new()
    }

    /// At a server: who makes what clients are told that it prints, each for one test; none of a tool whose clients ask for nothing of
    /// the kind.
    fn scribes(&self) -> Option<ScribeMaker> {
        None
    }

    /// How often each latency was counted, in whole microseconds, where it counts them: what `--frequency-file` holds then.
    fn frequencies(&self) -> Option<&BTreeMap<u64, u64>> {
        None
    }
}

/// Makes who writes down what is printed of one test, for its client: times of entries begin as that says.
pub type ScribeMaker = Arc<dyn Fn(&Beginning<'_>) -> Box<dyn Scribe> + Send + Sync>;

/// Which entries are made at all that cost something to make.
#[expect(clippy::struct_excessive_bools, reason = "each is wanted or not, whatever the others are")]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wants {
    /// Rows of status, in each report interval.
    pub status: bool,
    /// Steps of sessions.
    pub steps: bool,
    /// What went through each connection, in each report interval.
    pub progress: bool,
    /// What is measured one by one: pings, frames, datagrams on each path.
    pub each: bool,
    /// How often the machine was interrupted while a test ran, and by what, beside its status.
    pub interrupts: bool,
}

/// What is known before anything moves.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'run> {
    /// The wall clock, in nanoseconds since 1970, when the times of entries begin.
    pub wall_unix_ns: u64,
    /// By how many seconds the local time of its user is ahead of UTC then.
    pub local_offset_s: i64,
    /// This machine.
    pub host: &'run Host,
    /// At which end this is, and what it is about to do.
    pub end: End<'run>,
}

/// An end that is about to begin.
#[derive(Clone, Copy, Debug)]
pub enum End<'run> {
    /// A client.
    Client {
        /// Its servers, as they were named.
        hosts: &'run [String],
        /// Where connections to them go; none where a name leads nowhere.
        addresses: &'run [SocketAddr],
        /// The port of those that name none.
        port: u16,
        /// What it runs, one after the other, with names.
        tests: &'run [(String, Test)],
    },
    /// A server.
    Server {
        /// Where it listens.
        addresses: &'run [SocketAddr],
    },
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'run> {
    /// All that a client measured; a server has none.
    pub document: Option<&'run Document>,
    /// What went wrong, if anything, as a sentence. Where the screen does not tell it, that is done on standard error.
    pub failure: Option<(Failure, &'run str)>,
    /// The wall clock, in nanoseconds since 1970.
    pub wall_unix_ns: u64,
}

/// What a run found of things that were measured and not told of here, as they came too fast: what was counted here is of the others.
pub fn uncounted(document: &Document) -> Vec<&str> {
    minded(document, &["samples_dropped", "file_incomplete"])
}

/// What a run found that has one of these names, each sentence once.
pub fn minded<'run>(document: &'run Document, names: &[&str]) -> Vec<&'run str> {
    let all = document.all_measurements();
    let measured = all.flat_map(|it| it.client.caveats.iter().chain(&it.caveats));
    let mut texts: Vec<&str> = Vec::new();
    for caveat in document.caveats.iter().chain(measured) {
        if names.contains(&caveat.name.as_str()) && !texts.contains(&caveat.text.as_str()) {
            texts.push(&caveat.text);
        }
    }
    texts
}
