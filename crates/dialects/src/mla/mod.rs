//! `MultipathLatencyAnalyzer`, Microsoft's tool for a second Wi-Fi interface, as its guide has it.

mod csv;
mod options;
mod screen;
mod statistics;

use std::ffi::OsString;
use std::fmt::Write as _;

use self::options::{Asked, ClientOptions, Options, Side};
use self::screen::MlaScreen;
use crate::dialect::{Answer, Dialect, Run, Said, Unclear};
use crate::spelling::Spellings;

/// The tool.
#[derive(Debug)]
pub enum MultipathLatencyAnalyzer {}

/// What sentences of ours name, as its users do.
const SPELLINGS: Spellings = &[
    ("('pathscope server', or the program that --peer names)", "('mla -listen')"),
    ("--mla-port", "-port"),
    ("--grouping", "-grouping"),
    ("--duration", "-duration"),
    ("--rate", "-bitrate"),
    ("--listen", "-listen"),
    ("--allow", "-allow"),
    ("--port", "-port"),
];

impl Dialect for MultipathLatencyAnalyzer {
    const NAMES: &'static [&'static str] = &["mla", "MultipathLatencyAnalyzer"];
    const SPELLINGS: Spellings = SPELLINGS;

    fn translate(words: &[OsString]) -> Result<Said, Unclear> {
        let asked = options::read(words);
        let asked =
            asked.map_err(|why| Unclear::new(format!("MultipathLatencyAnalyzer: {why}")))?;
        Ok(match asked {
            Asked::Help => Said::Text(Answer { text: help(), is_error: false, exit_code: 0 }),
            Asked::Run(options) => Said::Run(run(&options)),
        })
    }
}

fn run(options: &Options) -> Run {
    let words = match &options.side {
        Side::Server { address, allow } => serve(options.port, address.as_deref(), allow),
        Side::Client(client) => send(options.port, client),
    };
    let note = format!("MultipathLatencyAnalyzer: no effect: {}", options.idle.join(", "));
    Run {
        notes: (!options.idle.is_empty()).then_some(note).into_iter().collect(),
        screen: Some(Box::new(MlaScreen::new(options))),
        ..Run::of(words)
    }
}

fn serve(port: u16, address: Option<&str>, allow: &[String]) -> Vec<String> {
    let mut words = vec!["server".to_owned(), "--accept".to_owned(), "mla".to_owned()];
    let mut say = |option: &str, value: &str| words.extend([option, value].map(str::to_owned));
    say("--mla-port", &port.to_string());
    address.iter().for_each(|address| say("--listen", address));
    allow.iter().for_each(|network| say("--allow", network));
    words
}

/// Datagrams of 1,024 bytes, as all of this tool are.
fn send(port: u16, client: &ClientOptions) -> Vec<String> {
    let mut words = vec!["multipath".to_owned(), client.target.clone()];
    let mut say = |option: &str, value: &str| words.extend([option, value].map(str::to_owned));
    say("--peer", "mla");
    say("--port", &port.to_string());
    say("--rate", &format!("{}bit", client.bits_per_second));
    say("--grouping", &client.grouping.to_string());
    say("--duration", &format!("{}s", client.seconds));
    if client.has_secondary {
        say("--most-paths", "2");
    } else {
        say("--secondary", "0");
    }
    words.push("--quiet".to_owned());
    words
}

fn help() -> String {
    let mut help = "MultipathLatencyAnalyzer -listen:<addr or *> [options]\n\
                    MultipathLatencyAnalyzer -target:<addr or name> [options]\n\n"
        .to_owned();
    for (form, about) in options::OPTIONS {
        // Text takes whatever is written to it.
        let _ = writeln!(help, "  {form:<26} {about}");
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
            ("MultipathLatencyAnalyzer.exe -listen:*", "server --accept mla --mla-port 8888"),
            (
                "multipathlatencyanalyzer -target:10.0.0.192",
                "multipath 10.0.0.192 --peer mla --port 8888 --rate 5242880bit --grouping 30 \
                 --duration 60s --most-paths 2 --quiet",
            ),
            (
                "pathscope mla -target:10.0.0.192 -prepostrecvs:5 -bitrate:hd -grouping:30 -duration:3600 -output:latencyData.csv",
                "multipath 10.0.0.192 --peer mla --port 8888 --rate 5242880bit --grouping 30 \
                 --duration 3600s --most-paths 2 --quiet",
            ),
            (
                "mla -listen:10.0.0.1 -port:9000 -allow:10.0.0.0/8",
                "server --accept mla --mla-port 9000 --listen 10.0.0.1 --allow 10.0.0.0/8",
            ),
            (
                "mla -target:h -secondary:0 -bitrate:2",
                "multipath h --peer mla --port 8888 --rate 2097152bit --grouping 30 \
                 --duration 60s --secondary 0 --quiet",
            ),
        ] {
            assert_eq!(native(typed).as_deref(), Ok(words), "{typed}");
        }
    }

    #[test]
    fn what_has_no_effect_is_said_and_what_is_wrong_is_refused() {
        let of = |words: &str| command_line(words.split(' ').map(OsString::from));
        let Ok(Said::Run(run)) = of("mla -target:h -prepostrecvs:5") else { panic!("it runs") };
        assert_eq!(run.notes, ["MultipathLatencyAnalyzer: no effect: -prepostrecvs"]);
        let refused = of("mla -target:h -grouping:x").expect_err("it is no number");
        assert!(refused.text.starts_with("MultipathLatencyAnalyzer: -grouping has to be from 1"));
    }

    #[test]
    fn help_keeps_the_code_of_the_tool() {
        for words in ["mla", "mla -?", "mla -help"] {
            let Ok(Said::Text(answer)) = command_line(words.split(' ').map(OsString::from)) else {
                panic!("{words}: it is help")
            };
            assert_eq!((answer.is_error, answer.exit_code), (false, 0), "{words}");
            for (form, _) in options::OPTIONS {
                assert!(answer.text.contains(form), "{form}: {}", answer.text);
            }
        }
    }
}
