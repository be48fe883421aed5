//! The network that everything is calibrated on, and the places on it that cells are measured at.

/// As a topology. One host measures; each other is one place. Nobody is reached through anybody.
pub const NETWORK: &str = r#"
name = "calibration"
isolated = true
hosts = ["near", "wire", "wire6", "wide", "link", "link6", "both", "beyond", "narrow"]
routers = ["left", "right", "middle", "translator", "shrinker", "widener"]

[links]
"near:wire" = {}
"near:wire6" = { subnet = "fd00:1::/64" }
"near:wide" = { mtu = 9000 }
"near:link" = { delay = "2ms", subnet = "10.21.0.0/24" }
"near:link6" = { delay = "2ms", subnet = "fd00:2::/64" }
"near:left" = { delay = "2ms" }
"left:middle" = {}
"near:right" = { delay = "3ms", subnet = "10.20.0.0/24" }
"right:middle" = {}
"middle:both" = {}
"near:translator" = { delay = "2ms", subnet = "10.22.0.0/24" }
"translator:beyond" = {}
"near:shrinker" = { delay = "2ms" }
"shrinker:widener" = { mtu = 1400 }
"widener:narrow" = {}
"#;

/// Of the second way: what the host that measures is called there, and the router.
pub const SECOND_WAY: [&str; 2] = ["10.20.0.2", "10.20.0.1"];

/// What the host at the other end of the link is called, for programs that know no names.
pub const LINK_ADDRESS: &str = "10.21.0.2";

/// One link as in [`NETWORK`], for the kernel to shape: it has no delay that every kernel could make.
pub const SHAPED: &str = r#"
name = "calibration-shaped"
isolated = true
hosts = ["near", "link"]

[links]
"near:link" = { rate = "20Mbit", queue = "50p" }
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
    /// Behind a router that writes its own address into what leaves.
    Translated,
    /// Behind a link of known conditions and one further on for shorter packets, of which neither host knows.
    Shrinking,
    /// By the second of two ways, since the source says so.
    Routed,
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
            (Self::Both | Self::Routed, _) => "both",
            (Self::Translated, _) => "beyond",
            (Self::Shrinking, _) => "narrow",
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
            (Self::Translated, _) => &["near:translator"],
            (Self::Shrinking, _) => &["near:shrinker"],
            (Self::Routed, _) => &["near:right"],
            (Self::Loopback | Self::Wire | Self::Wide, _) => &[],
        }
    }

    /// What a place needs beside its links, as commands of a node.
    pub fn needs(self) -> Vec<(&'static str, Vec<String>)> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        let [here, router] = SECOND_WAY;
        match self {
            Self::Translated => {
                let rules = "add table ip nat; \
                             add chain ip nat leaving { type nat hook postrouting priority 100; }; \
                             add rule ip nat leaving oifname \"to-beyond\" masquerade";
                vec![
                    ("translator", vec!["nft".to_owned(), rules.to_owned()]),
                    // What is not translated has no answer.
                    ("beyond", words("ip route add blackhole 10.22.0.0/24")),
                ]
            }
            Self::Routed => vec![
                (NEAR, words(&format!("ip rule add from {here} lookup 100"))),
                (NEAR, words(&format!("ip route add default via {router} table 100"))),
            ],
            _ => Vec::new(),
        }
    }

    /// Bytes that a packet may have.
    pub const fn mtu(self) -> u64 {
        match self {
            Self::Loopback => 65_536,
            Self::Wide => 9_000,
            Self::Shrinking => 1_400,
            Self::Wire | Self::Link | Self::Both | Self::Translated | Self::Routed => 1_500,
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
