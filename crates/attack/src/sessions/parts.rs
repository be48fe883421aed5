//! Processes that have a share of the clients each: started, told when all are there, heard of at the end.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Resource, getrlimit};
use serde_json::Value;

use super::Order;
use super::told::Told;
use crate::words::Words;

/// Descriptors of a client: its control connection, and its flow's socket.
const OF_A_CLIENT: u64 = 2;

/// Descriptors of a process beside those.
const BESIDE: u64 = 64;

/// One of the processes. Ends with the value.
struct Part {
    child: Child,
    words: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

/// Has the clients of an order shared out, and prints what came of them.
pub fn run(words: &Words, order: &Order) -> Result<(), String> {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = (files.saturating_sub(BESIDE) / OF_A_CLIENT).max(1);
    let processes = u64::from(order.count).div_ceil(most).max(1) as u32;
    let share = order.count.div_ceil(processes);
    let begun = (0..processes).map(|number| {
        let first = number * share;
        Part::start(words, first, share.min(order.count - first))
    });
    let all: io::Result<Vec<Part>> = begun.collect();
    let mut all = all.map_err(|error| format!("start a process of clients: {error}"))?;
    let lost = |error: io::Error| format!("hear of a process of clients: {error}");
    println!("{}", all_of(&mut all).map_err(lost)?.counts());
    // The last words are of what was measured together.
    all.iter_mut().for_each(Part::go);
    println!("{}", all_of(&mut all).map_err(lost)?.summary());
    Ok(())
}

/// The next line of each, added up.
fn all_of(parts: &mut [Part]) -> io::Result<Told> {
    let mut told = Told::default();
    for part in parts {
        told.add(part.next()?);
    }
    Ok(told)
}

impl Part {
    fn start(words: &Words, first: u32, count: u32) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("sessions-part");
        for (name, value) in words.options().filter(|(name, _)| *name != "count") {
            command.args([format!("--{name}"), value.to_owned()]);
        }
        command.args(["--first", &first.to_string(), "--count", &count.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn()?;
        let words = child.stdin.take();
        let lines = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, words, lines: BufReader::new(lines) })
    }

    fn next(&mut self) -> io::Result<Told> {
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        let value: Value = serde_json::from_str(&line)
            .map_err(|_| io::Error::other(format!("it said `{}`", line.trim_end())))?;
        Ok(Told::read(&value))
    }

    /// All clients are there.
    fn go(&mut self) {
        if let Some(words) = &mut self.words {
            // Who is gone has no next line, which is told.
            let _ = words.write_all(b"go\n");
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Its clients leave where nobody has a word for them any more; one that has ended is as good.
        self.words = None;
        let _ = self.child.wait();
    }
}
