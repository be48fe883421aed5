//! What the rules of `tidy` forbid and is still there, each named: lists that only become shorter. What is not needed any
//! more is a fault as well.

/// Of circles of modules that stand side by side, the imports that are to go: who imports whom. Without these there is none.
pub const CIRCLES: &[(&str, &str)] = &[
    ("modes::consent", "modes::datagrams"),
    ("modes::document", "modes::search"),
    ("modes::goodput::both_ends", "modes::goodput::failures"),
    ("modes::goodput::both_ends", "modes::goodput::summary"),
    ("modes::goodput::failures", "modes::goodput::summary"),
    ("modes::goodput::plan", "modes::goodput::shape"),
    ("modes::media::layout", "modes::media::plan"),
    ("modes::media::ledger", "modes::media::plan"),
    ("modes::multipath::datagram", "modes::multipath::plan"),
    ("modes::multipath::echo", "modes::multipath::shared"),
];

/// Files that name a mode or a view and are neither in its folder nor its registry: which file names which folder.
pub const NAMED: &[(&str, &str)] = &[
    ("crates/modes/src/consent.rs", "datagrams"),
    ("crates/modes/src/datagrams/args.rs", "goodput"),
    ("crates/modes/src/datagrams/args.rs", "latency"),
    ("crates/modes/src/presentation.rs", "goodput"),
    ("crates/modes/src/probes.rs", "latency"),
    ("crates/modes/src/search/mod.rs", "datagrams"),
];
