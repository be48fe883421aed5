//! One program on a node: started and held back, let go, listened to, and ended where it does not end.
//!
//! It is held back by a shell on its node that says it is ready and reads a line, so that several programs begin within
//! a fraction of a millisecond of each other, however long it took to enter their nodes.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use pathscope_core::Tick;
use pathscope_lab::harness::Lab;
use pathscope_os::clock;
use rustix::process::{Pid, Signal, kill_process_group};

/// What a held-back program says first.
const READY: &[u8] = b"ready\n";
/// Says so, waits for word, and becomes the program. What it reads is nothing.
const SCRIPT: &str = "echo ready; read -r go && exec \"$@\" </dev/null";

/// More than any document is long; what comes beyond it is read and forgotten.
const OUTPUT_MOST: usize = 256 << 20;
/// What is kept of complaints: the last.
const COMPLAINT_MOST: usize = 4 << 10;

/// A program, by its number in a step.
#[derive(Debug)]
pub struct Process {
    child: Child,
    gate: Option<ChildStdin>,
    began: Option<Tick>,
    /// Its number may be another's by now.
    is_over: bool,
}

/// What is heard of a program.
#[derive(Debug)]
pub enum Heard {
    /// It is held back, and can be let go.
    Ready(usize),
    /// A server says that it is ready.
    Serves(usize),
    /// It, and whatever it started, has closed its outputs: all that it said, and the last of its complaints.
    Closed {
        /// Which.
        number: usize,
        /// What it printed.
        output: Vec<u8>,
        /// What it complained of.
        complaint: String,
    },
}

impl Process {
    /// A program that is held back on its node.
    pub fn hold(
        lab: &Lab,
        node: &str,
        words: &[String],
        number: usize,
        heard: &Sender<Heard>,
    ) -> io::Result<Self> {
        let mut command = lab.command(node, "sh");
        command.args(["-c", SCRIPT, "sh"]).args(words);
        let mut process = Self::start(command, Stdio::piped())?;
        process.gate = process.child.stdin.take();
        process.listen(number, Some(READY), Heard::Ready, heard)?;
        Ok(process)
    }

    /// A server, which begins at once and says on either of its outputs that it is ready.
    pub fn serve(
        lab: &Lab,
        node: &str,
        words: &[String],
        (number, ready): (usize, &'static str),
        heard: &Sender<Heard>,
    ) -> io::Result<Self> {
        let mut command = lab.command(node, "sh");
        // Both outputs as one, so that it does not matter on which of them it says so.
        command.args(["-c", "exec \"$@\" 2>&1", "sh"]).args(words);
        let mut process = Self::start(command, Stdio::null())?;
        process.began = Some(clock::now());
        process.listen(number, Some(ready.as_bytes()), Heard::Serves, heard)?;
        Ok(process)
    }

    fn start(mut command: Command, input: Stdio) -> io::Result<Self> {
        // Of its own group: a Ctrl-C is ours to pass on, and what it started ends with it.
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        // What it prints is read by us, wherever we are.
        command.env("LC_ALL", "C");
        Ok(Self { child: command.spawn()?, gate: None, began: None, is_over: false })
    }

    /// Lets it go.
    pub fn release(&mut self) -> io::Result<()> {
        let Some(mut gate) = self.gate.take() else { return Ok(()) };
        self.began = Some(clock::now());
        gate.write_all(b"go\n")
    }

    /// When it began.
    pub fn began(&self) -> Option<Tick> {
        self.began
    }

    /// Asks it to end, as Ctrl-C does, and all that it started: who measures says then what it has.
    pub fn interrupt(&mut self) {
        self.gate = None;
        self.signal(Signal::INT);
    }

    /// Ends it, and all that it started.
    pub fn kill(&mut self) {
        self.gate = None;
        self.signal(Signal::KILL);
    }

    /// It has ended, and nothing that it started holds its outputs. Whether that was known.
    pub fn over(&mut self) -> bool {
        std::mem::replace(&mut self.is_over, true)
    }

    /// To its group, which is its own. What has ended hears nothing.
    fn signal(&self, signal: Signal) {
        if self.is_over {
            return;
        }
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Hears both outputs on threads of their own. `mark` is what tells that it is ready; of a program that is held back it is
    /// the beginning, and not its own.
    fn listen(
        &mut self,
        number: usize,
        mark: Option<&'static [u8]>,
        say: fn(usize) -> Heard,
        heard: &Sender<Heard>,
    ) -> io::Result<()> {
        let missing = || io::Error::other("it has no outputs");
        let mut output = self.child.stdout.take().ok_or_else(missing)?;
        let mut complaints = self.child.stderr.take().ok_or_else(missing)?;
        let complaining = thread::Builder::new()
            .name("complaints".to_owned())
            .spawn(move || last_of(&mut complaints))?;
        let heard = heard.clone();
        let listening = move || {
            let output = all_of(&mut output, mark, || drop(heard.send(say(number))));
            let complaint = complaining.join().unwrap_or_default();
            // Nobody listens any more where the step was given up.
            let _ = heard.send(Heard::Closed { number, output, complaint });
        };
        thread::Builder::new().name("output".to_owned()).spawn(listening).map(drop)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

/// All that is said, without the mark where it is the beginning. `marked` is called when the mark has come.
fn all_of(from: &mut impl Read, mark: Option<&[u8]>, marked: impl FnOnce()) -> Vec<u8> {
    let mut marked = mark.map(|mark| (mark, marked));
    let mut said = Vec::new();
    let mut chunk = [0; 16 << 10];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return said,
            Ok(count) => {
                let room = OUTPUT_MOST.saturating_sub(said.len());
                said.extend_from_slice(&chunk[..count.min(room)]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return said,
        }
        let has_come =
            |(mark, _): &mut (&[u8], _)| said.windows(mark.len()).any(|window| window == *mark);
        if let Some((mark, marked)) = marked.take_if(has_come) {
            if said.starts_with(mark) {
                said.drain(..mark.len());
            }
            marked();
        }
    }
}

/// The last that is said, on one line for each.
fn last_of(from: &mut impl Read) -> String {
    let mut said = Vec::new();
    let mut chunk = [0; 4 << 10];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        said.extend_from_slice(&chunk[..count]);
        let excess = said.len().saturating_sub(COMPLAINT_MOST);
        said.drain(..excess);
    }
    String::from_utf8_lossy(&said).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says its pieces one by one.
    struct Pieces<'text>(Vec<&'text [u8]>);

    impl Read for Pieces<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            bytes[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn a_mark_is_found_across_pieces_and_told_once() {
        let mut times = 0;
        let mut pieces = Pieces(vec![b"rea", b"dy\n{\"a\"", b": \"ready\n\"}"]);
        let said = all_of(&mut pieces, Some(READY), || times += 1);
        assert_eq!((said.as_slice(), times), (&b"{\"a\": \"ready\n\"}"[..], 1));
    }

    #[test]
    fn a_mark_in_the_midst_stays_in_what_was_said() {
        let mut times = 0;
        let mut pieces = Pieces(vec![b"---\nServer listening on 5201\n---\n"]);
        let said = all_of(&mut pieces, Some(b"Server listening on"), || times += 1);
        assert_eq!((said.len(), times), (33, 1));
        let said = all_of(&mut Pieces(vec![b"nothing"]), Some(READY), || panic!("it never came"));
        assert_eq!(said, b"nothing");
    }

    #[test]
    fn of_complaints_the_last_are_kept() {
        let long = "x".repeat(4_000);
        let pieces = vec![long.as_bytes(), long.as_bytes(), b" the end \n"];
        let said = last_of(&mut Pieces(pieces));
        assert!(said.ends_with("x the end") && said.len() <= COMPLAINT_MOST, "{}", said.len());
    }
}
