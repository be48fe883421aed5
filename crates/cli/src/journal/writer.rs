//! The thread that writes a journal: whatever a disk or a terminal does, it holds up this thread alone.
//!
//! A row is written at once and whole, in one call with whatever else waits, so that a file ends with a row
//! however the program ends. A file that takes no more is given up, and the run goes on.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pathscope_core::journal::{Each, Entry};
use pathscope_core::quantity::{Bytes, counted, were};
use pathscope_core::record::Caveat;
use pathscope_dialects::screen;
use pathscope_os::clock;
use pathscope_run::records::journal::{Sink, Wants};
use pathscope_views::journal::{self as rows, Table};

use super::Verbosity;
use super::console::Console;
use super::each::EachLines;
use super::target::{GivenUp, Target};
use crate::shown::Shown;
use crate::terminal;
use pathscope_run::findings::RunCaveat;

/// What may wait to be written: a hundred thousand rows, or a million pings.
const MOST_BYTES: usize = 64 << 20;
/// What a row takes while it waits, roughly: things measured one by one come thousands in an entry, and count as what they take.
const ROW_BYTES: usize = 512;
/// So much is made text of and written in one call: a thousand rows.
const CALL_BYTES: usize = 1_000 * ROW_BYTES;
/// A disk that has not taken what waits by then is not waited for before the result is shown.
const SETTLE_WITHIN: Duration = Duration::from_secs(10);

/// What the thread is told.
enum WriterMessage {
    Entry(Entry),
    Settle(Sender<()>),
    /// From now on, entries are shown here, too.
    Show(Shown),
    End,
}

/// The thread, as whoever started it sees it.
#[derive(Debug)]
pub struct Writer {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<Option<Shown>>>,
}

/// Where entries are left.
#[derive(Debug)]
struct Desk {
    queue: Sender<WriterMessage>,
    /// Bytes of entries that are not written.
    waiting: AtomicUsize,
    lost: AtomicU64,
    /// Files that were given up, which was said at once.
    given_up: Mutex<Vec<GivenUp>>,
    wants: Wants,
}

impl Writer {
    /// Starts the thread: headers are written now. `shown` is what a screen wants that is shown entries later, if there is one.
    pub fn start(
        targets: Vec<Target>,
        (console, lines): (Option<Console>, Option<EachLines>),
        shown: screen::Wants,
    ) -> io::Result<Self> {
        let (queue, words) = mpsc::channel();
        let desk = Arc::new(Desk {
            queue,
            waiting: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            given_up: Mutex::default(),
            wants: Wants {
                status: shown.status
                    || targets.iter().any(|target| target.table.is_of_status())
                    || console.as_ref().is_some_and(|console| console.tells(Verbosity::Status)),
                each: shown.each
                    || lines.is_some()
                    || targets.iter().any(|target| target.table == Table::Latencies),
                steps: shown.steps
                    || console.as_ref().is_some_and(|console| console.tells(Verbosity::Steps)),
                progress: shown.progress,
                interrupts: shown.interrupts,
            },
        });
        let shared = Arc::clone(&desk);
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || write_all(&words, targets, (console, lines), &shared))?;
        Ok(Self { desk, thread: Some(thread) })
    }

    /// Where entries are left.
    pub fn sink(&self) -> Arc<dyn Sink> {
        Arc::clone(&self.desk) as Arc<dyn Sink>
    }

    /// Entries that come from now on are shown there, too.
    pub fn show(&self, shown: Shown) {
        // It fails only after the end, when nothing is shown any more.
        let _ = self.desk.queue.send(WriterMessage::Show(shown));
    }

    /// Waits until all is written; what could not be, as one sentence, and where entries were shown. Why a file was given up was said
    /// then.
    pub fn finish(mut self) -> (Option<String>, Option<Shown>) {
        let shown = self.end();
        let given_up = self.desk.given_up();
        let lacking = given_up.iter().map(|file| format!("{} lacks rows, as was said", file.name));
        let texts: Vec<String> = lacking.chain(self.desk.left_out()).collect();
        ((!texts.is_empty()).then(|| texts.join("; ")), shown)
    }

    fn end(&mut self) -> Option<Shown> {
        let thread = self.thread.take()?;
        // A thread that is gone has nothing left to do.
        let _ = self.desk.queue.send(WriterMessage::End);
        thread.join().ok().flatten()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.end();
    }
}

impl Desk {
    fn given_up(&self) -> MutexGuard<'_, Vec<GivenUp>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many rows no file has, since too many waited.
    fn left_out(&self) -> Option<String> {
        let lost = self.lost.load(Ordering::Relaxed);
        (lost > 0).then(|| {
            format!(
                "{} {} left out of what is written while the run goes on, since {} of others waited to be written",
                counted(lost, "row"),
                were(lost),
                Bytes(MOST_BYTES as u64)
            )
        })
    }
}

/// What an entry takes while it waits.
fn bytes_of(entry: &Entry) -> usize {
    match entry {
        Entry::Each(all) => ROW_BYTES + size_of_val::<[Each]>(all),
        _ => ROW_BYTES,
    }
}

impl Sink for Desk {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn take(&self, entry: Entry) {
        let bytes = bytes_of(&entry);
        if self.waiting.fetch_add(bytes, Ordering::Relaxed) >= MOST_BYTES {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            let rows = if let Entry::Each(all) = &entry { all.len() } else { 1 };
            self.lost.fetch_add(rows as u64, Ordering::Relaxed);
            return;
        }
        // It fails only after the end, when nobody asks for more rows.
        let _ = self.queue.send(WriterMessage::Entry(entry));
    }

    fn settle(&self) -> Vec<Caveat> {
        let (done, settled) = mpsc::channel();
        let _ = self.queue.send(WriterMessage::Settle(done));
        let is_late = settled.recv_timeout(SETTLE_WITHIN).is_err();
        let mut caveats = self.caveats();
        if is_late && self.waiting.load(Ordering::Relaxed) > 0 {
            caveats.push(Caveat::new(RunCaveat::FileIncomplete,
                "rows still waited to be written when the result was made: a file takes them too slowly",
            ));
        }
        caveats
    }

    fn caveats(&self) -> Vec<Caveat> {
        let given_up: Vec<String> =
            self.given_up().iter().map(|file| file.sentence.clone()).collect();
        let texts = given_up.into_iter().chain(self.left_out());
        texts.map(|text| Caveat::new(RunCaveat::FileIncomplete, text)).collect()
    }
}

/// Writes what comes until the end.
fn write_all(
    words: &Receiver<WriterMessage>,
    mut targets: Vec<Target>,
    (mut console, mut lines): (Option<Console>, Option<EachLines>),
    desk: &Desk,
) -> Option<Shown> {
    let mut shown: Option<Shown> = None;
    let headers: Vec<String> =
        targets.iter().map(|target| rows::header(target.table, target.form)).collect();
    write_rows(&mut targets, &headers, desk);
    while let Some(first) = next(words, (&mut targets, &mut shown), desk) {
        let mut texts = vec![String::new(); targets.len()];
        let mut next = Some(first);
        let mut settled = Vec::new();
        let mut is_end = false;
        let mut taken = 0;
        // What waits goes in one call for each file.
        while let Some(word) = next {
            match word {
                WriterMessage::Entry(entry) => {
                    taken += bytes_of(&entry);
                    for (target, text) in targets.iter_mut().zip(&mut texts) {
                        text.extend(target.row(&entry));
                    }
                    console.iter_mut().for_each(|console| console.hear(&entry));
                    lines.iter_mut().for_each(|lines| lines.hear(&entry));
                    shown.iter_mut().for_each(|shown| shown.entry(&entry));
                }
                WriterMessage::Show(screen) => shown = Some(screen),
                WriterMessage::Settle(done) => settled.push(done),
                WriterMessage::End => {
                    is_end = true;
                    for (target, text) in targets.iter_mut().zip(&mut texts) {
                        text.extend(target.last_row());
                    }
                }
            }
            next = if is_end || taken >= CALL_BYTES { None } else { words.try_recv().ok() };
        }
        write_rows(&mut targets, &texts, desk);
        desk.waiting.fetch_sub(taken, Ordering::Relaxed);
        // Nobody waits any more where this fails.
        for done in settled {
            let _ = done.send(());
        }
        if is_end {
            break;
        }
    }
    shown
}

/// What comes next, until the end. Rows that are due while nothing comes are written, and what is shown is told the time, where it wants that.
fn next(
    words: &Receiver<WriterMessage>,
    (targets, shown): (&mut [Target], &mut Option<Shown>),
    desk: &Desk,
) -> Option<WriterMessage> {
    loop {
        let of_files = targets.iter().filter_map(Target::wakes_at);
        let of_screen = shown.as_ref().and_then(Shown::wakes_at);
        let Some(at) = of_files.chain(of_screen).min() else { return words.recv().ok() };
        match words.recv_timeout(at.since(clock::now())) {
            Err(RecvTimeoutError::Timeout) => {}
            word => return word.ok(),
        }
        let now = clock::now();
        let due = targets.iter_mut().map(|target| target.idle_row(now).unwrap_or_default());
        let due: Vec<String> = due.collect();
        write_rows(targets, &due, desk);
        let is_due = |shown: &&mut Shown| shown.wakes_at().is_some_and(|at| at <= now);
        shown.iter_mut().filter(is_due).for_each(|shown| shown.wake(now));
    }
}

fn write_rows(targets: &mut [Target], texts: &[String], desk: &Desk) {
    for (target, text) in targets.iter_mut().zip(texts) {
        if let Err(given_up) = target.write(text) {
            terminal::complain(&given_up.sentence);
            desk.given_up().push(given_up);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use pathscope_core::id::FlowId;
    use pathscope_core::journal::{Connection, Ping, Status};
    use pathscope_os::outlets::Outlet;
    use pathscope_views::journal::Form;

    use super::*;

    fn target(path: &Path, table: Table) -> Target {
        let file = File::create(path).expect("a file");
        let file = Outlet::new(file, Duration::from_secs(60)).expect("it is open");
        Target::new("--status-file", path, file, table, Form::of_path(path))
    }

    #[test]
    fn a_row_is_in_its_file_when_it_has_settled_and_not_in_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let (status, connections) = (folder.path().join("s.csv"), folder.path().join("c.csv"));
        let targets =
            vec![target(&status, Table::Status), target(&connections, Table::Connections)];
        let writer =
            Writer::start(targets, (None, None), screen::Wants::default()).expect("a thread");
        let sink = writer.sink();
        let lines = |path: &Path| std::fs::read_to_string(path).expect("text").lines().count();
        for rows in 1..50 {
            sink.take(Entry::Status(Box::<Status>::default()));
            assert_eq!(sink.settle(), []);
            assert_eq!((lines(&status), lines(&connections)), (1 + rows, 1));
        }
        sink.take(Entry::Closed(Box::<Connection>::default()));
        assert_eq!(writer.finish().0, None);
        assert_eq!((lines(&status), lines(&connections)), (50, 2));
    }

    #[test]
    fn what_waits_is_bounded_by_what_it_takes_and_what_is_left_out_is_counted() {
        let (queue, words) = mpsc::channel();
        let desk = Desk {
            queue,
            waiting: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            given_up: Mutex::default(),
            wants: Wants::default(),
        };
        let ping = || {
            let (flow, outcome) = (FlowId(0), "answered");
            Each::Ping(Ping { at_ns: 2, flow, number: 0, sent_ns: 1, rtt_ns: Some(1), outcome })
        };
        // Nobody takes them: a disk has stopped.
        let (entries, of_each) = (500, 4_096);
        for _ in 0..entries {
            desk.take(Entry::Each((0..of_each).map(|_| ping()).collect()));
        }
        let waiting = words.try_iter().count();
        let bytes = waiting * of_each * size_of::<Each>();
        assert!((MOST_BYTES / 2..=MOST_BYTES * 2).contains(&bytes), "{bytes}");
        let lost = counted(((entries - waiting) * of_each) as u64, "row");
        let told = desk.left_out().expect("some are lost");
        assert!(told.starts_with(&lost) && told.contains("64 MiB of others waited"), "{told}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_once_and_costs_the_other_files_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = folder.path().join("s.csv");
        let targets =
            vec![target(Path::new("/dev/full"), Table::Status), target(&whole, Table::Status)];
        let writer =
            Writer::start(targets, (None, None), screen::Wants::default()).expect("a thread");
        let sink = writer.sink();
        (0..10).for_each(|_| sink.take(Entry::Status(Box::<Status>::default())));
        let caveats = sink.settle();
        assert_eq!(caveats.len(), 1, "{caveats:?}");
        assert!(caveats[0].text.contains("/dev/full"), "{caveats:?}");
        assert!(caveats[0].text.contains("No space left"), "{caveats:?}");
        let finished = writer.finish().0.expect("a file lacks rows");
        assert_eq!(finished, "--status-file /dev/full lacks rows, as was said");
        let text = std::fs::read_to_string(&whole).expect("text");
        assert_eq!(text.lines().count(), 11);
    }
}
