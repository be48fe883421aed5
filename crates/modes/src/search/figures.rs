//! What a search for the highest rate without loss says, figure by figure.

use crate::figure::group;

const SEARCH: &str = "method/datagrams.md#the-highest-rate-without-loss";

group! {
    "search", "The highest rate without loss", told 3, at "rate_search", for ["rate"];
    "rate" as "rate found": BitRate Higher at "found.rate_bps", SEARCH, "the highest rate at which nothing was lost: payload sent";
    "per_second": PerSecond Higher at "found.datagrams_per_second", SEARCH, "datagrams a second at that rate";
    "confirmations" as "confirmed by": Count Higher at "found.confirmations", SEARCH, "trials of the whole duration that lost nothing there";
    "datagrams": Count Neither at "found.datagrams", SEARCH, "datagrams of the trial that shows it";
    "loss_share_below": Share Lower at "found.loss_ratio_below", SEARCH, "a higher probability of loss would have shown in that trial, 19 times in 20";
    "not_received" as "lost there": Count Lower at "found.not_received", SEARCH, "datagrams that were lost there in trials that were disturbed";
    "found.trials": Count Neither at "found.trials", SEARCH, "trials at that rate, whatever became of them";
    "found.trial": Count Neither at "found.trial", SEARCH, "the number of the trial that shows it";
    "failed" as "lost at": BitRate Higher at "failed_bps", SEARCH, "the lowest rate at which something was lost";
    "ceiling": BitRate Neither at "ceiling_bps", SEARCH, "the most that was to be tried";
    "resolution": Share Neither at "resolution", SEARCH, "how near to each other the two rates are to be";
    "trial.number": Count Neither at "trials[].number", SEARCH, "the number of a trial";
    "trial.asked": BitRate Neither at "trials[].asked_bps", SEARCH, "the rate that a trial asked for";
    "trial.sent_rate": BitRate Neither at "trials[].sent_bps", SEARCH, "the rate at which it sent, which is judged";
    "trial.received_rate": BitRate Higher at "trials[].received_bps", SEARCH, "the rate at which that was received";
    "trial.sent": Count Neither at "trials[].sent", SEARCH, "datagrams that it sent";
    "trial.unsent": Count Lower at "trials[].unsent", SEARCH, "datagrams that were due in it and did not leave";
    "trial.received": Count Neither at "trials[].received", SEARCH, "datagrams of it that were received";
    "trial.lost": Count Lower at "trials[].lost", SEARCH, "datagrams of it that never came";
    "trial.late": Count Lower at "trials[].late", SEARCH, "datagrams of it that came too late";
    "trial.corrupt": Count Lower at "trials[].corrupt", SEARCH, "datagrams of it that came otherwise than they were sent";
    "trial.socket_drops": Count Lower at "trials[].socket_drops", SEARCH, "buffers that the receiver's socket dropped in it";
    "trial.lost_on_the_way": Count Lower at "trials[].lost_on_the_way", SEARCH, "of the lost, so many at least were lost before the receiver";
    "trial.send_lag_max": Duration Lower at "trials[].send_lag_max_ns", SEARCH, "the longest that its sender was behind its schedule";
    "trial.stood_still": Duration Lower at "trials[].stood_still_ns", SEARCH, "how long an end's program stood still in it";
    "trial.duration": Duration Neither at "trials[].duration_ns", SEARCH, "its length";
}
