//! Linux: sockets through socket2 and rustix.
//!
//! In one file: what one system does for one module, call by call.

mod flow_label;

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::record::SocketFacts;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{Shutdown, SocketFlags};
use socket2::{Domain, Protocol, SockRef, TcpKeepalive, Type};

pub use self::flow_label::labelled;
use super::Settings;
use crate::socket::{Handle, Socket};
use crate::{OsError, Waker, clock, datagrams, routes};

/// From one question whether the other end is there to the next.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(1);

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// For sockets that somebody else opened.
impl From<OwnedFd> for Socket {
    fn from(handle: OwnedFd) -> Self {
        Self(handle)
    }
}

impl From<TcpStream> for Socket {
    fn from(stream: TcpStream) -> Self {
        Self(stream.into())
    }
}

impl From<UdpSocket> for Socket {
    fn from(socket: UdpSocket) -> Self {
        Self(socket.into())
    }
}

impl From<socket2::Socket> for Socket {
    fn from(socket: socket2::Socket) -> Self {
        Self(socket.into())
    }
}

pub fn listen_tcp(address: SocketAddr, backlog: i32) -> Result<Socket, OsError> {
    let open = || -> io::Result<socket2::Socket> {
        let socket = tcp(address)?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        // Its connections have this from it; where very many come, a system call for each counts.
        socket.set_tcp_nodelay(true)?;
        socket.listen(backlog)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    open().map(Socket::from).map_err(|source| OsError::Listen { protocol: "TCP", address, source })
}

pub fn accept_tcp(listener: &Socket) -> Result<Option<(Socket, SocketAddr)>, OsError> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (handle, address) = match rustix::net::acceptfrom_with(listener, flags) {
        Ok(accepted) => accepted,
        // A connection that was reset while it waited, or a signal: nothing to accept either.
        Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => return Ok(None),
        Err(errno) => return Err(OsError::call("accept a connection")(errno)),
    };
    let Some(Ok(address)) = address.map(SocketAddr::try_from) else { return Ok(None) };
    Ok(Some((Socket(handle), address)))
}

pub fn connect_tcp(
    address: SocketAddr,
    settings: &Settings,
    deadline: Tick,
    cancel: Option<&Waker>,
) -> Result<Socket, OsError> {
    let begun = clock::now();
    let failed = |source| OsError::Connect { protocol: "TCP", address, source };
    let socket = begin_connect_tcp(address, settings)?;
    await_connection(&socket, address, begun, deadline, cancel)?;
    rustix::io::ioctl_fionbio(&socket, false).map_err(|errno| failed(errno.into()))?;
    Ok(socket)
}

pub fn begin_connect_tcp(address: SocketAddr, settings: &Settings) -> Result<Socket, OsError> {
    let socket = to_be_connected(address, settings)?;
    match rustix::net::connect(&socket, &labelled(address, settings)) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
        Err(errno) => Err(connect_failed(address)(errno.into())),
    }
}

/// A TCP socket that is neither bound nor connected.
pub fn unconnected_tcp(address: SocketAddr) -> Result<Socket, OsError> {
    tcp(address).map(Socket::from).map_err(OsError::call("open a socket"))
}

/// What a connection to there is told to have failed of.
pub fn connect_failed(address: SocketAddr) -> impl Fn(io::Error) -> OsError {
    move |source| OsError::Connect { protocol: "TCP", address, source }
}

/// A socket that does not block, set before it connects.
pub fn to_be_connected(address: SocketAddr, settings: &Settings) -> Result<Socket, OsError> {
    let kind = Type::STREAM.nonblocking();
    let opened = open(address, kind, Protocol::TCP);
    let socket = Socket::from(opened.map_err(connect_failed(address))?);
    if let Some(bytes) = settings.segment_bytes {
        let set = SockRef::from(&socket).set_tcp_mss(bytes);
        set.map_err(OsError::call("set the largest segment (TCP_MAXSEG)"))?;
    }
    flow_label::lease(&socket, address, settings)?;
    apply(&socket, settings)?;
    bind(&socket, settings)?;
    Ok(socket)
}

/// Where a socket stands before it connects.
fn bind(handle: &Socket, settings: &Settings) -> Result<(), OsError> {
    let socket = SockRef::from(handle);
    if let Some(interface) = &settings.interface {
        bind_to_interface(&socket, interface)?;
    }
    let Some(local) = settings.local else { return Ok(()) };
    let failed = |source| OsError::Bind { address: local, source };
    if local.port() == 0 {
        // A port that is chosen here is taken for whatever the other end is; when it connects, for that one alone. Where the kernel
        // knows no such thing (before Linux 4.2), ports run out sooner.
        let (level, name) = (libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT);
        let _ = set_number(&handle.0, level, name, 1);
    } else {
        // It may have belonged to a connection that waits out its time.
        socket.set_reuse_address(true).map_err(failed)?;
    }
    socket.bind(&local.into()).map_err(failed)
}

/// Keeps a socket on an interface, by its name or its number.
fn bind_to_interface(socket: &socket2::Socket, called: &str) -> Result<(), OsError> {
    let failed = |source| OsError::Interface { name: called.to_owned(), source };
    let by_number = |number: u32| {
        let interfaces = routes::interfaces().ok()?;
        interfaces.into_iter().find(|interface| interface.index == number)
    };
    match (socket.bind_device(Some(called.as_bytes())), called.parse().ok().and_then(by_number)) {
        (Err(_), Some(numbered)) => {
            socket.bind_device(Some(numbered.name.as_bytes())).map_err(failed)
        }
        (bound, _) => bound.map_err(failed),
    }
}

pub fn interface(socket: &Socket) -> Option<String> {
    let name = SockRef::from(socket).device().ok()??;
    let name = name.strip_suffix(&[0]).unwrap_or(&name);
    String::from_utf8(name.to_vec()).ok()
}

pub fn apply(socket: &Socket, settings: &Settings) -> Result<(), OsError> {
    set_common(socket, settings)?;
    let handle = SockRef::from(socket);
    if let Some(bytes) = settings.not_sent_low_water_bytes {
        handle
            .set_tcp_notsent_lowat(bytes)
            .map_err(OsError::call("set the low water of unsent data (TCP_NOTSENT_LOWAT)"))?;
    }
    if let Some(idle) = settings.keepalive {
        let keepalive = TcpKeepalive::new().with_time(idle).with_interval(KEEPALIVE_EVERY);
        handle
            .set_tcp_keepalive(&keepalive)
            .map_err(OsError::call("set keepalive (TCP_KEEPIDLE)"))?;
    }
    if settings.user_timeout.is_some() {
        handle.set_tcp_user_timeout(settings.user_timeout).map_err(OsError::call(
            "set the time that data may stay unacknowledged (TCP_USER_TIMEOUT)",
        ))?;
    }
    socket.set_nodelay(!settings.nagle)?;
    if let Some(rate) = settings.pacing_bytes_per_second {
        set_pacing(socket, rate)
            .map_err(OsError::call("set the pace of the kernel (SO_MAX_PACING_RATE)"))?;
    }
    settings.congestion_control.iter().try_for_each(|name| socket.set_congestion_control(name))
}

/// Every kernel takes 32 bits.
fn set_pacing(socket: &Socket, bytes_per_second: u32) -> io::Result<()> {
    let length = size_of_val(&bytes_per_second) as libc::socklen_t;
    // SAFETY: the descriptor is borrowed, hence open; the kernel reads `length` bytes, which is what the
    // number has.
    let status = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const bytes_per_second).cast(),
            length,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The bound on what the kernel sends, in bits a second; `None`: no bound.
fn pacing_bps(socket: &Socket) -> Option<u64> {
    let mut bytes = [0_u8; 8];
    let (level, name) = (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE);
    // Kernels before 5.0 fill four bytes. All bits: no bound.
    let (rate, unbounded) = match crate::tcp_facts::option(socket, level, name, &mut bytes)? {
        4 => (u64::from(u32::from_ne_bytes(*bytes.first_chunk()?)), u64::from(u32::MAX)),
        8 => (u64::from_ne_bytes(bytes), u64::MAX),
        _ => return None,
    };
    (rate < unbounded).then(|| rate.saturating_mul(8))
}

/// What sockets of either kind have.
pub fn set_common(socket: &Socket, settings: &Settings) -> Result<(), OsError> {
    let handle = SockRef::from(socket);
    if let Some(bytes) = settings.send_buffer_bytes {
        handle
            .set_send_buffer_size(bytes)
            .map_err(OsError::call("set the send buffer (SO_SNDBUF)"))?;
    }
    if let Some(bytes) = settings.receive_buffer_bytes {
        handle
            .set_recv_buffer_size(bytes)
            .map_err(OsError::call("set the receive buffer (SO_RCVBUF)"))?;
    }
    if let Some(hops) = settings.hops {
        set_hops(socket, hops).map_err(OsError::call("set the time to live (IP_TTL)"))?;
    }
    match settings.dscp {
        Some(dscp) => set_dscp(socket, dscp).map_err(OsError::call("set the code point (DSCP)")),
        None => Ok(()),
    }
}

fn set_hops(socket: &Socket, hops: u8) -> io::Result<()> {
    let handle = SockRef::from(socket);
    if local_addr(&socket.0)?.is_ipv6() {
        handle.set_unicast_hops_v6(hops.into())
    } else {
        handle.set_ttl_v4(hops.into())
    }
}

/// The two lowest bits are congestion notification's, and the kernel's.
fn set_dscp(socket: &Socket, dscp: u8) -> io::Result<()> {
    let byte = u32::from(dscp) << 2;
    let handle = SockRef::from(socket);
    if local_addr(&socket.0)?.is_ipv6() {
        handle.set_tclass_v6(byte)
    } else {
        handle.set_tos_v4(byte)
    }
}

pub fn facts(socket: &Socket) -> SocketFacts {
    let handle = SockRef::from(socket);
    let is_six = local_addr(&socket.0).is_ok_and(|address| address.is_ipv6());
    let class = if is_six { handle.tclass_v6() } else { handle.tos_v4() };
    let hops = if is_six { handle.unicast_hops_v6() } else { handle.ttl_v4() };
    let bytes = |size: Option<usize>| size.map(|size| size as u64);
    SocketFacts {
        send_buffer_bytes: bytes(send_buffer_bytes(&socket.0)),
        receive_buffer_bytes: bytes(receive_buffer_bytes(&socket.0)),
        congestion_control: congestion_control(&socket.0),
        dscp: class.ok().and_then(|class| u8::try_from(class >> 2).ok()),
        hops: hops.ok().and_then(|hops| u8::try_from(hops).ok()),
        segment_bytes: handle.tcp_mss().ok().map(u64::from),
        not_sent_low_water_bytes: handle
            .tcp_notsent_lowat()
            .ok()
            // Zero: as the system has it, which is all bits; and those are no bound.
            .filter(|&bytes| bytes != 0 && bytes != u32::MAX)
            .map(u64::from),
        nagle: handle.tcp_nodelay().ok().map(|nodelay| !nodelay),
        pacing_bps: pacing_bps(socket),
        keepalive_ns: handle
            .keepalive()
            .ok()
            .filter(|&is_on| is_on)
            .and_then(|_| handle.tcp_keepalive_time().ok())
            .and_then(|idle| u64::try_from(idle.as_nanos()).ok()),
    }
}

fn connection_outcome(socket: &Socket, address: SocketAddr) -> Result<(), OsError> {
    let outcome = sockopt::socket_error(socket).and_then(|outcome| outcome);
    outcome.map_err(|errno| OsError::Connect { protocol: "TCP", address, source: errno.into() })
}

fn await_connection(
    socket: &Socket,
    address: SocketAddr,
    begun: Tick,
    deadline: Tick,
    cancel: Option<&Waker>,
) -> Result<(), OsError> {
    loop {
        if cancel.is_some_and(Waker::is_raised) {
            return Err(OsError::Cancelled { address });
        }
        let now = clock::now();
        if now >= deadline {
            return Err(OsError::ConnectTimeout { address, waited: deadline.since(begun) });
        }
        let awaited = PollFd::new(socket, PollFlags::OUT);
        // Without a waker the socket stands in its place; it is never readable before it is connected.
        let other = cancel.map_or_else(|| socket.as_fd(), AsFd::as_fd);
        let mut watched = [awaited, PollFd::from_borrowed_fd(other, PollFlags::IN)];
        match poll(&mut watched, Some(&timespec(deadline.since(now)))) {
            Ok(_) if !watched[0].revents().is_empty() => {
                return connection_outcome(socket, address);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(OsError::call("wait for a connection")(errno)),
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

pub fn bind_udp(address: SocketAddr, is_shared: bool) -> Result<Socket, OsError> {
    let open = || -> io::Result<Socket> {
        let socket = udp(address)?;
        // So that the sockets of flows can stand beside it: in its group, or else in none.
        socket.set_reuse_address(is_shared)?;
        socket.set_reuse_port(is_shared)?;
        socket.bind(&address.into())?;
        socket.set_nonblocking(true)?;
        let socket = Socket::from(socket);
        datagrams::tell_local_address(&socket, address)?;
        Ok(socket)
    };
    open().map_err(|source| OsError::Listen { protocol: "UDP", address, source })
}

pub fn connect_udp(address: SocketAddr, settings: &Settings) -> Result<Socket, OsError> {
    let failed = |source| OsError::Connect { protocol: "UDP", address, source };
    let socket = udp(address).map_err(failed)?;
    if let Some(name) = &settings.interface {
        bind_to_interface(&socket, name)?;
    }
    if let Some(address) = settings.local {
        // Its port may not be another's: datagrams for both would come to one of them.
        socket.bind(&address.into()).map_err(|source| OsError::Bind { address, source })?;
    }
    let socket = Socket::from(socket);
    flow_label::lease(&socket, address, settings)?;
    let connected = rustix::net::connect(&socket, &labelled(address, settings));
    connected.map_err(|errno| failed(errno.into()))?;
    set_common(&socket, settings)?;
    Ok(socket)
}

fn tcp(address: SocketAddr) -> io::Result<socket2::Socket> {
    open(address, Type::STREAM, Protocol::TCP)
}

pub fn udp(address: SocketAddr) -> io::Result<socket2::Socket> {
    open(address, Type::DGRAM, Protocol::UDP)
}

fn open(address: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<socket2::Socket> {
    let socket = socket2::Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    Ok(socket)
}

pub fn check_congestion_control(name: &str) -> Result<(), OsError> {
    let any = SocketAddr::from((std::net::Ipv4Addr::UNSPECIFIED, 0));
    unconnected_tcp(any)?.set_congestion_control(name)
}

pub fn congestion_controls() -> Option<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

pub fn unprivileged_congestion_controls() -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
    // One that does not say lets everybody have what it gives by itself.
    let usual = "/proc/sys/net/ipv4/tcp_congestion_control";
    let listed = std::fs::read_to_string(path).or_else(|_| std::fs::read_to_string(usual));
    listed.unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect()
}

pub fn into_tcp_stream(handle: Handle) -> TcpStream {
    handle.into()
}

pub fn into_udp_socket(handle: Handle) -> UdpSocket {
    handle.into()
}

pub fn try_clone(handle: &Handle) -> io::Result<Handle> {
    handle.try_clone()
}

pub fn local_addr(handle: &Handle) -> io::Result<SocketAddr> {
    Ok(SocketAddr::try_from(rustix::net::getsockname(handle)?)?)
}

pub fn peer_addr(handle: &Handle) -> io::Result<SocketAddr> {
    let address = rustix::net::getpeername(handle)?.ok_or(io::ErrorKind::NotConnected)?;
    Ok(SocketAddr::try_from(address)?)
}

pub fn set_nodelay(handle: &Handle, nodelay: bool) -> Result<(), OsError> {
    sockopt::set_tcp_nodelay(handle, nodelay).map_err(OsError::call("set TCP_NODELAY"))
}

pub fn push(handle: &Handle) -> Result<(), OsError> {
    sockopt::set_tcp_cork(handle, false).map_err(OsError::call("unset TCP_CORK"))
}

pub fn set_congestion_control(handle: &Handle, name: &str) -> Result<(), OsError> {
    sockopt::set_tcp_congestion(handle, name).map_err(|errno| match errno {
        Errno::NOENT | Errno::PERM => OsError::CongestionControl {
            name: name.to_owned(),
            available: congestion_controls().unwrap_or_else(|| "no list of them".to_owned()),
        },
        errno => OsError::call("set the congestion control")(errno),
    })
}

pub fn congestion_control(handle: &Handle) -> Option<String> {
    sockopt::tcp_congestion(handle).ok()
}

pub fn send_buffer_bytes(handle: &Handle) -> Option<usize> {
    sockopt::socket_send_buffer_size(handle).ok()
}

pub fn receive_buffer_bytes(handle: &Handle) -> Option<usize> {
    sockopt::socket_recv_buffer_size(handle).ok()
}

pub fn enlarge_receive_buffer(handle: &Handle, bytes: usize) -> Result<(), OsError> {
    // The second is cut to `net.core.rmem_max`; the first is not, and takes CAP_NET_ADMIN.
    sockopt::set_socket_recv_buffer_size_force(handle, bytes)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(handle, bytes))
        .map_err(OsError::call("enlarge the receive buffer of a socket"))
}

/// `SK_MEMINFO_RMEM_ALLOC` of `linux/sock_diag.h`, the first number of `SO_MEMINFO`.
const RECEIVE_MEMORY: usize = 0;
/// `SK_MEMINFO_DROPS`, the ninth.
const DROPS: usize = 8;

pub fn receive_drops(handle: &Handle) -> Option<u32> {
    memory(handle).map(|numbers| numbers[DROPS])
}

pub fn held_bytes(handle: &Handle) -> Option<u64> {
    let in_order = ready_bytes(handle)?;
    // A kernel that does not count them may hold some.
    if crate::tcp_facts::out_of_order(handle) == Some(0) {
        return Some(in_order);
    }
    // What waits for others before it is counted nowhere, but charged for.
    Some(u64::from(memory(handle)?[RECEIVE_MEMORY]).max(in_order))
}

pub fn ready_bytes(handle: &Handle) -> Option<u64> {
    rustix::io::ioctl_fionread(handle).ok()
}

/// In seconds, of which the kernel makes times that it answers a SYN again: one, which is the least.
const WORDS_WITHIN: libc::c_int = 1;

pub fn await_first_words(handle: &Handle) -> io::Result<()> {
    set_number(handle, libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, WORDS_WITHIN)
}

/// Sets an option that is one number.
pub fn set_number(
    handle: &Handle,
    level: libc::c_int,
    name: libc::c_int,
    number: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the descriptor is borrowed, hence open; the kernel reads `optlen` bytes, which is what the number has.
    let status = unsafe {
        libc::setsockopt(
            handle.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const number).cast(),
            size_of_val(&number) as libc::socklen_t,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub fn unacknowledged_bytes(handle: &Handle) -> Option<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is borrowed, hence open; for this request, `SIOCOUTQ` on a socket, the kernel writes one `int`.
    let status =
        unsafe { libc::ioctl(handle.as_fd().as_raw_fd(), libc::TIOCOUTQ as _, &raw mut bytes) };
    (status == 0).then(|| u64::try_from(bytes).ok()).flatten()
}

fn memory(handle: &Handle) -> Option<[u32; DROPS + 1]> {
    let mut numbers = [0_u32; DROPS + 1];
    let filled = crate::tcp_facts::option(handle, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut numbers);
    (filled? == size_of_val(&numbers)).then_some(numbers)
}

pub fn set_receive_timeout(handle: &Handle, timeout: Option<Duration>) -> io::Result<()> {
    Ok(sockopt::set_socket_timeout(handle, Timeout::Recv, timeout)?)
}

pub fn set_send_timeout(handle: &Handle, timeout: Option<Duration>) -> io::Result<()> {
    Ok(sockopt::set_socket_timeout(handle, Timeout::Send, timeout)?)
}

pub fn shutdown_send(handle: &Handle) -> io::Result<()> {
    Ok(rustix::net::shutdown(handle, Shutdown::Write)?)
}

/// Linger of zero makes closing a reset, whoever closes last; disconnecting makes it now. Some kernels
/// (6.1 to 6.6) do not disconnect a socket that another thread waits for: shut down, it ends as soon.
pub fn reset(handle: &Handle) -> io::Result<()> {
    reset_when_closed(handle)?;
    let disconnected = rustix::net::connect_unspec(handle);
    Ok(disconnected.or_else(|_| rustix::net::shutdown(handle, Shutdown::Both))?)
}

pub fn reset_when_closed(handle: &Handle) -> io::Result<()> {
    Ok(sockopt::set_socket_linger(handle, Some(Duration::ZERO))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_end_takes_no_port_before_it_connects() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let local: SocketAddr = address.parse().expect("an address");
            let socket = Socket::from(tcp(local).expect("a socket"));
            let settings = Settings { local: Some(local), ..Settings::default() };
            match bind(&socket, &settings) {
                Ok(()) => assert_eq!(socket.local_addr().expect("it is bound"), local),
                Err(error) if local.is_ipv6() => println!("skipped, because {error}"),
                Err(error) => panic!("{error}"),
            }
        }
    }
}
