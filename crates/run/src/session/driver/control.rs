//! The control connection at one end, where there is one: what is said leaves as the connection takes it, what is heard is handed
//! on. Where a session has none, nothing is said and nothing heard, and only word from other threads is waited for.
//!
//! It knows nothing of messages: those are the dialogue's. Nothing in it blocks but [`Control::wait`].

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use pathscope_core::id::Role;
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::wake::Waker;

use crate::error::{RunError, is_temporary};

/// What is read at once: more than any message but a long report, and little beside the rest of a session.
const INCOMING_BYTES: usize = 16 << 10;

/// What may wait for the connection to take it. An end that reads nothing while it is told this much is gone.
const OUTGOING_MOST_BYTES: usize = 64 << 20;

/// While more than this waits to leave, a server hears nothing: who does not listen is not answered either. A client
/// always listens: of two ends that each wait for the other to read, none would go on.
const UNHEARD_ABOVE_BYTES: usize = 1 << 20;

/// Memory that stays for what is said next.
const OUTGOING_KEPT_BYTES: usize = 16 << 10;

const CONTROL: u64 = 0;
const WORD: u64 = 1;

/// A control connection or none, and word from other threads that is waited for with it.
#[derive(Debug)]
pub(crate) struct Control {
    stream: Option<TcpStream>,
    poller: Poller,
    ready: Vec<Ready>,
    waker: Waker,
    incoming: Box<[u8]>,
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
    /// A connection that is established, at the end that has this role; `waker` ends a wait.
    pub fn new(stream: TcpStream, role: Role, waker: Waker) -> Result<Self, RunError> {
        // Messages are small and each is awaited.
        let set = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        set.map_err(RunError::system("cannot set up the control connection"))?;
        let mut control = Self::none(role, waker)?;
        control.poller.add(&stream, CONTROL, Interest::INPUT)?;
        control.incoming = vec![0; INCOMING_BYTES].into_boxed_slice();
        (control.stream, control.is_closed) = (Some(stream), false);
        Ok(control)
    }

    /// That of a session which has none, at the end that has this role.
    pub fn none(role: Role, waker: Waker) -> Result<Self, RunError> {
        let poller = Poller::new()?;
        poller.add(&waker, WORD, Interest::INPUT)?;
        Ok(Self {
            stream: None,
            poller,
            ready: Vec::new(),
            waker,
            incoming: Box::default(),
            outgoing: Vec::new(),
            role,
            interest: Interest::INPUT,
            takes_nothing: false,
            is_closed: true,
        })
    }

    /// Another connection takes the place of this one, whose other end is to know that it is over.
    pub fn hang_up(&mut self) {
        self.close();
        // It may be over already.
        let _ = self.stream.as_ref().map(|stream| stream.shutdown(Shutdown::Both));
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
        self.outgoing.shrink_to(OUTGOING_KEPT_BYTES);
        self.is_closed || !self.takes_nothing
    }

    /// Reads what the other end says.
    pub fn hear(&mut self) -> Heard<'_> {
        let Some(stream) = self.stream.as_mut().filter(|_| !self.is_closed) else {
            return Heard::Nothing;
        };
        match stream.read(&mut self.incoming) {
            Ok(count @ 1..) => Heard::Bytes(&self.incoming[..count]),
            Err(error) if is_temporary(&error) => Heard::Nothing,
            Ok(0) | Err(_) => self.close(),
        }
    }

    /// It is of no use any more. It must not end a wait again.
    pub fn close(&mut self) -> Heard<'static> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Heard::Nothing;
        }
        let _ = self.stream.as_ref().map(|stream| self.poller.remove(stream));
        self.outgoing.clear();
        Heard::Closed
    }

    /// Waits until there is something to hear, room for what is to leave, or word; or for `timeout` (`None`: for
    /// ever). Whether there is something to hear.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<bool, RunError> {
        let is_held_back = self.is_held_back();
        let interest = Interest { input: !is_held_back, output: !self.outgoing.is_empty() };
        if let Some(stream) = self.stream.as_ref().filter(|_| !self.is_closed)
            && interest != self.interest
        {
            self.poller.change(stream, CONTROL, interest)?;
            self.interest = interest;
        }
        self.poller.wait(&mut self.ready, timeout)?;
        self.waker.drain();
        // One that broke is ready for anything; sending finds that out.
        let is_ready = self.ready.iter().any(|ready| ready.key == CONTROL && ready.input);
        Ok(is_ready && !is_held_back)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A connection at the end that has this role, and its other end.
    fn connection(role: Role) -> (Control, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let peer = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (stream, _) = listener.accept().expect("one has come");
        let waker = Waker::new().expect("a waker");
        (Control::new(stream, role, waker).expect("a connection"), peer)
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
        assert!(control.wait(None).expect("it waits"), "something has come");
        say_too_much(&mut control);
        assert!(control.is_held_back());
        let heard = control.wait(Some(Duration::ZERO)).expect("it waits");
        assert!(!heard, "too much waits to leave");
        let mut buffer = vec![0; 1 << 20];
        while control.is_held_back() {
            let count = peer.read(&mut buffer).expect("something was said");
            assert!(count > 0 && control.flush());
        }
        while !control.wait(None).expect("it waits") {}
        assert_eq!(control.hear(), Heard::Bytes(b"said"));
    }

    #[test]
    fn a_client_always_listens() {
        let (mut control, mut peer) = connection(Role::Client);
        say_too_much(&mut control);
        peer.write_all(b"said").expect("there is room");
        while !control.wait(None).expect("it waits") {}
        assert_eq!(control.hear(), Heard::Bytes(b"said"));
    }

    #[test]
    fn what_has_left_leaves_little_memory_behind() {
        let (mut control, mut peer) = connection(Role::Server);
        say_too_much(&mut control);
        let mut buffer = vec![0; 1 << 20];
        while !control.outgoing.is_empty() {
            let count = peer.read(&mut buffer).expect("something was said");
            assert!(count > 0 && control.flush());
        }
        assert!(control.outgoing.capacity() <= OUTGOING_KEPT_BYTES);
    }
}
