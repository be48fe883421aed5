//! A system that forbids a call to the program, as containers do: what cannot be had is refused with its reason, and what fails while a
//! test runs ends it with its reason and takes no other result with it.

use std::process::Command;

use pathscope_core::record::Check;
use pathscope_modes::document::Measurement;
use pathscope_modes::registry::EndReport;

use crate::common::{Ran, Running, Server, pathscope};

/// Has the kernel refuse one system call to a program that it then becomes: what it is told are the numbers of `prctl`, of that call, of the
/// error, and of the one second argument by which the call is refused, or -1. The codes are those of `linux/filter.h` and `linux/seccomp.h`.
const WRAPPER: &str = r#"
my ($prctl, $call, $errno, $second) = map { $_ + 0 } splice(@ARGV, 0, 4);
my @is_so = $second < 0 ? () : ([0x20, 0, 0, 24], [0x15, 0, 1, $second]);
my @steps = ([0x20, 0, 0, 0], [0x15, 0, 1 + @is_so, $call], @is_so, [6, 0, 0, 0x50000 | $errno], [6, 0, 0, 0x7fff0000]);
my $steps = join "", map { pack "SCCL", @$_ } @steps;
my $filter = pack "S x6 p", scalar @steps, $steps;
syscall($prctl, 38, 1, 0, 0, 0) == 0 && syscall($prctl, 22, 2, $filter) == 0 or die "no filter: $!\n";
exec @ARGV or die "$!\n";
"#;

/// A call that is refused, by its numbers on this processor, with an error.
struct Refusal {
    call: u32,
    errno: i32,
    second: Option<u32>,
}

#[cfg(target_arch = "x86_64")]
const PRCTL: u32 = 157;
#[cfg(target_arch = "x86_64")]
const PPOLL: u32 = 271;
#[cfg(not(target_arch = "x86_64"))]
const PRCTL: u32 = 167;
#[cfg(not(target_arch = "x86_64"))]
const PPOLL: u32 = 73;
const IO_URING_SETUP: u32 = 425;

/// What each connection is to carry.
const BYTES: u64 = 200_000;

const EPERM: i32 = 1;
const ENOSYS: i32 = 38;

/// A worker that has two flows, by the engine `plain`, waits for them and for word by this call. Nothing else waits for three at once.
const WORKER_OF_TWO_FLOWS_WAITS: Refusal = Refusal { call: PPOLL, errno: EPERM, second: Some(3) };

impl Refusal {
    fn wrap(&self, program: &Command) -> Command {
        let mut command = Command::new("perl");
        let second = self.second.map_or(-1, i64::from);
        let numbers = [PRCTL.into(), self.call.into(), self.errno.into(), second];
        command.args(["-e", WRAPPER]).args(numbers.map(|number: i64| number.to_string()));
        command.arg(program.get_program()).args(program.get_args());
        command
    }

    /// Whether calls can be refused here.
    #[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
    fn is_possible(&self) -> bool {
        let why = match self.wrap(&Command::new("true")).output() {
            Ok(ran) if ran.status.success() => return true,
            Ok(ran) => String::from_utf8_lossy(&ran.stderr).into_owned(),
            Err(error) => format!("perl: {error}"),
        };
        println!("skipped, because nobody can be forbidden a system call here: {why}");
        false
    }

    fn server(&self) -> Server {
        Server::start_by(|program| self.wrap(&program))
    }
}

/// Whether rings are allowed to whoever no filter forbids them: else the reason is another.
fn are_allowed_else() -> bool {
    let switch = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    switch.is_ok_and(|switch| switch.trim() == "0")
}

#[test]
fn an_engine_that_a_filter_forbids_is_refused_by_name_and_never_taken_by_itself() {
    for (errno, reason) in [
        (EPERM, "a filter forbids io_uring_setup (seccomp"),
        (ENOSYS, "this kernel has no io_uring, or a filter hides it (seccomp"),
    ] {
        let forbidden = Refusal { call: IO_URING_SETUP, errno, second: None };
        if !forbidden.is_possible() {
            return;
        }
        let reason = if errno != EPERM || are_allowed_else() { reason } else { "forbids" };
        let said = ["the uring engine is not possible on this machine: ", reason, "--engine epoll"];
        let server = forbidden.server();
        for test in ["goodput -c 4 -n 1MiB", "latency -n 50", "media --profile voice -t 200ms"] {
            let host = server.host();
            let mut words: Vec<&str> = test.split(' ').collect();
            words.insert(1, &host);
            let run = |more: &[&str]| {
                let words = [&words[..], more].concat();
                Running::start(forbidden.wrap(&pathscope(&words))).finish()
            };
            run(&["--engine", "uring"]).exits(4).complains(&said);
            // What is left to it is done by another.
            let ran = run(&["--json"]).exits(0);
            let document = ran.document();
            let checks = &document.measurements[0].checks;
            assert!(!checks.is_empty() && checks.iter().all(Check::has_held), "{}", ran.said());
        }
    }
}

#[test]
fn a_server_that_has_no_such_engine_says_so() {
    let forbidden = Refusal { call: IO_URING_SETUP, errno: EPERM, second: None };
    if !forbidden.is_possible() {
        return;
    }
    let server = forbidden.server();
    let host = server.host();
    let ran = Running::start(pathscope(&["latency", &host, "-n", "10", "--engine", "uring"]));
    let ran = ran.finish();
    // Where this end has none either, it has not asked.
    ran.exits_with(&[3, 4]).complains(&["the uring engine is not possible on this machine"]);
}

/// What both ends say of three connections, of which one was the other worker's: it has come to its end, with all that it was to carry.
fn one_is_whole<'run>(ran: &Ran, measurement: &'run Measurement) -> [&'run EndReport; 2] {
    let ends = [&measurement.client, measurement.server.as_ref().expect("it has reported")];
    for end in ends {
        let goodput = end.goodput.as_ref().expect("it is goodput");
        assert_eq!((goodput.completed, goodput.failed), (1, 2), "{}", ran.said());
        let first = &goodput.flows[0];
        let moved = first.sent_bytes + first.received_bytes;
        assert_eq!((moved, first.error.as_ref()), (BYTES, None), "{}", ran.said());
        // Its worker, and that of the probes.
        assert!(!end.workers.is_empty() && !end.probe_workers.is_empty(), "{}", ran.said());
    }
    ends
}

fn why_workers_failed(end: &EndReport) -> Vec<&str> {
    let failed = end.caveats.iter().filter(|caveat| caveat.name == "worker_failed");
    failed.map(|caveat| &*caveat.text).collect()
}

#[test]
fn a_worker_that_fails_ends_the_run_with_its_reason_and_the_others_results_are_kept() {
    let [one, other, ..] = pathscope_os::cpus::allowed()[..] else {
        return println!("skipped, because each end has one worker on one processor");
    };
    if !WORKER_OF_TWO_FLOWS_WAITS.is_possible() {
        return;
    }
    // A worker has the first, and another both others.
    let two = format!("{one},{other}");
    let transfer = |host: &str, pattern: &str| {
        let three = ["-c", "3", "--engine", "plain", "--wait", "sleep", "--cpu", &two];
        let slow = ["--server-cpu", &two, "-n", "200KB", "--rate", "2Mbit", "--pattern", pattern];
        pathscope(&[&["goodput", host][..], &three, &slow, &["--json"]].concat())
    };
    let why = ["cannot wait for sockets: EPERM"];
    // At the end that receives: it waits for both all the time.
    let server = Server::start();
    let client = WORKER_OF_TWO_FLOWS_WAITS.wrap(&transfer(&server.host(), "pull"));
    let ran = Running::start(client).finish().exits(5);
    let document = ran.document();
    let [client, server] = one_is_whole(&ran, &document.measurements[0]);
    assert_eq!((&why_workers_failed(client)[..], why_workers_failed(server).len()), (&why[..], 0));

    let server = WORKER_OF_TWO_FLOWS_WAITS.server();
    let ran = Running::start(transfer(&server.host(), "push")).finish().exits(5);
    let document = ran.document();
    let [client, server] = one_is_whole(&ran, &document.measurements[0]);
    assert_eq!((why_workers_failed(client).len(), &why_workers_failed(server)[..]), (0, &why[..]));
}
