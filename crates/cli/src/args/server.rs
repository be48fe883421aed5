//! The words of `pathscope server`. Not what it makes of them.

use std::path::PathBuf;

use clap::Args;
use pathscope_core::network::Network;
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_modes::command::JournalArgs;
use pathscope_peers::registry::{DEFAULT_PORT, PeerKind, Words};

use super::served_kinds;
use crate::daemon::DaemonArgs;
use crate::labels::Label;
use crate::verbosity::VerbosityArgs;

/// `pathscope server`.
#[derive(Args, Debug)]
pub struct ServerArgs {
    /// Address to listen on; may be given several times; '*': every address [default: every address]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Vec<String>,
    /// TCP and UDP port
    #[arg(short = 'p', long, value_name = "PORT", default_value_t = DEFAULT_PORT)]
    pub port: u16,
    #[arg(
        long, value_name = "KIND", value_delimiter = ',', default_values_t = [PeerKind::OWN], hide_default_value = true,
        help = format!(
            "Which kinds of clients are served, separated by commas: {}; those of other programs come to ports of their own \
             [default: {}]", served_kinds(), PeerKind::OWN
        )
    )]
    pub accept: Vec<PeerKind>,
    /// What is said of clients of other programs
    #[command(flatten)]
    pub words: Words,
    /// Network whose clients are answered where anybody could pretend to be one of them, as 192.0.2.0/24; may be given several times
    /// [default: this machine's and those on its links]
    #[arg(long, value_name = "CIDR")]
    pub allow: Vec<Network>,
    /// Clients at once; 0: any number [default: 32]
    #[arg(long, value_name = "N")]
    pub limit_sessions: Option<u32>,
    /// Clients at once from one address; 0: any number [default: 16]
    #[arg(long, value_name = "N")]
    pub limit_sessions_per_address: Option<u32>,
    /// Connections of one test; 0: any number
    #[arg(long, value_name = "N")]
    pub limit_connections: Option<u32>,
    /// Descriptors that one test may need; 0: any number [default: half of those for tests]
    #[arg(long, value_name = "N")]
    pub limit_descriptors: Option<u64>,
    /// Descriptors that all tests from one address may need (IPv6: from one /64); 0: any number [default: half of those
    /// for tests]
    #[arg(long, value_name = "N")]
    pub limit_descriptors_per_address: Option<u64>,
    /// Memory for messages, plans and tables of all clients together; 0: any amount [default: 768 MiB]
    #[arg(long, value_name = "SIZE")]
    pub limit_memory: Option<Bytes>,
    /// The same of all clients from one address (IPv6: from one /64); 0: any amount [default: half of --limit-memory]
    #[arg(long, value_name = "SIZE")]
    pub limit_memory_per_address: Option<Bytes>,
    /// Threads for tests of clients on other machines, together; 0: any number [default: 48, and 4 for each processor]
    #[arg(long, value_name = "N")]
    pub limit_threads: Option<u64>,
    /// The same of all clients from one address (IPv6: from one /64); 0: any number [default: half of --limit-threads]
    #[arg(long, value_name = "N")]
    pub limit_threads_per_address: Option<u64>,
    /// What it sends over UDP for one test of a client on another machine whose program does not go on asking for it (iperf3), of all its
    /// streams together; 0: any rate [default: 1Gbit]
    #[arg(long, value_name = "RATE")]
    pub limit_datagram_rate: Option<BitRate>,
    /// Data connections to serve, of all clients together; then later ones are refused, and the server
    /// ends when its clients have left
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub exit_after: Option<u64>,
    /// Tests to serve, of all clients together; then later ones are refused, and the server ends when its
    /// clients have left
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub exit_after_tests: Option<u64>,
    /// The server ends when no client was here for so long, counted from its start or from when the last one left
    #[arg(long, value_name = "TIME")]
    pub exit_after_idle: Option<Period>,
    /// After this time the server ends, whatever it serves then
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<Period>,
    /// Processors to keep all of the server's threads on, as 0,2; clients choose among these alone [default: any]
    #[arg(long = "cpu", value_name = "LIST", value_delimiter = ',')]
    pub cpus: Vec<u32>,
    /// Length of one test; 0: any
    #[arg(long, value_name = "TIME")]
    pub limit_duration: Option<Period>,
    /// Lets threads spin for clients on other machines, too: each takes a processor as long as its test lasts
    #[arg(long)]
    pub allow_spin: bool,
    /// Lets clients on other machines choose this end's processors, too (--server-cpu)
    #[arg(long)]
    pub allow_pinning: bool,
    /// Lets clients on other machines choose any congestion control, too, and not only those that this system lets every user
    /// choose: of a server that runs as root the kernel loads what it does not have yet
    #[arg(long)]
    pub allow_congestion: bool,
    /// What is written while it serves
    #[command(flatten)]
    pub journal: JournalArgs,
    /// Rates and counts of all clients together go to this file, a row each --report-every, also while there are none; form as above
    #[arg(long, value_name = "FILE")]
    pub totals_file: Option<PathBuf>,
    /// From one row of --totals-file to the next; what is told of a client comes as often as that asked for
    #[arg(long, value_name = "TIME", default_value_t = Period::from_secs(1), requires = "totals_file")]
    pub report_every: Period,
    /// What this end is, for results of clients: --label rack=7; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub labels: Vec<Label>,
    /// Where it runs
    #[command(flatten)]
    pub daemon: DaemonArgs,
    /// How much is said
    #[command(flatten)]
    pub verbosity: VerbosityArgs,
}
