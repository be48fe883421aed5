//! What was received, and in what time: the window that counts. How each machine finds its own is its affair.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was received in the window that counts, and when that was. Times are of the receiver's clock,
/// since it started the test.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ReceiveWindow {
    /// Its begin: the end of the warm-up; without one, and of datagrams, the first receive from then on, whose bytes are left out, since
    /// they arrived before it. What has come by then and is received later is left out as well.
    pub first_ns: Option<u64>,
    /// Its end: the last receive; over streams that last a stated time and receive more after it, the end of that time.
    pub last_ns: Option<u64>,
    /// Bytes received after its begin.
    pub bytes: u64,
}

/// How far a flow is with its part of the window.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Stage {
    /// Nothing counts: nothing has come, or the warm-up is not over.
    #[default]
    Shut,
    /// The same, since what comes may have come before; it opens as soon as it is known what has.
    Opening,
    /// What is received is in it.
    Open,
    /// What is received is in it no more.
    Closed,
}

impl ReceiveWindow {
    /// Counts a receive of `bytes` at `now_ns`.
    #[inline]
    pub fn record(&mut self, bytes: u64, now_ns: u64) {
        if self.first_ns.is_none() {
            self.first_ns = Some(now_ns);
        } else {
            self.bytes += bytes;
        }
        self.last_ns = Some(now_ns);
    }

    /// The window that spans both, with the bytes of both.
    pub fn merge(&mut self, other: &Self) {
        self.first_ns = [self.first_ns, other.first_ns].into_iter().flatten().min();
        self.last_ns = self.last_ns.max(other.last_ns);
        self.bytes += other.bytes;
    }

    /// Its length; zero where nothing was received.
    pub fn length_ns(&self) -> u64 {
        self.last_ns.unwrap_or(0).saturating_sub(self.first_ns.unwrap_or(0))
    }

    /// Σ bytes in the window over its length, in bits a second. `None` where that is no window: nothing
    /// came in it, or without a warm-up fewer than two receives.
    pub fn goodput_bps(&self) -> Option<f64> {
        let length_ns = self.length_ns();
        (length_ns > 0 && self.bytes > 0).then(|| self.bytes as f64 * 8e9 / length_ns as f64)
    }
}
