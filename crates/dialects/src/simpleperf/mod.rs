//! simpleperf: a throughput tool that a course on networks had its students write in Python, as the guide of one of them has it.

mod argparse;
mod options;
mod rows;
mod screen;

use std::ffi::OsString;
use std::fmt::Write as _;

use self::options::{Asked, ClientOptions, ServerOptions};
use self::screen::{ClientScreen, ServerScreen};
use crate::dialect::{Answer, Dialect, Run, Said, Unclear};
use crate::spelling::Spellings;

/// The tool.
#[derive(Debug)]
pub enum Simpleperf {}

/// What sentences of ours name, as its users do.
const SPELLINGS: Spellings = &[
    ("('pathscope server', or the program that --peer names)", "('simpleperf -s')"),
    ("--simpleperf-port", "-p"),
    ("--connections", "-P"),
    ("--transfer", "-n"),
    ("--duration", "-t"),
    ("--listen", "-b"),
    ("--port", "-p"),
];

impl Dialect for Simpleperf {
    const NAMES: &'static [&'static str] = &["simpleperf"];
    const SPELLINGS: Spellings = SPELLINGS;

    fn translate(words: &[OsString]) -> Result<Said, Unclear> {
        if words.is_empty() {
            let text =
                "Please provide arguments: -s for a server, -c for a client; -h lists them all.\n";
            return Ok(said(text.to_owned(), (false, 0)));
        }
        let asked = options::read(words);
        Ok(match asked.map_err(|why| Unclear::new(format!("simpleperf: {why}")))? {
            Asked::Help => said(help(), (false, 0)),
            Asked::Neither => {
                let text = "Error: you must run either in server or client mode: give -s or -c\n";
                said(text.to_owned(), (true, 1))
            }
            Asked::Server(server) => Said::Run(serve(&server)),
            Asked::Client(client) => Said::Run(send(&client)),
        })
    }
}

fn said(text: String, (is_error, exit_code): (bool, u8)) -> Said {
    Said::Text(Answer { text, is_error, exit_code })
}

fn serve(server: &ServerOptions) -> Run {
    let (bind, port) = (server.bind.to_string(), server.port.to_string());
    let words = [
        "server",
        "--accept",
        "simpleperf",
        "--listen",
        &bind,
        "--simpleperf-port",
        &port,
        "--quiet",
    ];
    Run {
        notes: idle(&server.idle, "at a server"),
        screen: Some(Box::new(ServerScreen { unit: server.unit })),
        ..Run::of(words)
    }
}

fn send(client: &ClientOptions) -> Run {
    let (host, port) = (client.server.ip().to_string(), client.server.port().to_string());
    let connections = client.connections.to_string();
    let time = format!("{}s", client.seconds);
    let mut words = vec!["goodput", &host, "--peer", "simpleperf", "--port", &port];
    words.extend(["--connections", &connections, "--no-probe", "--quiet"]);
    let bytes = client.bytes.map(|bytes| format!("{bytes}B"));
    match &bytes {
        Some(bytes) => words.extend(["--transfer", bytes, "--time-limit", &time]),
        None => words.extend(["--duration", &time]),
    }
    let interval = client.interval_seconds.map(|seconds| format!("{seconds}s"));
    words.extend(interval.iter().flat_map(|interval| ["--report-every", interval]));
    Run {
        notes: idle(&client.idle, "at a client"),
        screen: Some(Box::new(ClientScreen::new(client))),
        ..Run::of(words)
    }
}

/// What has no effect is said, once.
fn idle(options: &[String], place: &str) -> Vec<String> {
    let named = options.join(", ");
    (!options.is_empty())
        .then(|| format!("simpleperf: no effect {place}: {named}"))
        .into_iter()
        .collect()
}

fn help() -> String {
    let mut help = "simpleperf -s [options] | simpleperf -c [options]\n\n".to_owned();
    for (flag, about) in options::FLAGS.iter().zip(options::HELP) {
        let value = flag.value.map_or_else(String::new, |value| format!(" {value}"));
        let form = format!("{}{value}", argparse::name(flag));
        // Text takes whatever is written to it.
        let _ = writeln!(help, "  {form:<28} {about}");
    }
    help
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{said as command_line, tests::native};

    #[test]
    fn lines_of_the_guide_become_words_of_ours() {
        for (typed, words) in [
            (
                "simpleperf.py -s -b 10.0.1.2 -p 8088",
                "server --accept simpleperf --listen 10.0.1.2 --simpleperf-port 8088 --quiet",
            ),
            (
                "simpleperf.py -c -I 10.0.1.2 -p 8088 -t 25",
                "goodput 10.0.1.2 --peer simpleperf --port 8088 --connections 1 --no-probe --quiet --duration 25s",
            ),
            (
                "/usr/bin/SimplePerf -c -P 2 -n 10MB -i 5",
                "goodput 127.0.0.1 --peer simpleperf --port 8080 --connections 2 --no-probe --quiet \
                 --transfer 10000000B --time-limit 25s --report-every 5s",
            ),
            (
                "pathscope simpleperf -c -I ::1",
                "goodput ::1 --peer simpleperf --port 8080 --connections 1 --no-probe --quiet --duration 25s",
            ),
        ] {
            assert_eq!(native(typed).as_deref(), Ok(words), "{typed}");
        }
    }

    #[test]
    fn what_has_no_effect_is_said_and_what_is_wrong_is_refused() {
        let of = |words: &str| command_line(words.split(' ').map(OsString::from));
        let Ok(Said::Run(run)) = of("simpleperf -s -t 5 -n 1MB") else { panic!("it runs") };
        assert_eq!(run.notes, ["simpleperf: no effect at a server: -t/--time, -n/--num"]);
        assert!(run.screen.is_some());
        let refused = of("simpleperf -c -p 80").expect_err("it is no port");
        assert_eq!(
            refused.text,
            "simpleperf: -p/--port has to be from 1044 to 65535, and 80 is not"
        );
    }

    #[test]
    fn help_and_usage_keep_the_codes_of_the_tool() {
        let answer = |words: &str| match command_line(words.split(' ').map(OsString::from)) {
            Ok(Said::Text(answer)) => answer,
            other => panic!("{words}: {other:?}"),
        };
        let none = answer("simpleperf");
        assert_eq!((none.is_error, none.exit_code), (false, 0));
        assert!(none.text.contains("-s for a server, -c for a client"));
        let neither = answer("simpleperf -p 8088");
        assert_eq!((neither.is_error, neither.exit_code), (true, 1));
        assert!(neither.text.starts_with("Error: you must run either in server or client mode"));
        let help = answer("simpleperf -h");
        assert_eq!((help.is_error, help.exit_code), (false, 0));
        for flag in &options::FLAGS {
            assert!(help.text.contains(&argparse::name(flag)), "{}", help.text);
        }
    }
}
