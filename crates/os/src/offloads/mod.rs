//! Offloads: work that an interface takes from the kernel, so that what passes between them is not yet
//! a frame as on a wire: segments longer than the MTU, and checksums not filled in.
//!
//! Read for facts about a machine; switched off where frames are looked at or counted. See the legacy
//! commands in `linux/ethtool.h`, each of which stands for a family of features.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use crate::OsError;

/// One kind of work that an interface may do.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Offload {
    /// Checking the checksums of what comes in: `rx`.
    ReceiveChecksum,
    /// Filling in the checksums of what goes out: `tx`.
    TransmitChecksum,
    /// Cutting TCP segments to size: `tso`.
    TcpSegmentation,
    /// Cutting segments of any kind to size, late: `gso`.
    GenericSegmentation,
    /// Putting segments that come in together, by the kernel: `gro`.
    GenericReceive,
    /// Putting them together by the device, and losing their bounds: `lro`.
    LargeReceive,
}

impl Offload {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ReceiveChecksum,
        Self::TransmitChecksum,
        Self::TcpSegmentation,
        Self::GenericSegmentation,
        Self::GenericReceive,
        Self::LargeReceive,
    ];

    /// What the program `ethtool` calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReceiveChecksum => "rx",
            Self::TransmitChecksum => "tx",
            Self::TcpSegmentation => "tso",
            Self::GenericSegmentation => "gso",
            Self::GenericReceive => "gro",
            Self::LargeReceive => "lro",
        }
    }
}

/// Those that are on, of an interface of the calling thread's network.
pub fn active(interface: &str) -> Result<Vec<Offload>, OsError> {
    imp::active(interface)
}

/// Switches all of them off. Returns those that are still on, since some devices do not let go of some.
pub fn switch_off(interface: &str) -> Result<Vec<Offload>, OsError> {
    imp::switch_off(interface)
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_is_not_there_is_a_sentence() {
        for name in ["no-such-device", "a name of more than fifteen bytes", "", "a\0b"] {
            let error = active(name).expect_err("there is none").to_string();
            assert!(error.starts_with("cannot read the offloads of an interface: "), "{error}");
        }
    }

    #[test]
    fn the_loopback_device_cuts_segments_to_size() {
        let active = active("lo").expect("every network has it");
        assert!(active.contains(&Offload::TcpSegmentation), "{active:?}");
        assert!(!active.contains(&Offload::LargeReceive), "{active:?}");
    }
}
