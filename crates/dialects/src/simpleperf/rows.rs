//! What simpleperf's user sees: its banners between dashes, and its rows. Text alone; when each is printed is `screen`'s.

use std::fmt::Display;
use std::net::SocketAddr;

use super::options::Unit;

/// Between banners, and before a summary.
pub(super) const DASHES: &str = "-----";
/// Printed where all was sent.
pub(super) const FINISHED: &str = "FINISHED";
/// Above the rows of intervals.
pub(super) const INTERVALS_HEAD: &str = "ID\t\tInterval\tTransfer\tBandwidth";
/// Above the row that sums a connection up.
pub(super) const SUMMARY_HEAD: &str = "ID\t\t\tInterval\tTransfer\tBandwidth";
/// Above the row of a connection at a server.
pub(super) const SERVER_HEAD: &str = "ID\t\tInterval\tReceived\t\tRate";

/// A banner.
pub(super) fn banner(text: impl Display) -> String {
    format!("{DASHES}\n{text}\n{DASHES}\n")
}

/// What a server says when it listens.
pub(super) fn listens(port: u16) -> String {
    banner(format_args!("A simpleperf server is listening on port {port}"))
}

/// What it says of a client that comes.
pub(super) fn comes(client: &str, server: &str) -> String {
    let said =
        format!("A simpleperf client with IP {client} is connected with server IP:port {server}");
    banner(said)
}

/// What a client says of a connection before it is made.
pub(super) fn connects(connection: u32, server: SocketAddr) -> String {
    let (host, port) = (server.ip(), server.port());
    let said = format!("A simpleperf client {connection} connecting to server {host}, port {port}");
    format!("Host: {host}\nPort: {port}\n{}", banner(said))
}

/// What it says of one that is made.
pub(super) fn connected(server: SocketAddr) -> String {
    let (host, port) = (server.ip(), server.port());
    format!("Client connected with server_IP {host} port {port}\n{DASHES}\n")
}

/// A time of a test, in nanoseconds.
pub(super) type Span = (u64, u64);

/// The row of a connection over some time of the test.
pub(super) fn client_row(
    (connection, server): (u32, SocketAddr),
    (start_ns, end_ns): Span,
    bytes: u64,
    unit: Unit,
) -> String {
    let interval = format!("{:.1} - {:.1} s", seconds(start_ns), seconds(end_ns));
    let (transfer, name) = (unit.of(bytes), unit.name());
    let rate = megabits(bytes, end_ns.saturating_sub(start_ns));
    let server = server.to_string();
    format!(
        "{connection:<5} {server:<25} {interval:>12} {transfer:>10.1} {name:>3} {rate:>10.2} Mbps\n"
    )
}

/// The row of a connection at a server.
pub(super) fn server_row(client: &str, time_ns: u64, bytes: u64, unit: Unit) -> String {
    let (received, name) = (short(unit.of(bytes)), unit.name());
    let (time, rate) = (short(seconds(time_ns)), short(megabits(bytes, time_ns)));
    format!("{client:<21} {time:>4} s {received:>13} {name} {rate:>9} Mbps\n")
}

/// Whole where that says enough.
fn short(figure: f64) -> String {
    if figure < 10.0 { format!("{figure:.1}") } else { format!("{figure:.0}") }
}

fn seconds(time_ns: u64) -> f64 {
    time_ns as f64 / 1e9
}

/// Decimal megabits a second; none over no time.
fn megabits(bytes: u64, time_ns: u64) -> f64 {
    if time_ns == 0 { 0.0 } else { bytes as f64 * 8e3 / time_ns as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_units_that_are_asked_for() {
        let server = SocketAddr::from(([10, 0, 1, 2], 8_088));
        let row = |unit| client_row((0, server), (5_000_000_000, 10_000_000_000), 23_837_000, unit);
        assert_eq!(
            row(Unit::MB),
            "0     10.0.1.2:8088             5.0 - 10.0 s       23.8  MB      38.14 Mbps\n"
        );
        assert!(row(Unit::KB).contains(" 23837.0  KB      38.14 Mbps"));
        assert!(row(Unit::B).contains(" 23837000.0   B      38.14 Mbps"));
        assert!(client_row((0, server), (7, 7), 5, Unit::B).contains(" 0.00 Mbps"));
    }

    #[test]
    fn a_server_s_row_is_whole_where_that_says_enough() {
        let client = "10.0.0.2:43210";
        assert_eq!(
            server_row(client, 25_010_000_000, 119_240_000, Unit::MB),
            "10.0.0.2:43210          25 s           119 MB        38 Mbps\n"
        );
        assert_eq!(
            server_row(client, 1_010_000_000, 119_240, Unit::MB),
            "10.0.0.2:43210         1.0 s           0.1 MB       0.9 Mbps\n"
        );
    }

    #[test]
    fn banners_stand_between_dashes() {
        assert_eq!(listens(8_088), "-----\nA simpleperf server is listening on port 8088\n-----\n");
        assert_eq!(
            comes("10.0.0.2:43210", "10.0.1.2:8088"),
            "-----\nA simpleperf client with IP 10.0.0.2:43210 is connected with server IP:port 10.0.1.2:8088\n-----\n"
        );
        let server = SocketAddr::from(([10, 0, 1, 2], 8_088));
        assert_eq!(
            connects(1, server),
            "Host: 10.0.1.2\nPort: 8088\n-----\nA simpleperf client 1 connecting to server 10.0.1.2, port 8088\n-----\n"
        );
        assert_eq!(
            connected(server),
            "Client connected with server_IP 10.0.1.2 port 8088\n-----\n"
        );
    }
}
