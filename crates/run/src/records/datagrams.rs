//! Datagram goodput at one end: its sockets before it runs, what its flows came to, and what both ends' words say.
//! What is counted, and how, is the mode's.

use std::sync::Arc;

use pathscope_core::id::Role;
use pathscope_core::quantity::{count, counted, duration_ns, ratio, total, were};
use pathscope_core::record::{Caveat, Check, FlowError, FlowErrorKind};
use pathscope_engines::Finished;
use pathscope_flow::Machine;
use pathscope_modes::datagrams::{
    DatagramCorruption, DatagramFlow, DatagramTally, DatagramsPlan, DatagramsReport,
    DatagramsSummary,
};
use pathscope_modes::goodput::{FEWEST_RECEIVES, FlowRates, FlowReceived, Verify};
use pathscope_os::batches;
use pathscope_os::sockets::Socket;

use crate::error::RunError;
use crate::records::assemble::{UNKNOWN_DATA, unknown_end};
use crate::session::settings::buffer_cut;

/// Flows that are told one by one.
const FLOWS_TOLD: usize = 1_000;
/// A sender that is behind its schedule by more than this at its 99th percentile sends in bursts.
const LAG_TOLD_NS: u64 = 10_000_000;

/// What the flows of one end came to, as it becomes known.
#[derive(Debug, Default)]
pub(crate) struct DatagramFindings {
    tally: DatagramTally,
    report: DatagramsReport,
    /// What each flow received in the window of all.
    received: Vec<FlowReceived>,
    /// Room asked for in each receiving socket, and the least that one was granted.
    room_bytes: Option<(u64, u64)>,
}

impl DatagramFindings {
    /// Makes the sockets ready, or says what of the plan they cannot carry.
    pub fn prepare(
        &mut self,
        plan: &DatagramsPlan,
        role: Role,
        sockets: &[Arc<Socket>],
    ) -> Result<(), RunError> {
        let receives = plan.sends(if role == Role::Client { Role::Server } else { Role::Client });
        let wanted = plan.receive_buffer().0;
        for socket in sockets {
            if plan.sends(role) {
                // Where the system cannot, it cuts them in pieces, which is told by nobody.
                let _ = batches::keep_whole(socket);
            }
            // Whoever sends: most paths take as much there as back. Where one does not, its sender's flow fails.
            if role == Role::Client {
                let longest = batches::longest_payload(socket);
                if let Some(longest) =
                    longest.filter(|&longest| u64::from(longest) < plan.datagram_bytes.0)
                {
                    return Err(RunError::DatagramTooLong {
                        datagram: plan.datagram_bytes.0,
                        longest: longest.into(),
                    });
                }
            }
            if receives {
                // What the system does not grant is told.
                let _ =
                    socket.enlarge_receive_buffer(usize::try_from(wanted).unwrap_or(usize::MAX));
                // It counts its own overhead in, as much again.
                let granted = socket.receive_buffer_bytes().map(|granted| granted as u64 / 2);
                let least = self.room_bytes.map_or(u64::MAX, |(_, least)| least);
                self.room_bytes = granted.map(|granted| (wanted, granted.min(least)));
            }
        }
        Ok(())
    }

    /// Adds what a worker counted since its last report.
    pub fn count(&mut self, tally: &DatagramTally) {
        self.tally.merge(tally);
    }

    /// Adds what a worker came to.
    pub fn add(&mut self, finished: &Finished<DatagramFlow>) {
        let report = &mut self.report;
        report.window.merge(&finished.shared.window());
        report.corruptions.extend_from_slice(finished.shared.corruptions());
        for (flow, sockets) in &finished.flows {
            let mut facts = flow.facts();
            // The first of them has none to be summed up with.
            let is_first = report.completed + report.failed == 0;
            let sum = if is_first { Some(0) } else { report.expected };
            report.expected = sum.zip(facts.expected).map(|(sum, more)| sum.saturating_add(more));
            report.lost = report.lost.saturating_add(facts.lost);
            report.bursts.merge(&flow.bursts().cloned().unwrap_or_default());
            if !flow.phase().is_over() {
                let text = "ended before it was known what would still come".to_owned();
                let unknown = FlowError { kind: FlowErrorKind::Unknown, text, errno: None };
                facts.error.get_or_insert(unknown);
            }
            match &mut facts.error {
                Some(error) => {
                    report.failed += 1;
                    let longest =
                        sockets.first().and_then(|socket| batches::longest_payload(socket));
                    // One that the system refused, not one whose receiver did.
                    let is_ours = error.kind == FlowErrorKind::Network && error.errno.is_some();
                    if let Some(longest) = longest.filter(|_| is_ours) {
                        error.text =
                            format!("{}; its path takes {longest} bytes at most", error.text);
                    }
                }
                None => report.completed += 1,
            }
            self.received.push(FlowReceived {
                flow: facts.flow,
                bytes: flow.window().bytes,
                is_brief: facts.received < u64::from(FEWEST_RECEIVES),
                // All flows are of one length: where it is too short for a rate, it is so for most.
                is_whole: false,
            });
            if report.flows.len() < FLOWS_TOLD {
                report.flows.push(facts);
            } else {
                report.flows_omitted += 1;
            }
        }
    }

    /// A worker could not go on.
    pub fn lose(&mut self, flows: u64) {
        self.report.failed += flows;
    }

    /// What is said at the end; once.
    pub fn report(&mut self, socket_drops: Option<u64>) -> DatagramsReport {
        let mut report = std::mem::take(&mut self.report);
        self.tally.add_to(&mut report);
        report.socket_drops = socket_drops;
        report.receive_buffer_bytes = self.room_bytes.map(|(_, granted)| granted);
        report.flows.sort_by_key(|flow| flow.flow);
        if report.received == 0 {
            return report;
        }
        let FlowRates { rates, too_short } =
            FlowRates::over(report.window.length_ns(), &std::mem::take(&mut self.received));
        report.rates.too_short = too_short;
        for (flow, rate) in rates {
            report.rates.record(rate);
            if let Ok(place) = report.flows.binary_search_by_key(&flow, |facts| facts.flow) {
                report.flows[place].received_bps = Some(rate);
            }
        }
        report
    }

    /// Where the size was left to us and the kernel granted less. Of what the user asked for, the group tells.
    pub fn caveat(&self, plan: &DatagramsPlan, role: Role) -> Option<Caveat> {
        if plan.sockets.receive_buffer_bytes.is_some() {
            return None;
        }
        let (wanted, granted) = self.room_bytes.filter(|(wanted, granted)| granted < wanted)?;
        Some(buffer_cut(role, ("receive", "net.core.rmem_max"), (wanted, granted)))
    }
}

/// What had to hold of both ends' words.
pub(crate) fn checks(
    plan: &DatagramsPlan,
    client: &DatagramsReport,
    server: Option<&DatagramsReport>,
) -> Vec<Check> {
    let ends = || [Some(client), server].into_iter().flatten();
    let sum = |field: fn(&DatagramsReport) -> u64| total(ends().map(field));
    let (corrupt, received) = (sum(|end| end.corrupt), sum(|end| end.received));
    let first = ends().flat_map(|end| &end.corruptions).next();
    let is_unknown = server.is_none() && corrupt == 0 && plan.sends(Role::Client);
    let verified = Check {
        name: "verified".to_owned(),
        passed: corrupt == 0 && !is_unknown,
        text: match first {
            _ if is_unknown => UNKNOWN_DATA.to_owned(),
            _ if corrupt == 0 && plan.verify == Verify::Sampled => format!(
                "of {} received, one byte in 16 was checked, and none was wrong",
                counted(received, "datagram")
            ),
            _ if corrupt == 0 => match received {
                0 => "no datagram came, so none was wrong".to_owned(),
                1 => "the 1 received datagram is what was sent".to_owned(),
                received => {
                    format!("all {} received datagrams are what was sent", count(received))
                }
            },
            first => format!(
                "{} not what was sent; {}",
                counted(corrupt, "datagram"),
                first.map_or_else(String::new, DatagramCorruption::text)
            ),
        },
    };
    let error = ends().flat_map(|end| &end.flows).find_map(|flow| flow.error.as_ref());
    let failed = ends().map(|end| end.failed).max().unwrap_or(0);
    let completed = Check {
        name: "completed".to_owned(),
        passed: failed == 0 && server.is_some(),
        text: match error {
            Some(error) => format!("{} failed: {}", counted(failed, "flow"), error.text),
            None if failed > 0 => format!("{} failed", counted(failed, "flow")),
            None if server.is_none() => unknown_end("flow", plan.connections),
            None => match plan.connections {
                1 => "the flow came to its end".to_owned(),
                flows => format!("all {} flows came to their end", count(flows.into())),
            },
        },
    };
    let mut checks = vec![completed];
    if plan.verify != Verify::Off {
        checks.insert(0, verified);
    }
    checks.extend(server.map(|server| counts_agree(client, server)));
    checks
}

/// What each receiver was told is what the sender says, and no more arrived.
fn counts_agree(client: &DatagramsReport, server: &DatagramsReport) -> Check {
    let agree = |sender: &DatagramsReport, receiver: &DatagramsReport| {
        receiver.expected == Some(sender.sent) && receiver.received <= sender.sent
    };
    let passed = agree(client, server) && agree(server, client);
    let told = |end: &DatagramsReport| end.expected.map_or_else(|| "?".to_owned(), count);
    let (up, down) = (count(client.sent), count(server.sent));
    let text = if passed {
        format!("both ends count the same: {} up, {down} down", counted(client.sent, "datagram"))
    } else {
        format!(
            "sent and told differ: of datagrams {up} and {} up, {down} and {} down",
            told(server),
            told(client)
        )
    };
    Check { name: "counts_agree".to_owned(), passed, text }
}

/// What a reader must know of the figures.
pub(crate) fn doubts(plan: &DatagramsPlan, summary: &DatagramsSummary) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    for (name, way) in summary.directions() {
        if let (Some(rate), Some(sent), Some(unsent)) = (plan.rate_bps, way.sent, way.unsent)
            && unsent > 0
        {
            let reached = sent as f64 / sent.saturating_add(unsent) as f64;
            let text = format!(
                "{rate} was asked for, and the sender of '{name}' reached {} of it: {} {} due and never left",
                ratio(reached),
                counted(unsent, "datagram"),
                were(unsent)
            );
            caveats.push(Caveat::new("rate_not_reached", text));
        }
        let lag = way.send_lag.as_ref().and_then(|lag| lag.percentile(99.0)?.value_ns);
        if let Some(lag) = lag.filter(|&lag| lag > LAG_TOLD_NS) {
            let means = match way.lost {
                Some(0) => "these bursts were not the rate that was asked for",
                Some(_) => "part of what was lost may be due to these bursts",
                None => "if any was lost, these bursts may be why",
            };
            let text = format!(
                "one batch in a hundred of '{name}' left {} or more after its time, and what was due by then with it: \
                 {means}",
                duration_ns(lag)
            );
            caveats.push(Caveat::new("send_lag", text));
        }
    }
    caveats
}

#[cfg(test)]
mod tests {
    use pathscope_core::Wait;
    use pathscope_core::quantity::{BitRate, Bytes, Period};
    use pathscope_core::stats::{LatencyFigures, LatencyHistogram};
    use pathscope_modes::datagrams::{DatagramDirection, Offload};
    use pathscope_modes::goodput::{Extent, Pattern};
    use pathscope_modes::sockets::SocketPlan;

    use super::*;

    fn plan() -> DatagramsPlan {
        DatagramsPlan {
            pattern: Pattern::Push,
            connections: 1,
            extent: Extent::DurationNs(Period::from_secs(1)),
            datagram_bytes: Bytes(1_000),
            rate_bps: Some(BitRate(1_000_000)),
            warm_up_ns: Period(0),
            verify: Verify::Full,
            offload: Offload::Auto,
            engine: None,
            wait: Wait::Auto,
            sockets: SocketPlan::default(),
            client_cpus: Vec::new(),
            server_cpus: Vec::new(),
        }
    }

    /// A sender that made up for two seconds in a burst.
    fn told(change: impl FnOnce(&mut DatagramDirection)) -> Vec<String> {
        let mut lag = LatencyHistogram::new();
        lag.record_many(2_000_000_000, 1_000);
        let mut way = DatagramDirection {
            sent: Some(1_000),
            unsent: Some(0),
            send_lag: Some(LatencyFigures::of(&lag)),
            ..DatagramDirection::default()
        };
        change(&mut way);
        let summary = DatagramsSummary { up: Some(way), ..DatagramsSummary::default() };
        doubts(&plan(), &summary).into_iter().map(|caveat| caveat.text).collect()
    }

    #[test]
    fn of_loss_is_spoken_where_there_was_some() {
        for (lost, words) in [
            (Some(0), "with it: these bursts were not the rate that was asked for"),
            (Some(1), "with it: part of what was lost may be due to these bursts"),
            // The receiver has not said.
            (None, "with it: if any was lost, these bursts may be why"),
        ] {
            let told = told(|way| way.lost = lost);
            assert!(told.len() == 1 && told[0].ends_with(words), "{lost:?}: {told:?}");
        }
    }

    #[test]
    fn datagrams_are_counted_as_they_are_spelt() {
        let unsent = |unsent| told(|way| (way.unsent, way.send_lag) = (Some(unsent), None)).pop();
        assert_eq!(unsent(0), None);
        for (count, words) in [
            (1, ": 1 datagram was due and never left"),
            (2, ": 2 datagrams were due and never left"),
            (12_345, ": 12,345 datagrams were due and never left"),
        ] {
            assert!(unsent(count).is_some_and(|text| text.ends_with(words)), "{count}");
        }
        let checked = |count| {
            let sender = DatagramsReport { sent: count, expected: Some(0), ..Default::default() };
            let receiver =
                DatagramsReport { received: count, expected: Some(count), ..Default::default() };
            let all = checks(&plan(), &sender, Some(&receiver));
            all.into_iter().map(|check| (check.passed, check.text)).collect::<Vec<_>>()
        };
        for (count, received, agree) in [
            (0, "no datagram came, so none was wrong", "0 datagrams up, 0 down"),
            (1, "the 1 received datagram is what was sent", "1 datagram up, 0 down"),
            (2, "all 2 received datagrams are what was sent", "2 datagrams up, 0 down"),
            (
                12_345,
                "all 12,345 received datagrams are what was sent",
                "12,345 datagrams up, 0 down",
            ),
        ] {
            let said = checked(count);
            let has = |words: &str| said.iter().any(|(passed, it)| *passed && it.ends_with(words));
            assert!(has(received) && has(agree), "{count}: {said:?}");
        }
    }
}
