//! Files with a row for each thing that was measured, a ping or a frame, written by a thread of its own. Each
//! measuring thread hands over blocks and gets empty ones back; where none is left it goes on without, and what
//! that cost is counted. No trouble with the file ends or delays a measurement.
//!
//! A file whose name ends in `.parquet` gets columns with types, any other the rows as they are worded.
//!
//! Who is told of each thing by itself, while it is measured, is told by the same thread: the journal.
//!
//! Not here: what a row holds, which is a mode's affair (`modes/samples`).

mod layout;
mod numbered;
mod parquet_file;
pub mod reading;
mod row_file;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::quantity::{count, named};
use pathscope_core::record::Caveat;
use pathscope_modes::samples::{BLOCK, SampleBuffer, SampleRows, SampleSink};
use pathscope_os::outlets::Outlet;

use self::layout::Layout;
use self::numbered::Numbered;
use self::row_file::{RowFile, Unwritten};
use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::records::journal::Journal;
use crate::threads::{self, lock};

/// Blocks on their way to the file: 262,144 samples in 16 MiB, which are 2.6 s at 100,000 a second.
const BLOCKS: usize = 64;
/// How long the end of a run waits for what is still to be written.
const FINISH_WITHIN: Duration = Duration::from_secs(10);

/// A file that is open before anything is measured. Those of one file write to it in turns, each test behind the one
/// before it.
#[derive(Clone, Debug)]
pub struct SampleFile {
    path: PathBuf,
    /// Held by the one that writes for as long as it does. None: what is measured is told, and not written.
    rows: Option<Arc<Mutex<RowFile>>>,
    /// Of which measurement the next rows say that they are.
    measurement: Option<u64>,
    /// Who is told of each, too.
    told: Journal,
}

impl SampleFile {
    /// The file of this name, which is open. What it held stays until there is something to write.
    pub fn new(path: &Path, file: Outlet) -> Self {
        let rows = Some(Arc::new(Mutex::new(RowFile::new(path, file))));
        Self { path: path.to_owned(), rows, measurement: None, told: Journal::default() }
    }

    /// This file, where there is one, and a journal that is told of each thing, where it wants that.
    pub(crate) fn told_to(file: Option<Self>, journal: &Journal) -> Option<Self> {
        if !journal.wants().each {
            return file;
        }
        let none = || Self {
            path: PathBuf::from("what is shown of each"),
            rows: None,
            measurement: None,
            told: Journal::default(),
        };
        Some(Self { told: journal.clone(), ..file.unwrap_or_else(none) })
    }

    /// The same file for rows that say of which measurement they are, by its place in the result; all of one file say it, or none.
    pub(crate) fn of_measurement(self, measurement: u64) -> Self {
        Self { measurement: Some(measurement), ..self }
    }

    /// No further test writes to it: what its form has at its end is written. What went wrong with that is said.
    pub fn end(self) -> Option<Caveat> {
        let ended = match self.rows.as_ref()?.try_lock() {
            Ok(mut rows) => rows.end(),
            // A writer that does not come back has been told of already.
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Poisoned(rows)) => rows.into_inner().end(),
        };
        ended.err().map(|unwritten| unwritten_caveat(&self.path, &unwritten))
    }

    /// Starts to write what so many workers measure, with a buffer for each. Times are told since `start`.
    pub(crate) fn write<R: SampleRows>(
        self,
        own: R,
        workers: usize,
        start: Tick,
    ) -> Result<Writing<R::Sample>, RunError> {
        let workers = workers.max(1);
        let each = (BLOCKS / workers).max(4);
        let (full, blocks) = mpsc::sync_channel(each * workers);
        let dropped = Arc::new(AtomicU64::new(0));
        let (mut buffers, mut spent) = (Vec::new(), Vec::new());
        for worker in 0..workers {
            let (give, empty) = mpsc::channel();
            for _ in 0..each {
                // The other end is still in this function.
                let _ = give.send(Vec::with_capacity(BLOCK));
            }
            let (full, dropped) = (full.clone(), Arc::clone(&dropped));
            let ring = Box::new(Ring { worker, full, empty, dropped });
            buffers.push(SampleBuffer::new(ring));
            spent.push(give);
        }
        // Only those of the workers are left, so that the thread ends when they have.
        drop(full);
        let (done, outcome) = mpsc::channel();
        let Self { path, rows: file, measurement, told } = self;
        threads::spawn("samples", move || {
            let blocks = (&blocks, &*spent);
            let mut file = file.as_deref().map(lock);
            let to = (file.as_deref_mut(), &told);
            let outcome = match measurement {
                Some(measurement) => write_all(to, Numbered { own, measurement }, start, blocks),
                None => write_all(to, own, start, blocks),
            };
            // Whoever hears of the outcome may have the file.
            drop(file);
            // Where nobody waits for it any more, nobody needs to know.
            let _ = done.send(outcome);
        })?;
        let writer = SampleWriter { path, outcome, dropped };
        Ok((buffers, writer))
    }
}

/// A buffer for each worker, and who writes what they hand over.
pub(crate) type Writing<S> = (Vec<SampleBuffer<S>>, SampleWriter);

/// Those that are full, and by worker where they go once they are empty.
type Blocks<'a, R> = (&'a Receiver<Block<R>>, &'a [Sender<Vec<R>>]);

/// Which worker's, and what it holds.
type Block<R> = (usize, Vec<R>);

/// A measuring thread's end.
struct Ring<R> {
    worker: usize,
    full: SyncSender<Block<R>>,
    empty: Receiver<Vec<R>>,
    dropped: Arc<AtomicU64>,
}

impl<R: Send> SampleSink<R> for Ring<R> {
    fn exchange(&mut self, full: &mut Vec<R>) -> Option<Vec<R>> {
        let empty = self.empty.try_recv().ok()?;
        // There are as many places as blocks. A writer that gave up takes none, and its channel says so.
        match self.full.try_send((self.worker, std::mem::take(full))) {
            Ok(()) => Some(empty),
            Err(TrySendError::Full((_, block)) | TrySendError::Disconnected((_, block))) => {
                *full = block;
                None
            }
        }
    }

    fn dropped(&mut self, samples: u64) {
        self.dropped.fetch_add(samples, Ordering::Relaxed);
    }
}

/// The file, while it is written.
#[derive(Debug)]
pub(crate) struct SampleWriter {
    path: PathBuf,
    outcome: Receiver<Written>,
    dropped: Arc<AtomicU64>,
}

/// How many samples the writer took; or why no more was written, and how many rows there are.
type Written = Result<u64, Unwritten>;

impl SampleWriter {
    /// Waits until all is written, as long as that may take, and says what is not. To be called when the
    /// buffer is gone.
    pub fn finish(self) -> Option<Caveat> {
        let file = named(&self.path);
        let samples = match self.outcome.recv_timeout(FINISH_WITHIN) {
            Ok(Ok(samples)) => samples,
            Ok(Err(unwritten)) => return Some(unwritten_caveat(&self.path, &unwritten)),
            Err(_) => {
                let text = format!(
                    "what was to be written to {file} had not been taken {} s after the end: samples are missing",
                    FINISH_WITHIN.as_secs()
                );
                return Some(Caveat::new(RunCaveat::SamplesUnwritten, text));
            }
        };
        let dropped = self.dropped.load(Ordering::Relaxed);
        (dropped > 0).then(|| {
            let text = format!(
                "{} of {} samples are not in {file}: they came faster than it was written",
                count(dropped),
                count(samples + dropped)
            );
            Caveat::new(RunCaveat::SamplesDropped, text)
        })
    }
}

/// Why no more was written, and how many rows there are.
fn unwritten_caveat(path: &Path, (error, rows): &Unwritten) -> Caveat {
    let kept = match rows {
        0 => "none is in it".to_owned(),
        1 => "the first row alone is in it".to_owned(),
        rows => format!("the first {} rows are in it", count(*rows)),
    };
    let text = format!("cannot write samples to {}: {error}; {kept}", named(path));
    Caveat::new(RunCaveat::SamplesUnwritten, text)
}

/// Writes blocks as they come, until no more can come or a write fails.
fn write_all<R: SampleRows>(
    (mut rows, told): (Option<&mut RowFile>, &Journal),
    mut own: R,
    start: Tick,
    (blocks, spent): Blocks<'_, R::Sample>,
) -> Written {
    let layout = Layout::of(&own);
    let mut written = 0;
    let mut text = Vec::new();
    for (worker, mut block) in blocks {
        if let Some(rows) = &mut rows {
            block.iter().for_each(|sample| own.add(&mut text, sample, start));
            rows.write(&layout, &text)?;
        }
        if told.wants().each {
            told.each(&block, |sample, began| own.each(sample, began));
        }
        written += block.len() as u64;
        text.clear();
        block.clear();
        // A measurement that has ended needs no block back.
        let _ = spent[worker].send(block);
    }
    // Where no block came, the head is still to be written.
    rows.map_or(Ok(()), |rows| rows.write(&layout, b""))?;
    Ok(written)
}
