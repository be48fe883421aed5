//! What a keeper is asked, and what it answers: a line of JSON each, over a socket in the lab's folder.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::link::Order;
use crate::relay::{Counters, RelayAccount};

/// How long a keeper may take over an answer. Ending programs takes it the longest.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The longest question, in bytes.
const MOST_WORDS: u64 = 1 << 20;

/// A question.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Have links do something, now or later.
    Set(Vec<SetOrder>),
    /// Tell what became of every frame.
    Account,
    /// Tell what interfaces at the ends of relayed links have counted, and what the relay has.
    Counters,
    /// Say whether the lab stays: one that is being taken down answers, and its name is free soon.
    Stays,
    /// End.
    Down,
}

/// What a link is to do.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SetOrder {
    /// The link's name.
    pub link: String,
    /// Only frames that come from this node; else both directions.
    pub from: Option<String>,
    /// What it is to do.
    pub order: Order,
    /// How long from now, in nanoseconds.
    pub after_ns: u64,
}

/// An answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is done.
    Done,
    /// What became of every frame.
    Account(Box<RelayAccount>),
    /// What interfaces and the relay have counted.
    Counters(Box<Counters>),
    /// It is not done, and why.
    Refused(String),
}

/// Asks a keeper to end that is known by its control socket alone; what it did instead where it does not.
pub(super) fn ask_to_end(control: &Path) -> Result<Answer, String> {
    ask_at(control, &Request::Down, PATIENCE)
}

/// What a keeper says that is taking its lab down.
pub(crate) const GOING: &str = "this lab is being taken down";

/// Whether a keeper by this name answers within this time, and stays. One of an earlier version does not understand the
/// question, and stays as long as it answers.
pub(super) fn stays(control: &Path, patience: Duration) -> bool {
    match ask_at(control, &Request::Stays, patience) {
        Ok(Answer::Refused(why)) => why != GOING,
        Ok(Answer::Done | Answer::Account(_) | Answer::Counters(_)) => true,
        Err(_) => false,
    }
}

/// Asks whoever listens at this socket.
pub(super) fn ask_at(
    control: &Path,
    request: &Request,
    patience: Duration,
) -> Result<Answer, String> {
    let silent = |error: std::io::Error| format!("does not answer ({error})");
    let mut stream = UnixStream::connect(control).map_err(silent)?;
    stream.set_read_timeout(Some(patience)).map_err(silent)?;
    stream.set_write_timeout(Some(patience)).map_err(silent)?;
    let mut line =
        serde_json::to_vec(request).map_err(|error| format!("cannot be asked ({error})"))?;
    line.push(b'\n');
    stream.write_all(&line).map_err(silent)?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).map_err(silent)?;
    serde_json::from_str(&line).map_err(|error| format!("answered something else ({error})"))
}

/// Reads one question from a stream and writes its answer: the keeper's side. A client that is silent
/// or sends something else is told so, and delays nobody for more than two seconds.
pub(crate) fn reply(
    stream: &UnixStream,
    answer: impl FnOnce(Request) -> Answer,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.set_write_timeout(Some(Duration::from_secs(2)))?;
    let mut line = String::new();
    BufReader::new(stream.take(MOST_WORDS)).read_line(&mut line)?;
    let answer = match serde_json::from_str(&line) {
        Ok(request) => answer(request),
        Err(error) => Answer::Refused(format!("this keeper does not understand that: {error}")),
    };
    let mut line = serde_json::to_vec(&answer)?;
    line.push(b'\n');
    (&*stream).write_all(&line)
}
