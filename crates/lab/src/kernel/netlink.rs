//! A connection to the kernel's interface for networks, and its manner of asking: rtnetlink(7). One
//! request at a time, each answered before the next.

use std::io;

use netlink_packet_core::{
    ErrorMessage, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST,
    NetlinkHeader, NetlinkMessage, NetlinkPayload, NlasIterator,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use pathscope_os::OsError;
use pathscope_os::namespaces::Network;

use super::KernelError;

/// More than the kernel puts into one answer.
const ANSWER_BYTES: usize = 1 << 16;
/// `NLMSGERR_ATTR_MSG`: what the kernel says in words.
const ATTRIBUTE_WORDS: u16 = 1;
/// The header of the request that an error repeats.
const REQUEST_HEADER_BYTES: usize = 16;

/// A connection to the kernel about one network. It stays with that network, in whatever thread it is
/// used.
#[derive(Debug)]
pub struct Kernel {
    socket: Socket,
    network: String,
    sequence: u32,
}

/// How a request is meant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Manner {
    /// Make what is not there yet.
    Create,
    /// Make it, or change it to this.
    Replace,
    /// Change or remove what is there.
    Change,
    /// Tell about one.
    Ask,
    /// Tell about all.
    List,
}

impl Manner {
    fn flags(self) -> u16 {
        NLM_F_REQUEST
            | match self {
                Self::Create => NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
                Self::Replace => NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE,
                Self::Change | Self::Ask => NLM_F_ACK,
                Self::List => NLM_F_DUMP,
            }
    }
}

/// What the kernel answers instead: its error number, and words where it has some.
#[derive(Debug)]
struct Refusal {
    source: io::Error,
    words: Option<String>,
}

impl From<io::Error> for Refusal {
    fn from(source: io::Error) -> Self {
        Self { source, words: None }
    }
}

impl Kernel {
    /// A connection about `network`, which errors call `name`.
    pub fn of(network: &Network, name: impl Into<String>) -> Result<Self, KernelError> {
        let socket = network.run(open)?;
        let failed = |source| OsError::Call { what: "open a netlink socket", source };
        Ok(Self { socket: socket.map_err(failed)?, network: name.into(), sequence: 0 })
    }

    /// What errors call the network.
    pub fn network(&self) -> &str {
        &self.network
    }

    /// Asks, and returns the answers; `what` is for the sentence of an error.
    pub(super) fn ask(
        &mut self,
        message: RouteNetlinkMessage,
        manner: Manner,
        what: impl FnOnce() -> String,
    ) -> Result<Vec<RouteNetlinkMessage>, KernelError> {
        self.exchange(message, manner).map_err(|refusal| KernelError::Refused {
            what: what(),
            network: self.network.clone(),
            kernel: refusal.words,
            source: refusal.source,
        })
    }

    fn exchange(
        &mut self,
        message: RouteNetlinkMessage,
        manner: Manner,
    ) -> Result<Vec<RouteNetlinkMessage>, Refusal> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = manner.flags();
        header.sequence_number = self.sequence;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let mut answers = Vec::new();
        while !self.take_answers(&mut answers)? {}
        Ok(answers)
    }

    /// Reads one packet of answers; true when it was the last.
    fn take_answers(&self, answers: &mut Vec<RouteNetlinkMessage>) -> Result<bool, Refusal> {
        let mut packet = Vec::with_capacity(ANSWER_BYTES);
        let len = self.socket.recv(&mut packet, 0)?;
        let mut rest = packet.get(..len).ok_or_else(|| garbled("it is too long"))?;
        while !rest.is_empty() {
            let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                .map_err(|error| garbled(&error.to_string()))?;
            // Padded to four bytes, but for the last.
            let len = (message.header.length as usize).next_multiple_of(4).max(4);
            rest = rest.get(len..).unwrap_or_default();
            if message.header.sequence_number != self.sequence {
                // Left over from a request of which the answers were not read to the end.
                continue;
            }
            match message.payload {
                NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                NetlinkPayload::Done(_) => return Ok(true),
                NetlinkPayload::Error(error) => return acknowledged(&error).map(|()| true),
                _ => {}
            }
        }
        Ok(false)
    }
}

fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    // Words besides numbers; and of the request only its header.
    socket.set_ext_ack(true)?;
    socket.set_cap_ack(true)?;
    Ok(socket)
}

fn garbled(why: &str) -> Refusal {
    let text = format!("its answer cannot be read: {why}");
    io::Error::new(io::ErrorKind::InvalidData, text).into()
}

fn acknowledged(error: &ErrorMessage) -> Result<(), Refusal> {
    match error.code {
        None => Ok(()),
        Some(_) => Err(Refusal { source: error.to_io(), words: words(&error.header) }),
    }
}

/// What the kernel says in words: attributes behind the header of our request.
fn words(error: &[u8]) -> Option<String> {
    let attributes = NlasIterator::new(error.get(REQUEST_HEADER_BYTES..)?);
    let words = attributes.flatten().find(|attribute| attribute.kind() == ATTRIBUTE_WORDS)?;
    let text = String::from_utf8_lossy(words.value());
    Some(text.trim_end_matches(['\0', '.']).to_owned())
}
