//! Standard output that never keeps a measurement waiting: a stopped terminal or a slow pager holds up a
//! thread of its own, not the session that measures.
//!
//! Not here: files of results, which are written in place.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// What may wait to be written. Days of live rows; some minutes of many connections as a stream of JSON.
const MOST_BYTES: usize = 64 << 20;

/// A writer whose calls return at once. An error comes with a later call, or with [`finish`](Self::finish).
#[derive(Debug)]
pub struct Background {
    queue: Option<Sender<Vec<u8>>>,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    waiting: AtomicUsize,
    error: Mutex<Option<io::Error>>,
}

impl Background {
    /// Writes to `out` from a thread of its own.
    pub fn new(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, waiting) = mpsc::channel();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let thread = thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || write_all(out, &waiting, &shared))?;
        Ok(Self { queue: Some(queue), state, thread: Some(thread) })
    }

    /// Waits until all is written, however long that takes, and says whether it was.
    pub fn finish(mut self) -> io::Result<()> {
        self.join();
        self.state.take_error().map_or(Ok(()), Err)
    }

    fn join(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // It does not panic: it only writes.
            let _ = thread.join();
        }
    }
}

impl Write for Background {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(error) = self.state.take_error() {
            return Err(error);
        }
        let waiting = self.state.waiting.fetch_add(bytes.len(), Ordering::Relaxed);
        if waiting + bytes.len() > MOST_BYTES {
            self.state.waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
            let text = format!("{MOST_BYTES} bytes wait for a reader that takes none");
            return Err(io::Error::new(ErrorKind::TimedOut, text));
        }
        let sent = self.queue.as_ref().map(|queue| queue.send(bytes.to_vec()));
        match sent {
            Some(Ok(())) => Ok(bytes.len()),
            // The thread ended, by an error that was told before.
            _ => Err(ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.join();
    }
}

impl State {
    fn take_error(&self) -> Option<io::Error> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Writes what comes until the end or an error; flushes whenever nothing waits.
fn write_all(mut out: impl Write, queue: &Receiver<Vec<u8>>, state: &State) {
    for bytes in queue {
        let left = state.waiting.fetch_sub(bytes.len(), Ordering::Relaxed) - bytes.len();
        let written = out.write_all(&bytes);
        let flushed = if left == 0 { written.and_then(|()| out.flush()) } else { written };
        if let Err(error) = flushed {
            *state.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes bytes only as fast as somebody lets it.
    struct Gate(Receiver<()>, Sender<Vec<u8>>);

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(|_| io::Error::from(ErrorKind::BrokenPipe))?;
            self.1.send(bytes.to_vec()).expect("the test listens");
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stopped_reader_keeps_nobody_waiting_and_gets_everything() {
        let (open, gate) = mpsc::channel();
        let (seen, written) = mpsc::channel();
        let mut out = Background::new(Gate(gate, seen)).expect("a thread");
        for number in 0..1000 {
            writeln!(out, "{number}").expect("it waits in the queue");
        }
        assert_eq!(written.try_recv().ok(), None, "the gate is shut");
        (0..10_000).for_each(|_| open.send(()).expect("the thread lives"));
        out.finish().expect("all was taken");
        let text: Vec<u8> = written.into_iter().flatten().collect();
        let text = String::from_utf8(text).expect("digits");
        let numbers: Vec<u32> = text.lines().map(|line| line.parse().expect("digits")).collect();
        assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_reader_that_is_gone_is_told() {
        let (open, gate) = mpsc::channel();
        let (seen, _written) = mpsc::channel();
        let mut out = Background::new(Gate(gate, seen)).expect("a thread");
        drop(open);
        out.write_all(b"lost").expect("it waits in the queue");
        assert_eq!(out.finish().expect_err("nobody took it").kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_reader_that_never_reads_costs_bounded_memory() {
        let (open, gate) = mpsc::channel::<()>();
        let (seen, _written) = mpsc::channel();
        let mut out = Background::new(Gate(gate, seen)).expect("a thread");
        let block = vec![b'x'; 1 << 20];
        let refused = (0..100).find_map(|_| out.write_all(&block).err()).expect("a bound");
        assert_eq!(refused.kind(), ErrorKind::TimedOut);
        drop(open);
        assert!(out.finish().is_err());
    }
}
