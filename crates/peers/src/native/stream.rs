//! A TCP connection that asks a server of our own for its seat: its opening, and the answer, at both ends. Not here: how the server
//! decides.

use pathscope_core::id::Token;

use super::opening::{
    ACK_BYTES, AttachCode, Opening, decode_ack, decode_checked_ack, encode_ack, encode_checked_ack,
    proof_of,
};
use super::proof::Proof;
use crate::attach::{AttachError, AttachStream, ClaimSeat, Seat, SeatRefusal, StreamProgress};

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

/// What a connection says at the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamClaim {
    seat: Seat,
    /// That it is of its session. In version 2 alone, where its answer bears a checksum as well.
    proof: Option<Proof>,
}

impl StreamClaim {
    /// It is for this seat, and says this to prove it.
    pub const fn new(seat: Seat, proof: Option<Proof>) -> Self {
        Self { seat, proof }
    }
}

impl ClaimSeat for StreamClaim {
    fn seat(&self) -> Seat {
        self.seat
    }

    fn proves(&self, session: Token) -> bool {
        self.proof == Some(proof_of(self.seat, session))
    }

    fn reply(&self, decided: Result<(), SeatRefusal>) -> Vec<u8> {
        let code = AttachCode::of(decided);
        let ack = if self.proof.is_some() { encode_checked_ack(code) } else { encode_ack(code) };
        ack.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::{FlowId, Lane};
    use pathscope_flow::GroupId;

    use super::*;

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
        for session in [None, Some(SESSION)] {
            let claim = StreamClaim::new(SEAT, session.map(|session| proof_of(SEAT, session)));
            let reply = |decided| *claim.reply(decided).first_chunk().expect("an answer");
            assert_eq!(outcome(session, reply(Ok(()))), Ok(StreamProgress::Attached));
            let why = SeatRefusal::NoRoom;
            assert_eq!(outcome(session, reply(Err(why))), Err(AttachError::Refused(why)));
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
