//! What became of connections whose SYN was to bear what they say first (TCP Fast Open, RFC 7413), as the client saw it. Off the
//! hot path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of connections that were to be opened so and became their flows', how many were. One that never was its flow's is in neither count.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FastOpen {
    /// The server's system acknowledged what came with the SYN, by its answer to that.
    pub taken: u64,
    /// Opened as ever: there was no cookie of the server's yet, or what came with the SYN was not acknowledged, and was sent again.
    pub fell_back: u64,
    /// Whether the server's system gives what comes with a SYN to who listens there (`net.ipv4.tcp_fastopen`, its bit 2); absent where
    /// that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_served: Option<bool>,
}

impl FastOpen {
    /// Counts one more.
    pub fn count(&mut self, is_taken: bool) {
        *(if is_taken { &mut self.taken } else { &mut self.fell_back }) += 1;
    }

    /// What the client counted, with what the server knows of its system.
    pub(crate) fn of_both(client: Option<Self>, server: Option<Self>) -> Option<Self> {
        client.map(|client| Self { is_served: server.and_then(|it| it.is_served), ..client })
    }

    /// Of several tests, of which each was asked to be opened so.
    pub(crate) fn together(all: &[Self]) -> Option<Self> {
        let sum = |of: fn(&Self) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
        let first = all.first()?;
        let is_one = all.iter().all(|it| it.is_served == first.is_served);
        let is_served = first.is_served.filter(|_| is_one);
        Some(Self { taken: sum(|it| it.taken), fell_back: sum(|it| it.fell_back), is_served })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(taken: u64, fell_back: u64, is_served: Option<bool>) -> FastOpen {
        FastOpen { taken, fell_back, is_served }
    }

    #[test]
    fn the_client_counts_and_the_server_knows_its_system() {
        let mut client = FastOpen::default();
        [true, false, true].into_iter().for_each(|is_taken| client.count(is_taken));
        let server = Some(of(9, 9, Some(false)));
        assert_eq!(FastOpen::of_both(Some(client), server), Some(of(2, 1, Some(false))));
        assert_eq!(FastOpen::of_both(Some(client), None), Some(of(2, 1, None)));
        // Nobody asked for it.
        assert_eq!(FastOpen::of_both(None, server), None);
    }

    #[test]
    fn counts_of_several_servers_are_added_up() {
        let sum = FastOpen::together(&[of(2, 1, Some(true)), of(5, 0, Some(true))]);
        assert_eq!(sum, Some(of(7, 1, Some(true))));
        let sum = FastOpen::together(&[of(2, 1, Some(true)), of(u64::MAX, 0, None)]);
        assert_eq!(sum, Some(of(u64::MAX, 1, None)));
        assert_eq!(FastOpen::together(&[]), None);
    }
}
