//! The network that everything is calibrated on, and the places on it that cells are measured at.

/// As a topology. One host measures; each other is one place. Nobody is reached through anybody.
pub const NETWORK: &str = r#"
name = "calibration"
isolated = true
hosts = ["near", "wire", "wire6", "wide", "link", "link6", "both"]
routers = ["left", "right", "middle"]

[links]
"near:wire" = {}
"near:wire6" = { subnet = "fd00:1::/64" }
"near:wide" = { mtu = 9000 }
"near:link" = { delay = "2ms" }
"near:link6" = { delay = "2ms", subnet = "fd00:2::/64" }
"near:left" = { delay = "2ms" }
"left:middle" = {}
"near:right" = { delay = "3ms" }
"right:middle" = {}
"middle:both" = {}
"#;

/// The host that measures.
pub const NEAR: &str = "near";

/// Where a cell is measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// One machine with itself.
    Loopback,
    /// Two hosts and a plain wire.
    Wire,
    /// The same, for packets of 9,000 bytes.
    Wide,
    /// Two hosts and a link of known conditions.
    Link,
    /// Two hosts with two ways between them, a link on each.
    Both,
}

/// Which addresses are used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Family {
    /// IPv4.
    Four,
    /// IPv6.
    Six,
}

impl Place {
    /// The other host.
    pub const fn host(self, family: Family) -> &'static str {
        match (self, family) {
            (Self::Loopback, _) => NEAR,
            (Self::Wire, Family::Four) => "wire",
            (Self::Wire, Family::Six) => "wire6",
            (Self::Wide, _) => "wide",
            (Self::Link, Family::Four) => "link",
            (Self::Link, Family::Six) => "link6",
            (Self::Both, _) => "both",
        }
    }

    /// How it is called on a command line; `{to}` is the other host.
    pub const fn target(self, family: Family) -> &'static str {
        match (self, family) {
            (Self::Loopback, Family::Four) => "127.0.0.1",
            (Self::Loopback, Family::Six) => "::1",
            _ => "{to}",
        }
    }

    /// The names of its links of known conditions.
    pub const fn links(self, family: Family) -> &'static [&'static str] {
        match (self, family) {
            (Self::Link, Family::Four) => &["near:link"],
            (Self::Link, Family::Six) => &["near:link6"],
            (Self::Both, _) => &["near:left", "near:right"],
            (Self::Loopback | Self::Wire | Self::Wide, _) => &[],
        }
    }

    /// Bytes that a packet may have.
    pub const fn mtu(self) -> u64 {
        match self {
            Self::Loopback => 65_536,
            Self::Wide => 9_000,
            Self::Wire | Self::Link | Self::Both => 1_500,
        }
    }
}

impl Family {
    /// Bytes of the header of a packet without options.
    pub const fn header_bytes(self) -> u64 {
        match self {
            Self::Four => 20,
            Self::Six => 40,
        }
    }
}
