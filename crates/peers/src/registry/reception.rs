//! What a server knows of a caller by its first bytes. How they are told apart is the registry's.

use super::Purpose;

/// What a caller's first bytes tell a server.
#[derive(Debug)]
pub enum Reception {
    /// Not who it is, or not all that it has to say: so many bytes in all are needed, and none beyond may be read.
    More(usize),
    /// What it is for.
    Known(Purpose),
    /// Nobody to be served: who it seems to be.
    Stranger(String),
}
