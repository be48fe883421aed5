//! Any other system: its clock is known, nothing else.

use std::net::IpAddr;

use pathscope_core::record::{Host, InterfaceFacts};

use crate::{clock, cpus};

pub fn facts() -> Host {
    Host {
        kernel: std::env::consts::OS.to_owned(),
        cpus_allowed: cpus::allowed(),
        clock: clock::facts(),
        ..Host::default()
    }
}

pub fn interface_for(_local: IpAddr) -> Option<InterfaceFacts> {
    None
}
