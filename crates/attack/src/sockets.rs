//! Sockets that come from an address of choice, and as many as the system allows.

use std::io::{self, Read as _};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// A connection from an address that is being made, and blocks nobody.
pub fn begin_to_dial(source: IpAddr, server: SocketAddr) -> io::Result<TcpStream> {
    let family = if source.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    bind(&socket, &SocketAddr::new(source, 0))?;
    match connect(&socket, &server) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(TcpStream::from(socket))
}

/// A connection from an address, within 3 s.
pub fn dial(source: IpAddr, server: SocketAddr) -> io::Result<TcpStream> {
    let socket = begin_to_dial(source, server)?;
    let mut polled = [PollFd::new(&socket, PollFlags::OUT)];
    let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
    if poll(&mut polled, Some(&patience))? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    if let Err(error) = sockopt::socket_error(&socket)? {
        return Err(error.into());
    }
    socket.set_nonblocking(false)?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// A datagram socket at an address and a port (0: any), that knows its server.
pub fn seat(source: IpAddr, port: u16, server: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddr::new(source, port))?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(Duration::from_millis(500)))?;
    Ok(socket)
}

/// Whether the server has not closed this; what it says is passed over.
pub fn is_open(mut stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let mut room = [0; 4_096];
    loop {
        match stream.read(&mut room) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        }
    }
}

/// As many descriptors as the system lets this process have.
pub fn take_all_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // Where it may not, an attack has fewer, and says how many connections it made.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
