//! Tasks whose standard output is a pipe that nobody reads: an error, and no panic.

use std::io::pipe;
use std::process::{Command, Output};

/// The task's end, when whoever read what it says has gone.
fn unread(words: &[&str]) -> Output {
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(words).stdout(writer).output().expect("it starts")
}

#[test]
fn a_bench_that_nobody_reads_any_more_ends_with_an_error() {
    for words in [
        // It ends where it would name the cases, before it runs the program.
        &["bench", "--pathscope", "/bin/true", "--case", "goodput-1"][..],
        // It would say that there is no such program.
        &["bench", "--pathscope", "/nowhere/pathscope"],
    ] {
        let output = unread(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains("failed to ") && !said.contains("panicked"), "{words:?}: {said}");
    }
}
