//! What speaks against a verdict: one that anything does is not sure.
//!
//! Figures near their thresholds, of the rule that held or of one before it: the verdict would be another if all thresholds
//! were a little stricter or laxer. And what keeps figures from meaning what they mean on a machine at rest: processors that
//! threads waited for or that a hypervisor took, and few looks at sockets.

use pathscope_core::quantity::{counted, ratio};
use pathscope_core::record::Limit;

use super::bounds::{CPU_WAITS, Strictness};
use super::facts::Facts;
use crate::verdicts::doubt_by_stolen;

/// Fewer looks than these are a short run's: a second of one connection.
const FEW_LOOKS: u64 = 20;

impl Facts {
    /// All that speaks against this limit, which is what the rules say.
    pub fn doubts(&self, limit: Limit) -> Vec<String> {
        let near = [Strictness::Lax, Strictness::Strict];
        let near = near.map(|strictness| Self { strictness, ..self.clone() }.limit());
        let near = near.into_iter().filter(|&other| other != limit).map(doubt_by);
        let mut doubts: Vec<String> = near.chain(self.disturbance(limit)).collect();
        // The stricter and the laxer thresholds may say the same.
        doubts.dedup();
        doubts
    }

    /// What spoils the figures themselves.
    fn disturbance(&self, limit: Limit) -> impl Iterator<Item = String> {
        let is_of_cpu = matches!(limit, Limit::SenderCpu | Limit::ReceiverCpu);
        let is_of_stop = matches!(limit, Limit::SenderStopped | Limit::ReceiverStopped);
        let rests_on_looks = !is_of_cpu && !is_of_stop;
        let waits = [self.sender_wait, self.receiver_wait].into_iter().flatten().reduce(f64::max);
        let waits = waits.filter(|&wait| wait >= CPU_WAITS && rests_on_looks);
        let waits = waits
            .map(|wait| format!("a thread waited for a processor for {} of the time", ratio(wait)));
        let stolen = doubt_by_stolen(self.stolen);
        let looks = self.looks.filter(|&looks| rests_on_looks && looks < FEW_LOOKS);
        let looks =
            looks.map(|looks| format!("{} at the sockets is little", counted(looks, "look")));
        let unseen = self
            .is_cost_unseen(limit)
            .then(|| "what came meanwhile may have been taken in all the same".to_owned());
        let all = [waits, stolen, looks, unseen].into_iter().flatten();
        all.filter(move |_| limit != Limit::ConfiguredRate)
    }
}

/// What it means that another threshold would have said this.
fn doubt_by(other: Limit) -> String {
    let nearly = match other {
        Limit::ConfiguredRate => "the configured rate was nearly reached",
        Limit::ConfiguredPauses => "the configured pauses come near",
        Limit::Turns => "the turns come near",
        Limit::SenderStopped => "the sender's program stood still for a while",
        Limit::ReceiverStopped => "the receiver's program stood still for a while",
        Limit::SenderCpu => "the sender's CPU was nearly used up",
        Limit::ReceiverCpu => "the receiver's CPU was nearly used up",
        Limit::ReceiveWindow => "the receiver's window held it at times",
        Limit::SendBuffer => "the send buffer held it at times",
        Limit::Network => "the path held it at times",
        Limit::Sender => "the sender gave its sockets nothing at times",
        _ => "its figures are near their thresholds",
    };
    nearly.to_owned()
}
