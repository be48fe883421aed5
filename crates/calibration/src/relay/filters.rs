//! What the kernel's packet filter counts of a test at both ends: rules for nft(8), and a reader of what it says.

use serde_json::Value;

use crate::change::Change;
use crate::way::{ETHERNET_BYTES, TCP, UDP, Way};

/// The name of our table; the lab's nodes have no other.
const TABLE: &str = "pathscope";

/// Packets of the server's port that passed both hosts, by protocol.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filtered {
    /// At the near host and at the far one, each by the names of its counters.
    ends: [Vec<(String, Passed)>; 2],
}

/// What one counter says.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Passed {
    packets: u64,
    /// Without Ethernet's headers.
    bytes: u64,
}

/// The words for nft that make a table of counters: of what goes out to the port or comes from it, and of what comes in so.
pub fn table(port: u16) -> String {
    let counters = NAMES.map(|name| format!("counter {name} {{ }}\n")).concat();
    let rule = |name: &&str| {
        let protocol = name.split('_').next().unwrap_or_default();
        let word = if name.ends_with("_up") { "dport" } else { "sport" };
        format!("{protocol} {word} {port} counter name {name}\n")
    };
    // Before anything else of the filter, which may take packets or join them.
    let chain = |(chain, hook): (&str, &str)| {
        let part = format!("_{chain}_");
        let rules: Vec<String> =
            NAMES.iter().filter(|name| name.contains(&part)).map(rule).collect();
        let rules = rules.concat();
        format!(
            "chain {chain} {{ type filter hook {hook} priority -450; policy accept;\n{rules}}}\n"
        )
    };
    let chains = [("out", "output"), ("in", "input")].map(chain).concat();
    // One that a broken-off cell left is gone first.
    let begin = format!("add table inet {TABLE}\ndelete table inet {TABLE}\n");
    format!("{begin}table inet {TABLE} {{\n{counters}{chains}}}\n")
}

const NAMES: [&str; 8] = [
    "udp_out_up",
    "udp_out_down",
    "udp_in_up",
    "udp_in_down",
    "tcp_out_up",
    "tcp_out_down",
    "tcp_in_up",
    "tcp_in_down",
];

/// The words that tell what was counted, and those that take the table away.
pub const TELL: [&str; 6] = ["-j", "list", "counters", "table", "inet", TABLE];
/// See [`TELL`].
pub const TAKE_AWAY: [&str; 4] = ["delete", "table", "inet", TABLE];

impl Filtered {
    /// Of what nft says at the near host and at the far one.
    pub fn read(near: &str, far: &str) -> Option<Self> {
        Some(Self { ends: [counters(near)?, counters(far)?] })
    }

    /// Frames and their bytes of one protocol that were offered to the link one way, or delivered by it.
    pub fn frames(&self, protocol: u8, way: Way, is_offered: bool) -> Option<(u64, u64)> {
        let protocol = match protocol {
            UDP => "udp",
            TCP => "tcp",
            _ => return None,
        };
        let side = if way == Way::Up { "up" } else { "down" };
        let chain = if is_offered { "out" } else { "in" };
        // What goes up leaves the near host and comes in at the far one.
        let end = usize::from((way == Way::Up) != is_offered);
        let name = format!("{protocol}_{chain}_{side}");
        let (_, passed) = self.ends[end].iter().find(|(its, _)| *its == name)?;
        Some((passed.packets, passed.bytes + passed.packets * ETHERNET_BYTES))
    }

    /// Says of each count one packet more or less.
    pub fn change(&mut self, change: Change) {
        for (_, passed) in self.ends.iter_mut().flatten() {
            passed.packets = change.number(passed.packets, 1);
            passed.bytes = change.number(passed.bytes, 60);
        }
    }
}

fn counters(said: &str) -> Option<Vec<(String, Passed)>> {
    let said: Value = serde_json::from_str(said).ok()?;
    let counters = said.get("nftables")?.as_array()?.iter().filter_map(|it| it.get("counter"));
    let counters: Option<Vec<_>> = counters
        .map(|it| {
            let number = |name: &str| it.get(name)?.as_u64();
            let passed = Passed { packets: number("packets")?, bytes: number("bytes")? };
            Some((it.get("name")?.as_str()?.to_owned(), passed))
        })
        .collect();
    counters.filter(|counters| counters.len() == NAMES.len())
}

#[cfg(test)]
mod tests {
    use super::{Filtered, NAMES, table};
    use crate::way::{TCP, UDP, Way};

    /// As nft says it: the n-th counter has n packets more than this, of 100 bytes.
    fn said(first: u64) -> String {
        let counter = |(name, packets): (&str, u64)| {
            let bytes = 100 * packets;
            format!(
                r#"{{"counter": {{"family": "inet", "name": "{name}", "table": "pathscope", "handle": 1, "packets": {packets}, "bytes": {bytes}}}}}"#
            )
        };
        let counters: Vec<String> = NAMES.into_iter().zip(first..).map(counter).collect();
        format!(
            r#"{{"nftables": [{{"metainfo": {{"version": "1.0.6"}}}}, {}]}}"#,
            counters.join(", ")
        )
    }

    #[test]
    fn what_was_offered_left_one_host_and_what_was_delivered_came_in_at_the_other() {
        let filtered = Filtered::read(&said(10), &said(20)).expect("counters of both");
        let frames = |protocol, way, is_offered| filtered.frames(protocol, way, is_offered);
        assert_eq!(frames(UDP, Way::Up, true), Some((10, 1_140)));
        assert_eq!(frames(UDP, Way::Up, false), Some((22, 22 * 114)));
        assert_eq!(frames(TCP, Way::Down, true), Some((25, 25 * 114)));
        assert_eq!(frames(TCP, Way::Down, false), Some((17, 17 * 114)));
        assert_eq!(frames(1, Way::Up, true), None);
        assert!(Filtered::read("{}", &said(1)).is_none());
    }

    #[test]
    fn each_counter_is_made_and_has_a_rule() {
        let table = table(7);
        for name in NAMES {
            assert!(table.contains(&format!("counter {name} {{")), "{table}");
            assert!(table.contains(&format!("counter name {name}\n")), "{table}");
        }
    }
}
