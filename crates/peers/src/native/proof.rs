//! What a socket says to prove that it belongs to a session of version 2. Who reads along learns neither the session's name
//! nor how to prove anything else; it is no encryption.

use pathscope_core::id::Token;

use super::keyed_hash::keyed_hash;

/// What the name of a session makes of what a socket says: 64 bits, of which each guess costs a connection, or two datagrams
/// and their answers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Proof(pub(super) [u8; 8]);

impl Proof {
    /// Of these bytes, by who knows the session's name.
    pub(super) fn of(session: Token, said: &[u8]) -> Self {
        let hash = keyed_hash(&session.0, &[b"pathscope:socket", said].concat());
        Self(*hash.first_chunk().expect("a hash has 16 bytes"))
    }
}
