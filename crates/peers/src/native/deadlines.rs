//! How long each step of the dialogue may take. Every wait has an end.

use pathscope_core::quantity::Period;
use pathscope_modes::groups::Test;

use crate::dialogue::STOP_TAKES;

/// From the connection to the hello, and from the hello to the welcome. Seconds on the worst path; a
/// person who typed the wrong port waits no longer.
pub(super) const HELLO: Period = Period::from_secs(10);
/// From a proposal to its answer: the server opens sockets and starts threads in between.
pub(super) const ACCEPT: Period = Period::from_secs(10);
/// Between two flows that attach. Not for all of them: a million take longer.
pub(super) const ATTACH: Period = Period::from_secs(15);
/// For all flows together: a million at two thousand a second. Each of so many has its share of it.
pub(super) const ATTACH_ALL: Period = Period::from_secs(500);
/// From a client's last flow to its start, where it starts with other servers: less than a server waits for it ([`ATTACH`]).
pub(super) const OTHERS: Period = Period::from_secs(12);
/// From start to started: the server's last flows may still be on their way to its dialogue.
pub(super) const START: Period = Period::from_secs(15);
/// Without a word from the other end a ping is sent.
pub(super) const KEEPALIVE: Period = Period::from_secs(1);
/// Without an answer to that ping the other end is lost: [`SILENCE`] in all. Counted from the ping, so
/// that an end that was itself suspended asks before it judges.
pub(super) const PONG: Period = Period(SILENCE.0 - KEEPALIVE.0);
/// A queue of several seconds in front of the control connection is a bad path; ten are a dead one.
pub(super) const SILENCE: Period = Period::from_secs(10);
/// The same where lanes come and go, and the control connection with one of them: it is there again some time
/// after its path is, since TCP asks less and less often. While data moves nobody asks at all.
pub(super) const ROAMING_PONG: Period = Period::from_secs(60);
/// A session that is lost while lanes come and go is asked for again for so long: a server that is started anew, or its
/// machine.
pub(super) const RESUME: Period = Period::from_secs(60);
/// A control connection that is lost is made anew within this, or its session is: with the silence before, a minute.
pub(super) const RENEW: Period = Period::from_secs(50);
/// A client that closed its connection without a word, or said what was damaged, has so long to come back: it knows that
/// it has to at once, or after the silence that it bears. One that was killed costs the server's session no more than that.
pub(super) const RETURN: Period = Period::from_secs(15);
/// From a return's opening to its answer.
pub(super) const ANSWER: Period = Period::from_secs(5);
/// A client that leaves waits so long for the server's word that it has heard so.
pub(super) const LEAVE: Period = Period::from_secs(3);
/// From the first report, or the last sign that data still moves, to the other report; from a stop to
/// both; from both to the end.
pub(super) const REPORT: Period = STOP_TAKES;
/// A client that wants nothing holds one of the server's sessions; a person can start another.
pub(super) const IDLE: Period = Period::from_secs(60);
/// Beyond its stated duration a test drains its queues, and a minute is more than any queue holds.
pub(super) const OVERTIME: Period = Period::from_secs(60);
/// After a refusal the client closes. The server waits a little, so that the refusal is not cut off by
/// a reset and `TIME_WAIT` falls to the client.
pub(super) const FAREWELL: Period = Period::from_secs(5);
/// Totals are gathered for this long before they are told: one message for many flows.
pub(super) const TOTALS: Period = Period::from_millis(5);

/// For how long the other end may be silent in a test, after it was asked for a sign of life.
pub(super) fn patience(test: &Test) -> Period {
    if test.roams() { ROAMING_PONG } else { PONG }
}
