//! The subcommands that measure, listed once. What one makes of its words is its own affair; what the binary makes of all
//! of them is not known here.

mod goodput;
mod media;
mod survey;

use clap::{Args, Subcommand};
use pathscope_core::quantity::Period;
use pathscope_core::stats::Distribution;

use self::goodput::GoodputCommand;
use self::media::MediaCommand;
use self::survey::SurveyCommand;
use crate::command::{Command, Facts, Plans, Prepared, Refusal};
use crate::document::{Document, Measurement};
use crate::follow_up::Tests;
use crate::groups::Test;
use crate::latency::LatencyCommand;
use crate::multipath::MultipathCommand;
use crate::registry::{Plan, Reports};

/// What was typed behind the name of a subcommand.
#[derive(Args, Debug)]
pub struct Typed<Own: Args, Common: Args> {
    /// What is measured
    #[command(flatten)]
    own: Own,
    /// How it is run
    #[command(flatten)]
    common: Common,
}

/// A subcommand that measures, whichever it is.
pub trait Prepare {
    /// See [`Command::prepare`].
    fn prepare(self: Box<Self>, facts: &Facts<'_>) -> Result<Prepared<Tests>, Refusal>;
}

impl<C: Command<Tests: IntoTests>> Prepare for C {
    fn prepare(self: Box<Self>, facts: &Facts<'_>) -> Result<Prepared<Tests>, Refusal> {
        let Prepared { hosts, tests, announcement, probe_server, files } =
            Command::prepare(*self, facts)?;
        let tests = tests.into_tests(facts.report_every);
        Ok(Prepared { hosts, tests, announcement, probe_server, files })
    }
}

/// What becomes tests.
trait IntoTests {
    fn into_tests(self, report_every: Period) -> Tests;
}

impl IntoTests for Tests {
    fn into_tests(self, _: Period) -> Tests {
        self
    }
}

impl<P: Into<Plan>> IntoTests for Plans<P> {
    fn into_tests(self, report_every: Period) -> Tests {
        let test = |plan: P| Test::new(plan.into(), None, report_every);
        self.into_iter().map(|(name, plan)| (name, test(plan))).collect::<Vec<_>>().into()
    }
}

macro_rules! commands {
    ($($(#[doc = $about:literal])+ $name:ident($own:ty) as $word:ident;)+) => {
        /// The subcommands that measure, each with the words that all have in common.
        #[derive(Debug, Subcommand)]
        pub enum Commands<Common: Args> {
            $($(#[doc = $about])+
            #[command(name = stringify!($word))]
            $name(Typed<$own, Common>),)+
        }

        impl<Common: Args> Commands<Common> {
            /// Its name, its own words, and those that all have in common.
            pub fn split(self) -> (&'static str, Box<dyn Prepare>, Common) {
                match self {
                    $(Self::$name(Typed { own, common }) => {
                        (stringify!($word), Box::new(own), common)
                    })+
                }
            }
        }
    };
}

commands! {
    /// Latency idle and under load, goodput up, down and both ways, and what limited them; leaves its
    /// result in pathscope-survey-DATE.json, unless --output names another file or --json is given
    Survey(SurveyCommand) as survey;
    /// How much applications get through, with every byte verified
    Goodput(GoodputCommand) as goodput;
    /// How long a round trip takes, to the last percentile
    Latency(LatencyCommand) as latency;
    /// Whether streams of frames, as of video, are there when they are to be played
    Media(MediaCommand) as media;
    /// How much a second path helps: every datagram on every path, the first answer counts
    Multipath(MultipathCommand) as multipath;
}

/// The first distribution that the client measured: whose values a file of frequencies counts.
pub fn frequencies(document: &Document) -> Option<Distribution> {
    let Document { measurements, hosts, .. } = document;
    measurements.iter().find_map(|Measurement { test, client, .. }| {
        let shapes = test.plan.distributions_of(Reports { client, server: None, hosts });
        shapes.into_iter().next().map(|first| first.distribution)
    })
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use clap::{CommandFactory, Parser};
    use pathscope_core::error::Failure;
    use pathscope_core::quantity::Bytes;

    use super::*;
    use crate::command::{Files, JournalSubject, Machine, Servers};

    #[derive(Args, Debug)]
    struct Nothing {}

    impl Machine for Nothing {
        fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, Refusal> {
            Err(refused(&format!("no {name}")))
        }

        fn interface(&self, number: &str) -> Result<String, Refusal> {
            Err(refused(&format!("no {number}")))
        }
    }

    /// Servers of another kind, which know pings of 4 bytes.
    impl Servers for Nothing {
        fn have_probes(&self, _: &[String]) -> Result<bool, Refusal> {
            Ok(true)
        }

        fn ping_bytes(&self, host: &str) -> Result<Option<Bytes>, Refusal> {
            Ok((host == "other").then_some(Bytes(4)))
        }
    }

    fn refused(text: &str) -> Refusal {
        Refusal { failure: Failure::Unsupported, text: text.to_owned() }
    }

    #[derive(Debug, Parser)]
    struct Line {
        #[command(subcommand)]
        command: Commands<Nothing>,
    }

    /// What a command line comes to where the system draws nothing and knows no interface.
    fn prepared(words: &str) -> Result<Prepared<Tests>, Refusal> {
        let line = Line::try_parse_from(std::iter::once("pathscope").chain(words.split(' ')));
        let (_, command, Nothing {}) = line.expect("known words").command.split();
        command.prepare(&Facts {
            report_every: Period::from_secs(1),
            random: &|| Err(refused("no seed")),
            interfaces: &|| Err(refused("no interface")),
            machine: &Nothing {},
            servers: &Nothing {},
        })
    }

    #[test]
    fn the_words_of_every_subcommand_are_consistent() {
        Line::command().debug_assert();
    }

    #[test]
    fn a_server_that_is_prepared_for_pings_of_a_length_gets_such() {
        for (words, sizes) in [
            ("latency h", (64, 64)),
            ("latency other", (4, 4)),
            ("latency other --size 64", (64, 64)),
            ("latency other --request-size 100", (100, 64)),
        ] {
            let tests = prepared(words).expect(words).tests.list;
            let Plan::Latency(plan) = &tests[0].1.plan else { panic!("{words}") };
            assert_eq!((plan.size_bytes.0, plan.reply_bytes().0), sizes, "{words}");
        }
    }

    #[test]
    fn what_words_leave_open_is_asked_for_where_it_matters() {
        for words in ["survey", "goodput h", "latency h", "media h --rate 1Mbit"] {
            let tests = prepared(words).expect(words).tests.list;
            assert!(tests.iter().all(|(_, test)| test.validate().is_ok()), "{words}");
        }
        for (words, said) in [
            ("goodput h --shutdown random", "no seed"),
            ("latency h --rate 9/s --arrivals poisson", "no seed"),
            ("multipath h", "no interface"),
        ] {
            assert_eq!(prepared(words).err().expect(words).text, said);
        }
        prepared("goodput h --shutdown random -n 1KiB --seed 1").expect("a seed that was typed");
    }

    #[test]
    fn a_subcommand_says_which_files_it_has() {
        let named = |words: &str| {
            let Files { samples, frequencies, journal, each, leaves_result } =
                prepared(words).expect(words).files;
            assert_eq!(each.is_shown, words.contains("--each"), "{words}");
            let options = [samples, frequencies.or(each.latencies)]
                .map(|file| file.map(|(option, _)| option));
            (options, journal.map(|(subject, _)| subject), leaves_result)
        };
        assert_eq!(named("survey"), ([None, None], None, true));
        let connections = Some(JournalSubject::Connections);
        assert_eq!(named("goodput h"), ([None, None], connections, false));
        let latency = [Some("--samples"), Some("--frequency-file")];
        assert_eq!(named("latency h --samples a --frequency-file b"), (latency, None, false));
        let lagscope = [None, Some("--latency-file")];
        assert_eq!(named("latency h --each --latency-file a"), (lagscope, None, false));
        let frames = [Some("--jitter-file"), None];
        let streams = Some(JournalSubject::Streams);
        assert_eq!(named("media h --rate 1Mbit --jitter-file a"), (frames, streams, false));
    }
}
