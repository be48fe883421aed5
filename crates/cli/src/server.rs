//! `pathscope server`: answers until it is told to stop.

use pathscope_peers::limits::Limits;
use pathscope_run::server::{Server, Settings};
use pathscope_run::stop::Stop;

use crate::args::ServerArgs;
use crate::measure::tool;
use crate::{Trouble, terminal};

/// Serves until a signal comes; then tells every client, hands in every report, and ends.
pub fn serve(args: &ServerArgs) -> Result<(), Trouble> {
    let trouble = |error: pathscope_run::RunError| Trouble::new(error.failure(), error.to_string());
    let stop = Stop::default();
    stop.on_signals().map_err(trouble)?;
    let settings = Settings {
        listen: args.listen.clone(),
        port: args.port,
        limits: limits(args),
        exit_after: args.exit_after,
        tool: tool(),
    };
    let server = Server::bind(settings).map_err(trouble)?;
    let quiet = args.talk.quiet;
    let served = server.serve(&stop, &|line: &str| {
        if !quiet {
            terminal::say(line);
        }
    });
    served.map_err(trouble)
}

/// The limits that were asked for; zero lifts one.
fn limits(args: &ServerArgs) -> Limits {
    let usual = Limits::default();
    let number =
        |asked: Option<u32>, usual| asked.map_or(usual, |limit| (limit > 0).then_some(limit));
    Limits {
        sessions: number(args.limit_sessions, usual.sessions),
        sessions_per_address: number(args.limit_sessions_per_address, usual.sessions_per_address),
        connections: number(args.limit_connections, usual.connections),
        duration_ns: args
            .limit_duration
            .map_or(usual.duration_ns, |limit| (limit.0 > 0).then_some(limit)),
    }
}
