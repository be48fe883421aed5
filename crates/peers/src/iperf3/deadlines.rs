//! How long each end waits for what: shorter than real ones do where they wait in turn, and never for ever.

use pathscope_core::quantity::Period;

/// A server's first byte, after which a real one waits for parameters as long.
pub(super) const GREETING: Period = Period::from_secs(10);
/// Client: the word that streams are awaited, once the parameters are said. A server may have others set up theirs first.
pub(super) const AGREEING: Period = Period::from_secs(60);
/// Server: the parameters.
pub(super) const PARAMETERS: Period = Period::from_secs(10);
/// The next of a test's streams; a real client awaits the answer to a datagram for so long.
pub(super) const ATTACH: Period = Period::from_secs(30);
/// Client: the word that the test runs, once this end's last stream is there.
pub(super) const START: Period = Period::from_secs(30);
/// A test in which nothing moves for so long is given up, as real servers do.
pub(super) const QUIET: Period = Period::from_secs(120);
/// Server: a test that its client does not end is ended so long after its time, as real servers do.
pub(super) const OVERTIME: Period = Period::from_secs(40);
/// Client: the word that results are awaited: what is on the way before it may wait in deep buffers.
pub(super) const EXCHANGE: Period = Period::from_secs(30);
/// The other end's results.
pub(super) const RESULTS: Period = Period::from_secs(30);
/// Server: what the client has sent is awaited so long after anything of it came,
pub(super) const REST: Period = Period::from_secs(3);
/// and so long in all: a real client waits ten seconds for the results.
pub(super) const REST_IN_ALL: Period = Period::from_secs(6);
/// What still comes of results where somebody wants this end to stop, and all has been measured.
pub(super) const HASTE: Period = Period::from_secs(2);
/// The last words: nothing is lost by them.
pub(super) const LAST: Period = Period::from_secs(5);
/// The numbers behind the word that a server cannot.
pub(super) const TAIL: Period = Period::from_secs(1);
