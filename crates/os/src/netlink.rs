//! One request at a time to the kernel by netlink(7), and the whole answer, for the topics that ask by it. Linux alone.
//!
//! Not here: what is asked and what an answer means, and changes that the kernel tells of unasked.

use std::io;
use std::marker::PhantomData;

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkBuffer, NetlinkDeserializable,
    NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};

/// More than the kernel puts into one packet of an answer.
pub(crate) const ANSWER_BYTES: usize = 1 << 16;

/// A list that changed while the kernel told it is asked for again, so often in all.
const TRIES: u32 = 8;

/// A connection to the kernel that asks, in messages `M` of one of netlink's protocols.
#[derive(Debug)]
pub(crate) struct Kernel<M> {
    socket: Socket,
    sequence: u32,
    messages: PhantomData<fn() -> M>,
}

impl<M: NetlinkSerializable + NetlinkDeserializable> Kernel<M> {
    /// For one of netlink's protocols.
    pub fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0, messages: PhantomData })
    }

    /// The answers to one request. A list is one state of things: never a part of one and a part of the next.
    pub fn ask(&mut self, message: M, flags: u16) -> io::Result<Vec<M>> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        header.sequence_number = self.sequence;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        consistent(|| {
            self.socket.send(&bytes, 0)?;
            let mut answer = Answer::new(self.sequence, flags == NLM_F_DUMP);
            while !answer.is_whole {
                let mut packet = Vec::with_capacity(ANSWER_BYTES);
                let len = self.socket.recv(&mut packet, 0)?;
                answer.add(packet.get(..len).ok_or_else(|| garbled("it is too long"))?)?;
            }
            Ok(answer)
        })
    }
}

/// Asks until an answer holds together; not for ever.
fn consistent<M>(mut ask: impl FnMut() -> io::Result<Answer<M>>) -> io::Result<Vec<M>> {
    for _ in 0..TRIES {
        let answer = ask()?;
        if !answer.is_torn {
            return Ok(answer.messages);
        }
    }
    Err(io::Error::other(format!("the list changed while it was told, {TRIES} times in a row")))
}

/// What came so far.
#[derive(Debug)]
struct Answer<M> {
    sequence: u32,
    /// It goes on until the kernel says that it is done.
    is_list: bool,
    messages: Vec<M>,
    is_whole: bool,
    /// What it lists changed meanwhile: something may be in it twice, or not at all.
    is_torn: bool,
}

impl<M: NetlinkDeserializable> Answer<M> {
    fn new(sequence: u32, is_list: bool) -> Self {
        Self { sequence, is_list, messages: Vec::new(), is_whole: false, is_torn: false }
    }

    /// Reads one packet of it.
    fn add(&mut self, mut rest: &[u8]) -> io::Result<()> {
        while !rest.is_empty() {
            let header = NetlinkBuffer::new_checked(rest).map_err(|it| garbled(&it.to_string()))?;
            // Padded to four bytes, but for the last.
            let len = (header.length() as usize).next_multiple_of(4).max(4);
            let bytes = rest;
            rest = rest.get(len..).unwrap_or_default();
            // What is left of an answer that was given up.
            if header.sequence_number() != self.sequence {
                continue;
            }
            self.is_torn |= header.flags() & NLM_F_DUMP_INTR != 0;
            self.is_whole |= !self.is_list;
            let message = NetlinkMessage::<M>::deserialize(bytes)
                .map_err(|error| garbled(&error.to_string()))?;
            match message.payload {
                NetlinkPayload::InnerMessage(answer) => self.messages.push(answer),
                NetlinkPayload::Done(_) => self.is_whole = true,
                NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
                _ => {}
            }
        }
        Ok(())
    }
}

fn garbled(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::{DoneMessage, NLM_F_MULTIPART};
    use netlink_packet_route::RouteNetlinkMessage;
    use netlink_packet_route::link::LinkMessage;

    use super::*;

    type Part = NetlinkPayload<RouteNetlinkMessage>;

    const SEQUENCE: u32 = 7;

    fn link(index: u32) -> Part {
        let mut link = LinkMessage::default();
        link.header.index = index;
        NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link))
    }

    fn done() -> Part {
        let mut done = DoneMessage::default();
        done.code = 0;
        NetlinkPayload::Done(done)
    }

    fn packet(sequence: u32, parts: impl IntoIterator<Item = (Part, u16)>) -> Vec<u8> {
        let mut packet = Vec::new();
        for (payload, flags) in parts {
            let mut header = NetlinkHeader::default();
            (header.sequence_number, header.flags) = (sequence, NLM_F_MULTIPART | flags);
            let mut message = NetlinkMessage::new(header, payload);
            message.finalize();
            let mut bytes = vec![0; message.buffer_len()];
            message.serialize(&mut bytes);
            packet.extend(bytes);
        }
        packet
    }

    fn answer(packets: &[Vec<u8>]) -> Answer<RouteNetlinkMessage> {
        let mut answer = Answer::new(SEQUENCE, true);
        packets.iter().for_each(|packet| answer.add(packet).expect("it can be read"));
        answer
    }

    #[test]
    fn a_list_goes_on_until_it_is_done_and_tells_that_it_was_interrupted() {
        let first = packet(SEQUENCE, [(link(1), 0), (link(2), 0)]);
        assert!(!answer(std::slice::from_ref(&first)).is_whole);
        let whole = answer(&[first.clone(), packet(SEQUENCE, [(done(), 0)])]);
        assert_eq!((whole.is_whole, whole.is_torn, whole.messages.len()), (true, false, 2));
        // The kernel says so in whatever message it sends next, the last one too.
        for parts in
            [[(link(3), NLM_F_DUMP_INTR), (done(), 0)], [(link(3), 0), (done(), NLM_F_DUMP_INTR)]]
        {
            assert!(answer(&[first.clone(), packet(SEQUENCE, parts)]).is_torn);
        }
    }

    #[test]
    fn an_interrupted_list_is_asked_for_again_and_not_for_ever() {
        let torn = || answer(&[packet(SEQUENCE, [(link(1), NLM_F_DUMP_INTR), (done(), 0)])]);
        let whole = || answer(&[packet(SEQUENCE, [(link(2), 0), (link(3), 0), (done(), 0)])]);
        let mut asked = 0;
        let listed = consistent(|| {
            asked += 1;
            Ok(if asked < 3 { torn() } else { whole() })
        });
        assert_eq!((listed.expect("the third holds").len(), asked), (2, 3));
        let mut asked = 0;
        let refused = consistent(|| {
            asked += 1;
            Ok(torn())
        });
        let text = refused.expect_err("it never holds").to_string();
        assert_eq!(
            (text.as_str(), asked),
            ("the list changed while it was told, 8 times in a row", TRIES)
        );
    }

    #[test]
    fn what_is_left_of_an_earlier_answer_is_no_part_of_this_one() {
        let left = packet(SEQUENCE - 1, [(link(1), NLM_F_DUMP_INTR), (done(), 0)]);
        let this = packet(SEQUENCE, [(link(2), 0), (done(), 0)]);
        let answer = answer(&[left, this]);
        assert_eq!((answer.is_torn, answer.messages.len()), (false, 1));
    }

    #[test]
    fn packets_that_are_cut_off_or_lie_about_their_length_are_errors() {
        let whole = packet(SEQUENCE, [(link(1), 0), (done(), 0)]);
        for len in 1..whole.len() {
            let mut answer = Answer::<RouteNetlinkMessage>::new(SEQUENCE, true);
            // Cut between two messages it is a packet, too.
            let _ = answer.add(&whole[..len]);
            assert!(!answer.is_whole, "{len}");
        }
        for length in [0_u32, 3, 15, 17, u32::MAX] {
            let mut lying = whole.clone();
            lying[..4].copy_from_slice(&length.to_ne_bytes());
            let mut answer = Answer::<RouteNetlinkMessage>::new(SEQUENCE, true);
            let _ = answer.add(&lying);
        }
    }
}
