//! The two ends of a comparison, and what they wrote.

/// Which end a program plays.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// Waits to be called.
    Server,
    /// Calls.
    Client,
}

/// What both ends wrote to their standard output.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// The client.
    pub client: String,
    /// The server, if it ends by itself.
    pub server: String,
}

impl Outputs {
    pub fn excerpt(&self) -> String {
        let last = |text: &str| text.lines().last().unwrap_or("nothing").to_owned();
        format!("client `{}`, server `{}`", last(&self.client), last(&self.server))
    }
}
