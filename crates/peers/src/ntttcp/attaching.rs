//! A flow of datagrams at a sender: it asks for nothing, and has its place as soon as it has a socket. That its receiver wants it is said on
//! the connection for words.

use pathscope_core::Tick;

use crate::attach::{AttachDatagrams, AttachError};

/// One that has its place.
#[derive(Clone, Copy, Debug)]
pub struct Unasked;

impl AttachDatagrams for Unasked {
    fn datagram(&mut self, _: Tick) -> Option<Vec<u8>> {
        None
    }

    fn deadline(&self) -> Option<Tick> {
        None
    }

    fn received(&mut self, _: &[u8], _: Tick) {}

    fn outcome(&self) -> Option<&Result<(), AttachError>> {
        Some(&Ok(()))
    }
}
