//! Experiments, done: the network put up, each step's programs started on its nodes, what they found kept, and the network
//! taken down whatever happens.

mod process;
mod step;

use pathscope_core::Tick;
use pathscope_core::record::{Caveat, Host, Tool};
use pathscope_lab::harness::{Lab, Plan as LabPlan, UpError};
use pathscope_lab::picture;
use pathscope_lab::relay::Shortcoming;
use pathscope_lab::running::{RunningLab, Shaper};
use pathscope_lab::topology::Passage;
use pathscope_modes::document::{Outcome, OutcomeState};
use pathscope_os::clock;

pub use self::step::{Done, Ground, LAST_WORDS, perform};
use crate::document::{Attempt, ExperimentResult, ExperimentsDocument, LabFacts, StepResult};
use crate::judge;
use crate::plan::{Plan, Step};
use crate::programs::Said;
use pathscope_lab::findings::LabCaveat;

/// So often a step is done once more because the lab itself spoilt it.
const FURTHER_TRIES: u32 = 1;

/// Who does them, and as what they are told.
pub struct Request<'request> {
    /// What is to be done.
    pub plan: &'request Plan,
    /// How the lab is put up.
    pub lab: LabPlan<'request>,
    /// This end, as results describe it.
    pub host: Host,
    /// The command line.
    pub command: Vec<String>,
    /// When it began, RFC 3339, UTC.
    pub started_at: String,
    /// Whether somebody wants it to end, and why.
    pub stop: &'request dyn Fn() -> Option<&'static str>,
    /// A shortcoming of the lab as a sentence.
    pub sentence: fn(&Shortcoming) -> String,
}

/// What is told while they are done.
pub enum Told<'told> {
    /// The lab is up; the document says what will be done.
    Began(&'told ExperimentsDocument),
    /// A step has ended; it is the last of the document's.
    Step(&'told ExperimentsDocument),
}

/// Does all experiments of a plan. The lab is down when this returns.
pub fn run(
    request: &Request<'_>,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<ExperimentsDocument, UpError> {
    let began = clock::now();
    let lab = Lab::up(&request.lab)?;
    let mut document = ExperimentsDocument {
        tool: Tool { ..request.host.tool.clone() },
        command: request.command.clone(),
        started_at: request.started_at.clone(),
        host: request.host.clone(),
        lab: facts(lab.running(), &request.plan.source),
        // What a kill leaves says so.
        outcome: Outcome::cut_off_after(None),
        ..ExperimentsDocument::default()
    };
    tell(Told::Began(&document));
    let ground =
        Ground { lab: &lab, binary: request.lab.binary, stop: request.stop, at_begin: &|| Ok(()) };
    let stopped = all(request, &ground, &mut document, began, tell);
    document.outcome = match stopped {
        None => Outcome::default(),
        Some(reason) => Outcome::ended(OutcomeState::Interrupted, reason),
    };
    document.duration_ns = clock::now().nanos_since(began);
    if lab.running().shaper == Shaper::Tc {
        let text = "tc keeps no ledger: whether the network kept up is not known";
        document.caveats.push(Caveat::new(LabCaveat::Unknown, text));
    }
    Ok(document)
}

/// Every step of every experiment; why it was ended before its time, if it was.
fn all(
    request: &Request<'_>,
    ground: &Ground<'_>,
    document: &mut ExperimentsDocument,
    began: Tick,
    tell: &mut dyn FnMut(Told<'_>),
) -> Option<&'static str> {
    for experiment in &request.plan.experiments {
        let (name, title) = (experiment.name.clone(), experiment.title.clone());
        document.experiments.push(ExperimentResult { name, title, steps: Vec::new() });
        for step in &experiment.steps {
            if let Some(reason) = (request.stop)() {
                return Some(reason);
            }
            let (result, stopped) = all_repetitions(request, ground, step, began);
            let name = format!("{} {}", experiment.name, step.name);
            if let Some(last) = document.experiments.last_mut() {
                last.steps.push(result);
            }
            document.duration_ns = clock::now().nanos_since(began);
            document.outcome = Outcome::cut_off_after(Some(&name));
            tell(Told::Step(document));
            if stopped.is_some() {
                return stopped;
            }
        }
    }
    None
}

fn all_repetitions(
    request: &Request<'_>,
    ground: &Ground<'_>,
    step: &Step,
    began: Tick,
) -> (StepResult, Option<&'static str>) {
    let mut result = StepResult { name: step.name.clone(), ..StepResult::default() };
    let mut said: Vec<Vec<Said>> = Vec::new();
    let mut stopped = None;
    'repetitions: for repetition in 0..step.repeat {
        for again in 0..=FURTHER_TRIES {
            let (attempt, its, halted) = once(request, ground, step, (repetition, began));
            let is_invalid = !attempt.shortcomings.is_empty();
            result.attempts.push(attempt);
            stopped = halted;
            if stopped.is_some() || !is_invalid || again == FURTHER_TRIES {
                said.push(its);
                break;
            }
        }
        if stopped.is_some() {
            break 'repetitions;
        }
    }
    // Of what was ended by somebody, nothing is asked; what was done before stands.
    if stopped.is_some() {
        said.truncate(said.len().saturating_sub(1));
    }
    if !said.is_empty() {
        result.figures = judge::judge(&request.plan.network, step, &said);
    }
    (result, stopped)
}

fn once(
    request: &Request<'_>,
    ground: &Ground<'_>,
    step: &Step,
    (repetition, began): (u32, Tick),
) -> (Attempt, Vec<Said>, Option<&'static str>) {
    let before = ground.lab.account();
    let start_ns = clock::now().nanos_since(began);
    let Done { mut attempt, said, stopped } = perform(ground, step);
    attempt.repetition = repetition;
    attempt.start_ns = start_ns;
    let since = before.and_then(|before| Ok(ground.lab.account()?.since(&before)));
    attempt.shortcomings = match since {
        Ok(account) => account.shortcomings().iter().map(request.sentence).collect(),
        // tc keeps no account, which is told once.
        Err(_) if ground.lab.running().shaper == Shaper::Tc => Vec::new(),
        Err(error) => vec![format!("whether the lab kept up is not known: {error}")],
    };
    (attempt, said, stopped)
}

fn facts(running: &RunningLab, source: &str) -> LabFacts {
    let network = &running.network;
    let links = network.links().iter().filter_map(|link| match link.passage {
        Passage::Plain => None,
        Passage::Relayed { forward, backward } if forward == backward => {
            Some(format!("{}: {}", link.name, picture::conditions(&forward)))
        }
        Passage::Relayed { forward, backward } => Some(format!(
            "{}: {}, back: {}",
            link.name,
            picture::conditions(&forward),
            picture::conditions(&backward)
        )),
    });
    LabFacts {
        name: network.name().to_owned(),
        summary: picture::summary(network),
        links: links.collect(),
        shaper: running.shaper.to_string(),
        seed: running.seed,
        source: Some(source.to_owned()),
    }
}
