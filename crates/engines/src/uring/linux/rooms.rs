//! Rooms for what comes: a few that all receives share. The kernel takes one when bytes have come for one of them, so that a thousand flows
//! that wait have no memory.
//!
//! A room is the kernel's while it is stocked, and then goes the way of what it holds until it is stocked again.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::mem::size_of;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;

use super::ring::Ring;

/// The group's number: a ring has one.
pub const GROUP: u16 = 0;
/// Places for rooms that are stocked.
const PLACES: u16 = 256;
/// So many are stocked to begin with, and so many more each time that none was left.
const FIRST: u16 = 4;
/// All together are no larger than this, unless fewer than the first few would be left: what was received last is to be in a cache.
const MOST_BYTES: usize = 8 << 20;

/// What processors compare of two addresses.
const PAGE: usize = 4_096;
/// How far behind the begin of a page bytes are received. Streams lie at the begin of pages where they come from, over loopback: see
/// `event_loop/room`.
const LAG: usize = PAGE - 32;
const LAYOUT: Layout =
    match Layout::from_size_align(PLACES as usize * size_of::<BufRingEntry>(), PAGE) {
        Ok(layout) => layout,
        Err(_) => panic!("a size and a power of two"),
    };

/// The rooms of one ring.
pub struct Rooms {
    entries: NonNull<BufRingEntry>,
    tail: u16,
    /// By number: those that the kernel has.
    stocked: Vec<Option<NonNull<[u8]>>>,
    /// Numbers that none has.
    numbers: Vec<u16>,
    /// Those that nobody has.
    idle: Vec<Box<[u8]>>,
    /// So many are meant to be stocked at most.
    goal: u16,
    most: u16,
    /// So many there are.
    made: usize,
    room_bytes: usize,
}

impl Rooms {
    /// None yet; each is to have so many bytes.
    pub fn new(ring: &Ring, room_bytes: usize) -> io::Result<Self> {
        // SAFETY: the layout's size is not zero.
        let entries = unsafe { alloc_zeroed(LAYOUT) };
        let Some(entries) = NonNull::new(entries.cast()) else { handle_alloc_error(LAYOUT) };
        let room_bytes = room_bytes.max(1);
        let most = (MOST_BYTES / room_bytes).clamp(FIRST.into(), PLACES.into());
        let rooms = Self {
            entries,
            tail: 0,
            stocked: vec![None; PLACES.into()],
            numbers: (0..PLACES).rev().collect(),
            idle: Vec::new(),
            goal: 0,
            most: most as u16,
            made: 0,
            room_bytes,
        };
        let address = entries.as_ptr() as u64;
        // SAFETY: the memory is aligned to a page, has so many entries, and outlives the ring: see `Uring`.
        unsafe { ring.submitter().register_buf_ring_with_flags(address, PLACES, GROUP, 0) }?;
        Ok(rooms)
    }

    /// Bytes of each.
    pub fn room_bytes(&self) -> usize {
        self.room_bytes
    }

    /// One for a call of our own.
    pub fn lend(&mut self) -> Box<[u8]> {
        self.idle.pop().unwrap_or_else(|| {
            self.made += 1;
            vec![0; self.room_bytes + PAGE].into_boxed_slice()
        })
    }

    /// A room that nobody needs any more.
    pub fn take_back(&mut self, room: Box<[u8]>) {
        if self.stock_len() < self.goal {
            self.stock(room);
        } else {
            self.idle.push(room);
        }
    }

    /// Has the kernel have a few, unless it had some before.
    pub fn open(&mut self) {
        if self.goal == 0 {
            self.grow();
        }
    }

    /// There was none for what came: has the kernel have a few more, where there may be more. Whether it has any.
    pub fn grow(&mut self) -> bool {
        self.goal = (self.goal + FIRST).min(self.most);
        // Those that are on their way come back.
        while self.stock_len() < self.goal
            && (!self.idle.is_empty() || self.made < self.most.into())
        {
            let room = self.lend();
            self.stock(room);
        }
        self.stock_len() > 0
    }

    fn stock_len(&self) -> u16 {
        PLACES - self.numbers.len() as u16
    }

    fn stock(&mut self, room: Box<[u8]>) {
        let Some(number) = self.numbers.pop() else {
            self.idle.push(room);
            return;
        };
        let begin = begin_of(&room);
        let Some(room) = NonNull::new(Box::into_raw(room)) else { return };
        self.stocked[usize::from(number)] = Some(room);
        // SAFETY: within the memory, which has a power of two of entries. The kernel reads entries before the tail alone, and the tail
        // lies in a part of the first entry that is not written here.
        unsafe {
            let entry = &mut *self.entries.as_ptr().add(usize::from(self.tail % PLACES));
            entry.set_addr(room.cast::<u8>().add(begin).as_ptr() as u64);
            entry.set_len(self.room_bytes as u32);
            entry.set_bid(number);
        }
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the entry is the first one, and initialised, since all was zero; nobody but the kernel reads it, and nobody writes it but
        // this.
        unsafe {
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }

    /// The room of this number, which the kernel has filled and is done with, and where in it what came begins.
    pub fn filled(&mut self, number: u16) -> Option<(Box<[u8]>, usize)> {
        let room = self.stocked.get_mut(usize::from(number))?.take()?;
        self.numbers.push(number);
        // SAFETY: it was made of a box when it was stocked, and the kernel has given it up.
        let room = unsafe { Box::from_raw(room.as_ptr()) };
        let begin = begin_of(&room);
        Some((room, begin))
    }
}

/// Where in a room the kernel puts what comes.
fn begin_of(room: &[u8]) -> usize {
    (LAG + PAGE - room.as_ptr() as usize % PAGE) % PAGE
}

impl Drop for Rooms {
    /// Once no operation is in flight: nobody fills any.
    fn drop(&mut self) {
        for room in self.stocked.drain(..).flatten() {
            // SAFETY: it was made of a box when it was stocked, and is filled by nobody any more.
            drop(unsafe { Box::from_raw(room.as_ptr()) });
        }
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.entries.as_ptr().cast(), LAYOUT) };
    }
}
