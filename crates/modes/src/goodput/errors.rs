//! What a goodput flow says when it fails. Off the hot path.

use pathscope_core::quantity::{bytes, count, counted};
use pathscope_core::record::{FlowError, FlowErrorKind};

use crate::pattern::Corruption;

/// The system or the path failed.
fn network(text: impl Into<String>) -> FlowError {
    FlowError { kind: FlowErrorKind::Network, text: text.into(), errno: None }
}

/// The other end broke the rules.
fn protocol(text: String) -> FlowError {
    FlowError { kind: FlowErrorKind::Protocol, text, errno: None }
}

/// Of what ends a connection when all has been sent, and the server has not said yet how much was right: when that was.
pub(super) const BEFORE_COUNT: &str = "before both ends had agreed on their counts";

/// The connection broke at this point. The system's name of the error is added by whoever can ask the system.
pub(super) fn reset(errno: i32, when: &str) -> FlowError {
    let text = format!("the connection broke (error {errno}) {when}");
    FlowError { errno: Some(errno.to_string()), ..network(text) }
}

/// The other end says that it failed there, and this end has not found why.
pub(super) fn failed_there(when: &str) -> FlowError {
    network(format!("the connection failed at the other end {when}"))
}

/// The other end has sent more than came, and nothing more comes.
pub(super) fn stalled(received: u64, end: Option<u64>) -> FlowError {
    let end = end.unwrap_or(received);
    let text = format!(
        "{} of {} bytes that the other end sent never came: nothing did for 10 s",
        count(end.saturating_sub(received)),
        count(end)
    );
    network(text)
}

/// It was ended before its time, since nothing moved any more or nobody waited any longer.
pub(super) fn unfinished(sent: Progress, received: Progress) -> FlowError {
    let missing = |(done, end): Progress, what: &str| {
        let end = end.filter(|&end| done < end)?;
        let (rest, end) = (count(end - done), count(end));
        Some(format!("{rest} of {end} bytes had not {what} when the test was ended"))
    };
    let (of_sent, of_received) = (bytes(sent.0), bytes(received.0));
    let text = missing(received, "come").or_else(|| missing(sent, "been sent"));
    network(text.unwrap_or_else(|| {
        format!(
            "it was still under way when the test was ended, after {of_sent} sent and {of_received} received"
        )
    }))
}

/// Bytes of one direction, and where it ends, where that is known.
pub(super) type Progress = (u64, Option<u64>);

/// The other end closed before it was to.
pub(super) fn closed_early(when: &str) -> FlowError {
    network(format!("the other end closed the connection {when}"))
}

/// The other end says it sent less than arrived, or more than was agreed.
pub(super) fn wrong_total(received: u64, agreed: Option<u64>, told: u64) -> FlowError {
    let agreed =
        agreed.map_or_else(String::new, |agreed| format!(" of {} agreed on", count(agreed)));
    protocol(format!(
        "the other end says it sent {} bytes{agreed}, and {} bytes arrived",
        count(told),
        count(received)
    ))
}

/// More bytes came than the other end may send.
pub(super) fn too_many(end: u64) -> FlowError {
    protocol(format!("the other end sent more than the {} bytes of this flow", count(end)))
}

/// Bytes were not what they must be.
pub(super) fn corrupt(corruption: &Corruption) -> FlowError {
    FlowError { kind: FlowErrorKind::Data, text: damage(corruption), errno: None }
}

/// Where wrong bytes are, and what they are.
pub(super) fn damage(corruption: &Corruption) -> String {
    format!(
        "wrong data at byte {}, {} long: {}",
        count(corruption.offset_bytes),
        counted(corruption.length_bytes, "byte"),
        corruption.nature
    )
}

/// The server verified another number of bytes than were sent.
pub(super) fn short_count(sent: u64, verified: u64) -> FlowError {
    protocol(format!(
        "the server says it verified {} bytes, and {} were sent",
        count(verified),
        count(sent)
    ))
}

/// What follows the data is something else than the server's word that it is done.
pub(super) fn other_words(word: &[u8], said: &[u8]) -> FlowError {
    let [word, said] = [word, said].map(|bytes| bytes.escape_ascii().to_string());
    protocol(format!("the server's last words are '{said}', and not '{word}'"))
}

/// The server ends sooner than this end was told.
pub(super) fn early_end((received, end): Progress) -> FlowError {
    let of = end.map_or_else(String::new, |end| format!(" of {}", count(end)));
    protocol(format!("the server said that it was done after {}{of} bytes", count(received)))
}

/// Nothing has moved for so long.
pub(super) fn unmoved(
    seconds: u64,
    is_of_words: bool,
    sent_so_far: Progress,
    received_so_far: Progress,
) -> FlowError {
    let moved = format!("{} sent and {} received", sent(sent_so_far), sent(received_so_far));
    let awaited =
        if is_of_words { ", and the other end has not said or done its last" } else { "" };
    network(format!("nothing has moved for {seconds} s after {moved}{awaited}"))
}

/// The same error, with what may be behind it where the two ends were not told the same: nobody says that elsewhere. An end that closes before
/// all has moved and been said has broken the rules there, since nothing but its close says that.
pub(super) fn of_settings(error: FlowError, settings: &str, has_closed: bool) -> FlowError {
    let kind = match error.kind {
        FlowErrorKind::Network if has_closed && error.errno.is_none() => FlowErrorKind::Protocol,
        kind => kind,
    };
    FlowError { kind, text: format!("{}; {settings}", error.text), ..error }
}

/// How much of what was agreed on was sent.
pub(super) fn sent((done, end): Progress) -> String {
    match end {
        Some(end) => format!("{} of {}", bytes(done), bytes(end)),
        None => bytes(done),
    }
}

/// How much came; of what was agreed on, or where the other end has told its total of that.
pub(super) fn received((done, end): Progress, is_told: bool) -> String {
    let of = sent((done, end));
    if is_told { format!("{of} that the other end had sent") } else { of }
}
