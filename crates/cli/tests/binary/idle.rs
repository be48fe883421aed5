//! What a server costs its machine while nobody calls: no processor time, and no thread that wakes. Not what it holds (`memory`).

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use pathscope_os::readiness::Poller;
use pathscope_peers::registry::PeerKind;

use crate::common::{Running, pathscope, run};
use crate::daemon::wait_until;

/// Kinds whose clients another one serves.
const SERVED_AS_ANOTHER: [&str; 2] = ["ntttcp-no-sync", "ntttcp-last"];

/// For how long it is looked at.
const STRETCH: Duration = Duration::from_secs(3);

/// The most that it may use in that time, in the clock ticks of `proc_pid_stat(5)`.
const MOST_TICKS: u64 = 2;

/// How often its threads may wake in that time, all together. No timer of theirs runs where nobody is there; the rest is for what the system
/// may have them do. One thread that looked about once in 300 ms would wake more often.
const MOST_WAKES: u64 = 8;

/// What a process has used so far.
struct Used {
    /// Processor time of all its threads, in clock ticks.
    ticks: u64,
    /// How often each of its threads went to sleep by itself: as often as it was woken.
    sleeps: BTreeMap<u64, u64>,
}

impl Used {
    fn by(process: u32) -> Self {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
        let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
        // Behind the name: those of user and kernel are the 14th and 15th, counted from the process' number on.
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks = ticks.map(|field| field.parse::<u64>().expect("a number")).sum();
        Self {
            ticks,
            sleeps: threads(process).filter_map(|it| Some((it, sleeps(process, it)?))).collect(),
        }
    }

    /// Ticks and wakes since then.
    fn since(&self, before: &Self) -> (u64, u64) {
        let had = |thread| before.sleeps.get(thread).copied().unwrap_or_default();
        let wakes = self.sleeps.iter().map(|(thread, sleeps)| sleeps - had(thread)).sum();
        (self.ticks - before.ticks, wakes)
    }
}

fn threads(process: u32) -> impl Iterator<Item = u64> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok())
}

/// None of a thread that has ended meanwhile.
fn sleeps(process: u32, thread: u64) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/task/{thread}/status")).ok()?;
    let mut lines = status.lines();
    let sleeps = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    sleeps?.trim().parse().ok()
}

/// Lets time pass in which nothing is to happen.
fn pass(time: Duration) {
    let nothing = Poller::new().expect("a poller");
    nothing.wait(&mut Vec::new(), Some(time)).expect("nothing interrupts it for good");
}

#[test]
fn a_server_whose_clients_have_left_uses_no_processor() {
    let served = PeerKind::ALL.iter().map(|kind| kind.name());
    let served: Vec<&str> = served.filter(|name| !SERVED_AS_ANOTHER.contains(name)).collect();
    assert_eq!(served.len() + SERVED_AS_ANOTHER.len(), PeerKind::ALL.len());
    // Kinds come to the ports that they have by themselves: an address for this test alone.
    let host = "127.77.2.1";
    let words = ["server", "--listen", host, "--accept", &served.join(","), "-v"];
    let mut server = Running::start(pathscope(&words));
    server.await_stderr("limits:");
    let own = threads(server.id()).count();
    for (words, sessions) in [
        (["goodput", host, "-c", "4", "-t", "300ms"], 1),
        (["latency", host, "--protocol", "udp", "-n", "50"], 1),
        (["latency", host, "--peer", "lagscope", "-n", "50"], 1),
    ] {
        run(&[&words[..], &["--json"]].concat()).exits(0);
        (0..sessions).for_each(|_| drop(server.await_stderr("session over")));
    }
    wait_until("the threads of its sessions end", || threads(server.id()).count() <= own);

    let before = Used::by(server.id());
    pass(STRETCH);
    let (ticks, wakes) = Used::by(server.id()).since(&before);
    let told = format!("{ticks} ticks, {wakes} wakes of {own} threads in {STRETCH:?}");
    assert!(ticks <= MOST_TICKS && wakes <= MOST_WAKES, "{told}");
    // It was there all the time.
    run(&["latency", host, "-n", "10"]).exits(0);
}
