//! What can be found of a search for a rate beside its figures.

use pathscope_core::findings;
use pathscope_core::record::Limit;

findings! {
    /// What to mind of what was found.
    pub(crate) enum SearchCaveat {
        EveryRateLost: "every_rate_lost", "no rate without loss was found",
            "a longer --duration tries lower rates; see whether something is lost at any rate";
        OutOfTrials: "search_out_of_trials", "the search ended after the most trials that it makes: losses come and go",
            "measure at a fixed --rate for longer, and see what is lost over time";
        TrialNotJudged: "trial_not_judged", "the search ended at a trial that cannot be judged",
            "read why its flow failed or its report is missing, and repeat";
        Unfinished: "search_unfinished", "the search did not come to its end: what was found so far is told",
            "let it come to its end";
        TrialsDisturbed: "trials_disturbed", "something was lost at a rate that is not above the one that was found, and later trials there lost nothing",
            "repeat on a machine with nothing else to do; what was lost while a sender was late is its own";
        SenderBursts: "sender_bursts", "at the lowest rate with loss the sender was late and made up for it at once: the path may carry more",
            "give the sender less to do, or a processor of its own (--cpu)";
        QueueGrows: "queue_grows", "nothing was lost, but less came than was sent: a queue took the rest and would have filled",
            "a longer --duration finds a lower rate";
    }
}

/// What its verdicts can name.
pub(crate) const LIMITS: &[Limit] = &[
    Limit::ConfiguredRate,
    Limit::Sender,
    Limit::ReceiverSocket,
    Limit::Network,
    Limit::Damage,
    Limit::Undetermined,
];
