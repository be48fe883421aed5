//! ntttcp for Linux: its options as words of ours, and what it prints and writes (the reference's version is 1.4.3).

mod figures;
mod files;
mod getopt;
mod printer;
mod receiver;
mod row;
mod screen;
mod settings;

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use self::receiver::ReceiverScreen;
use self::screen::NtttcpScreen;
use self::settings::{Role, Settings};
use crate::dialect::{Answer, Dialect, Run, Said, Unclear};
use crate::one_dash;
use crate::screen::Screen;
use crate::spelling::Spellings;

/// What is printed first.
const BANNER: &str =
    "NTTTCP for Linux 1.4.3\n---------------------------------------------------------\n";
/// How it ends when it has printed its usage, whether that was asked for or not.
const USAGE_EXIT_CODE: u8 = 23;
/// How it ends where its words make no sense together.
const UNFIT_EXIT_CODE: u8 = 255;
/// From one line of what goes through to the next.
const REPORT_EVERY: &str = "500ms";
/// A year: a sender that is to go on until it is interrupted.
const ENDLESS_S: u64 = 365 * 86_400;

/// ntttcp.
#[derive(Debug)]
pub(crate) enum Ntttcp {}

/// What sentences of ours name, as its users do.
const SPELLINGS: Spellings = &[
    ("('pathscope server', or the program that --peer names)", "('ntttcp -r')"),
    ("give a wider range with --source-port [low,high]", "give another first one with -f"),
    ("send to it as any one, with --peer ntttcp", "leave -L out"),
    ("--peer ntttcp-no-sync", "say it here, too"),
    ("--ntttcp-multi-client", "-M"),
    ("--ntttcp-duration", "-t"),
    ("--ntttcp-warm-up", "-W"),
    ("--ntttcp-buffer", "-b"),
    ("--ntttcp-ports", "-P"),
    ("--ntttcp-port", "-p"),
    ("--listen", "-r"),
    ("--report-every", "-t"),
    ("--connections", "-P, -n and -l"),
    ("--source-port", "-f"),
    ("--total-rate", "-B"),
    ("--duration", "-t"),
    ("--warm-up", "-W"),
    ("--datagram", "-b"),
    ("--buffer", "-b"),
    ("--bind", "-a"),
    ("--port", "-p"),
    ("--cpu", "-m"),
];

impl Dialect for Ntttcp {
    const NAMES: &'static [&'static str] = &["ntttcp"];
    const SPELLINGS: Spellings = SPELLINGS;

    fn translate(words: &[OsString]) -> Result<Said, Unclear> {
        let words: Vec<String> = words.iter().map(|it| it.to_string_lossy().into_owned()).collect();
        let hinted = |why| one_dash::hinted(why, &words, &getopt::longs());
        let found = match getopt::split(&words) {
            Ok(found) => found,
            Err(why) => return Ok(usage(&format!("ntttcp: {}\n\n", hinted(why)))),
        };
        if found.iter().any(|(name, _)| *name == "h") {
            return Ok(usage(""));
        }
        let settings = match settings::read(&found).and_then(served) {
            Ok(settings) => settings,
            Err(why) => {
                let text = format!("{BANNER}ERR : {}\n", hinted(why));
                let answer = Answer { text, is_error: false, exit_code: UNFIT_EXIT_CODE };
                return Ok(Said::Text(answer));
            }
        };
        let notes = notes(&settings);
        let (words, screen): (_, Box<dyn Screen>) = match settings.role {
            Role::Sender => (sender(&settings), Box::new(NtttcpScreen::new(settings))),
            Role::Receiver => (receiver(&settings), Box::new(ReceiverScreen::new(settings))),
        };
        Ok(Said::Run(Run { notes, screen: Some(screen), ..Run::of(words) }))
    }
}

fn usage(wrong: &str) -> Said {
    let text = format!("{BANNER}{wrong}{}", getopt::usage());
    Said::Text(Answer { text, is_error: false, exit_code: USAGE_EXIT_CODE })
}

/// What is understood and not done here.
fn served(settings: Settings) -> Result<Settings, String> {
    if settings.is_udp && !settings.has_sync {
        let why = "-u is not spoken with -N: no receiver says then that it waits for datagrams, and nothing says whose those are that come; \
                   leave -N out at both ends";
        return Err(why.to_owned());
    }
    Ok(settings)
}

/// Where a sender sends to.
fn server(settings: &Settings) -> IpAddr {
    let here = || {
        let six = settings.is_ipv6;
        if six { IpAddr::from(Ipv6Addr::LOCALHOST) } else { Ipv4Addr::LOCALHOST.into() }
    };
    settings.address.unwrap_or_else(here)
}

/// Where a receiver listens.
fn listened(settings: &Settings) -> IpAddr {
    let every = || {
        let six = settings.is_ipv6;
        if six { IpAddr::from(Ipv6Addr::UNSPECIFIED) } else { Ipv4Addr::UNSPECIFIED.into() }
    };
    settings.address.unwrap_or_else(every)
}

/// What a receiver does: it serves a test, or tests until it is stopped.
fn receiver(settings: &Settings) -> Vec<String> {
    let mut words = ["server", "--accept", "ntttcp"].map(str::to_owned).to_vec();
    let mut say = |option: &str, value: String| words.extend([option.to_owned(), value]);
    say("--ntttcp-port", settings.port.to_string());
    say("--ntttcp-ports", settings.ports.to_string());
    say("--ntttcp-buffer", format!("{}B", settings.buffer));
    say("--ntttcp-warm-up", format!("{}s", settings.warm_up_s));
    if settings.duration_s > 0 {
        say("--ntttcp-duration", format!("{}s", settings.warm_up_s + settings.duration_s));
    }
    say("--ntttcp-report-every", REPORT_EVERY.to_owned());
    say("--listen", listened(settings).to_string());
    // Each test lasts as long as its sender has it.
    say("--limit-duration", "0".to_owned());
    settings.cpu.iter().for_each(|cpu| say("--cpu", cpu.to_string()));
    if !settings.is_endless {
        say("--exit-after-tests", "1".to_owned());
    }
    if settings.is_daemon {
        say("--log-file", "/dev/null".to_owned());
        words.push("--daemon".to_owned());
    }
    if settings.is_multi_client && settings.has_sync {
        words.push("--ntttcp-multi-client".to_owned());
    }
    words.push("--quiet".to_owned());
    words
}

/// What a sender does: connections to each of the receiver's ports in turns.
fn sender(settings: &Settings) -> Vec<String> {
    let peer = match (settings.has_sync, settings.is_last_client) {
        (false, _) => "ntttcp-no-sync",
        (true, true) => "ntttcp-last",
        (true, false) => "ntttcp",
    };
    let mut words = ["goodput", "--peer", peer].map(str::to_owned).to_vec();
    let mut say = |option: &str, value: String| words.extend([option.to_owned(), value]);
    let total_s = settings.total_s();
    say("--connections", settings.all_connections().to_string());
    say("--duration", format!("{}s", total_s.unwrap_or(ENDLESS_S)));
    // Ours is a tenth of a test at the most; of a longer one nothing but the screen's figures are without it.
    let is_short = |total_s: u64| settings.warm_up_s.saturating_mul(10) <= total_s;
    let warm_up_s = if total_s.is_none_or(is_short) { settings.warm_up_s } else { 0 };
    say("--warm-up", format!("{warm_up_s}s"));
    say("--report-every", REPORT_EVERY.to_owned());
    let written = if settings.is_udp { "--datagram" } else { "--buffer" };
    say(written, format!("{}B", settings.buffer));
    let rate = settings.rate.or(settings.pacing_rate);
    rate.iter().for_each(|rate| say("--total-rate", format!("{rate}bit")));
    settings.source_address.iter().for_each(|address| say("--bind", address.to_string()));
    if let Some(first) = settings.source_port {
        let last = u32::from(first) + settings.all_connections() - 1;
        say("--source-port", format!("[{first},{last}]"));
    }
    settings.cpu.iter().for_each(|cpu| say("--cpu", cpu.to_string()));
    if settings.is_daemon {
        say("--log-file", "/dev/null".to_owned());
        words.push("--daemon".to_owned());
    }
    if settings.is_udp {
        // Its datagrams are longer than most paths take whole.
        words.extend(["--protocol", "udp", "--may-fragment"].map(str::to_owned));
    } else if !settings.is_no_delay {
        words.push("--nagle".to_owned());
    }
    words.extend(["--no-probe", "--quiet"].map(str::to_owned));
    let host = server(settings);
    let first = u32::from(settings.port);
    // They end at 65535.
    let ports = (first..first + settings.ports).filter_map(|port| u16::try_from(port).ok());
    words.extend(ports.map(|port| SocketAddr::new(host, port).to_string()));
    words
}

/// A file, where it is: one in the background has the root of the file system as its folder.
fn placed(settings: &Settings, file: &str) -> String {
    if settings.is_daemon && !file.starts_with('/') { format!("/{file}") } else { file.to_owned() }
}

/// What has no effect here, and what is not as it was said.
fn notes(settings: &Settings) -> Vec<String> {
    let is_sender = settings.role == Role::Sender;
    let paces = settings.rate.or(settings.pacing_rate).is_some();
    let said = [
        (is_sender && settings.is_epoll, "-e has no effect at a sender"),
        (is_sender && settings.is_endless, "-H has no effect at a sender"),
        (
            !is_sender
                && (paces || settings.source_address.is_some() || settings.source_port.is_some()),
            "-B, --fq-rate-limit, -a and -f have no effect at a receiver",
        ),
        (
            is_sender && settings.pacing_rate.is_some(),
            "--fq-rate-limit is kept by pathscope itself, as -B is",
        ),
        (
            !settings.has_sync && (settings.is_multi_client || settings.is_last_client),
            "-M and -L have no effect with -N: no sender says then that it begins",
        ),
        (
            is_sender && settings.duration_s == 0,
            "-t 0: it goes on until it is interrupted (Ctrl+C), and says then what it came to",
        ),
    ];
    said.into_iter().filter(|(is_so, _)| *is_so).map(|(_, note)| note.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{said as command_line, tests::native};

    #[test]
    fn a_sender_is_a_load_towards_each_port() {
        let common = "--no-probe --quiet";
        for (line, words) in [
            (
                "ntttcp -s10.0.0.1 -P 2 -n 4 -l 3 -t 10 -W 1 -C 1 -b 64k",
                format!(
                    "goodput --peer ntttcp --connections 24 --duration 12s --warm-up 1s --report-every 500ms --buffer \
                     65536B --nagle {common} 10.0.0.1:5001 10.0.0.1:5002"
                ),
            ),
            (
                "/usr/bin/NTTTCP -s -N -P1 -n1 -t2 -W2 --no-delay -p 7000 -B 1G -f -a 10.0.0.2 -m 1,3,10.0.0.1",
                format!(
                    "goodput --peer ntttcp-no-sync --connections 1 --duration 4s --warm-up 0s --report-every 500ms \
                     --buffer 131072B --total-rate 1000000000bit --bind 10.0.0.2 --source-port [25001,25001] --cpu 3 {common} \
                     10.0.0.1:7000"
                ),
            ),
            (
                "pathscope ntttcp -s -6 -P1 -n1 -t0 --no-delay -D",
                format!(
                    "goodput --peer ntttcp --connections 1 --duration 31536000s --warm-up 0s --report-every 500ms \
                     --buffer 131072B --log-file /dev/null --daemon {common} [::1]:5001"
                ),
            ),
            (
                "ntttcp -s10.0.0.1 -L -P1 -n1 -t3",
                format!(
                    "goodput --peer ntttcp-last --connections 1 --duration 3s --warm-up 0s --report-every 500ms --buffer \
                     131072B --nagle {common} 10.0.0.1:5001"
                ),
            ),
            (
                "ntttcp -u -s10.0.0.1 -P1 -n2 -t3 -b 1k -B 1M",
                format!(
                    "goodput --peer ntttcp --connections 2 --duration 3s --warm-up 0s --report-every 500ms --datagram 1024B \
                     --total-rate 1000000bit --protocol udp --may-fragment {common} 10.0.0.1:5001"
                ),
            ),
            (
                "ntttcp -s10.0.0.1 -P1 -n1 -t3 -u",
                format!(
                    "goodput --peer ntttcp --connections 1 --duration 3s --warm-up 0s --report-every 500ms --datagram 65507B \
                     --protocol udp --may-fragment {common} 10.0.0.1:5001"
                ),
            ),
        ] {
            assert_eq!(native(line), Ok(words), "{line}");
        }
    }

    #[test]
    fn a_receiver_is_a_server_of_its_senders_alone() {
        let server = "server --accept ntttcp --ntttcp-port";
        let limits = "--limit-duration 0";
        for (line, words) in [
            (
                // As LISA has it, with words that are none.
                "ntttcp -P 64 -t 10 -W 1 -C 1 -b 64k -e --show-dev-interrupts Hypervisor callback interrupts",
                format!(
                    "{server} 5001 --ntttcp-ports 64 --ntttcp-buffer 65536B --ntttcp-warm-up 1s --ntttcp-duration 11s \
                     --ntttcp-report-every 500ms --listen 0.0.0.0 {limits} --exit-after-tests 1 --quiet"
                ),
            ),
            (
                "ntttcp -r10.0.0.1 -M -P1 -t5",
                format!(
                    "{server} 5001 --ntttcp-ports 1 --ntttcp-buffer 65536B --ntttcp-warm-up 0s --ntttcp-duration 5s \
                     --ntttcp-report-every 500ms --listen 10.0.0.1 {limits} --exit-after-tests 1 --ntttcp-multi-client --quiet"
                ),
            ),
            (
                "ntttcp -r10.0.0.1 -H -t0 -p 7000 -m 2,1,* -D -N",
                format!(
                    "{server} 7000 --ntttcp-ports 2 --ntttcp-buffer 65536B --ntttcp-warm-up 0s --ntttcp-report-every 500ms \
                     --listen 10.0.0.1 {limits} --cpu 1 --log-file /dev/null --daemon --quiet"
                ),
            ),
        ] {
            assert_eq!(native(line), Ok(words), "{line}");
        }
    }

    #[test]
    fn usage_and_what_does_not_fit_have_the_codes_of_the_tool() {
        let answer = |words: &str| match command_line(words.split(' ').map(OsString::from)) {
            Ok(Said::Text(answer)) => answer,
            other => panic!("{words}: {other:?}"),
        };
        for words in ["ntttcp -h", "ntttcp -s -Z", "ntttcp -s -P"] {
            let usage = answer(words);
            assert_eq!((usage.is_error, usage.exit_code), (false, 23), "{words}");
            assert!(
                usage.text.starts_with(BANNER) && usage.text.contains("Usage: ntttcp"),
                "{words}"
            );
        }
        for words in ["ntttcp -s -M", "ntttcp -s -u -N", "ntttcp -r -u -N", "ntttcp -r -L"] {
            let unfit = answer(words);
            assert_eq!(unfit.exit_code, 255, "{words}");
            assert!(unfit.text.starts_with(BANNER) && unfit.text.contains("ERR : "), "{words}");
        }
        for (words, meant) in [
            ("ntttcp -s -no-delay", "'-no-delay', did you mean --no-delay?"),
            ("ntttcp -s10.0.0.1 -show-nic lo", "'-show-nic', did you mean --show-nic-packets?"),
            ("ntttcp -r --nodelay", "there is no option '--nodelay'"),
        ] {
            let told = answer(words).text;
            assert!(told.contains(meant), "{words}: {told}");
        }
    }

    #[test]
    fn what_has_no_effect_is_said() {
        let said = command_line("ntttcp -s -e --fq-rate-limit 1G".split(' ').map(OsString::from));
        let Ok(Said::Run(run)) = said else { panic!("it runs") };
        assert_eq!(run.notes.len(), 2, "{:?}", run.notes);
        assert!(run.screen.is_some());
        let said = command_line("ntttcp -r -M -N".split(' ').map(OsString::from));
        let Ok(Said::Run(run)) = said else { panic!("it runs") };
        assert!(!run.words.iter().any(|word| word == "--ntttcp-multi-client"), "{:?}", run.words);
        assert_eq!(run.notes.len(), 1, "{:?}", run.notes);
    }
}
