//! A search for the highest rate without loss as it stands in the document. What follows from it is `search/decide`'s.

use pathscope_core::record::Limit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::Pattern;

/// A search for the highest rate at which everything that was sent was received. All rates are of payload, in bits a
/// second, of all flows together.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RateSearch {
    /// Who sent: the client (`push`) or the server (`pull`).
    pub pattern: Pattern,
    /// The search is over when the lowest rate that failed is above the highest that passed by at most this share of it.
    #[serde(default)]
    pub resolution: f64,
    /// The most that was to be tried, where that was stated.
    #[serde(default)]
    pub ceiling_bps: Option<u64>,
    /// How it ended.
    #[serde(default)]
    pub ended: SearchEnd,
    /// The highest rate without loss, as far as it is known; absent where every trial lost.
    #[serde(default)]
    pub found: Option<FoundRate>,
    /// The lowest rate of all trials at which something that was sent was not received, whatever followed from the trial.
    #[serde(default)]
    pub failed_bps: Option<u64>,
    /// What keeps the rate from being higher: `sender`, `configured_rate` (the ceiling), `network`, `receiver_socket`,
    /// `damage`, or `undetermined` where the receiver's system does not say what its socket dropped.
    #[serde(default)]
    pub limit: Option<Limit>,
    /// Each trial, in order: those of the measurements of the document, but for one that did not come to its planned
    /// end.
    #[serde(default)]
    pub trials: Vec<RateTrial>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// It did not come to its end.
    #[default]
    Unfinished,
    /// A rate was found and held for the whole duration.
    Found,
    /// Something was lost at every rate that a trial of this length can judge.
    EveryRateLost,
    /// After the most trials that one search makes.
    OutOfTrials,
    /// A trial told too little to go on.
    Unjudged,
    /// An end that this version does not know.
    #[serde(other)]
    Unknown,
}

/// The highest rate without loss.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FoundRate {
    /// Payload bits a second that were sent in the trial that shows it, all of which was received there.
    pub rate_bps: u64,
    /// Datagrams a second.
    pub datagrams_per_second: f64,
    /// Trials of the whole duration in which nothing was lost, at this rate or at most the resolution below it. 0: only a shorter one
    /// says so.
    pub confirmations: u64,
    /// All trials at those rates, of any length and whatever became of them.
    pub trials: u64,
    /// Datagrams that were sent in those trials and not received. More than 0: a trial was disturbed and asked once more.
    pub not_received: u64,
    /// The number of the trial that shows it, from 1.
    pub trial: u64,
    /// Datagrams of that trial, all of which were received.
    pub datagrams: u64,
    /// At a higher probability of loss than this, with independent losses, at least one of so many would have been lost
    /// 19 times in 20.
    pub loss_ratio_below: f64,
}

/// One trial: what was asked for, what was sent, and what became of it.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct RateTrial {
    /// Its number, from 1.
    pub number: u64,
    /// The rate that was asked for; absent: as fast as it goes.
    pub asked_bps: Option<u64>,
    /// Its length.
    pub duration_ns: u64,
    /// Whether that is the whole duration that the rate has to hold for.
    pub whole: bool,
    /// Datagrams that were sent.
    pub sent: u64,
    /// Datagrams that were due and did not leave.
    pub unsent: u64,
    /// The rate at which they were sent: what is judged.
    pub sent_bps: u64,
    /// Datagrams that were received: once, whole and right.
    pub received: Option<u64>,
    /// The rate at which they were received: in the receiver's window, and no more than of what was sent came.
    pub received_bps: Option<f64>,
    /// Datagrams that never came.
    pub lost: Option<u64>,
    /// Datagrams that came after the drain.
    pub late: u64,
    /// Datagrams that came otherwise than they were sent.
    pub corrupt: u64,
    /// Buffers that the receiver's socket dropped, where its system says so: at least as many of the lost ones were
    /// lost there.
    pub socket_drops: Option<u64>,
    /// Of the lost: at least so many were lost on the way, since those buffers cannot hold more.
    pub lost_on_the_way: Option<u64>,
    /// The longest that the sender was behind its schedule, where it had one. It makes up for that at once.
    pub send_lag_max_ns: Option<u64>,
    /// For how long an end's program stood still in it, of two the longer; 0: neither did, or nobody looked.
    pub stood_still_ns: u64,
    /// What follows from it.
    pub verdict: TrialVerdict,
}

/// What follows from a trial.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialVerdict {
    /// Everything that was sent was received.
    Passed,
    /// The same, and the sender did not reach the rate that was asked for: it passed at what was sent.
    SenderSlower,
    /// Something that was sent was not received.
    Lost,
    /// The same, and the sender was so far behind its schedule for a moment that it may be due to the burst that made up
    /// for it: the same is tried once more.
    Disturbed,
    /// A flow failed, nothing was sent, or the receiver's report is missing.
    #[default]
    Unjudged,
    /// A verdict that this version does not know.
    #[serde(other)]
    Unknown,
}

impl RateTrial {
    /// Whether everything that was sent was received.
    pub fn has_passed(&self) -> bool {
        matches!(self.verdict, TrialVerdict::Passed | TrialVerdict::SenderSlower)
    }

    /// Datagrams that were sent and not received: lost, late or damaged. 0 where nobody says what was received.
    pub fn not_received(&self) -> u64 {
        self.received.map_or(0, |received| self.sent.saturating_sub(received))
    }

    /// Where the larger part of what was lost was lost, or what else keeps it from having passed.
    pub fn limit(&self) -> Limit {
        let on_the_way = self.lost_on_the_way.unwrap_or(0);
        match (self.lost.unwrap_or(0), self.socket_drops) {
            (0, _) if self.corrupt > 0 => Limit::Damage,
            (_, Some(0)) => Limit::Network,
            (lost, Some(_)) if on_the_way > lost.saturating_sub(on_the_way) => Limit::Network,
            (1.., Some(_)) => Limit::ReceiverSocket,
            _ => Limit::Undetermined,
        }
    }
}
