//! How far batches of datagrams go on one socket, and the sending of one. What is refused leaves in the other way: never lost,
//! never doubled. Their receiving is `batches`'.

use std::collections::VecDeque;

use pathscope_core::record::BatchUse;
use pathscope_flow::{Batch, Batches, datagrams_in_one};
use pathscope_os::Socket;
use pathscope_os::batches::Arrived;
use pathscope_os::errno::is_batch_refused;

use crate::worker::{JOINED_BYTES, stride_bytes};
use crate::{Blocking, SystemCalls, Trouble};

/// How far batches go on one socket.
#[derive(Debug)]
pub(crate) struct Batching {
    cuts: Cuts,
    /// Bytes of the stride that each receive fills.
    pub stride_bytes: usize,
    /// How what was presented and not consumed is divided.
    pub rest: VecDeque<Arrived>,
}

/// Whether the system cuts what is sent on a socket into datagrams.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cuts {
    /// Not asked yet.
    Untried,
    /// Into datagrams of so many bytes.
    Into(usize),
    /// It may not, or refused once: never again.
    Refused,
}

impl Batching {
    /// For a socket, as these terms have it.
    pub fn begin<S: SystemCalls>(batches: Batches, socket: &Socket, calls: &mut S) -> Option<Self> {
        let (cuts, joins, longest) = match batches {
            Batches::One => return None,
            Batches::Several { longest } => (Cuts::Refused, false, longest),
            Batches::Joined { longest } => (Cuts::Untried, calls.join(socket).is_ok(), longest),
        };
        let stride_bytes = if joins { JOINED_BYTES } else { stride_bytes(longest) };
        Some(Self { cuts, stride_bytes, rest: VecDeque::new() })
    }

    /// How many datagrams of this length may be one batch.
    pub fn at_once(&self, stride: usize, max: usize) -> usize {
        if self.cuts == Cuts::Refused { max } else { max.min(datagrams_in_one(stride)) }
    }

    /// Sends a batch; how many of it the kernel took.
    pub fn send<S: SystemCalls>(
        &mut self,
        (calls, used): (&mut S, &mut BatchUse),
        socket: &Socket,
        batch: &Batch<'_>,
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        let (count, stride) = (batch.count(), batch.stride());
        if self.leaves_as_one((calls, used), socket, (count, stride))? {
            match calls.send_cut(socket, batch.bytes(), blocking) {
                Ok(()) => {
                    used.cut += count as u64;
                    return Ok(count);
                }
                Err(trouble) => self.refused_or((calls, used), socket, trouble)?,
            }
        }
        calls.send_datagrams(socket, batch.bytes(), stride, blocking)
    }

    /// Whether datagrams of this number and length are to be handed over as one, which the socket is told how to cut.
    pub fn leaves_as_one<S: SystemCalls>(
        &mut self,
        (calls, used): (&mut S, &mut BatchUse),
        socket: &Socket,
        (count, stride): (usize, usize),
    ) -> Result<bool, Trouble> {
        if count <= 1 || self.cuts == Cuts::Refused {
            return Ok(false);
        }
        if self.cuts != Cuts::Into(stride) {
            if let Err(trouble) = calls.cut(socket, stride) {
                self.refused_or((calls, used), socket, trouble)?;
                return Ok(false);
            }
            self.cuts = Cuts::Into(stride);
        }
        Ok(true)
    }

    /// A batch did not leave: no other does where the system refuses batches, and any other trouble is told.
    pub fn refused_or<S: SystemCalls>(
        &mut self,
        (calls, used): (&mut S, &mut BatchUse),
        socket: &Socket,
        trouble: Trouble,
    ) -> Result<(), Trouble> {
        if !matches!(trouble, Trouble::Failed(errno) if is_batch_refused(errno)) {
            return Err(trouble);
        }
        used.refused += 1;
        self.cuts = Cuts::Refused;
        // Where it was never switched on, it need not be switched off.
        let _ = calls.cut(socket, 0);
        Ok(())
    }

    /// The first of what was not consumed.
    pub fn first_rest(&self) -> Option<Arrived> {
        self.rest.front().copied()
    }

    /// So many bytes of the first rest were consumed.
    pub fn consume(&mut self, consumed: usize) {
        if let Some(first) = self.rest.front_mut() {
            first.len -= consumed.min(first.len);
            if first.len == 0 {
                self.rest.pop_front();
            }
        }
    }
}
