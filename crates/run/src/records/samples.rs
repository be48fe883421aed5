//! Files with a row for each thing that was measured, a ping or a frame, written by a thread of its own. Each
//! measuring thread hands over blocks and gets empty ones back; where none is left it goes on without, and what
//! that cost is counted. No trouble with the file ends or delays a measurement.
//!
//! Not here: what a row holds, which is a mode's affair (`modes/samples`).

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TrySendError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::quantity::{count, named};
use pathscope_core::record::Caveat;
use pathscope_modes::samples::{BLOCK, SampleBuffer, SampleRows, SampleSink};
use pathscope_os::outlets::{Outlet, explain};

use crate::error::RunError;
use crate::findings::RunCaveat;
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
    /// Held by the one that writes for as long as it does.
    rows: Arc<Mutex<RowFile>>,
}

/// The file, and how far it is.
#[derive(Debug)]
struct RowFile {
    file: Outlet,
    /// Whether the first row is there.
    is_begun: bool,
    /// Rows behind the first.
    rows: u64,
    /// What could not be written: half a row may stand there, and nothing comes behind it.
    broken: Option<String>,
}

impl SampleFile {
    /// The file of this name, which is open. What it held stays until there is something to write.
    pub fn new(path: &Path, file: Outlet) -> Self {
        let rows = RowFile { file, is_begun: false, rows: 0, broken: None };
        Self { path: path.to_owned(), rows: Arc::new(Mutex::new(rows)) }
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
        let Self { path, rows: file } = self;
        threads::spawn("samples", move || {
            let mut file = lock(&file);
            // Where nobody waits for it any more, nobody needs to know.
            let _ = done.send(write_all(&mut file, own, start, (&blocks, &spent)));
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

type Unwritten = (String, u64);

impl SampleWriter {
    /// Waits until all is written, as long as that may take, and says what is not. To be called when the
    /// buffer is gone.
    pub fn finish(self) -> Option<Caveat> {
        let file = named(&self.path);
        let unwritten = |text| Some(Caveat::new(RunCaveat::SamplesUnwritten, text));
        let samples = match self.outcome.recv_timeout(FINISH_WITHIN) {
            Ok(Ok(samples)) => samples,
            Ok(Err((error, rows))) => {
                let kept = match rows {
                    0 => "none is in it".to_owned(),
                    1 => "the first row alone is in it".to_owned(),
                    rows => format!("the first {} rows are in it", count(rows)),
                };
                return unwritten(format!("cannot write samples to {file}: {error}; {kept}"));
            }
            Err(_) => {
                return unwritten(format!(
                    "what was to be written to {file} had not been taken {} s after the end: samples are missing",
                    FINISH_WITHIN.as_secs()
                ));
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

/// Writes blocks as they come, until no more can come or a write fails.
fn write_all<R: SampleRows>(
    rows: &mut RowFile,
    mut own: R,
    start: Tick,
    (blocks, spent): Blocks<'_, R::Sample>,
) -> Written {
    let head = own.head();
    let mut written = 0;
    let mut text = Vec::new();
    for (worker, mut block) in blocks {
        block.iter().for_each(|sample| own.add(&mut text, sample, start));
        rows.write(&head, &text)?;
        written += block.len() as u64;
        text.clear();
        block.clear();
        // A measurement that has ended needs no block back.
        let _ = spent[worker].send(block);
    }
    // Where no block came, the head is still to be written.
    rows.write(&head, b"")?;
    Ok(written)
}

impl RowFile {
    /// Writes whole rows, behind the head if they are the first.
    fn write(&mut self, head: &str, text: &[u8]) -> Result<(), Unwritten> {
        if self.broken.is_none() {
            self.broken = self.try_to_write(head, text).err().map(|error| explain(&error));
        }
        self.broken.clone().map_or(Ok(()), |error| Err((error, self.rows)))
    }

    /// The file is emptied before the head is written.
    fn try_to_write(&mut self, head: &str, text: &[u8]) -> std::io::Result<()> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.file.empty()?;
            self.file.write_rows(head.as_bytes()).map_err(|unwritten| unwritten.error)?;
        }
        let result = self.file.write_rows(text);
        self.rows += *result.as_ref().unwrap_or_else(|unwritten| &unwritten.rows);
        result.map(drop).map_err(|unwritten| unwritten.error)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::FlowId;
    use pathscope_modes::latency::{Outcome, PingRows, Sample};

    use super::*;

    const START: Tick = Tick::from_nanos(1_000);

    fn sample(sequence: u64, received: Tick) -> Sample {
        let due = Tick::from_nanos(1_010);
        let (from, sent) = (Tick::from_nanos(1_011), Tick::from_nanos(1_012));
        let server = Some((Tick::from_nanos(77), Tick::from_nanos(80)));
        let server = server.filter(|_| received != Tick::NEVER);
        let outcome = if server.is_some() { Outcome::Answered } else { Outcome::Lost };
        Sample { flow: FlowId(3), sequence, due, from, sent, received, server, outcome }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("pathscope-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for this test");
        folder
    }

    fn create(path: &Path) -> std::io::Result<SampleFile> {
        let file = std::fs::File::create(path)?;
        Ok(SampleFile::new(path, Outlet::new(file, Duration::from_secs(60))?))
    }

    fn write_pings(file: SampleFile) -> (SampleBuffer<Sample>, SampleWriter) {
        let (mut buffers, writer) = file.write(PingRows, 1, START).expect("a thread");
        (buffers.pop().expect("one worker has one"), writer)
    }

    #[test]
    fn each_sample_is_a_row_in_order() {
        let folder = folder("samples");
        let path = folder.join("rows.csv");
        let file = create(&path).expect("a folder of ours");
        let (mut buffer, writer) = write_pings(file);
        buffer.push(sample(7, Tick::from_nanos(1_030)));
        buffer.push(Sample { outcome: Outcome::WarmUp, ..sample(8, Tick::from_nanos(1_040)) });
        buffer.push(Sample { outcome: Outcome::Corrupt, ..sample(9, Tick::NEVER) });
        buffer.push(sample(u64::MAX, Tick::NEVER));
        drop(buffer);
        assert_eq!(writer.finish(), None);
        let text = std::fs::read_to_string(&path).expect("it was written");
        let rows = "3,7,10,12,30,19,3,answered,11,-923\n3,8,10,12,40,29,3,warm_up,11,-923\n\
            3,9,10,12,,,,corrupt,11,\n3,18446744073709551615,10,12,,,,lost,11,\n";
        assert_eq!(text, format!("{}{rows}", PingRows.head()));
        std::fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn a_run_without_samples_leaves_the_head() {
        let folder = folder("no-samples");
        let path = folder.join("rows.csv");
        let (buffer, writer) = write_pings(create(&path).expect("ours"));
        drop(buffer);
        assert_eq!(writer.finish(), None);
        assert_eq!(std::fs::read_to_string(&path).expect("it was written"), PingRows.head());
        std::fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn the_rows_of_one_test_follow_those_of_another_under_one_head() {
        let folder = folder("samples-of-two");
        let path = folder.join("rows.csv");
        let file = create(&path).expect("a folder of ours");
        for number in [1, 2] {
            let (mut buffer, writer) = write_pings(file.clone());
            buffer.push(sample(number, Tick::NEVER));
            drop(buffer);
            assert_eq!(writer.finish(), None);
        }
        let text = std::fs::read_to_string(&path).expect("it was written");
        assert_eq!(
            text,
            format!("{}3,1,10,12,,,,lost,11,\n3,2,10,12,,,,lost,11,\n", PingRows.head())
        );
        std::fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn a_full_disk_is_told_and_keeps_nobody_waiting() {
        if !Path::new("/dev/full").exists() {
            eprintln!("skipped, because this system has no device that is always full");
            return;
        }
        let file = create(Path::new("/dev/full")).expect("it can be opened");
        let (mut buffer, writer) = write_pings(file);
        (0..1_000_000).for_each(|sequence| buffer.push(sample(sequence, START)));
        drop(buffer);
        let caveat = writer.finish().expect("it is full");
        assert_eq!(caveat.name, "samples_unwritten");
        assert!(
            caveat.text.contains("/dev/full") && caveat.text.ends_with("; none is in it"),
            "{caveat:?}"
        );
    }

    #[test]
    fn what_the_ring_does_not_hold_is_counted() {
        let (full, blocks) = mpsc::sync_channel(1);
        let (spent, empty) = mpsc::channel();
        spent.send(Vec::with_capacity(BLOCK)).expect("it is held");
        let dropped = Arc::new(AtomicU64::new(0));
        let ring = Ring { worker: 0, full, empty, dropped: Arc::clone(&dropped) };
        let mut buffer = SampleBuffer::new(Box::new(ring));
        (0..3 * BLOCK as u64).for_each(|sequence| buffer.push(sample(sequence, START)));
        drop(buffer);
        let kept: Vec<Sample> = blocks.into_iter().flat_map(|(_, block)| block).collect();
        assert_eq!((kept.len(), dropped.load(Ordering::Relaxed)), (BLOCK, 2 * BLOCK as u64));
    }

    #[test]
    fn rows_that_are_missing_are_a_caveat() {
        let finished = |dropped| {
            let (done, outcome) = mpsc::channel();
            done.send(Ok(4_096)).expect("it is held");
            let dropped = Arc::new(AtomicU64::new(dropped));
            SampleWriter { path: PathBuf::from("rows.csv"), outcome, dropped }.finish()
        };
        assert_eq!(finished(0), None);
        let caveat = finished(904).expect("some were dropped");
        assert_eq!(caveat.name, "samples_dropped");
        assert!(caveat.text.starts_with("904 of 5,000 samples are not in rows.csv"), "{caveat:?}");
    }
}
