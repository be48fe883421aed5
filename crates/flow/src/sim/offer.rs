//! What a machine has to send, and what of that the system has.

use pathscope_core::Tick;
use pathscope_core::id::Lane;

use crate::KeptSend;

/// What a machine has to send.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) lane: Lane,
    /// When it was offered, by the machine's clock.
    pub(super) at: Tick,
    pub(super) content: Content,
}

/// The bytes of an offer.
#[derive(Debug)]
pub(super) enum Content {
    Stream(KeptSend),
    Datagrams { bytes: Vec<u8>, stride: usize },
}

/// An offer that the system has.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) offer: Offer,
    /// When it lands, in the simulation's time.
    pub(super) lands_at: Tick,
}
