//! ctsTraffic 2.x: its command line, what it prints, and its files.

mod banner;
mod grammar;
mod help;
mod jitter;
mod options;
mod read;
mod rows;
mod screen;
mod settings;
mod summary;
mod tables;
mod translate;

use std::ffi::OsString;

use crate::dialect::{Answer, Dialect, Run, Said, Unclear};
use crate::spelling::Spellings;

/// ctsTraffic. Never a value.
#[derive(Debug)]
pub struct CtsTraffic;

/// What sentences of ours name, as its users do.
const SPELLINGS: Spellings = &[
    ("('pathscope server', or the program that --peer names)", "('ctsTraffic -listen:*')"),
    ("--ctstraffic-port", "-Port"),
    ("--ctstraffic-pattern", "-Pattern"),
    ("--ctstraffic-transfer", "-Transfer"),
    ("--ctstraffic-push-bytes", "-PushBytes"),
    ("--ctstraffic-pull-bytes", "-PullBytes"),
    ("--ctstraffic-verify", "-Verify"),
    ("--ctstraffic-buffer", "-Buffer"),
    ("--ctstraffic-rate-limit", "-RateLimit"),
    ("--ctstraffic-rate-period", "-RateLimitPeriod"),
    ("--ctstraffic-burst-count", "-BurstCount"),
    ("--ctstraffic-burst-delay", "-BurstDelay"),
    ("--ctstraffic-dscp", "-QosDscpValue"),
    ("--ctstraffic-send-buffer", "-SendBufValue"),
    ("--ctstraffic-receive-buffer", "-RecvBufValue"),
    ("--ctstraffic-report-every", "-StatusUpdate"),
    ("--ctstraffic-keepalive", "-KeepAliveValue"),
    ("--ctstraffic-bits-per-second", "-BitsPerSecond"),
    ("--ctstraffic-frame-rate", "-FrameRate"),
    ("--ctstraffic-stream-length", "-StreamLength"),
    ("--ctstraffic-datagram", "-DatagramByteSize"),
    ("--connections", "-Connections"),
    ("--iterations", "-Iterations"),
    ("--connect-limit", "-ThrottleConnections"),
    ("--receive-buffer", "-RecvBufValue"),
    ("--send-buffer", "-SendBufValue"),
    ("--rate-period", "-RateLimitPeriod"),
    ("--burst-count", "-BurstCount"),
    ("--burst-delay", "-BurstDelay"),
    ("--keepalive", "-KeepAliveValue"),
    ("--report-every", "-StatusUpdate"),
    ("--duration", "-StreamLength"),
    ("--rate", "-RateLimit or -BitsPerSecond"),
    ("--time-limit", "-TimeLimit"),
    ("--exit-after", "-ServerExitLimit"),
    ("--source-port", "-LocalPort"),
    ("--interface", "-IfIndex"),
    ("--frame-rate", "-FrameRate"),
    ("--buffer-depth", "-BufferDepth"),
    ("--datagram", "-DatagramByteSize"),
    ("--push-bytes", "-PushBytes"),
    ("--pull-bytes", "-PullBytes"),
    ("--transfer", "-Transfer"),
    ("--shutdown", "-Shutdown"),
    ("--pattern", "-Pattern"),
    ("--streams", "-Connections"),
    ("--verify", "-Verify"),
    ("--buffer", "-Buffer"),
    ("--listen", "-Listen"),
    ("--allow", "-Allow"),
    ("--dscp", "-QosDscpValue"),
    ("--bind", "-Bind"),
    ("--port", "-Port"),
];

impl Dialect for CtsTraffic {
    const NAMES: &'static [&'static str] = &["ctsTraffic"];
    const SPELLINGS: Spellings = SPELLINGS;

    fn translate(words: &[OsString]) -> Result<Said, Unclear> {
        let typed: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
        let typed = typed.ok_or_else(|| Unclear::new("ctsTraffic: a word is no text in UTF-8"))?;
        if let Some(text) = help::of(&typed) {
            let (text, exit_code) = (text.to_owned(), help::EXIT_CODE);
            return Ok(Said::Text(Answer { text, is_error: false, exit_code }));
        }
        let unclear = |why| {
            Unclear::new(format!(
                "ctsTraffic: {why}; -Help, -Help:tcp, -Help:udp, -Help:logging and -Help:advanced say what there is"
            ))
        };
        let settings = read::settings(&typed).map_err(unclear)?;
        let (words, notes) = translate::words(&settings);
        let screen = Box::new(screen::CtsScreen::new(settings));
        Ok(Said::Run(Run { notes, screen: Some(screen), ..Run::of(words) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &str) -> Result<Said, Unclear> {
        CtsTraffic::translate(&words.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn help_has_the_tools_code_and_what_is_wrong_has_ours() {
        for words in ["", "-?", "-help:udp", "-target:a -Help:tcp"] {
            let Ok(Said::Text(Answer { is_error: false, exit_code: 13, .. })) = said(words) else {
                panic!("{words} asks for help");
            };
        }
        let unclear = said("-target:a framerate:60").expect_err("it is no option").text;
        assert!(unclear.starts_with("ctsTraffic: 'framerate:60' is no option"), "{unclear}");
        assert!(unclear.contains("-Help:advanced"), "{unclear}");
    }

    #[test]
    fn a_line_that_runs_says_what_has_no_effect_and_has_a_screen() {
        let Ok(Said::Run(run)) = said("-target:h4 -io:iocp -statusfilename:s.csv") else {
            panic!("it runs");
        };
        assert_eq!(run.notes, ["without effect here: -IO:iocp"]);
        let files = run.screen.expect("it is shown").files();
        assert_eq!(files, [("-StatusFilename", "s.csv".into())]);
    }
}
