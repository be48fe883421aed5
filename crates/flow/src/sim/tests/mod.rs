//! The simulator's own tests, on toy machines: times and counts are exact.

mod datagrams;
mod faults;
mod flights;
mod seam;
mod streams;
mod toys;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};

use super::{Conditions, Link, Outcome, Sim};
use crate::{Machine, Transport};

const FIRST: FlowId = FlowId(0);
const CLIENT: Role = Role::Client;
const SERVER: Role = Role::Server;

/// Far beyond what any of these tests simulates.
const FOREVER: Tick = Tick::from_nanos(1_000_000_000_000);

const fn micros(microseconds: u64) -> Tick {
    Tick::from_nanos(microseconds * 1_000)
}

/// A simulation of one stream.
fn stream<A, B>(conditions: Conditions, client: A, server: B) -> Sim<A, B>
where
    A: Machine<Shared = toys::Log>,
    B: Machine<Shared = toys::Log>,
{
    let mut sim = Sim::new(conditions, toys::Log::default(), toys::Log::default());
    sim.connect(client, server, Transport::Stream);
    sim
}

/// Links of 250 µs each way.
const fn quarter_millisecond() -> Conditions {
    Conditions::over(Link::new(250_000))
}

fn run_to_its_end<A: Machine, B: Machine>(sim: &mut Sim<A, B>) -> Outcome {
    let outcome = sim.run(FOREVER);
    assert!(outcome.is_over(), "{outcome}");
    outcome
}
