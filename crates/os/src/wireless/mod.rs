//! What the driver of a Wi-Fi interface says of its association: nl80211 by generic netlink.
//!
//! Facts as of now, and nothing is changed, scanned for or remembered here. A system without nl80211 and an interface
//! without Wi-Fi have no such facts, which is no error.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod channel;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod message;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use pathscope_core::record::WirelessFacts;

/// Asks Wi-Fi interfaces what they are doing.
#[derive(Debug)]
pub struct Observer(imp::Observer);

impl Observer {
    /// `None` where this system tells nothing of Wi-Fi.
    pub fn open() -> Option<Self> {
        imp::Observer::open().map(Self)
    }

    /// What is known of the interface of this number now; `None` where it is not one of Wi-Fi, or not there. Some drivers
    /// take milliseconds for it.
    pub fn look(&mut self, interface: u32) -> Option<WirelessFacts> {
        self.0.look(interface)
    }
}
