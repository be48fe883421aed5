//! Programs on nodes.

use pathscope_core::quantity::named;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use pathscope_core::error::Failure;
use pathscope_lab::running::{Registry, enter};

use super::args::{ExecArgs, ShellArgs, WhichArgs};
use crate::Trouble;

/// Becomes a program on a node.
pub fn exec(registry: &Registry, args: &ExecArgs) -> Result<(), Trouble> {
    become_program(registry, &args.which, &args.node, &args.program)
}

/// Becomes a shell on a node: the user's own.
pub fn shell(registry: &Registry, args: &ShellArgs) -> Result<(), Trouble> {
    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
    let shell = shell.unwrap_or_else(|| OsString::from("/bin/sh"));
    become_program(registry, &args.which, &args.node, &[shell])
}

fn become_program(
    registry: &Registry,
    which: &WhichArgs,
    node: &str,
    program: &[OsString],
) -> Result<(), Trouble> {
    let running = super::find(registry, which)?;
    let environment = enter(registry, &running, node).map_err(|error| super::trouble(&error))?;
    let Some((program, arguments)) = program.split_first() else {
        return Err(Trouble::usage("name the program to run, behind --"));
    };
    let error = Command::new(program).args(arguments).envs(environment).exec();
    Err(Trouble::new(
        Failure::Unsupported,
        format!("cannot run {} on {node}: {error}", named(Path::new(program))),
    ))
}
