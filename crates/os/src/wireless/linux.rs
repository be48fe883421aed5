//! Linux: the family `nl80211` of generic netlink, found by its name.

use netlink_packet_core::NLM_F_DUMP;
use netlink_sys::protocols::NETLINK_GENERIC;
use pathscope_core::record::WirelessFacts;

use super::message::{self, Generic};
use crate::netlink::Kernel;

#[derive(Debug)]
pub struct Observer {
    kernel: Kernel<Generic>,
    /// The number that the kernel gave to nl80211.
    family: u16,
}

impl Observer {
    pub fn open() -> Option<Self> {
        let mut kernel = Kernel::open(NETLINK_GENERIC).ok()?;
        let family = family(&mut kernel, "nl80211")?;
        Some(Self { kernel, family })
    }

    pub fn look(&mut self, interface: u32) -> Option<WirelessFacts> {
        // The kernel refuses what is not Wi-Fi.
        let asked = message::ask_interface(self.family, interface);
        let answers = self.kernel.ask(asked, 0).ok()?;
        let (mut facts, role) = answers.iter().find_map(message::interface)?;
        if role.is_client() {
            let asked = message::ask_stations(self.family, interface);
            let stations = self.kernel.ask(asked, NLM_F_DUMP).unwrap_or_default();
            // A client's own access point comes first; peers that it talks to directly follow.
            if let Some(station) = stations.iter().find_map(message::station) {
                station.tell(&mut facts);
            }
        }
        Some(facts)
    }
}

/// The number of a family of this name; `None` where the kernel has none.
fn family(kernel: &mut Kernel<Generic>, name: &str) -> Option<u16> {
    let answers = kernel.ask(message::ask_family(name), 0).ok()?;
    answers.iter().find_map(message::family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_families_by_name() {
        let mut kernel = match Kernel::open(NETLINK_GENERIC) {
            Ok(kernel) => kernel,
            Err(error) => return println!("skipped, because there is no generic netlink: {error}"),
        };
        // The one that is always there: it tells of the others, by the number that the header gives it.
        assert_eq!(family(&mut kernel, "nlctrl"), Some(16));
        assert_eq!(family(&mut kernel, "nothing-like-it"), None);
        // An error leaves nothing behind that would be taken for the next answer.
        assert_eq!(family(&mut kernel, "nlctrl"), Some(16));
    }

    #[test]
    fn an_interface_without_wifi_has_no_such_facts() {
        let Some(mut observer) = Observer::open() else {
            return println!("skipped, because this kernel has no nl80211");
        };
        let loopback = crate::routes::interfaces()
            .expect("the kernel tells")
            .into_iter()
            .find(|interface| interface.is_loopback)
            .expect("there is one");
        assert_eq!(observer.look(loopback.index), None);
        assert_eq!(observer.look(u32::MAX / 2), None);
    }
}
