//! The control connection at one end, where there is one: what is said leaves as the connection takes it, what is heard is handed
//! on. Where a session has none, nothing is said and nothing heard.
//!
//! It knows nothing of messages: those are the dialogue's. Nothing in it blocks.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

use pathscope_core::id::Role;
use pathscope_os::readiness::Interest;

use super::watch::Watch;
use crate::error::{RunError, is_temporary};

/// What is read at once: more than any message but a long report. Whoever reads has room for it: a session keeps none, since
/// there are many.
pub(super) const INCOMING_BYTES: usize = 16 << 10;

/// What may wait for the connection to take it. An end that reads nothing while it is told this much is gone.
const OUTGOING_MOST_BYTES: usize = 64 << 20;

/// While more than this waits to leave, a server hears nothing: who does not listen is not answered either. A client
/// always listens: of two ends that each wait for the other to read, none would go on.
const UNHEARD_ABOVE_BYTES: usize = 1 << 20;

/// A control connection or none.
#[derive(Debug)]
pub(crate) struct Control {
    stream: Option<TcpStream>,
    watch: Watch,
    outgoing: Vec<u8>,
    role: Role,
    /// What the connection is waited for.
    interest: Interest,
    /// Whether it broke when something was to leave. What was said before may still be heard.
    takes_nothing: bool,
    is_closed: bool,
}

/// What there is to be heard.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Heard<'bytes> {
    /// The other end said this.
    Bytes(&'bytes [u8]),
    /// Nothing now.
    Nothing,
    /// The other end closed the connection, or it broke. Said once.
    Closed,
}

impl Control {
    /// A connection that is established, at the end that has this role, and where it is waited for.
    pub fn new(stream: TcpStream, role: Role, watch: Watch) -> Result<Self, RunError> {
        // Messages are small and each is awaited.
        let set = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        set.map_err(RunError::system("cannot set up the control connection"))?;
        watch.add(&stream)?;
        Ok(Self { stream: Some(stream), is_closed: false, ..Self::none(role, watch) })
    }

    /// That of a session which has none, at the end that has this role.
    pub const fn none(role: Role, watch: Watch) -> Self {
        Self {
            stream: None,
            watch,
            outgoing: Vec::new(),
            role,
            interest: Interest::INPUT,
            takes_nothing: false,
            is_closed: true,
        }
    }

    /// Another connection takes the place of this one, whose other end is to know that it is over.
    pub fn hang_up(&mut self) {
        self.close();
        // It may be over already.
        let _ = self.stream.as_ref().map(|stream| stream.shutdown(Shutdown::Both));
    }

    /// It is left to somebody else, unless the other end has closed it. What was said leaves before, as far as the connection takes that at once.
    pub fn part(&mut self) -> Option<TcpStream> {
        self.flush();
        self.ignore();
        self.stream.take().filter(|_| !self.is_closed)
    }

    /// These bytes are to leave. After the end of the connection, nothing does.
    pub fn say(&mut self, bytes: &[u8]) {
        if !self.is_closed && !self.takes_nothing {
            self.outgoing.extend_from_slice(bytes);
        }
    }

    /// What waits to leave, in bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.outgoing.capacity()
    }

    /// Whether nothing is heard for now, since too much waits to leave.
    pub const fn is_held_back(&self) -> bool {
        matches!(self.role, Role::Server) && self.outgoing.len() > UNHEARD_ABOVE_BYTES
    }

    /// Sends what the connection takes now. Whether it still takes any: if not, hear what was said before its end, and
    /// close it.
    pub fn flush(&mut self) -> bool {
        while let (false, Some(stream)) = (self.outgoing.is_empty(), &mut self.stream) {
            match stream.write(&self.outgoing) {
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if is_temporary(&error) && self.outgoing.len() <= OUTGOING_MOST_BYTES =>
                {
                    return true;
                }
                Err(_) => {
                    self.outgoing.clear();
                    self.takes_nothing = true;
                }
            }
        }
        // Little is said, and there may be very many of these.
        self.outgoing.shrink_to_fit();
        self.is_closed || !self.takes_nothing
    }

    /// Reads what the other end says, to here.
    pub fn hear<'bytes>(&mut self, incoming: &'bytes mut [u8]) -> Heard<'bytes> {
        let Some(stream) = self.stream.as_mut().filter(|_| !self.is_closed) else {
            return Heard::Nothing;
        };
        match stream.read(incoming) {
            Ok(count @ 1..) => Heard::Bytes(&incoming[..count]),
            Err(error) if is_temporary(&error) => Heard::Nothing,
            Ok(0) | Err(_) => self.close(),
        }
    }

    /// It is of no use any more. It must not end a wait again.
    pub fn close(&mut self) -> Heard<'static> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Heard::Nothing;
        }
        self.ignore();
        self.outgoing.clear();
        Heard::Closed
    }

    /// From now on it ends no wait, whatever comes.
    pub fn ignore(&self) {
        self.stream.iter().for_each(|stream| self.watch.remove(stream));
    }

    /// From now on a wait ends when there is something to hear, and where something waits to leave, when there is room.
    pub fn watch(&mut self) -> Result<(), RunError> {
        let interest = Interest { input: !self.is_held_back(), output: !self.outgoing.is_empty() };
        if let Some(stream) = self.stream.as_ref().filter(|_| !self.is_closed)
            && interest != self.interest
        {
            self.watch.change(stream, interest)?;
            self.interest = interest;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use pathscope_os::wake::Waker;

    use super::*;

    /// A connection at the end that has this role, and its other end.
    fn connection(role: Role) -> (Control, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let peer = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (stream, _) = listener.accept().expect("one has come");
        let waker = Waker::new().expect("a waker");
        let watch = Watch::own(&waker).expect("a poller");
        (Control::new(stream, role, watch).expect("a connection"), peer)
    }

    /// Waits. Whether there is something to hear.
    fn waits(control: &mut Control, timeout: Option<Duration>) -> bool {
        control.watch().expect("a connection");
        control.watch.wait(timeout).expect("it waits")
    }

    /// Says so much that the kernel cannot take all of it.
    fn say_too_much(control: &mut Control) {
        while control.outgoing.len() <= UNHEARD_ABOVE_BYTES {
            control.say(&vec![7; 1 << 20]);
            assert!(control.flush());
        }
    }

    #[test]
    fn a_server_hears_nothing_of_who_does_not_listen_until_he_does() {
        let (mut control, mut peer) = connection(Role::Server);
        peer.write_all(b"said").expect("there is room");
        assert!(waits(&mut control, None), "something has come");
        say_too_much(&mut control);
        assert!(control.is_held_back());
        assert!(!waits(&mut control, Some(Duration::ZERO)), "too much waits to leave");
        let mut buffer = vec![0; 1 << 20];
        while control.is_held_back() {
            let count = peer.read(&mut buffer).expect("something was said");
            assert!(count > 0 && control.flush());
        }
        while !waits(&mut control, None) {}
        assert_eq!(control.hear(&mut [0; 9]), Heard::Bytes(b"said"));
    }

    #[test]
    fn a_client_always_listens() {
        let (mut control, mut peer) = connection(Role::Client);
        say_too_much(&mut control);
        peer.write_all(b"said").expect("there is room");
        while !waits(&mut control, None) {}
        assert_eq!(control.hear(&mut [0; 9]), Heard::Bytes(b"said"));
    }

    #[test]
    fn what_has_left_leaves_no_memory_behind() {
        let (mut control, mut peer) = connection(Role::Server);
        say_too_much(&mut control);
        let mut buffer = vec![0; 1 << 20];
        while !control.outgoing.is_empty() {
            let count = peer.read(&mut buffer).expect("something was said");
            assert!(count > 0 && control.flush());
        }
        assert_eq!(control.outgoing.capacity(), 0);
    }
}
