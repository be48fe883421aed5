//! lagscope: its options as words of ours, and a screen that prints what it prints (the reference's version is 1.0.1).

mod latencies;
mod screen;
mod usage;
mod words;

use std::ffi::OsString;
use std::net::IpAddr;

use self::screen::LagscopeScreen;
use self::words::{Fault, Role, Settings};
use crate::dialect::{Answer, Dialect, Run, Said, Unclear};
use crate::spelling::Spellings;

/// What is printed first.
const BANNER: &str = "lagscope 1.0.1\n---------------------------------------------------------\n";
/// How it ends when it has printed its usage, whether that was asked for or not.
const USAGE_EXIT_CODE: u8 = 23;
/// The socket buffers that it asks for, unless others are.
const SEND_BUFFER: u64 = 131_072;
const RECEIVE_BUFFER: u64 = 65_536;

/// lagscope.
#[derive(Debug)]
pub(crate) enum Lagscope {}

/// What sentences of ours name, as its users do.
const SPELLINGS: Spellings = &[
    ("('pathscope server', or the program that --peer names)", "('lagscope -r')"),
    ("--lagscope-port", "-p"),
    ("--lagscope-send-buffer", "-b"),
    ("--lagscope-receive-buffer", "-b"),
    ("--lagscope-cpu", "-f"),
    ("--send-buffer", "-b"),
    ("--receive-buffer", "-b"),
    ("--source-port", "-o"),
    ("--latency-file", "-R"),
    ("--frequency-file", "-P"),
    ("--iterations", "-n"),
    ("--duration", "-t"),
    ("--period", "-i"),
    ("--listen", "-r"),
    ("--size", "-z"),
    ("--port", "-p"),
    ("--cpu", "-f"),
];

impl Dialect for Lagscope {
    const NAMES: &'static [&'static str] = &["lagscope"];
    const SPELLINGS: Spellings = SPELLINGS;

    fn translate(words: &[OsString]) -> Result<Said, Unclear> {
        let settings = match words::parse(words) {
            Ok(settings) => settings,
            Err(Fault::Value(sentence)) => {
                return Err(Unclear::new(format!("lagscope: {sentence}")));
            }
            Err(Fault::Usage(sentence)) => {
                let wrong = sentence.map_or_else(String::new, |it| format!("lagscope: {it}\n\n"));
                let text = format!("{BANNER}{wrong}{}", usage::text());
                let answer = Answer { text, is_error: false, exit_code: USAGE_EXIT_CODE };
                return Ok(Said::Text(answer));
            }
        };
        let words = match settings.role {
            Role::Sender => sender(&settings),
            Role::Receiver => receiver(&settings),
        };
        let notes = notes(&settings);
        Ok(Said::Run(Run {
            screen: Some(Box::new(LagscopeScreen::new(settings))),
            notes,
            ..Run::of(words)
        }))
    }
}

/// What a sender does. It sleeps after each reply, and here begins the next ping so long after the last began; nothing is left out at the
/// start.
fn sender(settings: &Settings) -> Vec<String> {
    let mut words = ["latency", "--peer", "lagscope"].map(str::to_owned).to_vec();
    let mut say = |option: &str, value: String| words.extend([option.to_owned(), value]);
    say("--port", settings.port.to_string());
    say("--size", format!("{}B", settings.size));
    match settings.duration_s {
        Some(seconds) => {
            say("--duration", format!("{seconds}s"));
            say("--warm-up", "0s".to_owned());
        }
        None => say("--iterations", settings.pings.to_string()),
    }
    let [send, receive] = buffers(settings);
    say("--send-buffer", format!("{send}B"));
    say("--receive-buffer", format!("{receive}B"));
    settings.cpu.iter().for_each(|cpu| say("--cpu", cpu.to_string()));
    let files = [("--latency-file", &settings.csv), ("--frequency-file", &settings.json)];
    for (option, file) in files {
        file.iter().for_each(|file| say(option, placed(settings, file)));
    }
    if settings.interval_s > 0 {
        say("--period", format!("{}s", settings.interval_s));
        words.push("--closed".to_owned());
    }
    if settings.source_port > 0 {
        let port = settings.source_port.to_string();
        words.extend(["--source-port".to_owned(), port, "--source-port-fallback".to_owned()]);
    }
    words.extend(in_background(settings));
    let loopback = if settings.is_ipv6 { "::1" } else { "127.0.0.1" };
    let address = settings.address.as_deref().unwrap_or(loopback);
    if address.parse::<IpAddr>().is_err() {
        // A name may have addresses of both families.
        words.push(if settings.is_ipv6 { "-6" } else { "-4" }.to_owned());
    }
    words.push(address.to_owned());
    words
}

fn receiver(settings: &Settings) -> Vec<String> {
    let mut words = ["server", "--accept", "lagscope"].map(str::to_owned).to_vec();
    let mut say = |option: &str, value: String| words.extend([option.to_owned(), value]);
    say("--lagscope-port", settings.port.to_string());
    let [send, receive] = buffers(settings);
    say("--lagscope-send-buffer", format!("{send}B"));
    say("--lagscope-receive-buffer", format!("{receive}B"));
    settings.cpu.iter().for_each(|cpu| say("--lagscope-cpu", cpu.to_string()));
    let every = if settings.is_ipv6 { "::" } else { "0.0.0.0" };
    say("--listen", settings.address.clone().unwrap_or_else(|| every.to_owned()));
    words.extend(in_background(settings));
    words
}

/// Of a sender and of a receiver alike: room to send, and to receive.
fn buffers(settings: &Settings) -> [u64; 2] {
    settings.buffer.map_or([SEND_BUFFER, RECEIVE_BUFFER], |bytes| [bytes; 2])
}

/// A file, where it is: one in the background has the root of the file system as its folder.
fn placed(settings: &Settings, file: &str) -> String {
    if settings.is_daemon && !file.starts_with('/') { format!("/{file}") } else { file.to_owned() }
}

/// What is printed there goes nowhere.
fn in_background(settings: &Settings) -> Vec<String> {
    if settings.is_daemon {
        ["--daemon", "--log-file", "/dev/null"].map(str::to_owned).to_vec()
    } else {
        Vec::new()
    }
}

/// What has no effect here, and what is not as it was said.
fn notes(settings: &Settings) -> Vec<String> {
    let mut notes = Vec::new();
    let is_receiver = settings.role == Role::Receiver;
    if is_receiver && settings.size != words::DEFAULT_SIZE {
        notes.push(
            "-z has no effect at a receiver: it echoes what comes, whatever its size".to_owned(),
        );
    }
    if settings.role == Role::Sender && settings.is_daemon {
        let sentence = "-D: what is printed goes nowhere, and files without a whole path are in /; 'pathscope latency --daemon \
                        --output FILE' keeps the result";
        notes.push(sentence.to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use crate::registry::tests::native;

    #[test]
    fn a_sender_is_a_latency_test_against_a_lagscope_server() {
        let common = "latency --peer lagscope --port 6001 --size 4B";
        let buffers = "--send-buffer 131072B --receive-buffer 65536B";
        let source = "--source-port 25001 --source-port-fallback";
        for (line, words) in [
            ("lagscope -s", format!("{common} --iterations 1000000 {buffers} {source} 127.0.0.1")),
            (
                "pathscope lagscope -s10.0.0.1 -t2 -o0",
                format!("{common} --duration 2s --warm-up 0s {buffers} 10.0.0.1"),
            ),
            (
                "./Lagscope -s10.0.0.1 -n5 -i1 -b4096 -f1 -o0 -R -Pa.json",
                format!(
                    "{common} --iterations 5 --send-buffer 4096B --receive-buffer 4096B --cpu 1 --latency-file \
                     latencies_log.csv --frequency-file a.json --period 1s --closed 10.0.0.1"
                ),
            ),
            (
                "lagscope -sh4.example -n5 -o0",
                format!("{common} --iterations 5 {buffers} -4 h4.example"),
            ),
            ("lagscope -sh4 -6 -n5 -o0", format!("{common} --iterations 5 {buffers} -6 h4")),
            (
                "lagscope -s -6 -n5 -o0 -D -Rx.csv",
                format!(
                    "{common} --iterations 5 {buffers} --latency-file /x.csv --daemon --log-file /dev/null ::1"
                ),
            ),
        ] {
            assert_eq!(native(line), Ok(words), "{line}");
        }
    }

    #[test]
    fn a_receiver_is_a_server_of_its_clients_alone() {
        let buffers = "--lagscope-send-buffer 131072B --lagscope-receive-buffer 65536B";
        for (line, words) in [
            (
                "lagscope",
                format!("server --accept lagscope --lagscope-port 6001 {buffers} --listen 0.0.0.0"),
            ),
            (
                "lagscope -r10.0.0.1 -p7000 -f0",
                format!(
                    "server --accept lagscope --lagscope-port 7000 {buffers} --lagscope-cpu 0 --listen 10.0.0.1"
                ),
            ),
            (
                "lagscope -r -D -f0 -6 -p6789 -V",
                format!(
                    "server --accept lagscope --lagscope-port 6789 {buffers} --lagscope-cpu 0 --listen :: --daemon \
                     --log-file /dev/null"
                ),
            ),
        ] {
            assert_eq!(native(line), Ok(words), "{line}");
        }
    }

    #[test]
    fn usage_and_nonsense_are_answered() {
        let usage = native("lagscope -h").expect_err("it is answered");
        assert!(usage.starts_with(super::BANNER) && usage.contains("-z<n>"), "{usage}");
        let unknown = native("lagscope -s -x").expect_err("there is none");
        assert!(unknown.contains("there is no option '-x'") && unknown.contains("Usage"));
        let wrong = native("lagscope -s -p70000").expect_err("there is none");
        assert!(wrong.starts_with("lagscope: -p: '70000'"), "{wrong}");
    }
}
