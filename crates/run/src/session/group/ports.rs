//! Connections for which this end had no port left: how many it has, how many of them last, and what gives more. Which connections those
//! were is the ledger's.

use pathscope_core::quantity::{count, counted};
use pathscope_core::record::Caveat;

use crate::findings::RunCaveat;

/// As the system calls it where a connection finds no port.
pub(super) const NO_PORT: &str = "EADDRNOTAVAIL";

/// In seconds: `TCP_TIMEWAIT_LEN` of Linux, which no setting changes.
const TIME_WAIT: u64 = 60;

/// So many connections found no port, of those that a system chooses from, where it says that.
pub(super) fn used_up(connections: u64, ports: Option<(u16, u16)>) -> Caveat {
    let not_made = counted(connections, "connection");
    let has = ports.map_or_else(String::new, |(first, last)| {
        let all = u64::from(last.abs_diff(first)) + 1;
        let lasting = all / TIME_WAIT;
        format!(
            ": towards one address and port it has {} from each of its addresses ({first} to {last}), and those of connections that it \
             closed are taken for {TIME_WAIT} s more (TIME_WAIT), so that {} a second last for ever",
            count(all),
            count(lasting)
        )
    });
    let text = format!("the client had no port left for {not_made} ({NO_PORT}){has}");
    Caveat::new(RunCaveat::PortsUsedUp, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_reckoned_how_many_last() {
        assert_eq!(
            used_up(1_234, Some((32_768, 60_999))).text,
            "the client had no port left for 1,234 connections (EADDRNOTAVAIL): towards one address and port it has 28,232 from each \
             of its addresses (32768 to 60999), and those of connections that it closed are taken for 60 s more (TIME_WAIT), so that \
             470 a second last for ever"
        );
        let unknown = used_up(1, None).text;
        assert_eq!(unknown, "the client had no port left for 1 connection (EADDRNOTAVAIL)");
    }
}
