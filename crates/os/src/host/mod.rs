//! What this machine says of itself, for the result: whatever could explain a figure. What it does not
//! say is absent, never an error.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use std::net::IpAddr;

use pathscope_core::record::{Host, InterfaceFacts};

/// This machine as it is now. The caller adds the tool, and the interface once a flow has an address.
pub fn facts() -> Host {
    imp::facts()
}

/// The interface that has this address.
pub fn interface_for(local: IpAddr) -> Option<InterfaceFacts> {
    imp::interface_for(local)
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use super::*;

    #[test]
    fn a_linux_machine_knows_itself() {
        let host = facts();
        assert!(!host.name.is_empty() && host.kernel.starts_with("Linux "), "{host:?}");
        assert!(host.cpus_online > Some(0) && host.memory_bytes > Some(0), "{host:?}");
        assert!(
            host.network.tcp_receive_buffer_bytes.is_some_and(|[least, _, most]| least <= most)
        );
    }

    #[test]
    fn loopback_has_an_interface_and_a_foreign_address_has_none() {
        let loopback = interface_for("127.0.0.1".parse().expect("an address"));
        assert_eq!(loopback.map(|facts| facts.name), Some("lo".to_owned()));
        assert_eq!(interface_for("192.0.2.1".parse().expect("an address")), None);
    }
}
