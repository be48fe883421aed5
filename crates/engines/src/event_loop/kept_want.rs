//! What a flow wanted when it was last asked, in half the bytes of a [`Want`]: there may be very many flows.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::{Close, RecvWant, SendWant, Want, Weigh};

/// Of a stream: no datagram is as long.
const STREAM: u32 = u32::MAX;
/// Of a stream that goes on at once.
const FOLLOWED: u32 = STREAM - 1;

/// A [`Want`], kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct KeptWant {
    /// Bytes of a stream, or datagrams; 0: none.
    send_max: usize,
    /// Bytes; 0: none.
    receive_most: usize,
    /// [`Tick::NEVER`]: not at all.
    pub wake: Tick,
    /// Of datagrams: their length.
    stride: u32,
    pub send_lane: Lane,
    pub close: Option<Close>,
    pub weigh: Weigh,
    /// Whether what it waits for may be heard late.
    pub is_patient: bool,
}

impl KeptWant {
    /// Nothing at all.
    pub const NOTHING: Self = Self {
        send_max: 0,
        receive_most: 0,
        wake: Tick::NEVER,
        stride: STREAM,
        send_lane: Lane::ONLY,
        close: None,
        weigh: Weigh::Nothing,
        is_patient: false,
    };

    /// The same, kept.
    #[inline]
    pub fn of(want: Want) -> Self {
        let Want { send, more_follows, send_lane, recv, wake, close, weigh, is_patient } = want;
        let (send_max, stride) = match send {
            SendWant::Nothing => (0, STREAM),
            SendWant::Stream { max } => (max, if more_follows { FOLLOWED } else { STREAM }),
            // Longer ones than the system carries are cut to what it refuses all the same.
            SendWant::Datagrams { stride, max } => {
                (max, (stride as u64).min(u64::from(FOLLOWED - 1)) as u32)
            }
        };
        let receive_most = match recv {
            RecvWant::Nothing => 0,
            RecvWant::UpTo(most) => most,
            RecvWant::Any => usize::MAX,
        };
        let wake = wake.unwrap_or(Tick::NEVER);
        Self { send_max, receive_most, wake, stride, send_lane, close, weigh, is_patient }
    }

    /// Whether there is anything to send.
    #[inline]
    pub const fn sends(&self) -> bool {
        self.send_max > 0
    }

    /// What to send.
    #[inline]
    pub const fn send(&self) -> SendWant {
        match (self.send_max, self.stride) {
            (0, _) => SendWant::Nothing,
            (max, STREAM | FOLLOWED) => SendWant::Stream { max },
            (max, stride) => SendWant::Datagrams { stride: stride as usize, max },
        }
    }

    /// Whether more is sent at once after what is sent.
    #[inline]
    pub const fn more_follows(&self) -> bool {
        self.send_max > 0 && self.stride == FOLLOWED
    }

    /// Nothing is to be sent any more.
    pub const fn withdraw(&mut self) {
        self.send_max = 0;
    }

    /// How many bytes to receive at most, where any.
    #[inline]
    pub const fn appetite(&self) -> Option<usize> {
        match self.receive_most {
            0 => None,
            most => Some(most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_was_wanted() {
        let datagrams = |stride, max| SendWant::Datagrams { stride, max };
        for (send, kept) in [
            (SendWant::Nothing, SendWant::Nothing),
            (SendWant::Stream { max: 0 }, SendWant::Nothing),
            (SendWant::Stream { max: usize::MAX }, SendWant::Stream { max: usize::MAX }),
            (datagrams(0, 3), datagrams(0, 3)),
            (datagrams(65_507, 64), datagrams(65_507, 64)),
            (datagrams(9, 0), SendWant::Nothing),
        ] {
            let want = KeptWant::of(Want { send, ..Want::NOTHING });
            assert_eq!((want.send(), want.sends()), (kept, kept != SendWant::Nothing));
        }
        for (send, more_follows) in [
            (SendWant::Stream { max: 1 }, true),
            (SendWant::Stream { max: 1 }, false),
            (SendWant::Nothing, true),
            (datagrams(usize::MAX, 1), true),
        ] {
            let want = KeptWant::of(Want { send, more_follows, ..Want::NOTHING });
            let expected = more_follows && send == SendWant::Stream { max: 1 };
            assert_eq!(want.more_follows(), expected, "{send:?}");
        }
        for (recv, kept) in [
            (RecvWant::Nothing, None),
            (RecvWant::UpTo(0), None),
            (RecvWant::UpTo(7), Some(7)),
            (RecvWant::Any, Some(usize::MAX)),
        ] {
            assert_eq!(KeptWant::of(Want { recv, ..Want::NOTHING }).appetite(), kept);
        }
        let wake = Some(Tick::from_nanos(5));
        assert_eq!(KeptWant::of(Want { wake, ..Want::NOTHING }).wake, Tick::from_nanos(5));
        assert_eq!(KeptWant::of(Want::NOTHING), KeptWant::NOTHING);
        let mut want = KeptWant::of(Want { send: datagrams(9, 1), ..Want::NOTHING });
        want.withdraw();
        assert_eq!(want.send(), SendWant::Nothing);
        assert!(size_of::<KeptWant>() <= 32);
    }
}
