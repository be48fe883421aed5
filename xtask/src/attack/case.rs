//! What strangers do in one case, as pathscope-attack tells it.

use serde::Deserialize;

/// An attack, as the hostile program lists it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of its own where it is read from"
)]
pub struct Case {
    /// What `--only` calls it.
    pub name: String,
    /// What strangers do in it.
    pub purpose: String,
    /// How long it goes on.
    pub seconds: u64,
    /// How many callers work at once.
    pub callers: u64,
    /// Over IPv6.
    pub over_ipv6: bool,
    /// The server has few descriptors.
    pub few_descriptors: bool,
    /// The server is not root.
    pub without_root: bool,
    /// The server serves clients of other programs, too.
    pub for_others: bool,
    /// A server against its client.
    pub against_client: bool,
}

impl Case {
    /// Whether `--only` means it.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.against_client && name == "client"
    }

    /// Whether all strangers call from one address or one /64, which its name says: they may not have everything.
    pub fn is_of_one_place(&self) -> bool {
        self.name.contains("one-")
    }
}
