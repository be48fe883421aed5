//! The tools that are stood in for, listed once.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::ctstraffic::CtsTraffic;
use crate::dialect::{Dialect, Run, Said, Unclear};
use crate::iperf3::Iperf3;
use crate::lagscope::Lagscope;
use crate::mla::MultipathLatencyAnalyzer;
use crate::ntttcp::Ntttcp;
use crate::screen::ScribeMaker;
use crate::simpleperf::Simpleperf;
use crate::visualize_data::VisualizeData;

macro_rules! dialects {
    ($($(#[doc = $about:literal])+ $dialect:ty;)+) => {
        /// What a tool of this name makes of words, if there is one.
        fn translate(name: &OsStr, words: &[OsString]) -> Option<Result<Said, Unclear>> {
            let name = Path::new(name).file_stem()?.to_str()?;
            $(if <$dialect>::NAMES.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                let said = <$dialect>::translate(words);
                return Some(said.map(Said::of::<$dialect>).map_err(Unclear::of::<$dialect>));
            })+
            None
        }

        /// Who makes what clients of this tool are told that a server prints, if they ask for that.
        pub fn scribes(name: &str) -> Option<ScribeMaker> {
            $(if <$dialect>::NAMES.contains(&name) {
                return <$dialect>::scribes();
            })+
            None
        }

        /// What each is called, and what it is.
        pub const NAMES: &[(&str, &str)] =
            &[$((<$dialect as Dialect>::NAMES[0], concat!($($about),+))),+];
    };
}

dialects! {
    /// iperf3: goodput over TCP and UDP
    Iperf3;
    /// round trips of messages over TCP
    Lagscope;
    /// ctsTraffic 2.x: goodput on connections, streams of frames over UDP
    CtsTraffic;
    /// MultipathLatencyAnalyzer, echoes over two interfaces
    MultipathLatencyAnalyzer;
    /// ntttcp for Linux: throughput of many connections
    Ntttcp;
    /// simpleperf, a throughput tool
    Simpleperf;
    /// lagscope's table of latencies as a picture
    VisualizeData;
}

/// What a whole command line comes to, the name under which the program was started first. Where that name, or the first word, is
/// another tool's, what is behind it is that tool's; else the words are ours.
pub fn said(words: impl IntoIterator<Item = OsString>) -> Result<Said, Unclear> {
    let words: Vec<OsString> = words.into_iter().collect();
    let named = (0..2).find_map(|place| translate(words.get(place)?, &words[place + 1..]));
    named.unwrap_or_else(|| Ok(Said::Run(Run::of(words.into_iter().skip(1)))))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The words of ours that a command line comes to, or what is wrong with it.
    pub(crate) fn native(words: &str) -> Result<String, String> {
        match said(words.split(' ').map(OsString::from)).map_err(|it| it.text)? {
            Said::Run(run) => {
                let words = run.words.join(OsStr::new(" ")).into_string().expect("it was text");
                // Each server of another tool lifts these.
                let own = words.strip_suffix(" --limit-sessions 0 --limit-sessions-per-address 0 --limit-threads 0 --limit-threads-per-address 0");
                assert_eq!(own.is_some(), words.starts_with("server "), "{words}");
                Ok(own.unwrap_or(&words).to_owned())
            }
            Said::Text(answer) => Err(answer.text),
        }
    }

    #[test]
    fn words_of_ours_stay_as_they_are() {
        for (words, behind) in [
            ("pathscope", ""),
            ("pathscope show visualize_data.py", "show visualize_data.py"),
            ("/usr/bin/pathscope latency h4", "latency h4"),
        ] {
            assert_eq!(native(words).as_deref(), Ok(behind));
        }
    }
}
