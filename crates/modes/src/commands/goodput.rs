//! `pathscope goodput`: over connections one mode, over datagrams another, or a search for the highest rate of these.

use clap::Args;
use pathscope_core::error::Failure;
use pathscope_core::quantity::Frequency;

use crate::command::{Command, Facts, Files, JournalArgs, JournalSubject, Prepared, Refusal};
use crate::datagrams::DatagramArgs;
use crate::follow_up::Tests;
use crate::goodput::GoodputPlan;
use crate::groups::Test;
use crate::latency::LatencyPlan;
use crate::limits;
use crate::load::LoadArgs;
use crate::registry::Plan;
use crate::search::Search;

/// Probes beside a load, unless another number is asked for.
const PROBE_RATE: Frequency = Frequency(25);

/// What was typed.
#[derive(Args, Debug)]
pub struct GoodputCommand {
    #[arg(
        required = true,
        value_name = "HOST",
        help = "Server, as HOST, HOST:PORT or [IPV6]:PORT; several names or addresses of one server: connections \
                go to all of its addresses, in turns; names of several servers: the test runs with each, from one start on"
    )]
    hosts: Vec<String>,
    /// What is measured
    #[command(flatten)]
    common: LoadArgs,
    /// What carries it
    #[command(flatten)]
    datagrams: DatagramArgs,
    #[arg(
        long, value_name = "N/s", conflicts_with = "no_probe",
        help = format!("Latency probes a second beside the load [default: {PROBE_RATE}]")
    )]
    probe_rate: Option<Frequency>,
    /// With a --peer that has no place for latency probes: this pathscope server answers them, beside the load
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with = "no_probe")]
    probe_server: Option<String>,
    /// No latency probes beside the load
    #[arg(long)]
    no_probe: bool,
    /// What is written while it runs
    #[command(flatten)]
    journal: JournalArgs,
}

impl Command for GoodputCommand {
    type Tests = Tests;

    fn prepare(self, facts: &Facts<'_>) -> Result<Prepared<Tests>, Refusal> {
        let Self { hosts, mut common, datagrams, journal, probe_server, .. } = self;
        common.sockets.settle(facts.machine)?;
        let instead = "leave probes out with --no-probe";
        let (mut probe_rate, mut announcement) = (self.probe_rate, None);
        let is_answered = self.no_probe || facts.servers.have_probes(&hosts)?;
        if let (Some(server), true) = (&probe_server, is_answered) {
            let text = format!(
                "--probe-server {server}: the server of the load answers probes itself; leave it out"
            );
            return Err(Refusal { failure: Failure::Usage, text });
        }
        if !is_answered && probe_server.is_none() {
            if let Some(rate) = probe_rate {
                let text = format!(
                    "--probe-rate {rate}: such a server cannot tell probes from the connections of the load; name a pathscope server \
                     beside it with --probe-server, or leave this out"
                );
                return Err(Refusal { failure: Failure::Usage, text });
            }
            let text = "no latency probes: such a server cannot tell them from the connections of the load; a pathscope server beside \
                        it can answer them: --probe-server HOST";
            announcement = Some(text.to_owned());
        } else if !self.no_probe {
            probe_rate = Some(probe_rate.unwrap_or(PROBE_RATE));
        }
        let probe = probe_rate.map(|rate| LatencyPlan::probe_rate(rate, instead));
        let probe = probe.transpose()?.map(LatencyPlan::probe);
        if common.seed.is_none() && common.draws() {
            // 48 bits, which every reader of JSON reads exactly.
            common.seed = Some((facts.random)()? >> 16);
        }
        let finds_rate = datagrams.find_rate;
        let is_udp = datagrams.is_udp()?;
        let plan: Plan = if is_udp {
            datagrams.into_plan(common)?.into()
        } else {
            GoodputPlan::of(common)?.into()
        };
        if is_udp {
            let place = "over UDP: such files are of connections";
            let typed = journal.named().map(|(option, file)| (option, file.is_some()));
            limits::no_effect(place, "leave it out", &typed)?;
        }
        let test = Test::new(plan, probe, facts.report_every);
        let tests = if finds_rate {
            let (search, first) = Search::begin(&test)?;
            Tests { follow_up: Some(Box::new(search)), ..vec![first].into() }
        } else {
            vec![("goodput".to_owned(), test)].into()
        };
        let journal = Some((JournalSubject::Connections, journal));
        let files = Files { journal, ..Files::default() };
        Ok(Prepared { hosts, tests, announcement, probe_server, files })
    }
}
