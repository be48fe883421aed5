//! Interfaces, their addresses, the way that packets take, and word of every change: rtnetlink(7).
//!
//! Facts, and no choice by them: which interface is a path, `run` decides. Nothing is changed here.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use std::net::IpAddr;

use pathscope_core::network::Network;

use crate::OsError;

/// An interface as it is now.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Interface {
    /// The kernel's number for it.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Whether somebody has set it up.
    pub is_up: bool,
    /// Whether it has a link: a cable, or a network that it is associated with.
    pub has_link: bool,
    /// Whether it leads back to this machine.
    pub is_loopback: bool,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// The networks that its addresses are of: who is there is on its link.
    pub networks: Vec<Network>,
}

/// The way that packets to a destination take.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Route {
    /// The number of the interface that they leave by.
    pub interface: u32,
    /// The router that they are handed to; absent where the destination is on the link.
    pub gateway: Option<IpAddr>,
    /// The source address that the kernel chooses for them, where it says.
    pub source: Option<IpAddr>,
}

/// What a way is asked for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Asked {
    /// For packets that may leave by this interface alone.
    pub interface: Option<u32>,
    /// For packets that have this source address.
    pub source: Option<IpAddr>,
}

/// Every interface of this machine, by its number.
pub fn interfaces() -> Result<Vec<Interface>, OsError> {
    imp::interfaces()
}

/// The way to `destination`; `None`: there is none.
///
/// An interface that is asked for by its number has a way only where a route says so. A socket that is bound
/// to it would be more hopeful: without a route, the kernel takes it that the destination is on the link.
pub fn route(destination: IpAddr, asked: Asked) -> Result<Option<Route>, OsError> {
    imp::route(destination, asked)
}

/// Becomes readable when a link, an address, a route or a rule of this machine changes.
#[derive(Debug)]
pub struct Monitor(imp::Monitor);

impl Monitor {
    /// Of all changes from now on.
    pub fn open() -> Result<Self, OsError> {
        imp::Monitor::open().map(Self)
    }

    /// Forgets the changes so far, and tells what may have gone meanwhile, though it may be there again. All else is
    /// found by looking.
    pub fn drain(&mut self) -> Disturbed {
        self.0.drain()
    }
}

/// What went, though it may be there again.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Disturbed {
    /// Interfaces, by number, that lost their link.
    pub interfaces: Vec<u32>,
    /// Addresses that were removed, each with its interface.
    pub addresses: Vec<(u32, IpAddr)>,
}

impl Disturbed {
    /// Whether a socket of this address lost what it stands on.
    pub fn concerns(&self, interface: u32, local: IpAddr) -> bool {
        self.interfaces.contains(&interface) || self.addresses.contains(&(interface, local))
    }
}

#[cfg(all(target_os = "linux", not(pathscope_other)))]
impl std::os::fd::AsFd for Monitor {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_an_interface_and_the_way_to_itself() {
        let interfaces = interfaces().expect("the kernel tells");
        let loopback = interfaces.iter().find(|it| it.is_loopback).expect("there is one");
        let here: IpAddr = "127.0.0.1".parse().expect("an address");
        assert!(loopback.is_up && loopback.addresses.contains(&here), "{loopback:?}");
        assert!(loopback.networks.iter().any(|network| network.contains(here)), "{loopback:?}");
        let way = route(here, Asked::default()).expect("the kernel answers").expect("a way");
        assert_eq!((way.interface, way.gateway), (loopback.index, None));
        let bound = Asked { interface: Some(loopback.index), source: None };
        let way = route(here, bound).expect("the kernel answers").expect("a way");
        assert_eq!(way.interface, loopback.index);
    }

    #[test]
    fn an_interface_that_is_not_there_has_no_way() {
        let here: IpAddr = "192.0.2.1".parse().expect("an address");
        let asked = Asked { interface: Some(u32::MAX / 2), source: None };
        assert!(!matches!(route(here, asked), Ok(Some(_))));
    }
}
