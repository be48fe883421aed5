//! A TCP connection that asks a server of our own for its seat: its opening, and the answer. Not here: how the server decides.

use pathscope_core::id::Token;

use super::opening::{ACK_BYTES, Opening, decode_ack, decode_checked_ack, proof_of};
use crate::attach::{AttachError, AttachStream, Seat, StreamProgress};

/// One connection, from its opening to the server's answer.
#[derive(Clone, Copy, Debug)]
pub struct StreamAttaching {
    seat: Seat,
    /// What its session is called, where it has a name: its opening bears a proof and a checksum then, and its answer one.
    session: Option<Token>,
    ack: [u8; ACK_BYTES],
    came: usize,
}

impl StreamAttaching {
    /// For this seat, in the session of this name, if it has one.
    pub const fn new(seat: Seat, session: Option<Token>) -> Self {
        Self { seat, session, ack: [0; ACK_BYTES], came: 0 }
    }

    fn decode(&self) -> Result<(), AttachError> {
        if self.session.is_some() { decode_checked_ack(self.ack) } else { decode_ack(self.ack) }
    }
}

impl AttachStream for StreamAttaching {
    fn opening(&self) -> Vec<u8> {
        let Self { seat, session, .. } = *self;
        let opening = session.map_or(Opening::Data(seat), |session| {
            Opening::CheckedData(seat, proof_of(seat, session))
        });
        opening.encode()
    }

    fn missing_bytes(&self) -> usize {
        ACK_BYTES - self.came
    }

    fn received(&mut self, bytes: &[u8]) -> Result<StreamProgress, AttachError> {
        for (place, byte) in self.ack[self.came..].iter_mut().zip(bytes) {
            *place = *byte;
        }
        self.came += bytes.len().min(self.missing_bytes());
        if self.missing_bytes() > 0 {
            return Ok(StreamProgress::Waiting);
        }
        match self.decode() {
            Ok(()) => Ok(StreamProgress::Attached),
            Err(AttachError::NotAnAnswer { .. }) if self.closes_when_damaged() => {
                Ok(StreamProgress::Damaged)
            }
            Err(why) => Err(why),
        }
    }

    fn closes_when_damaged(&self) -> bool {
        self.session.is_some()
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::{FlowId, Lane};
    use pathscope_flow::GroupId;

    use super::*;
    use crate::attach::SeatRefusal;
    use crate::native::opening::{AttachCode, encode_ack, encode_checked_ack};

    const SEAT: Seat =
        Seat { token: Token([1; 16]), group: GroupId(0), flow: FlowId(2), lane: Lane(0) };
    const SESSION: Token = Token([9; 16]);

    /// What comes of an answer, however it is cut.
    fn outcome(
        session: Option<Token>,
        answer: [u8; ACK_BYTES],
    ) -> Result<StreamProgress, AttachError> {
        let outcomes = (0..ACK_BYTES).map(|cut| {
            let mut attaching = StreamAttaching::new(SEAT, session);
            let (first, rest) = answer.split_at(cut);
            assert_eq!(attaching.received(first), Ok(StreamProgress::Waiting));
            assert_eq!(attaching.missing_bytes(), rest.len());
            attaching.received(rest)
        });
        let mut outcomes = outcomes.collect::<Vec<_>>();
        outcomes.dedup();
        assert_eq!(outcomes.len(), 1, "{outcomes:?}");
        outcomes.remove(0)
    }

    #[test]
    fn an_opening_is_checked_where_its_session_has_a_name() {
        let opening = StreamAttaching::new(SEAT, None).opening();
        assert_eq!(Opening::decode(&opening), Ok(Opening::Data(SEAT)));
        let opening = StreamAttaching::new(SEAT, Some(SESSION)).opening();
        let checked = Opening::CheckedData(SEAT, proof_of(SEAT, SESSION));
        assert_eq!(Opening::decode(&opening), Ok(checked));
    }

    #[test]
    fn an_answer_is_judged_when_it_is_whole() {
        let refused = Err(AttachError::Refused(SeatRefusal::NoRoom));
        for (session, encode) in [
            (None, encode_ack as fn(AttachCode) -> [u8; ACK_BYTES]),
            (Some(SESSION), encode_checked_ack),
        ] {
            let attached = encode(AttachCode::ATTACHED);
            assert_eq!(outcome(session, attached), Ok(StreamProgress::Attached));
            assert_eq!(outcome(session, encode(AttachCode::NO_ROOM)), refused);
        }
    }

    #[test]
    fn an_answer_that_is_none_is_asked_for_again_where_it_would_bear_a_checksum() {
        assert_eq!(outcome(Some(SESSION), *b"HTTP"), Ok(StreamProgress::Damaged));
        let error = outcome(None, *b"HTTP").expect_err("it is none").to_string();
        let told = "expected the server's answer, which begins with f5 70, got the text 'HTTP'";
        assert_eq!(error, told);
    }
}
