//! What became of connections by the address of the other end. Off the hot path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Addresses that are told apart; all others are one.
const TOLD: usize = 64;
/// What those go by.
const OTHERS: &str = "others";

/// What became of the connections of one address.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct RemoteCounts {
    /// The other end's address, without its port; `others` for all beyond the first 64.
    pub address: String,
    /// Connections that ended well.
    pub completed: u64,
    /// Connections that failed, or could not be made.
    pub failed: u64,
    /// Connections that the end of the run stopped.
    pub cut: u64,
    /// Bytes handed to the kernel.
    pub sent_bytes: u64,
    /// Bytes taken from the kernel and checked.
    pub received_bytes: u64,
}

impl RemoteCounts {
    /// Where the counts of `address` are in `all`, new where they are not there yet.
    pub(super) fn place_of(all: &mut Vec<Self>, address: &str) -> usize {
        let is_told = all.len() < TOLD || all.iter().any(|counts| counts.address == address);
        let address = if is_told { address } else { OTHERS };
        let place = all.iter().position(|counts| counts.address == address);
        place.unwrap_or_else(|| {
            all.push(Self { address: address.to_owned(), ..Self::default() });
            all.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_bounded_and_nothing_is_lost_from_the_sums() {
        let mut all = Vec::new();
        for number in 0..1_000 {
            let place = RemoteCounts::place_of(&mut all, &format!("10.0.{}.1", number % 200));
            all[place].completed += 1;
        }
        assert_eq!(all.len(), TOLD + 1);
        assert_eq!(all.iter().map(|counts| counts.completed).sum::<u64>(), 1_000);
        assert_eq!((all[0].completed, all[TOLD].address.as_str()), (5, "others"));
    }
}
