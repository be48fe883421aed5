//! What a server's operator says of clients of a kind: where they come, and what they run who cannot say it themselves. Options of the
//! command line, each kind's its own, which begin with its name.

use std::fmt::Debug;

use clap::Args;
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;

/// The options of one kind.
pub trait OperatorWords: Args + Clone + Debug + Default + Send + Sync {
    /// Whether anything was said.
    fn is_said(&self) -> bool;

    /// The port of its own listener, if it is to have another one than by itself.
    fn port(&self) -> Option<u16>;

    /// How many ports that listener has, from the first on.
    fn ports(&self) -> u16 {
        1
    }

    /// What its clients run, if they cannot say it and something is known of it: over TCP, over UDP, or both. What is wrong with what
    /// was stated, as a sentence.
    fn tests(&self) -> Result<Vec<Test>, PlanError>;
}

/// Of a kind whose clients say all there is to say, and come where all do.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(skip)]
pub struct NoWords {}

impl OperatorWords for NoWords {
    fn is_said(&self) -> bool {
        false
    }

    fn port(&self) -> Option<u16> {
        None
    }

    fn tests(&self) -> Result<Vec<Test>, PlanError> {
        Ok(Vec::new())
    }
}
