//! Experiments from the file that describes their network. All faults are told at once, with lines.
//!
//! In one file: one description, read from its top to its bottom.

#[cfg(test)]
mod tests;

use pathscope_core::quantity::{BitRate, Period};
use pathscope_lab::description::{
    self, Document, Entry, Faults, Said, Table, instead, listed, named, quoted,
};
use pathscope_lab::topology::{Kind, Network, Topology};
use pathscope_modes::figures::Unit;

use crate::judge;
use crate::plan::{Expectation, Experiment, Of, Plan, Run, Step, Tolerance};
use crate::programs::{Figure, Program};

/// How long what is run in a step lasts where nothing is said.
const DURATION: Period = Period::from_secs(10);
/// The most often that a step is done.
const REPEAT_MOST: u64 = 100;

const EXPERIMENT_KEYS: [&str; 3] = ["title", "duration", "steps"];
const STEP_KEYS: [&str; 6] = ["name", "duration", "limit", "repeat", "runs", "expect"];
const RUN_KEYS: [&str; 5] = ["name", "from", "to", "after", "run"];
const EXPECT_KEYS: [&str; 10] =
    ["run", "figure", "sum", "jain", "label", "is", "published", "within", "below", "above"];

impl Plan {
    /// Reads what a file says. `source_name` is what faults are told of.
    ///
    /// ```toml
    /// [experiments.1]
    /// title = "Round trips and goodput"
    /// duration = "25s"             # of what is run: {seconds}; 10s if not said
    ///
    /// [[experiments.1.steps]]      # one after the other; each is a row
    /// name = "h1-h4"
    /// repeat = 3                   # figures are the median; 1 if not said
    /// limit = "2m"                 # when what still runs is ended
    /// runs = [                     # together, unless one names what has to end before it
    ///     { from = "h1", to = "h4", run = "ping -q -c 20 -i 0.2 {to}" },
    ///     { from = "h1", to = "h4", run = "pathscope goodput {to} -t {seconds}s", after = "ping" },
    /// ]
    /// expect = [
    ///     { figure = "ping.rtt.mean", within = "1ms", published = "66.651ms" },
    ///     { figure = "goodput.rate.up", within = "3%", published = "28.35Mbit" },
    ///     { sum = "goodput.rate.up", below = "5%", above = "0%" },
    ///     { jain = "goodput.rate.up", is = "1", within = "0.2" },
    /// ]
    /// ```
    ///
    /// A run is called after its program, or by its `name`. What is expected follows from the links, or is what `is` says.
    /// `within` is how far off on either side, `below` and `above` on one; `%` of a share is points, of all else a share of
    /// what is expected.
    pub fn read(source_name: &str, text: &str) -> Result<Self, Faults> {
        let network = Topology::read(source_name, text).network()?;
        let (mut document, table) = Document::read(text, "a topology");
        let mut experiments = Vec::new();
        let entries = table.as_ref().map(description::entries).unwrap_or_default();
        let found = entries.iter().find(|entry| entry.key == "experiments");
        for entry in found.map(|entry| document.table(entry, "")).unwrap_or_default() {
            let mut reader = Reader { document: &mut document, network: &network };
            experiments.push(reader.experiment(&entry));
        }
        if experiments.is_empty() && document.is_right() {
            let text = "it states no experiments; add [experiments.NAME] with steps (docs/guide/experiments.md)";
            document.fault(0, "", text.to_owned());
        }
        Faults::of(source_name, document.into_faults())
            .map_or(Ok(Self { network, experiments, source: text.to_owned() }), Err)
    }
}

struct Reader<'file, 'text> {
    document: &'file mut Document<'text>,
    network: &'file Network,
}

impl Reader<'_, '_> {
    fn experiment(&mut self, entry: &Entry) -> Experiment {
        let subject = named("experiment", entry.key);
        let mut title = entry.key.to_owned();
        let mut duration = DURATION;
        let mut steps = Vec::new();
        for word in self.document.table(entry, &subject) {
            match word.key {
                "title" => {
                    title = self.document.text(&word, &subject).map_or(title, |said| said.text);
                }
                "duration" => duration = self.duration(&word, &subject).unwrap_or(duration),
                "steps" => steps = self.document.tables(&word, &subject),
                _ => self.document.unknown_key(&word, &subject, &EXPERIMENT_KEYS),
            }
        }
        if steps.is_empty() {
            self.document.fault(entry.at, &subject, "it has no steps".to_owned());
        }
        let steps = steps.iter().enumerate();
        let steps = steps.filter_map(|(index, step)| self.step(step, index, entry.key, duration));
        let steps = steps.collect();
        Experiment { name: entry.key.to_owned(), title, steps }
    }

    fn step(&mut self, table: &Table, index: usize, of: &str, usual: Period) -> Option<Step> {
        let name = table.entries.iter().find(|entry| entry.key == "name");
        let name = name.and_then(|entry| self.document.text(entry, "")).map(|said| said.text);
        let name = name.unwrap_or_else(|| (index + 1).to_string());
        let subject = named("step", &format!("{of} {name}"));
        let (mut duration, mut stated_limit, mut repeat) = (usual, None, 1);
        let (mut runs, mut expectations) = (Vec::new(), Vec::new());
        for word in &table.entries {
            match word.key {
                "name" => {}
                "duration" => duration = self.duration(word, &subject).unwrap_or(duration),
                "limit" => stated_limit = self.duration(word, &subject),
                "repeat" => repeat = self.repeat(word, &subject),
                "runs" => runs = self.document.tables(word, &subject),
                "expect" => expectations = self.document.tables(word, &subject),
                _ => self.document.unknown_key(word, &subject, &STEP_KEYS),
            }
        }
        if runs.is_empty() {
            self.document.fault(
                table.at,
                &subject,
                "it starts nothing: say what in runs = [ … ]".to_owned(),
            );
            return None;
        }
        let runs = self.runs(&runs, &subject)?;
        let mut step =
            Step { name, repeat, duration, stated_limit, runs, expectations: Vec::new() };
        if let Some([one, other]) = rivals(&step) {
            let text = format!(
                "the servers of {} and {} would take the same port of the same node; let one wait: after = {}",
                quoted(&one.name),
                quoted(&other.name),
                quoted(&one.name)
            );
            self.document.fault(table.at, &subject, text);
        }
        for table in &expectations {
            let expectation = self.expectation(table, &step, &subject);
            step.expectations.extend(expectation);
        }
        Some(step)
    }

    fn duration(&mut self, entry: &Entry, subject: &str) -> Option<Period> {
        let said = self.document.text(entry, subject)?;
        match said.text.parse::<Period>() {
            Ok(period) if period.0 > 0 && period <= Plan::LONGEST => Some(period),
            Ok(_) => self.no(
                entry,
                subject,
                format!("{} is not above 0 and at most {}", quoted(&said.text), Plan::LONGEST),
            ),
            Err(error) => self.no(entry, subject, error.to_string()),
        }
    }

    fn repeat(&mut self, entry: &Entry, subject: &str) -> u32 {
        match self.document.whole_number(entry, subject) {
            Some(number @ 1..=REPEAT_MOST) => number as u32,
            Some(number) => self
                .no(entry, subject, format!("repeat: {number} is not between 1 and {REPEAT_MOST}"))
                .unwrap_or(1),
            None => 1,
        }
    }

    /// A fault, and nothing else.
    fn no<T>(&mut self, entry: &Entry, subject: &str, text: String) -> Option<T> {
        self.document.fault(entry.at, subject, text);
        None
    }

    fn runs(&mut self, tables: &[Table], subject: &str) -> Option<Vec<Run>> {
        let mut runs: Vec<Run> = Vec::new();
        let mut is_whole = true;
        for table in tables {
            match self.run(table, &runs, subject) {
                Some(run) => runs.push(run),
                None => is_whole = false,
            }
        }
        is_whole.then_some(runs)
    }

    fn run(&mut self, table: &Table, before: &[Run], subject: &str) -> Option<Run> {
        let (mut name, mut from, mut to, mut after, mut words) =
            (None, None, None, None, Vec::new());
        let mut is_right = true;
        for word in &table.entries {
            let mut text = || self.document.text(word, subject);
            match word.key {
                "name" => name = text(),
                "from" => from = self.node(word, subject),
                "to" => to = self.node(word, subject),
                "after" => {
                    let said = text();
                    after = said.and_then(|said| self.earlier(word, &said, before, subject));
                    is_right &= after.is_some();
                }
                "run" => words = self.words(word, subject),
                _ => {
                    self.document.unknown_key(word, subject, &RUN_KEYS);
                    is_right = false;
                }
            }
        }
        let Some(first) = words.first() else {
            let text = "a run says what it starts: run = \"ping -c 20 {to}\"";
            self.document.fault(table.at, subject, text.to_owned());
            return None;
        };
        let program = Program::named(first);
        let name = name.map_or_else(
            || first.rsplit('/').next().unwrap_or(first).to_owned(),
            |said: Said| said.text,
        );
        let fault = if before.iter().any(|run| run.name == name) {
            Some(format!("two runs are called {}; give one another name", quoted(&name)))
        } else if from.is_none() && !table.entries.iter().any(|entry| entry.key == "from") {
            Some(format!("the run {} says not from which node: from = \"h1\"", quoted(&name)))
        } else if to.is_none()
            && (program.server().is_some() || words.iter().any(|word| word.contains("{to}")))
        {
            let said = table.entries.iter().any(|entry| entry.key == "to");
            (!said)
                .then(|| format!("the run {} says not to which node: to = \"h4\"", quoted(&name)))
        } else {
            program.judge(&words).err()
        };
        if let Some(text) = fault {
            self.document.fault(table.at, subject, text);
            return None;
        }
        (is_right).then_some(Run { name, from: from?, to, after, program, words })
    }

    fn words(&mut self, entry: &Entry, subject: &str) -> Vec<String> {
        let said = self.document.texts(entry, subject);
        if entry.is_array() {
            return said.into_iter().map(|said| said.text).collect();
        }
        said.iter().flat_map(|said| said.text.split_whitespace()).map(str::to_owned).collect()
    }

    /// A node that programs run on.
    fn node(&mut self, entry: &Entry, subject: &str) -> Option<String> {
        let said = self.document.text(entry, subject)?;
        match self.network.node(&said.text).map(|node| node.kind) {
            Some(Kind::Host | Kind::Router) => Some(said.text),
            Some(Kind::Switch) => self.no(
                entry,
                subject,
                format!("{} is a switch, and no program runs there", quoted(&said.text)),
            ),
            None => {
                let nodes = self.network.nodes().iter().filter(|node| node.kind != Kind::Switch);
                let names: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
                let text = format!(
                    "there is no node {}{}",
                    quoted(&said.text),
                    instead(&said.text, "are", names)
                );
                self.no(entry, subject, text)
            }
        }
    }

    fn earlier(
        &mut self,
        entry: &Entry,
        said: &Said,
        before: &[Run],
        subject: &str,
    ) -> Option<usize> {
        let found = before.iter().position(|run| run.name == said.text);
        if found.is_none() {
            let names: Vec<&str> = before.iter().map(|run| run.name.as_str()).collect();
            let text = format!(
                "after: no run above it is called {}; there are {}",
                quoted(&said.text),
                listed(names)
            );
            self.document.fault(entry.at, subject, text);
        }
        found
    }

    fn expectation(&mut self, table: &Table, step: &Step, subject: &str) -> Option<Expectation> {
        let entry = |key: &str| table.entries.iter().find(|entry| entry.key == key);
        let unknown = table.entries.iter().find(|entry| !EXPECT_KEYS.contains(&entry.key));
        if let Some(word) = unknown {
            self.document.unknown_key(word, subject, &EXPECT_KEYS);
            return None;
        }
        let kinds = ["figure", "sum", "jain"].into_iter().filter_map(entry).collect::<Vec<_>>();
        let [which] = kinds[..] else {
            let text =
                "an expectation is of one of figure, sum and jain: figure = \"ping.rtt.mean\"";
            self.document.fault(table.at, subject, text.to_owned());
            return None;
        };
        let said = self.document.text(which, subject)?;
        let figure = match Figure::find(&said.text) {
            Ok(figure) => figure,
            Err(error) => return self.no(which, subject, error.to_string()),
        };
        let of = self.whose(which, entry("run"), &figure, step, subject)?;
        let unit = if of == Of::Jain { Unit::Number } else { figure.unit() };
        let stated = self.value(entry("is"), unit, subject)?;
        let published = self.value(entry("published"), unit, subject)?;
        let within = self.tolerance(entry("within"), unit, subject)?;
        let below = self.tolerance(entry("below"), unit, subject)?.or(within);
        let above = self.tolerance(entry("above"), unit, subject)?.or(within);
        let is_judged = below.or(above).is_some();
        let label = match entry("label") {
            Some(entry) => Some(self.document.text(entry, subject)?.text),
            None => None,
        };
        let expectation = Expectation { of, figure, label, stated, published, below, above };
        if is_judged && stated.is_none() && !judge::is_promised(&expectation) {
            let text = format!(
                "links promise nothing of {}; say what it is to be: is = …",
                expectation.figure.id()
            );
            return self.no(which, subject, text);
        }
        if let Some(why) = judge::impossible(self.network, step, &expectation) {
            let at = entry("is").unwrap_or(which);
            return self.no(at, subject, format!("this cannot come true: {why}"));
        }
        Some(expectation)
    }

    fn whose(
        &mut self,
        which: &Entry,
        run: Option<&Entry>,
        figure: &Figure,
        step: &Step,
        subject: &str,
    ) -> Option<Of> {
        let has = |run: &Run| figure.is_had_by(run.program, &run.words);
        let runs: Vec<usize> = (0..step.runs.len()).filter(|&at| has(&step.runs[at])).collect();
        let names: Vec<&str> = runs.iter().map(|&at| step.runs[at].name.as_str()).collect();
        if let Some(run) = run {
            let said = self.document.text(run, subject)?;
            let found = runs.iter().find(|&&at| step.runs[at].name == said.text);
            if found.is_none() {
                let text = format!(
                    "no run that has {} is called {}; there are {}",
                    figure.id(),
                    quoted(&said.text),
                    listed(names)
                );
                return self.no(run, subject, text);
            }
            return found.map(|&at| Of::Run(at));
        }
        match (which.key, &runs[..]) {
            (_, []) => self.no(which, subject, format!("no run of the step has {}", figure.id())),
            ("sum" | "jain", runs) if !are_together(step, runs) => self.no(
                which,
                subject,
                format!("the runs that have {} come one after another, and nothing is the sum of them; say whose: figure = …, run = …", figure.id()),
            ),
            ("sum", _) => Some(Of::Sum),
            ("jain", _) if figure.fairness().is_none() => self.no(
                which,
                subject,
                format!(
                    "Jain's index is of rates, such as goodput.rate.up, and not of {}",
                    figure.id()
                ),
            ),
            ("jain", _) => Some(Of::Jain),
            (_, [one]) => Some(Of::Run(*one)),
            _ => self.no(
                which,
                subject,
                format!(
                    "several runs have {}; say whose: run = one of {}",
                    figure.id(),
                    listed(names)
                ),
            ),
        }
    }

    /// The value of a key, absent where it is not said; nothing where it is wrong.
    #[expect(
        clippy::option_option,
        reason = "outer: whether it is right; inner: whether it was said"
    )]
    fn value(&mut self, entry: Option<&Entry>, unit: Unit, subject: &str) -> Option<Option<f64>> {
        let Some(entry) = entry else { return Some(None) };
        let said = self.document.text(entry, subject)?;
        match value(&said.text, unit) {
            Ok(value) => Some(Some(value)),
            Err(text) => self.no(entry, subject, format!("{}: {text}", entry.key)),
        }
    }

    #[expect(
        clippy::option_option,
        reason = "outer: whether it is right; inner: whether it was said"
    )]
    fn tolerance(
        &mut self,
        entry: Option<&Entry>,
        unit: Unit,
        subject: &str,
    ) -> Option<Option<Tolerance>> {
        let Some(entry) = entry else { return Some(None) };
        let said = self.document.text(entry, subject)?;
        let share = said.text.strip_suffix('%').filter(|_| unit != Unit::Share);
        let tolerance = match share {
            Some(percent) => percent
                .trim()
                .parse::<f64>()
                .map(|percent| Tolerance::Relative(percent / 100.0))
                .map_err(|_| format!("{} is no share", quoted(&said.text))),
            None => value(&said.text, unit).map(Tolerance::Absolute),
        };
        let distance = tolerance.and_then(|it| match it {
            Tolerance::Absolute(far) | Tolerance::Relative(far)
                if far >= 0.0 && far.is_finite() =>
            {
                Ok(it)
            }
            _ => Err(format!("{} is no distance from 0 on", quoted(&said.text))),
        });
        match distance {
            Ok(tolerance) => Some(Some(tolerance)),
            Err(text) => self.no(entry, subject, format!("{}: {text}", entry.key)),
        }
    }
}

/// Whether runs are all under way at the same time.
fn are_together(step: &Step, runs: &[usize]) -> bool {
    runs.iter().all(|&one| runs.iter().all(|&other| one == other || step.overlap(one, other)))
}

/// Two runs at once whose servers would be in each other's way on one node.
fn rivals(step: &Step) -> Option<[&Run; 2]> {
    let is_alone = |at: &usize| step.runs[*at].program.server().is_some_and(|it| !it.serves_many);
    let alone: Vec<usize> = (0..step.runs.len()).filter(is_alone).collect();
    let meet = |one: usize, other: usize| {
        one < other && step.runs[one].to == step.runs[other].to && step.overlap(one, other)
    };
    let pairs = alone.iter().flat_map(|&one| alone.iter().map(move |&other| (one, other)));
    let mut rivals = pairs.filter(|&(one, other)| meet(one, other));
    rivals.next().map(|(one, other)| [&step.runs[one], &step.runs[other]])
}

/// A value in the base unit, from words in a unit that suits it.
fn value(typed: &str, unit: Unit) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let wrong = |example: &str| format!("{} is not written as {example}", quoted(typed));
    match unit {
        Unit::BitRate => {
            typed.parse::<BitRate>().map(|rate| rate.0 as f64).map_err(|error| error.to_string())
        }
        Unit::Duration => {
            typed.parse::<Period>().map(|time| time.0 as f64).map_err(|error| error.to_string())
        }
        Unit::Share => typed
            .strip_suffix('%')
            .and_then(number)
            .map(|percent| percent / 100.0)
            .ok_or_else(|| wrong("2.5%")),
        _ => number(typed).ok_or_else(|| wrong("a number")),
    }
}
