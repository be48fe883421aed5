//! Whether a server is there on a path: a ping until one comes back. There is nothing else to be told, and so a path is its flow's then.

use pathscope_core::Tick;
use pathscope_modes::conventions::bare::{self, Bare, DATAGRAM_BYTES, PING};

use crate::attach::{AttachDatagrams, AttachError};

/// The first repetition comes after this: longer than most round trips, short beside a test.
const AGAIN_FIRST_NS: u64 = 200_000_000;
/// Each wait is twice the last, up to this, so that a path of one second works too.
const AGAIN_MOST_NS: u64 = 1_000_000_000;
/// Then nobody is there. As long as the analyzer's own client waits for one of its pings.
const GIVE_UP_S: u64 = 10;

/// A path of which it is not known yet whether a server is there.
#[derive(Debug)]
pub struct Asking {
    begun: Tick,
    send_at: Tick,
    wait_ns: u64,
    give_up: Tick,
    outcome: Option<Result<(), AttachError>>,
}

impl Asking {
    /// It asks from now on.
    pub const fn new(now: Tick) -> Self {
        Self {
            begun: now,
            send_at: now,
            wait_ns: AGAIN_FIRST_NS,
            give_up: now.plus_nanos(GIVE_UP_S * 1_000_000_000),
            outcome: None,
        }
    }
}

impl AttachDatagrams for Asking {
    fn datagram(&mut self, now: Tick) -> Option<Vec<u8>> {
        if now >= self.give_up && self.outcome.is_none() {
            self.outcome = Some(Err(AttachError::Unanswered { seconds: GIVE_UP_S }));
        }
        if self.outcome.is_some() || now < self.send_at {
            return None;
        }
        self.send_at = now.plus_nanos(self.wait_ns);
        self.wait_ns = (2 * self.wait_ns).min(AGAIN_MOST_NS);
        let mut ping = vec![0; DATAGRAM_BYTES];
        Bare { sequence: PING, sent_us: bare::micros(now), echoed_us: 0 }.write(&mut ping);
        Some(ping)
    }

    fn deadline(&self) -> Option<Tick> {
        self.outcome.is_none().then(|| self.send_at.min(self.give_up))
    }

    /// Of an answer only its begin may be there. One that bears no stamp of a server was thrown back by something else, and one that was
    /// sent at another time answers somebody else.
    fn received(&mut self, datagram: &[u8], now: Tick) {
        let sent = bare::micros(self.begun)..=bare::micros(now);
        let is_answer = Bare::read(datagram).is_some_and(|it| {
            it.sequence == PING && it.echoed_us > 0 && sent.contains(&it.sent_us)
        });
        if is_answer && self.outcome.is_none() {
            self.outcome = Some(Ok(()));
        }
    }

    fn outcome(&self) -> Option<&Result<(), AttachError>> {
        self.outcome.as_ref()
    }
}
