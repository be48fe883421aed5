//! How bytes move: engines that carry out what machines want, and never read a payload.
//!
//! An engine runs one [`Worker`]: flows of one machine type on one thread, until all are over. What
//! every engine does alike stands in `event_loop`: asking for wants, sending and receiving, timers, reports,
//! commands. What tells engines apart is how they find out which socket to turn to next, a folder each:
//!
//! - [`plain`] tries each socket, or blocks in the call itself: for one flow, or few;
//! - [`epoll`] asks the kernel which sockets are ready: for any number;
//! - [`uring`] hands operations to the kernel before their sockets are ready, many with one call.
//!
//! The first two do an operation when its socket is ready. [`completion`] is for engines that do as the last.
//!
//! A server with many light sessions has [`SharedThread`]s, each of which runs workers of many by `epoll`.
//!
//! [`registry`] is the one place that lists them. How a worker waits ([`Wait`](pathscope_core::Wait))
//! is a choice of its own. Every system call that moves bytes goes through [`SystemCalls`], so that the
//! contract tests can make each of them fail.

// Of the engines, one shares memory with the kernel.
#![deny(unsafe_code)]

mod calls;
pub mod completion;
pub mod epoll;
mod event_loop;
mod inbox;
mod lanes;
pub mod plain;
mod preface;
pub mod registry;
mod timers;
pub mod uring;
mod worker;

pub use calls::{Blocking, Kernel, SystemCalls, Trouble};
pub use epoll::{Part, SharedThread};
pub use inbox::{
    Command, Inbox, LaneChange, Notice, Outbox, Remote, Sockets, worker_inbox, worker_inbox_of,
};
pub use lanes::Lanes;
pub use preface::{Preface, Unheard};
pub use registry::EngineKind;
pub use worker::{
    Departed, Ended, EngineError, Finished, Made, ReportOf, Succession, Successor, Terms, Worker,
    room_bytes,
};
