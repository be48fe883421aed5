//! The client's side of a run: finds the server, or servers, has the tests run, and makes the document, whatever happens.
//!
//! What is done with one server is `one`, what one test is heard of `test`, and what several names are `several` and `company`; that
//! they are of one where they have to be, `names`; what went wrong in all, `conclusion`.

mod company;
mod conclusion;
mod inquire;
mod names;
mod one;
mod probes;
mod several;
mod test;

use std::net::SocketAddr;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::error::Failure;
use pathscope_core::event::{Event, Record};
use pathscope_core::presentation::{Presentation, Row};
use pathscope_core::quantity::Period;
use pathscope_core::record::{Caveat, Host};
use pathscope_modes::assertion::{self, Assertion};
use pathscope_modes::comparison;
use pathscope_modes::document::{Document, Interval, Outcome};
use pathscope_modes::follow_up::Tests;
use pathscope_modes::presentation;
use pathscope_os::{clock, limits};
use pathscope_peers::peer::Control;
use pathscope_peers::registry::PeerKind;

use crate::connect::destinations::Destinations;
use crate::error::RunError;
use crate::records::journal::Journal;
use crate::records::samples::SampleFile;
use crate::server::Embedded;
use crate::session::running;
use crate::stop::{Stage, Stop};
use crate::target::{self, Family};
use company::Company;
use conclusion::conclude;
pub use inquire::kind_of_server;
use probes::{JointStart, ProbeServer};
use several::{Several, ended};

/// A control connection that is not there by then is not there, unless another time was asked for.
pub const CONNECT_WITHIN: Period = Period::from_secs(5);

/// How it ended: well, or else what went wrong.
type Ended = Result<(), (Failure, String)>;

/// What is told while it goes on.
enum Told<'told> {
    /// One report interval of one measurement has passed.
    Interval { measurement: &'told str, row: &'told Row, interval: &'told Interval },
    /// A measurement of a run that is made of trials has been judged.
    Trial { row: &'told Row, record: &'told dyn Record },
    /// Something to mind.
    Note(&'told Caveat),
    /// The document so far.
    Checkpoint(&'told Document),
}

impl<'told> Told<'told> {
    /// As views hear of it, of a run of one server.
    fn event(self) -> Event<'told> {
        match self {
            Self::Interval { measurement, row, interval } => {
                Event::Interval { measurement, server: None, row, record: interval }
            }
            Self::Trial { row, record } => Event::Trial { row, record },
            Self::Note(caveat) => Event::Note(caveat),
            Self::Checkpoint(document) => Event::Checkpoint { record: document },
        }
    }
}

/// A run in progress, as far as it is of one server.
struct ClientRun<'all> {
    document: Document,
    began: Tick,
    stop: &'all Stop,
    sink: &'all mut dyn FnMut(Told<'_>),
    peer: PeerKind,
    /// For how long a server may let its connection wait, at each of its addresses.
    connect_within: Duration,
    /// Those that are left, in order, and what follows from them.
    tests: Tests,
    journal: Journal,
    samples: Option<SampleFile>,
    /// The server's addresses, as far as they are known: those of each name.
    targets: Vec<Vec<SocketAddr>>,
    /// Where there are other names that may be of other servers: who knows, and which of all names this one is.
    company: Option<(&'all Company, usize)>,
    /// Of probes that start with a load in another session: when they may.
    joint_start: Option<&'all JointStart>,
    /// Who answers the probes beside a load at a server that has no place for them.
    probe_server: Option<ProbeServer>,
    /// Where data connections go, once that is known.
    destinations: Option<Destinations>,
    /// Until then what was kept between two tests is new enough.
    kept_until: Tick,
}

/// What is to be measured, and against whom.
pub struct Request {
    /// `survey`, `goodput`, `latency`.
    pub kind: String,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// This end, as results describe it.
    pub here: Host,
    /// What kind of server it is.
    pub peer: PeerKind,
    /// The server as it was named, by one name or several; they may be names of several servers. None: a server inside this process.
    pub hosts: Vec<String>,
    /// Its port, where a name has none.
    pub port: u16,
    /// A server of ours, as it was named, that answers the probes beside a load at another kind of server; none: the load's own.
    pub probe_server: Option<String>,
    /// Which of its addresses are taken; none: all.
    pub family: Option<Family>,
    /// For how long a server may let the control connection wait, at each of its addresses.
    pub connect_within: Period,
    /// What is measured.
    pub tests: Tests,
    /// What has to hold of its figures.
    pub assertions: Vec<Assertion>,
    /// Asked once everything was measured: what else there is to mind.
    pub afterwards: Box<dyn FnOnce() -> Vec<Caveat>>,
    /// What is written down while it runs.
    pub journal: Journal,
    /// Where what each test measures is written one by one.
    pub samples: Option<SampleFile>,
    /// What time people have, in nanoseconds since 1970. It may step: nothing is measured by it.
    pub wall_unix_ns: fn() -> u64,
}

/// Runs everything that was asked for, and tells `sink` of it as it happens.
///
/// Always comes back with a document: of everything, or of what there was until it ended. The second
/// value says what went wrong, if anything did.
pub fn run(
    mut request: Request,
    stop: &Stop,
    sink: &mut dyn FnMut(Event<'_>),
) -> (Document, Option<(Failure, String)>) {
    let began = clock::now();
    let mut document = Document {
        tool: request.here.tool.clone(),
        command: std::mem::take(&mut request.command),
        kind: std::mem::take(&mut request.kind),
        target: (!request.hosts.is_empty()).then(|| request.hosts.join(", ")),
        started_at: crate::timestamp::rfc3339((request.wall_unix_ns)()),
        // Only a run that comes to an end says another.
        outcome: Outcome::cut_off_after(None),
        ..Document::default()
    };
    document.hosts.client = request.here.clone();
    stop.at(Stage::Before);
    let title = Presentation {
        title: presentation::title(&document.kind, document.target.as_deref()),
        ..Presentation::default()
    };
    sink(Event::Started { presentation: &title, record: &document });
    let samples = SampleFile::told_to(request.samples.take(), &request.journal);
    let journal = request.journal.clone();
    let (assertions, afterwards) = (std::mem::take(&mut request.assertions), request.afterwards);
    let words = Words {
        peer: request.peer,
        hosts: request.hosts,
        port: request.port,
        probe_server: request.probe_server,
        family: request.family,
        connect_within: Duration::from_nanos(request.connect_within.0),
        tests: request.tests,
        journal: request.journal,
        samples: samples.clone(),
    };
    let (mut document, ended) = words.measure((document, began), stop, sink);
    stop.at(Stage::Saving);
    let unwritten = samples.and_then(SampleFile::end);
    unwritten.iter().for_each(|caveat| sink(Event::Note(caveat)));
    document.caveats.extend(unwritten);
    document.caveats.extend(afterwards());
    assertion::judge(&assertions, &mut document);
    document.duration_ns = clock::now().nanos_since(began);
    let failure = conclude(&mut document, stop, ended);
    if let Some((_, text)) = &failure {
        journal.trouble(None, text);
    }
    document.caveats.extend(journal.settle());
    document.comparison = comparison::of_run(&document);
    let told = failure.as_ref().map(|(failure, text)| (*failure, text.as_str()));
    let presentation = presentation::presentation(&document);
    sink(Event::Finished { presentation: &presentation, record: &document, failure: told });
    (document, failure)
}

/// What is to be measured, apart from what is said of it.
struct Words {
    peer: PeerKind,
    hosts: Vec<String>,
    port: u16,
    probe_server: Option<String>,
    family: Option<Family>,
    connect_within: Duration,
    tests: Tests,
    journal: Journal,
    samples: Option<SampleFile>,
}

impl Words {
    /// All tests, from finding the server to taking leave of it.
    fn measure(
        self,
        (document, began): (Document, Tick),
        stop: &Stop,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> (Document, Ended) {
        let is_of_one = !self.may_be_of_several();
        let Self {
            peer,
            hosts,
            port,
            probe_server,
            family,
            connect_within,
            tests,
            journal,
            samples,
        } = self;
        let mut run = ClientRun {
            document,
            began,
            stop,
            sink: &mut |told| sink(told.event()),
            peer,
            connect_within,
            tests,
            journal,
            samples,
            targets: Vec::new(),
            company: None,
            joint_start: None,
            probe_server: None,
            destinations: None,
            kept_until: Tick::ZERO,
        };
        let found = prepare(&mut run, &hosts, (port, family), probe_server);
        let (embedded, targets) = match found {
            Ok(found) => found,
            Err(error) => return (run.document, ended(Err(error))),
        };
        if is_of_one {
            run.targets = targets;
            let result = run.measure();
            let served = embedded.map_or(Ok(()), Embedded::end);
            let result = result.map_err(|error| served.err().unwrap_or(error));
            return (run.document, ended(result));
        }
        let ClientRun { document, tests, journal, .. } = run;
        let (hosts, targets) = each_once(hosts, targets);
        let company = Company::new(hosts, targets);
        let tests = (tests.list, tests.remarks);
        Several { company, document, began, stop, peer, connect_within, tests, journal }.run(sink)
    }

    /// Whether its names may be those of several servers: of one test that nothing follows, where a session tells which server it is
    /// with. Other runs have names of one server alone.
    fn may_be_of_several(&self) -> bool {
        let Self { peer, hosts, probe_server, tests, samples, .. } = self;
        hosts.iter().any(|host| *host != hosts[0])
            && peer.control() == Control::Connection
            && probe_server.is_none()
            && tests.follow_up.is_none()
            && tests.list.len() == 1
            && samples.is_none()
    }
}

/// A server inside this process, where none is named; and the addresses of each name.
type Found = (Option<Embedded>, Vec<Vec<SocketAddr>>);

/// What comes before the first connection.
fn prepare(
    run: &mut ClientRun<'_>,
    hosts: &[String],
    (port, family): (u16, Option<Family>),
    probe_server: Option<String>,
) -> Result<Found, RunError> {
    let (peer, are_elsewhere) = (run.peer, probe_server.is_some());
    run.known().try_for_each(|test| {
        let carried = if are_elsewhere { &mut test.alone() } else { &mut *test };
        // It has nothing to do with this machine.
        peer.carries(carried).map_err(|refusal| RunError::Usage(refusal.to_string()))?;
        running::check(test)
    })?;
    // Fewer files than there could be are enough for most tests; those that lack say so.
    let _ = limits::raise_open_files();
    if hosts.is_empty() {
        let embedded = Embedded::start(run.document.hosts.client.clone())?;
        let targets = vec![vec![embedded.address]];
        return Ok((Some(embedded), targets));
    }
    if let Some(name) = probe_server {
        let place = (PeerKind::OWN.port(), family);
        let targets = target::addresses(&name, place, run.stop);
        let targets = targets.map_err(|why| match why {
            RunError::Os(error) => RunError::Peer(format!("--probe-server {name}: {error}")),
            other => other,
        })?;
        run.probe_server = Some(ProbeServer { name, targets });
    }
    let resolved = hosts.iter().map(|host| target::addresses(host, (port, family), run.stop));
    Ok((None, resolved.collect::<Result<_, _>>()?))
}

/// Names with their addresses, each once.
fn each_once(
    hosts: Vec<String>,
    targets: Vec<Vec<SocketAddr>>,
) -> (Vec<String>, Vec<Vec<SocketAddr>>) {
    let mut names: Vec<String> = Vec::new();
    let mut addresses = Vec::new();
    for (host, targets) in hosts.into_iter().zip(targets) {
        if !names.contains(&host) {
            names.push(host);
            addresses.push(targets);
        }
    }
    (names, addresses)
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Frequency, Period};
    use pathscope_modes::registry::Plan;
    use pathscope_modes::survey::{self, SurveyOptions};

    use super::*;

    #[test]
    fn a_test_whose_sockets_cannot_be_opened_ends_with_the_reason() {
        let mut tests = survey::tests(
            &SurveyOptions {
                connections: 2,
                duration: Period::from_millis(300),
                probe_rate: Frequency(100),
                congestion_control: None,
            },
            Period::from_millis(100),
        );
        let mut load = tests.swap_remove(1);
        let Plan::Goodput(plan) = &mut load.1.plan else { panic!("it is a load") };
        // The server inside this process listens on IPv4 alone.
        plan.sockets.bind = vec!["::1".parse().expect("an address")];
        let request = Request {
            kind: "goodput".to_owned(),
            command: Vec::new(),
            here: Host::default(),
            peer: PeerKind::OWN,
            hosts: Vec::new(),
            port: 5210,
            probe_server: None,
            family: None,
            connect_within: CONNECT_WITHIN,
            tests: vec![load].into(),
            assertions: Vec::new(),
            afterwards: Box::new(Vec::new),
            journal: Journal::default(),
            samples: None,
            wall_unix_ns: clock::wall_unix_ns,
        };
        let (document, failure) = run(request, &Stop::default(), &mut |_| {});
        let (kind, text) = failure.expect("no address goes with the server's");
        assert_eq!(kind, Failure::Usage, "{text}");
        assert!(text.starts_with("none of the --bind addresses is of the family"), "{text}");
        assert!(document.measurements.is_empty());
    }
}
