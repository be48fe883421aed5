//! Machines against each other in virtual time: exact, repeatable, no sleep.
//!
//! A [`Sim`] keeps the contract of the seam as an engine does: `Event::Start` first, one `want` after
//! each call, `gather` or `fill` followed by `sent`, what was not consumed presented again, back-pressure
//! where nothing is wanted. Where sends take a while ([`Flights`]), a machine is shown what comes meanwhile and called for
//! nothing else. Machines take no time; links do. A machine that breaks the contract ends the
//! run with a [`Breach`]; a deadlock ends it at once with the list of who waits for what.
//!
//! ```
//! use pathscope_core::Tick;
//! use pathscope_core::id::{FlowId, Role};
//! use pathscope_flow::sim::{Action, Chunks, Conditions, Edit, Link, Sim};
//! use pathscope_flow::{Machine, Transport};
//!
//! /// Whatever happens to one stream of a client and a server, both of them end.
//! fn survives<A: Machine, B: Machine>(
//!     flow: (A, A::Shared, B, B::Shared),
//!     happens: impl FnOnce(&mut Sim<A, B>),
//! ) -> u64 {
//!     let (client, client_shared, server, server_shared) = flow;
//!     // 125 µs each way; each receive brings 1 to 700 bytes, whatever was written.
//!     let mut conditions = Conditions::over(Link::new(125_000));
//!     conditions.reads = Chunks::Random { seed: 1, max: 700 };
//!     let mut sim = Sim::new(conditions, client_shared, server_shared);
//!     sim.connect(client, server, Transport::Stream);
//!     sim.tell_totals(125_000);
//!     happens(&mut sim);
//!     let outcome = sim.run(Tick::from_nanos(10_000_000_000));
//!     assert!(outcome.is_over(), "{outcome}");
//!     outcome.operations
//! }
//!
//! fn survives_everything<A: Machine, B: Machine>(flow: impl Fn() -> (A, A::Shared, B, B::Shared)) {
//!     let first = FlowId(0);
//!     let operations = survives(flow(), |_| {});
//!     for operation in 0..operations {
//!         let reset = Action::Reset { flow: first, errno: 104 };
//!         survives(flow(), |sim| sim.before_operation(operation, reset));
//!     }
//!     survives(flow(), |sim| sim.at(Tick::from_nanos(1_000), Action::Stop { role: Role::Client }));
//!     survives(flow(), |sim| {
//!         sim.edit(first, Role::Client, Edit::Xor { offset: 4_711, mask: 0x10 });
//!     });
//! }
//! ```
//!
//! What a machine has to do here, and any engine may rely on: it asks for its own close, also when it has
//! failed (an open socket that nobody reads stalls the other end for ever); it learns of the end of a
//! stream only while it wants to receive or after `Close::Graceful`; it sends nothing with or after a
//! close. What it consumed nothing of comes again with more bytes, or after another event or send.
//!
//! Not modelled: congestion, acknowledgements, headers, lanes that come and go (tell a machine of them
//! with [`Action::Tell`]), and the time that processors take.

mod answer;
mod bytes;
mod chance;
mod conditions;
mod datagram;
mod end;
mod flight;
mod offer;
mod outcome;
mod pipe;
mod script;
mod simulator;
mod site;
mod stream;
mod transfer;
mod transit;

mod world;

#[cfg(test)]
mod tests;

pub use conditions::{Chunks, Conditions, Ends, Flights, Link};
pub use outcome::{Breach, Ended, Outcome, Traffic, Waiting};
pub use script::{Action, Edit, Fate, Passing, Weather};
pub use simulator::Sim;
