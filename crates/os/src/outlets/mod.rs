//! Files that are written to, pipes and devices among them: whose reader stops reading holds up nobody for ever.
//!
//! Not here: which files those are, and what is said where one takes no more.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::time::Duration;

/// An open file. A write waits for a reader that takes nothing only so long, and is an error then.
#[derive(Debug)]
pub struct Outlet {
    file: File,
    patience: Duration,
    /// What was written in whole rows.
    whole_bytes: u64,
}

/// Not all rows were written.
#[derive(Debug)]
pub struct Unwritten {
    /// How many were.
    pub rows: u64,
    /// Why not the next.
    pub error: io::Error,
}

impl Outlet {
    /// Writes to `file`, which nobody else writes to. A reader may take nothing for as long as `patience`.
    pub fn new(file: File, patience: Duration) -> io::Result<Self> {
        imp::return_at_once(&file)?;
        Ok(Self { file, patience, whole_bytes: 0 })
    }

    /// Empties a file on a disk. Others hold nothing.
    pub fn empty(&self) -> io::Result<()> {
        if self.file.metadata()?.is_file() { self.file.set_len(0) } else { Ok(()) }
    }

    /// Writes rows, each with a new line at its end, behind those that this wrote before. Of one that is not written
    /// whole nothing stays, where that can be helped: half a row would be taken for a whole one. Returns how many there were.
    pub fn write_rows(&mut self, rows: &[u8]) -> Result<u64, Unwritten> {
        let mut rest = rows;
        let failed = loop {
            if rest.is_empty() {
                self.whole_bytes += rows.len() as u64;
                return Ok(count(rows));
            }
            match self.write(rest) {
                Ok(0) => break ErrorKind::WriteZero.into(),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break error,
            }
        };
        let written = &rows[..rows.len() - rest.len()];
        let whole = written.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        self.whole_bytes += whole as u64;
        // A pipe or a device has no length to cut.
        let _ = self.file.set_len(self.whole_bytes);
        Err(Unwritten { rows: count(written), error: failed })
    }

    fn wait(&self) -> io::Result<()> {
        if imp::wait_for_room(&self.file, self.patience)? {
            return Ok(());
        }
        let text = format!("its reader took nothing for {} s", self.patience.as_secs_f64());
        Err(io::Error::new(ErrorKind::TimedOut, text))
    }
}

/// The rows that end in a text.
fn count(text: &[u8]) -> u64 {
    // What stands behind the last is a piece, too.
    text.split(|&byte| byte == b'\n').count() as u64 - 1
}

/// Why a file takes no more, with what can be done about it where the system's own words do not say it.
pub fn explain(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::FileTooLarge => {
            format!("{error}: files of this process may not be larger (ulimit -f)")
        }
        _ => error.to_string(),
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait()?,
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use std::io::Read;

    use super::*;

    fn pipe(patience: Duration) -> (io::PipeReader, Outlet) {
        let (reader, writer) = io::pipe().expect("a pipe");
        let file = File::from(std::os::fd::OwnedFd::from(writer));
        (reader, Outlet::new(file, patience).expect("it is open"))
    }

    #[test]
    fn a_reader_that_takes_nothing_is_an_error_in_time() {
        let (_reader, mut outlet) = pipe(Duration::from_millis(50));
        let error = outlet.write_all(&vec![b'x'; 16 << 20]).expect_err("nobody reads");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!(error.to_string(), "its reader took nothing for 0.05 s");
    }

    #[test]
    fn a_slow_reader_gets_everything() {
        let (mut reader, mut outlet) = pipe(Duration::from_secs(60));
        let text: Vec<u8> = (0..4 << 20).map(|index: u32| (index % 251) as u8).collect();
        let sent = text.clone();
        let writer = std::thread::spawn(move || outlet.write_all(&sent));
        let mut read = Vec::new();
        reader.read_to_end(&mut read).expect("a pipe");
        writer.join().expect("no panic").expect("somebody reads");
        assert!(read == text);
    }

    #[test]
    fn of_rows_that_do_not_fit_the_whole_ones_are_counted() {
        let (mut reader, mut outlet) = pipe(Duration::from_millis(50));
        let rows = vec![b"0123456\n".as_slice(); 1 << 20].concat();
        let unwritten = outlet.write_rows(&rows).expect_err("nobody reads");
        drop(outlet);
        let mut read = Vec::new();
        reader.read_to_end(&mut read).expect("a pipe");
        assert!(unwritten.rows > 0, "a pipe holds some");
        assert_eq!(unwritten.rows, read.len() as u64 / 8);
    }

    #[test]
    fn a_reader_that_is_gone_is_an_error_at_once() {
        let (reader, mut outlet) = pipe(Duration::from_secs(60));
        drop(reader);
        let error = outlet.write_all(b"x").expect_err("nobody reads");
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
}
