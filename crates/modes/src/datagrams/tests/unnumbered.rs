//! Datagrams that say nothing: a sender's, of which all that is known is that they left.

use std::cell::Cell;
use std::rc::Rc;

use pathscope_core::id::Role;
use pathscope_core::quantity::Bytes;
use pathscope_flow::sim::{Conditions, Fate, Link};

use super::super::*;
use super::{ONE_WAY_NS, SIZE, plan, run, sim};
use crate::conventions::Framing;
use crate::load::{Extent, Pattern};

/// 2,000 datagrams, the last of which is asked for as one byte.
#[test]
fn all_are_of_one_length_and_bear_no_header() {
    let extent = Extent::TransferBytes(Bytes(SIZE * 1_999 + 1));
    let plan = DatagramsPlan { extent, rate_bps: None, ..plan(Pattern::Push) };
    let wide = Link::new(ONE_WAY_NS).with_buffers(256 << 20, 256 << 20);
    let mut sim = sim(&plan, Conditions::over(wide));
    *sim.client_shared() = DatagramShared::new(&plan, Role::Client).framed(Framing::Unnumbered);
    let alike = Rc::new(Cell::new(0));
    let counted = alike.clone();
    sim.datagrams(move |passing| {
        let is_plain = passing.bytes.len() as u64 == SIZE && !passing.bytes.starts_with(b"PSDG");
        counted.set(counted.get() + u64::from(is_plain));
        Fate::Deliver
    });
    let (client, server, _) = run(&mut sim);
    assert_eq!((client.sent, client.sent_bytes, alike.get()), (2_000, 2_000 * SIZE, 2_000));
    // One of ours takes none of them for its own.
    assert_eq!(server.received, 0);
}
