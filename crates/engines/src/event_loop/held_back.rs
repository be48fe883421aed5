//! A flow that is held back: how far what is said and heard before it is. What is done about it is `prologue`'s.

use std::fmt;

use pathscope_core::Tick;
use pathscope_flow::Event;

use crate::preface::{Preface, Unheard};

/// How far a preface is.
pub(crate) struct Prologue {
    pub preface: Box<dyn Preface>,
    /// Bytes that were said of it.
    pub said: usize,
    /// Bytes that are to be received, and are nobody's.
    pub unread: usize,
    /// Whether there is an answer to wait for.
    pub awaits: bool,
    /// Bytes of the flow that went along, and when.
    pub early: (usize, Tick),
    /// What happened to the flow meanwhile.
    pub deferred: Vec<Event>,
    /// Why it ended, where it did.
    pub unheard: Option<Unheard>,
}

impl fmt::Debug for Prologue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Prologue").field("said", &self.said).finish_non_exhaustive()
    }
}

impl Prologue {
    /// What is left to say.
    pub fn rest(&self) -> &[u8] {
        self.preface.says().get(self.said..).unwrap_or_default()
    }
}
