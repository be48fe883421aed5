//! How much a command says, and in which colors, as words on its command line. Saying it is `terminal`'s and `journal`'s.

use clap::{ArgAction, Args, ValueEnum};

/// How much is said.
#[derive(Args, Clone, Copy, Debug)]
pub struct VerbosityArgs {
    /// Say nothing but results and errors
    #[arg(short = 'q', long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: with -v also status and, of a result, all evidence, remedies, the shapes of distributions and the command line; with
    /// -vv also each step of a session
    #[arg(short = 'v', long, action = ArgAction::Count, value_parser = clap::value_parser!(u8).range(..=2))]
    pub verbose: u8,
}

/// With which colors.
#[derive(Args, Clone, Copy, Debug)]
pub struct ColorArgs {
    /// Colors: on a terminal, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// When there are colors.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
