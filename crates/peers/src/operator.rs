//! What a server's operator says of clients of a kind: where they come, and what they run who cannot say it themselves. Options of the
//! command line, each kind's its own, which begin with its name.

use std::fmt::Debug;

use clap::Args;
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;

use crate::limits::RateLimit;

/// What was said of clients of a kind.
#[derive(Clone, Debug)]
pub struct Said {
    /// What they run: over TCP, over UDP, or both. Of a kind whose clients say it, nothing.
    pub tests: Vec<Test>,
    /// Where this kind has a listener of its own: its first port, if not the one that the kind has by itself.
    pub port: Option<u16>,
    /// So many ports that listener has.
    pub ports: u16,
    /// What one of their tests may move in all, if there is a limit.
    pub rate: Option<RateLimit>,
    /// Whether several of them take part in one test.
    pub is_of_several: bool,
}

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

    /// What one of its tests may move in all; nothing: any rate.
    fn rate(&self) -> Option<RateLimit> {
        None
    }

    /// Whether several clients take part in one test, where a kind has words for that.
    fn is_of_several(&self) -> bool {
        false
    }

    /// What its clients run, if they cannot say it and something is known of it: over TCP, over UDP, or both. What is wrong with what
    /// was stated, as a sentence.
    fn tests(&self) -> Result<Vec<Test>, PlanError>;

    /// All of that.
    fn said(&self) -> Result<Said, PlanError> {
        let (tests, port, ports, rate) = (self.tests()?, self.port(), self.ports(), self.rate());
        Ok(Said { tests, port, ports, rate, is_of_several: self.is_of_several() })
    }
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
