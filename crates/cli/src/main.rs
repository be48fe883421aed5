//! The binary: words → plan → run → views → exit code. Owns the terminal, the files and the end of the
//! process; measures nothing and computes no figure.

#![forbid(unsafe_code)]

mod args;
mod background;
mod backgrounds;
mod compare;
mod daemon;
mod files;
mod form;
mod frequencies;
mod journal;
mod junit;
mod lab;
mod labels;
mod measure;
mod output;
mod plot;
mod remarks;
mod report;
mod server;
mod show;
mod shown;
mod stored;
mod terminal;
mod variants;
mod verbosity;
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::iter;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind;
use pathscope_core::error::Failure;
use pathscope_dialects::dialect::{Answer, Run, Said, Unclear};
use pathscope_dialects::registry;
use pathscope_modes::command::Refusal;
use pathscope_os::signals;
use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

use crate::args::{Command, CommandLine};

fn main() -> ExitCode {
    let said = match registry::said(std::env::args_os()) {
        Ok(Said::Run(run)) => run,
        Ok(Said::Text(answer)) => return say(&answer),
        Err(Unclear { text, manners }) => {
            terminal::speak(manners);
            return end(&Trouble::usage(text));
        }
    };
    let Run { words, notes, screen, manners } = said;
    terminal::speak(manners);
    notes.iter().for_each(|note| terminal::say(note));
    let program = iter::once(OsString::from("pathscope"));
    let command_line = match CommandLine::try_parse_from(program.chain(words)) {
        Ok(command_line) => command_line,
        Err(error) => return explain(&error),
    };
    hear_of_large_files();
    let done = match command_line.command {
        Command::Server(args) => server::serve(&args, screen),
        Command::Measure(command) => measure::measure(*command, screen),
        Command::Show(args) => show::show(&args),
        Command::Report(args) => report::report(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Lab(args) => lab::lab(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            daemon::failed(&trouble.text);
            end(&trouble)
        }
    }
}

/// What another tool says at once.
fn say(answer: &Answer) -> ExitCode {
    let said = if answer.is_error {
        io::stderr().lock().write_all(answer.text.as_bytes())
    } else {
        io::stdout().lock().write_all(answer.text.as_bytes())
    };
    match said.err().as_ref().and_then(output::trouble) {
        Some(trouble) => end(&trouble),
        None => ExitCode::from(answer.exit_code),
    }
}

/// Says why a command did not do what it should.
fn end(trouble: &Trouble) -> ExitCode {
    if !trouble.is_told {
        terminal::complain(&trouble.text);
    }
    ExitCode::from(daemon::exit_code(trouble.failure))
}

/// A file that may not grow any more (`ulimit -f`) is an error of the call that writes, and does not end the process. By a
/// handler that does nothing, and not by ignoring the signal: programs that this one becomes or starts have it as usual.
fn hear_of_large_files() {
    if !signals::is_ignored(SIGXFSZ) {
        // Where it cannot be had, a file that is too large ends the process as it would any other.
        let _ = flag::register(SIGXFSZ, Arc::default());
    }
}

/// Why a command did not do what it should: told on standard error, and by the exit code.
#[derive(Debug)]
struct Trouble {
    failure: Failure,
    text: String,
    /// Whether another tool's screen has told it, as its users look for it.
    is_told: bool,
}

impl Trouble {
    fn new(failure: Failure, text: impl Into<String>) -> Self {
        Self { failure, text: text.into(), is_told: false }
    }

    /// The same, where a screen has told it, or has not.
    fn told(self, is_told: bool) -> Self {
        Self { is_told, ..self }
    }

    fn usage(error: impl std::fmt::Display) -> Self {
        Self::new(Failure::Usage, error.to_string())
    }

    /// Of what went wrong in measuring and in writing, both are told and the graver one is the exit code.
    fn conclude(measuring: Option<Self>, writing: Option<Self>) -> Result<(), Self> {
        match (measuring, writing) {
            (None, None) => Ok(()),
            (Some(trouble), None) | (None, Some(trouble)) => Err(trouble),
            (Some(measuring), Some(writing)) => {
                terminal::complain(&writing.text);
                let gravest = Failure::gravest([measuring.failure, writing.failure]);
                Err(Self { failure: gravest.unwrap_or(measuring.failure), ..measuring })
            }
        }
    }

    /// The system gave this program no thread.
    fn no_thread(error: impl std::fmt::Display) -> Self {
        Self::new(Failure::Unsupported, format!("cannot start a thread: {error}"))
    }
}

impl From<Refusal> for Trouble {
    fn from(Refusal { failure, text }: Refusal) -> Self {
        Self::new(failure, text)
    }
}

/// Help and version go to standard output and are no error; everything else is one of usage.
fn explain(error: &clap::Error) -> ExitCode {
    if let Some(text) = words::explain(error.kind(), std::env::args_os().skip(1)) {
        terminal::complain(&text);
        return ExitCode::from(daemon::exit_code(Failure::Usage));
    }
    let text = error.to_string();
    let sentence = text.split("\n\n").next().unwrap_or_default();
    if error.use_stderr() && terminal::spelled(sentence) != sentence {
        // What more there is to it is usage of ours.
        terminal::complain(sentence.trim_start_matches("error: "));
        return ExitCode::from(daemon::exit_code(Failure::Usage));
    }
    // A terminal that cannot be written to cannot be told so, either.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(daemon::exit_code(Failure::Usage)),
    }
}
