//! What the ends' own sockets dropped of datagrams that are answered: loss that is not the path's.

use pathscope_core::quantity::{counted, echoes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams that reached a machine and found its socket full: lost in an end, and not on the path.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct SocketDrops {
    /// Echoes, at the client.
    pub client: Option<u64>,
    /// Pings, at the server.
    pub server: Option<u64>,
}

impl SocketDrops {
    /// What an end's own socket dropped is no fault of the path; of what the client sent, one of it in a word.
    pub fn told(self, sent: &str) -> Option<String> {
        let (client, server) = (self.client.unwrap_or(0), self.server.unwrap_or(0));
        (client > 0 || server > 0).then(|| {
            format!(
                "the sockets of the ends themselves dropped {} at the server and {} at the client: {} reached the machine, so this loss is not the path's",
                counted(server, sent),
                echoes(client),
                if client.saturating_add(server) == 1 { "it" } else { "they" }
            )
        })
    }
}
