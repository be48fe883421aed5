//! When simpleperf's user sees which of its rows, at a client and at a server.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::SocketAddr;

use pathscope_core::id::FlowId;
use pathscope_core::journal::{Connection, ConnectionProgress, Entry};

use super::options::{ClientOptions, Unit};
use super::rows;
use crate::screen::{Beginning, End, Ending, Screen, Wants};

/// A client's.
#[derive(Debug)]
pub(super) struct ClientScreen {
    server: SocketAddr,
    connections: u32,
    /// From one row of a connection to the next, where there are any.
    interval_ns: Option<u64>,
    unit: Unit,
    /// Connections whose rows have their head.
    headed: BTreeSet<FlowId>,
}

impl ClientScreen {
    pub fn new(options: &ClientOptions) -> Self {
        let interval_ns =
            options.interval_seconds.map(|seconds| seconds.saturating_mul(1_000_000_000));
        Self {
            server: options.server,
            connections: options.connections,
            interval_ns,
            unit: options.unit,
            headed: BTreeSet::new(),
        }
    }

    fn progress(&mut self, progress: &ConnectionProgress, out: &mut dyn Write) -> io::Result<()> {
        /// What is shorter is what passed until its end was noticed.
        const LEAST_SHARE: u64 = 10;
        let length_ns = progress.end_ns.saturating_sub(progress.start_ns);
        let is_row = |interval_ns: u64| length_ns >= interval_ns / LEAST_SHARE;
        if !self.interval_ns.is_some_and(is_row) {
            return Ok(());
        }
        if self.headed.insert(progress.flow) {
            writeln!(out, "{}", rows::INTERVALS_HEAD)?;
        }
        let (of, span) = ((progress.flow.0, self.server), (progress.start_ns, progress.end_ns));
        out.write_all(rows::client_row(of, span, progress.sent_bytes, self.unit).as_bytes())
    }

    fn closed(&self, connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
        let number = connection.facts.flow.0;
        if let Some(error) = &connection.facts.error {
            return writeln!(
                out,
                "{}\n{number} {} failed: {}",
                rows::DASHES,
                self.server,
                error.text
            );
        }
        writeln!(out, "{}\n{}\n{}", rows::FINISHED, rows::DASHES, rows::SUMMARY_HEAD)?;
        let span = (0, connection.time_ns);
        let bytes = connection.facts.sent_bytes;
        let row = rows::client_row((number, self.server), span, bytes, self.unit);
        out.write_all(row.as_bytes())
    }
}

impl Screen for ClientScreen {
    fn wants(&self) -> Wants {
        Wants { progress: self.interval_ns.is_some(), ..Wants::default() }
    }

    fn begin(&mut self, _: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()> {
        (0..self.connections).try_for_each(|connection| {
            out.write_all(rows::connects(connection, self.server).as_bytes())
        })
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        match entry {
            Entry::Opened(_) => out.write_all(rows::connected(self.server).as_bytes()),
            Entry::Progress(progress) => self.progress(progress, out),
            Entry::Closed(connection) => self.closed(connection, out),
            _ => Ok(()),
        }
    }

    fn finished(&mut self, _: &Ending<'_>, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// A server's.
#[derive(Debug)]
pub(super) struct ServerScreen {
    pub unit: Unit,
}

impl ServerScreen {
    fn closed(&self, connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
        let facts = &connection.facts;
        let client = facts.remote.as_deref().unwrap_or_default();
        if let Some(error) = &facts.error {
            return writeln!(out, "{client} failed: {}", error.text);
        }
        writeln!(out, "{}\n{}", rows::FINISHED, rows::SERVER_HEAD)?;
        let row = rows::server_row(client, connection.time_ns, facts.received_bytes, self.unit);
        out.write_all(row.as_bytes())
    }
}

impl Screen for ServerScreen {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn begin(&mut self, beginning: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()> {
        let End::Server { addresses } = beginning.end else { return Ok(()) };
        addresses
            .iter()
            .try_for_each(|address| out.write_all(rows::listens(address.port()).as_bytes()))
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        match entry {
            Entry::Opened(connection) => {
                let [client, server] = [&connection.facts.remote, &connection.facts.local]
                    .map(|address| address.as_deref().unwrap_or_default());
                out.write_all(rows::comes(client, server).as_bytes())
            }
            Entry::Closed(connection) => self.closed(connection, out),
            _ => Ok(()),
        }
    }

    fn finished(&mut self, _: &Ending<'_>, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts};

    use super::*;

    /// What a screen of these entries shows, the begin apart.
    fn shown(screen: &mut dyn Screen, entries: &[Entry]) -> String {
        let mut text = Vec::new();
        for entry in entries {
            screen.entry(entry, &mut text).expect("text takes all");
        }
        String::from_utf8(text).expect("it is text")
    }

    fn progress(flow: u32, [start_s, end_ms]: [u64; 2], sent_bytes: u64) -> Entry {
        Entry::Progress(Box::new(ConnectionProgress {
            start_ns: start_s * 1_000_000_000,
            end_ns: end_ms * 1_000_000,
            flow: FlowId(flow),
            sent_bytes,
            ..ConnectionProgress::default()
        }))
    }

    fn connection(flow: u32, bytes: u64, error: Option<&str>) -> Box<Connection> {
        let error = error.map(|text| FlowError {
            kind: FlowErrorKind::Network,
            text: text.to_owned(),
            errno: None,
        });
        let facts = FlowFacts {
            flow: FlowId(flow),
            local: Some("10.0.1.2:8088".to_owned()),
            remote: Some("10.0.0.2:43210".to_owned()),
            sent_bytes: bytes,
            received_bytes: bytes,
            error,
            ..FlowFacts::default()
        };
        Box::new(Connection { time_ns: 10_000_400_000, facts, ..Connection::default() })
    }

    fn client(interval_seconds: Option<u64>) -> ClientScreen {
        ClientScreen::new(&ClientOptions {
            server: SocketAddr::from(([10, 0, 1, 2], 8_088)),
            seconds: 10,
            interval_seconds,
            bytes: None,
            connections: 2,
            unit: Unit::MB,
            idle: Vec::new(),
        })
    }

    #[test]
    fn a_client_shows_each_connection_over_each_interval_and_in_all() {
        let entries = [
            Entry::Opened(connection(0, 0, None)),
            progress(0, [0, 5_000], 10_000_000),
            progress(1, [0, 5_000], 5_000_000),
            progress(0, [5, 10_000], 12_500_000),
            // What the end took to be noticed is no interval.
            progress(0, [10, 10_001], 0),
            Entry::Closed(connection(0, 22_500_000, None)),
            Entry::Closed(connection(1, 9, Some("connection reset (ECONNRESET)"))),
        ];
        let expected = "\
Client connected with server_IP 10.0.1.2 port 8088
-----
ID\t\tInterval\tTransfer\tBandwidth
0     10.0.1.2:8088              0.0 - 5.0 s       10.0  MB      16.00 Mbps
ID\t\tInterval\tTransfer\tBandwidth
1     10.0.1.2:8088              0.0 - 5.0 s        5.0  MB       8.00 Mbps
0     10.0.1.2:8088             5.0 - 10.0 s       12.5  MB      20.00 Mbps
FINISHED
-----
ID\t\t\tInterval\tTransfer\tBandwidth
0     10.0.1.2:8088             0.0 - 10.0 s       22.5  MB      18.00 Mbps
-----
1 10.0.1.2:8088 failed: connection reset (ECONNRESET)
";
        let mut screen = client(Some(5));
        assert!(screen.wants().progress);
        assert_eq!(shown(&mut screen, &entries), expected);
    }

    #[test]
    fn without_an_interval_there_is_the_summary_alone() {
        let mut screen = client(None);
        assert!(!screen.wants().progress);
        assert_eq!(shown(&mut screen, &[progress(0, [0, 5_000], 10)]), "");
    }

    #[test]
    fn a_server_shows_who_comes_and_what_came() {
        let entries = [
            Entry::Opened(connection(0, 0, None)),
            Entry::Closed(connection(0, 22_500_000, None)),
            Entry::Closed(connection(0, 7, Some("the client was lost"))),
        ];
        let expected = "\
-----
A simpleperf client with IP 10.0.0.2:43210 is connected with server IP:port 10.0.1.2:8088
-----
FINISHED
ID\t\tInterval\tReceived\t\tRate
10.0.0.2:43210          10 s            22 MB        18 Mbps
10.0.0.2:43210 failed: the client was lost
";
        assert_eq!(shown(&mut ServerScreen { unit: Unit::MB }, &entries), expected);
    }
}
