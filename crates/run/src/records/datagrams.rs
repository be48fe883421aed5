//! Datagram goodput at one end: its sockets before it runs, and what its flows came to.
//! What is counted, and how, is the mode's.

use std::sync::Arc;

use pathscope_core::id::Role;
use pathscope_core::record::{Caveat, FlowError, FlowErrorKind};
use pathscope_engines::Finished;
use pathscope_flow::Machine;
use pathscope_modes::datagrams::{DatagramFlow, DatagramTally, DatagramsPlan, DatagramsReport};
use pathscope_modes::goodput::{FEWEST_RECEIVES, FlowRates, FlowReceived};
use pathscope_os::batches;
use pathscope_os::sockets::Socket;

use crate::error::RunError;
use crate::session::settings::buffer_cut;

/// Flows that are told one by one.
const FLOWS_TOLD: usize = 1_000;

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
