//! Both dialogues, against each other and against what strangers say, in time that is counted and never waited for.

mod pair;
mod rates;
mod recorded;
mod strangers;
mod transcripts;

use pathscope_core::Tick;
use pathscope_core::quantity::Period;
use pathscope_core::record::{Host, Remarks};
use pathscope_flow::{Dialogue, Output};
use pathscope_modes::groups::Test;
use pathscope_modes::load::{Extent, Pattern};
use pathscope_modes::registry::{EndInterval, EndReport, Plan};

use super::{Client, Server, cookie_of};
use crate::PeerError;
use crate::dialogue::ServerSettings;
use crate::limits::Limits;
use crate::native::fixtures;
use pathscope_core::id::Token;

const SECOND_NS: u64 = 1_000_000_000;
const NOW: Tick = Tick::from_nanos(1_000);

/// So long after the begin.
const fn at(milliseconds: u64) -> Tick {
    NOW.plus_nanos(milliseconds * 1_000_000)
}

/// Ten seconds of a load over TCP, one way, without probes.
fn load(pattern: Pattern, connections: u32) -> Test {
    let mut test = fixtures::load(connections);
    test.beside.clear();
    if let Plan::Goodput(plan) = &mut test.plan {
        plan.pattern = pattern;
        plan.extent = Extent::DurationNs(Period::from_secs(10));
    }
    test
}

fn client() -> Client {
    client_saying(Remarks::default())
}

/// One that says this of each test beside.
fn client_saying(remarks: Remarks) -> Client {
    let said = ("pathscope".to_owned(), remarks);
    Client::new(cookie_of(&[7; 32]), Token([3; 16]), said, NOW)
}

fn settings(limits: Limits) -> ServerSettings {
    ServerSettings {
        identity: None,
        host: Host::default(),
        limits,
        congestion_controls: Vec::new(),
        wants_ends: false,
        stated: None,
        rate: None,
        is_of_several: false,
    }
}

fn server(limits: Limits) -> Server {
    Server::new(settings(limits), Token([4; 16]), NOW)
}

/// What is asked for now: what is said in hexadecimal, anything else as a word.
fn asked<D>(end: &mut D) -> Vec<String>
where
    D: Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error = PeerError>,
{
    let word = |output: Output<D>| match output {
        Output::Send(bytes) if bytes.len() > 16 => format!("{} bytes", bytes.len()),
        Output::Send(bytes) => {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
        }
        Output::Open { .. } => "open".to_owned(),
        Output::Prepare { .. } => "prepare".to_owned(),
        Output::Start => "start".to_owned(),
        Output::Tell { flow: None, event, .. } => format!("all {event:?}"),
        Output::Tell { flow: Some(flow), event, .. } => format!("{flow} {event:?}"),
        Output::PeerReport(_) => "report".to_owned(),
        Output::TestOver => "test over".to_owned(),
        Output::End(Ok(())) => "end".to_owned(),
        Output::End(Err(error)) => error.to_string(),
        _ => "what nobody hears".to_owned(),
    };
    std::iter::from_fn(|| end.output()).map(word).collect()
}
