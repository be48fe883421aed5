//! ctsTraffic over UDP: streams of frames, each of which a client asks for with a datagram of its own, from the port that its stream then
//! goes to. Not here: how their datagrams are laid out (`modes/conventions/frames`), and what they come to, which is the mode's.
//!
//! ```text
//!  client                                 server
//!    |---- START -------------------------->|   again after a frame and 500 ms, until something of the stream came
//!    |<--- 39 bytes: what it is called -----|   once
//!    |<=== frames, each when it is due =====|   and nothing says where they end
//! ```

use pathscope_modes::conventions::frames::{self, START};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::Plan;

use super::name_of;
use crate::Refusal;
use crate::in_band;
use crate::joining::Calling;

/// Whether such a server can be asked for a test over UDP; none where it is over something else.
pub(super) fn carries(test: &Test) -> Option<Result<(), Refusal>> {
    matches!(test.plan, Plan::Media(_)).then(|| in_band::frames::carries(test))
}

/// What a datagram asks for that has come to such a server.
pub(super) fn called(said: &[u8], entropy: [u8; 16]) -> Option<Calling<()>> {
    let name = name_of(entropy);
    let name = name.first_chunk().filter(|_| said == START)?;
    Some(Calling { greeting: (), answer: frames::name(name).to_vec() })
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{BitRate, Bytes, Period};
    use pathscope_modes::media::MediaArgs;

    use super::*;

    fn media(change: impl FnOnce(&mut MediaArgs)) -> Test {
        let mut words = MediaArgs {
            rate: Some(BitRate(25_000_000)),
            duration: Period::from_secs(60),
            streams: 1,
            datagram: Bytes(1_400),
            pacing: "back-to-back".to_owned(),
            receive_buffer: Bytes(1 << 20),
            ..MediaArgs::default()
        };
        change(&mut words);
        Test::new(Plan::Media(words.into_plan().expect("a plan")), None, Period::from_secs(1))
    }

    /// Section 3.1 and 3.2 of the reference.
    #[test]
    fn five_bytes_ask_for_a_stream_and_the_answer_is_its_name() {
        let calling = called(b"START", *b"sixteen bytes of").expect("it is asked for");
        assert_eq!(calling.answer.len(), 39);
        assert_eq!(calling.answer[..2], [0, 0x10]);
        assert_eq!(calling.answer[2..], name_of(*b"sixteen bytes of"));
        for other in [&b"START\0"[..], b"STAR", b"start", b"", &[0xff; 5]] {
            assert_eq!(called(other, [7; 16]), None, "{other:?}");
        }
    }

    #[test]
    fn streams_come_from_the_server_and_leave_frame_by_frame() {
        assert_eq!(carries(&media(|_| ())), Some(Ok(())));
        for (change, why) in [
            (("both", "back-to-back"), "--direction down"),
            (("up", "back-to-back"), "--direction down"),
            (("down", "spread"), "--pacing back-to-back"),
        ] {
            let test = media(|words| {
                words.direction = Some(change.0.to_owned());
                words.pacing = change.1.to_owned();
            });
            let refusal = carries(&test).expect("it is of streams").expect_err("it cannot be had");
            assert!(refusal.to_string().contains(why), "{refusal}");
        }
    }
}
