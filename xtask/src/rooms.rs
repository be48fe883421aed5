//! The table of rooms: who may import whom, who is pure, who may hold unsafe code.
//!
//! The one place where these facts are stated for machines; `crates/README.md` and `ARCHITECTURE.md`
//! state them for people and are held to it. A new room is one entry here and one row in each.
//!
//! In one file: it is one flat table.

/// What a room may do.
#[derive(Debug)]
pub struct Room {
    /// Its name: the folder below `crates`, and after `pathscope-` the package.
    pub name: &'static str,
    /// The rooms it may import.
    pub may_import: &'static [&'static str],
    /// What it does with the world.
    pub nature: Nature,
}

/// What a room does with the world.
#[derive(Debug)]
pub enum Nature {
    /// Nothing: no socket, file, clock, thread or output, and no dependency but these.
    Pure {
        /// The libraries it may name in its manifest; they are all as pure as it is, except that a
        /// mode's `args.rs` and `command.rs`, and a peer's `words.rs`, name the argument parser.
        libraries: &'static [&'static str],
    },
    /// It calls the system, and has an arm for systems that are not supported yet.
    Platform,
    /// It uses the world through safe code.
    Ordinary,
}

/// Every room there is or is about to be, lowest level first.
pub const ROOMS: &[Room] = &[
    Room {
        name: "core",
        may_import: &[],
        nature: Nature::Pure { libraries: &["schemars", "serde", "serde_json", "thiserror"] },
    },
    Room {
        name: "flow",
        may_import: &["core"],
        nature: Nature::Pure { libraries: &["arrayvec", "thiserror"] },
    },
    Room { name: "os", may_import: &["core"], nature: Nature::Platform },
    Room { name: "views", may_import: &["core"], nature: Nature::Ordinary },
    Room {
        name: "modes",
        may_import: &["core", "flow"],
        nature: Nature::Pure {
            libraries: &[
                "clap",
                "itoa",
                "roxmltree",
                "schemars",
                "serde",
                "serde_json",
                "thiserror",
            ],
        },
    },
    Room { name: "engines", may_import: &["core", "flow", "os"], nature: Nature::Platform },
    Room {
        name: "peers",
        may_import: &["core", "flow", "modes"],
        nature: Nature::Pure { libraries: &["clap", "serde", "serde_json", "thiserror"] },
    },
    Room {
        name: "run",
        may_import: &["core", "flow", "os", "modes", "engines", "peers"],
        nature: Nature::Ordinary,
    },
    // Words and lines of text: what is said on a wire is in `peers`.
    Room {
        name: "dialects",
        may_import: &["core", "modes"],
        nature: Nature::Pure { libraries: &[] },
    },
    // The lab starts the binary inside a namespace as a process: it needs no room above `os`.
    Room { name: "lab", may_import: &["core", "os"], nature: Nature::Ordinary },
    // Experiments are done on networks by programs, of whose figures the room knows what their lists say.
    Room {
        name: "experiments",
        may_import: &["core", "flow", "os", "modes", "lab"],
        nature: Nature::Ordinary,
    },
    // It starts what it measures by the runner of experiments, and reads what came of it.
    Room {
        name: "calibration",
        may_import: &["core", "os", "modes", "lab", "experiments"],
        nature: Nature::Ordinary,
    },
    // It speaks the protocol by its document, so that neither side repeats the other's errors.
    Room { name: "attack", may_import: &[], nature: Nature::Ordinary },
    Room { name: "cli", may_import: EVERYTHING, nature: Nature::Ordinary },
    Room { name: "xtask", may_import: EVERYTHING, nature: Nature::Ordinary },
];

const EVERYTHING: &[&str] = &[
    "core",
    "flow",
    "os",
    "views",
    "modes",
    "engines",
    "peers",
    "dialects",
    "run",
    "lab",
    "experiments",
    "calibration",
];

/// Things of one kind, each a folder: beside the registry that lists them. What is in such a folder is imported by the
/// registry and by nobody else, and nobody else names its variant.
#[derive(Debug)]
pub struct Kind {
    /// What one of them is called.
    pub name: &'static str,
    /// The module that lists them.
    pub registry: &'static str,
    /// What else lists them, by what is theirs for it alone: their subcommands.
    pub lists: &'static [&'static str],
    /// The registry's enum, with a variant for each that is called as its folder is.
    pub variants: &'static str,
    /// What a folder beside the registry has to hold to be one of them; none: it is enough that the registry imports it.
    pub holds: Option<&'static str>,
    /// Folders that the registry imports and that are none of them.
    pub besides: &'static [&'static str],
    /// Who may name what of them all the same.
    pub public: &'static [Public],
}

/// What a module may name of what is private to the registry and the folder otherwise.
#[derive(Debug)]
pub struct Public {
    /// The module, with all that stands below it.
    pub to: &'static str,
    /// Folder and item: `goodput::GoodputPlan`; or the variant of a folder: `Plan::Goodput`. Whoever may name an item may name
    /// the folder on the way to it.
    pub items: &'static [&'static str],
}

/// All kinds whose folders are private.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "mode",
        registry: "modes::registry",
        lists: &["modes::commands"],
        variants: "Plan",
        holds: Some("plan"),
        besides: &[],
        // What is made of several modes states their plans. A foreign peer has a row here for the modes that it carries.
        public: &[
            Public {
                to: "modes::survey",
                items: &[
                    "Plan::Goodput",
                    "Plan::Latency",
                    "goodput::GoodputPlan",
                    "goodput::Pace",
                    "goodput::Shape",
                    "latency::Extent",
                    "latency::LatencyPlan",
                ],
            },
            Public { to: "modes::search", items: &["Plan::Datagrams", "datagrams::DatagramsPlan"] },
            Public {
                to: "modes::commands::goodput",
                items: &["datagrams::DatagramArgs", "goodput::GoodputPlan", "latency::LatencyPlan"],
            },
            Public {
                to: "modes::commands::media",
                items: &["media::MediaArgs", "media::MediaPlan"],
            },
            Public { to: "modes::commands::survey", items: &["latency::LatencyPlan"] },
            // What other tools measured of the same things.
            Public {
                to: "modes::foreign",
                items: &[
                    "datagrams::GROUP",
                    "goodput::GROUP",
                    "latency::Durations",
                    "latency::KeptPings",
                    "media::GROUP",
                    "multipath::MOST_PATHS",
                    "multipath::Replay",
                    "multipath::Stamps",
                ],
            },
            Public {
                to: "modes::probes",
                items: &[
                    "Plan::Latency",
                    "latency::LatencySummary",
                    "latency::Protocol",
                    "latency::LOADED",
                    "latency::heat",
                    "latency::median_point",
                    "latency::percentiles",
                    "latency::rtt_cells",
                    "latency::since",
                ],
            },
            // What can be asked for without a control connection.
            Public {
                to: "peers::in_band",
                items: &[
                    "Plan::Goodput",
                    "Plan::Latency",
                    "Plan::Media",
                    "media::Direction",
                    "media::Pacing",
                ],
            },
            // What a server runs for clients of other programs, and what their words carry.
            Public {
                to: "peers::ctstraffic",
                items: &[
                    "Plan::Goodput",
                    "Plan::Media",
                    "goodput::GoodputPlan",
                    "goodput::Iterations",
                    "media::MediaArgs",
                ],
            },
            Public {
                to: "peers::iperf3",
                items: &[
                    "Plan::Datagrams",
                    "Plan::Goodput",
                    "datagrams::DatagramFlowFacts",
                    "datagrams::DatagramsPlan",
                    "datagrams::DatagramsReport",
                    "datagrams::Offload",
                    "goodput::GoodputPlan",
                    "goodput::Iterations",
                    "goodput::Pace",
                    "goodput::Shape",
                    "goodput::Shutdown",
                ],
            },
            Public {
                to: "peers::lagscope",
                items: &[
                    "Plan::Latency",
                    "latency::Extent",
                    "latency::LatencyPlan",
                    "latency::LoadModel",
                    "latency::Protocol",
                ],
            },
            Public { to: "peers::mla", items: &["Plan::Multipath"] },
            Public {
                to: "peers::ntttcp",
                items: &[
                    "Plan::Datagrams",
                    "Plan::Goodput",
                    "datagrams::DatagramsPlan",
                    "datagrams::Offload",
                    "goodput::GoodputPlan",
                    "goodput::Shutdown",
                ],
            },
            Public {
                to: "peers::simpleperf",
                items: &[
                    "Plan::Goodput",
                    "goodput::GoodputPlan",
                    "goodput::Iterations",
                    "goodput::Shutdown",
                ],
            },
            // Samples again, row by row.
            Public {
                to: "run::records::samples::reading",
                items: &["latency::KeptPing", "latency::KeptPings"],
            },
            // They hold what goodput says to what others find, and to what is known.
            Public { to: "xtask::bench", items: &["goodput::GoodputSummary"] },
            Public { to: "xtask::verdicts", items: &["Plan::Goodput", "goodput"] },
        ],
    },
    Kind {
        name: "peer",
        registry: "peers::registry",
        lists: &[],
        variants: "PeerKind",
        holds: None,
        besides: &[],
        public: &[],
    },
    Kind {
        name: "engine",
        registry: "engines::registry",
        lists: &[],
        variants: "EngineKind",
        holds: None,
        besides: &["calls"],
        // Light workers of many sessions share threads, by the one engine that can: how they do is not what they ask of an engine.
        public: &[
            Public { to: "engines", items: &["epoll::Part", "epoll::SharedThread"] },
            Public { to: "run::workers", items: &["epoll::Part", "epoll::SharedThread"] },
            Public { to: "run::session", items: &["epoll::Part"] },
        ],
    },
    Kind {
        name: "view",
        registry: "views::registry",
        lists: &[],
        variants: "Format",
        holds: None,
        besides: &[],
        public: &[],
    },
];

impl Room {
    /// The room of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ROOMS.iter().find(|room| room.name == name)
    }

    /// The room that a file belongs to, by its path from the root of the workspace.
    pub fn of_path(path: &str) -> Option<&'static Self> {
        Self::named(folder_name(path)?)
    }

    /// Its folder, from the root of the workspace.
    pub fn folder(&self) -> String {
        if self.name == "xtask" { "xtask".to_owned() } else { format!("crates/{}", self.name) }
    }

    /// Its package.
    pub fn package(&self) -> String {
        match self.name {
            "xtask" => "xtask".to_owned(),
            "cli" => "pathscope".to_owned(),
            name => format!("pathscope-{name}"),
        }
    }

    /// Whether it may hold unsafe code.
    pub fn may_be_unsafe(&self) -> bool {
        matches!(self.nature, Nature::Platform)
    }

    /// Whether it promises to leave the world alone.
    pub fn is_pure(&self) -> bool {
        matches!(self.nature, Nature::Pure { .. })
    }

    /// What it may import, as the tables for people say it.
    pub fn imports_in_words(&self) -> String {
        match self.may_import {
            [] => "nothing of ours".to_owned(),
            EVERYTHING => "everything".to_owned(),
            some => some.join(", "),
        }
    }
}

/// The name of the crate that a path lies in: `xtask`, or the folder below `crates`.
pub fn folder_name(path: &str) -> Option<&str> {
    match path.split('/').collect::<Vec<_>>().as_slice() {
        ["crates", name, _, ..] | [name @ "xtask", _, ..] => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_only_point_downwards() {
        for (index, room) in ROOMS.iter().enumerate() {
            for import in room.may_import {
                let place = ROOMS.iter().position(|other| other.name == *import);
                assert!(place.is_some_and(|place| place < index), "{} -> {import}", room.name);
            }
        }
    }

    #[test]
    fn pure_rooms_import_only_pure_rooms() {
        for room in ROOMS.iter().filter(|room| room.is_pure()) {
            for import in room.may_import {
                assert!(
                    Room::named(import).is_some_and(Room::is_pure),
                    "{} -> {import}",
                    room.name
                );
            }
        }
    }

    #[test]
    fn a_path_tells_its_room() {
        let room = |path| Room::of_path(path).map(|room| room.name);
        assert_eq!(room("crates/core/src/lib.rs"), Some("core"));
        assert_eq!(room("xtask/src/main.rs"), Some("xtask"));
        assert_eq!(room("crates/README.md"), None);
        assert_eq!(room("README.md"), None);
    }
}
