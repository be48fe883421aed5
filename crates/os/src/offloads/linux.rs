//! Linux: `SIOCETHTOOL`, see netdevice(7) and `linux/ethtool.h`.

use std::io;
use std::os::fd::AsRawFd;

use socket2::{Domain, Socket, Type};

use super::Offload;
use crate::OsError;

const FLAG_LRO: u32 = 1 << 15;

/// The number of the command that reads, and of the one that sets.
const fn commands(offload: Offload) -> (u32, u32) {
    match offload {
        Offload::ReceiveChecksum => (0x14, 0x15),
        Offload::TransmitChecksum => (0x16, 0x17),
        Offload::TcpSegmentation => (0x1e, 0x1f),
        Offload::GenericSegmentation => (0x23, 0x24),
        Offload::GenericReceive => (0x2b, 0x2c),
        // All the flags of a device in one number.
        Offload::LargeReceive => (0x25, 0x26),
    }
}

pub fn active(interface: &str) -> Result<Vec<Offload>, OsError> {
    Interface::named(interface)
        .and_then(|interface| interface.active())
        .map_err(OsError::call("read the offloads of an interface"))
}

pub fn switch_off(interface: &str) -> Result<Vec<Offload>, OsError> {
    const WHAT: &str = "switch off the offloads of an interface";
    let interface = Interface::named(interface).map_err(OsError::call(WHAT))?;
    let active = interface.active().map_err(OsError::call(WHAT))?;
    for offload in active {
        match interface.switch_off(offload) {
            Err(source) if source.kind() == io::ErrorKind::PermissionDenied => {
                return Err(OsError::Refused {
                    what: WHAT,
                    takes: "the capability CAP_NET_ADMIN in the user namespace of this network",
                    remedy: "run it as root, or in a network of our own",
                    source,
                });
            }
            // What is on afterwards, the answer tells.
            _ => {}
        }
    }
    interface.active().map_err(OsError::call(WHAT))
}

struct Interface {
    /// Any socket will do; it stands for the network.
    socket: Socket,
    request: libc::ifreq,
}

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

impl Interface {
    fn named(name: &str) -> io::Result<Self> {
        let mut ifr_name = [0; libc::IFNAMSIZ];
        // One byte is left for the end.
        if name.is_empty() || name.len() >= ifr_name.len() || name.contains('\0') {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        ifr_name.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from as libc::c_char);
        let ifr_ifru = libc::__c_anonymous_ifr_ifru { ifru_data: std::ptr::null_mut() };
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        Ok(Self { socket, request: libc::ifreq { ifr_name, ifr_ifru } })
    }

    fn active(&self) -> io::Result<Vec<Offload>> {
        let mut active = Vec::new();
        for offload in Offload::ALL {
            if self.is_active(offload)? {
                active.push(offload);
            }
        }
        Ok(active)
    }

    fn is_active(&self, offload: Offload) -> io::Result<bool> {
        let (read, _) = commands(offload);
        Ok(match self.ask(read, 0)? {
            flags if offload == Offload::LargeReceive => flags & FLAG_LRO != 0,
            value => value != 0,
        })
    }

    fn switch_off(&self, offload: Offload) -> io::Result<()> {
        let (read, set) = commands(offload);
        let data = match offload {
            Offload::LargeReceive => self.ask(read, 0)? & !FLAG_LRO,
            _ => 0,
        };
        self.ask(set, data).map(drop)
    }

    fn ask(&self, command: u32, data: u32) -> io::Result<u32> {
        let mut value = Value { command, data };
        let mut request = self.request;
        request.ifr_ifru.ifru_data = (&raw mut value).cast();
        // SAFETY: the socket is ours, hence open; the request names the interface in bytes that end
        // with a zero, and points to a value of the structure that each of these commands reads and
        // fills.
        let status = unsafe {
            libc::ioctl(self.socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request)
        };
        if status < 0 { Err(io::Error::last_os_error()) } else { Ok(value.data) }
    }
}
