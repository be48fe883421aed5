//! iperf3: its options as words of ours, and screens that print what it prints. Its wire is a peer's.

mod asked;
mod client;
mod clock;
mod getopt;
mod help;
mod json;
mod numbers;
mod objects;
mod options;
mod outcome;
mod printer;
mod read;
mod report;
mod rows;
mod server;
mod shape;
mod streams;
mod units;
mod words;

use std::ffi::OsString;

use self::asked::{Asked, Common, Server};
use self::client::ClientScreen;
use self::server::ServerScreen;
use crate::dialect::{Answer, Dialect, Run, Said, Unclear};
use crate::screen::ScribeMaker;
use crate::spelling::Spellings;

/// iperf3.
#[derive(Debug)]
pub(crate) enum Iperf3 {}

/// What stands before a sentence that says what went wrong.
const COMPLAINT: &str = "iperf3: error - ";

/// What sentences of ours name, as its users do.
const SPELLINGS: Spellings = &[
    (
        "give a wider range with --source-port [low,high]",
        "give another with --cport, for several streams the first of as many in a row that are free",
    ),
    ("('pathscope server', or the program that --peer names)", "('iperf3 -s')"),
    (
        "start the server with a higher --limit-datagram-rate",
        "start the server with such a --server-bitrate-limit",
    ),
    ("--iperf3-limit-rate", "--server-bitrate-limit"),
    ("--connections", "-P"),
    ("--congestion", "-C"),
    ("--duration", "-t"),
    ("--transfer", "-n or -k"),
    ("--datagram", "-l"),
    ("--buffer", "-l"),
    ("--rate-period", "-b"),
    ("--rate", "-b"),
    ("--warm-up", "-O"),
    ("--send-buffer", "-w"),
    ("--receive-buffer", "-w"),
    ("--report-every", "-i"),
    ("--iperf3-port", "-p"),
    ("--source-port", "--cport"),
    ("--interface", "--bind-dev"),
    ("--server-cpu", "-A"),
    ("--cpu", "-A"),
    ("--mss", "-M"),
    ("--dscp", "-S"),
    ("--listen", "-B"),
    ("--bind", "-B"),
    ("--port", "-p"),
    ("--limit-duration", "--server-max-duration"),
    ("--log-file", "--logfile"),
    ("--pid-file", "--pidfile"),
    ("--exit-after-tests", "-1"),
    ("--connect-within", "--connect-timeout"),
    ("--exit-after-idle", "--idle-timeout"),
    ("--title", "-T"),
    ("--may-fragment", "fragments (no --dont-fragment)"),
    ("--allow-pinning", "'pathscope server --accept iperf3 --allow-pinning'"),
    ("--flow-label", "-L"),
    ("--user-timeout", "--snd-timeout"),
];

impl Dialect for Iperf3 {
    const NAMES: &'static [&'static str] = &["iperf3"];
    const SPELLINGS: Spellings = SPELLINGS;
    const COMPLAINT: &'static str = COMPLAINT;
    const USAGE_CODE: u8 = 1;

    fn scribes() -> Option<ScribeMaker> {
        let common = Common { interval_ns: 1_000_000_000, ..Common::default() };
        Some(server::scribes(&Server { common, ..Server::default() }))
    }

    fn translate(words: &[OsString]) -> Result<Said, Unclear> {
        let answer = |text| Said::Text(Answer { text, is_error: false, exit_code: 0 });
        let asked = read::read(words);
        Ok(match asked.map_err(Unclear::new)? {
            Asked::Help => answer(help::text()),
            Asked::Version => answer(help::version()),
            Asked::Client(client) => {
                let (words, notes) = words::client(&client);
                let screen: Box<dyn crate::screen::Screen> = Box::new(ClientScreen::new(*client));
                Said::Run(Run { notes, screen: Some(screen), ..Run::of(words) })
            }
            Asked::Server(server) => {
                let (words, notes) = words::server(&server);
                let screen: Box<dyn crate::screen::Screen> = Box::new(ServerScreen::new(*server));
                Said::Run(Run { notes, screen: Some(screen), ..Run::of(words) })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::registry::said as command_line;
    use crate::registry::tests::native;

    const ENDS: &str = "--report-every 1000ms --no-probe --quiet";

    #[test]
    fn a_client_is_a_goodput_test_against_an_iperf3_server() {
        let tcp = |words: &str| format!("goodput h4 --peer iperf3 --port 5201 {words} {ENDS}");
        for (line, words) in [
            (
                "iperf3 -c h4",
                tcp(
                    "--connections 1 --pattern push --duration 10s --warm-up 0s --buffer 131072B --nagle",
                ),
            ),
            (
                "pathscope iperf3 -c h4 -P4 -R -t 5 -O 2 -N -b 10M/4 -l 64K",
                tcp(
                    "--connections 4 --pattern pull --duration 7s --warm-up 2s --buffer 65536B --rate 10000000bit \
                     --rate-period 209715200ns",
                ),
            ),
            (
                "/usr/bin/iperf3 -c h4 --bidir -n 1M -P 2 -w 1M -C cubic -M 1400 -S 0x10 --cport 4000 -N",
                tcp(
                    "--connections 2 --pattern bidir --transfer 524288B --buffer 131072B --send-buffer 1048576B \
                     --receive-buffer 1048576B --congestion cubic --mss 1400B --dscp 4 --source-port [4000,4003]",
                ),
            ),
            (
                "iperf3 -u -c h4 -k 10 -P 3 -l 1000 --dont-fragment --cport 4000 -B 10.0.0.1%eth1 -A 1,2",
                tcp(
                    "--connections 3 --pattern push --transfer 4000B --protocol udp --datagram 1000B --rate 1048576bit \
                     --dont-fragment --bind 10.0.0.1 --interface eth1 --source-port [4000,4002] --cpu 1 --server-cpu 2",
                ),
            ),
        ] {
            assert_eq!(native(line), Ok(words), "{line}");
        }
        // Of two rates the lower holds.
        for (line, rate) in [
            ("--fq-rate 2M", 2_000_000),
            ("--fq-rate 2M -b 1M", 1_000_000),
            ("-u --fq-rate 64K", 64_000),
            ("-u --fq-rate 2M", 1_048_576),
            ("--fq-rate 0 -b 1M", 1_000_000),
        ] {
            let said = native(&format!("iperf3 -c h4 {line}")).expect("it means something");
            assert!(said.contains(&format!("--rate {rate}bit")), "{line}: {said}");
        }
        // Datagrams leave in fragments, as the original's do, unless that was forbidden.
        let cut = native("iperf3 -c h4 -u -b 0 -l 8K").expect("it means something");
        assert!(cut.contains("--protocol udp --datagram 8192B --may-fragment"), "{cut}");
        // Blocks leave whole; where one takes less than the shortest share, several.
        for (rate, period_ns) in [("-b 8M", 131_072_000), ("-b 10G", 1_048_576), ("-b 10K", 0)] {
            let paced = native(&format!("iperf3 -c h4 {rate}")).expect("it means something");
            let said = format!("--rate-period {period_ns}ns");
            assert_eq!(paced.contains(&said), period_ns > 0, "{paced}");
        }
        let patient = native("iperf3 -c h4 --connect-timeout 250").expect("it means something");
        assert!(
            patient.contains("--port 5201 --connect-within 250ms --connections 1"),
            "{patient}"
        );
        // A row can begin where the warm-up ends.
        let odd = native("iperf3 -c h4 -6 -i 2 -O 3 -t 0 -N").expect("it means something");
        assert!(odd.contains("--duration 31622400s --warm-up 3s"), "{odd}");
        assert!(odd.ends_with("--report-every 1000ms --no-probe --quiet -6"), "{odd}");
        let one = native("iperf3 -c h4 -i 0 -N").expect("it means something");
        assert!(one.contains("--report-every 3600000ms"), "{one}");
    }

    #[test]
    fn what_a_server_is_told_beside_and_what_packets_bear_are_words_of_ours() {
        for (line, words) in [
            (
                "-T=-t --extra-data {\"a\":1} --get-server-output",
                "--port 5201 --title==-t --extra-data={\"a\":1} --server-output --connections",
            ),
            (
                "-L 0x1f -S 8 --snd-timeout 1500",
                "--user-timeout 1500ms --nagle --dscp 2 --flow-label 31",
            ),
            ("-u -L 31", "--may-fragment --flow-label 31"),
        ] {
            let said = native(&format!("iperf3 -c h4 {line}")).expect("it means something");
            assert!(said.contains(words), "{line}: {said}");
        }
    }

    #[test]
    fn a_server_is_one_of_its_clients_alone() {
        let server = "server --accept iperf3 --iperf3-port";
        for (line, words) in [
            ("iperf3 -s", format!("{server} 5201 --listen * --limit-duration 0s --quiet")),
            (
                "iperf3 -s1 -p 5300 -4 -A 1 --server-max-duration 60 --logfile a -I b",
                format!(
                    "{server} 5300 --listen 0.0.0.0 --cpu 1 --limit-duration 60s --quiet --exit-after-tests 1 \
                     --log-file a --pid-file b"
                ),
            ),
            (
                "iperf3 -s --server-bitrate-limit 20M/2",
                format!(
                    "{server} 5201 --listen * --limit-duration 0s --iperf3-limit-rate 20000000bit --iperf3-limit-rate-over \
                     2000000000ns --limit-datagram-rate 20000000bit --quiet"
                ),
            ),
            (
                "iperf3 -s1 --idle-timeout 2",
                format!(
                    "{server} 5201 --listen * --limit-duration 0s --quiet --exit-after-tests 1 --exit-after-idle 2s"
                ),
            ),
            (
                "iperf3 -sD -B ::1 --logfile a.log",
                format!(
                    "{server} 5201 --listen ::1 --limit-duration 0s --quiet --daemon --log-file /a.log"
                ),
            ),
        ] {
            assert_eq!(native(line), Ok(words), "{line}");
        }
    }

    #[test]
    fn what_is_not_as_it_was_said_is_said_and_what_cannot_be_is_refused() {
        let of = |words: &str| command_line(words.split(' ').map(OsString::from));
        let Ok(Said::Run(run)) = of("iperf3 -c h4 -u -b 1M/5 -S 3 -Z") else { panic!("it runs") };
        assert_eq!(run.notes.len(), 3, "{:?}", run.notes);
        let refused = of("iperf3 -c h4 -p 0").expect_err("it is no port");
        assert_eq!(refused.text, "-p/--port: 0 is out of range: 1 to 65535");
        assert_eq!(
            (refused.manners.complaint, refused.manners.usage_code),
            ("iperf3: error - ", 1)
        );
        for (words, begins) in [("iperf3 -h", "iperf3, as pathscope"), ("iperf3 -v", "iperf 3.")] {
            let Ok(Said::Text(answer)) = of(words) else { panic!("{words} is answered") };
            assert_eq!((answer.is_error, answer.exit_code), (false, 0));
            assert!(answer.text.starts_with(begins), "{}", answer.text);
        }
    }
}
