//! Experiments through the binary: on a small network whose figures are known, on the portfolio, and with everything that can go
//! wrong.

use std::fs;
use std::path::Path;

use pathscope_experiments::document::{self, ExperimentsDocument, FigureResult, State, Whose};
use pathscope_os::clock;

use super::Folder;
use crate::common::{Ran, Running, run};

/// Two hosts and a link of 10 Mbit/s and 5 ms.
const PAIR: &str = "name = \"pair\"\nhosts = [\"a\", \"b\"]\n[links]\n\
    \"a:b\" = { rate = \"10Mbit\", delay = \"5ms\", queue = \"50p\" }\n";

fn folder() -> Option<Folder> {
    Folder::new()
}

/// These experiments on two hosts, with further words.
fn on_pair(folder: &Folder, experiments: &str, words: &[&str]) -> Ran {
    let file = folder.file("pair.toml", &format!("{PAIR}{experiments}"));
    folder.run(&[&["run", &file], words].concat())
}

fn document(path: &Path) -> ExperimentsDocument {
    let text = fs::read_to_string(path).expect("it was written");
    ExperimentsDocument::from_json(&text).unwrap_or_else(|error| panic!("{error}"))
}

fn figure<'found>(
    document: &'found ExperimentsDocument,
    step: &str,
    id: &str,
) -> &'found FigureResult {
    let steps = document.experiments.iter().flat_map(|experiment| &experiment.steps);
    let step = steps.into_iter().find(|found| found.name == step);
    let figures = &step.unwrap_or_else(|| panic!("no step {id}")).figures;
    figures.iter().find(|figure| figure.figure == id).unwrap_or_else(|| panic!("no figure {id}"))
}

const TWO_STEPS: &str = r#"
[experiments.rates]
title = "Rates"
duration = "1s"
[[experiments.rates.steps]]
name = "above the link"
runs = [{ from = "a", to = "b", run = "pathscope goodput {to} --protocol udp --rate 20Mbit --datagram 1472B --no-probe -t {seconds}s" }]
expect = [
    { figure = "datagrams.rate.up", above = "2%", published = "9.5Mbit" },
    { figure = "datagrams.lost_share.up", below = "100%" },
    { figure = "datagrams.corrupt.up", is = "0", within = "0" },
]
[[experiments.rates.steps]]
name = "together"
repeat = 2
runs = [
    { name = "idle", from = "a", to = "b", run = "pathscope latency {to} -n 5 --wait sleep" },
    { name = "one", from = "a", to = "b", run = "pathscope goodput {to} -c 1 --no-probe -t {seconds}s", after = "idle" },
    { name = "two", from = "b", to = "a", run = "pathscope goodput {to} -c 2 --no-probe -t {seconds}s", after = "idle" },
    { name = "count", from = "b", run = ["sh", "-c", "echo {seconds}"] },
]
expect = [
    { figure = "latency.rtt.min", below = "0%", label = "least RTT" },
    { figure = "latency.rtt.count", is = "5", within = "0" },
    { figure = "goodput.rate.up", run = "one", above = "2%" },
    { sum = "goodput.rate.up", above = "2%" },
    { jain = "goodput.rate.up" },
]
"#;

#[test]
fn what_links_promise_stands_beside_what_was_measured() {
    let Some(folder) = folder() else { return };
    let path = folder.path().join("result.json");
    let output = path.to_str().expect("plain");
    // Whether a busy machine let the lab keep up is told by the code, and is no matter here.
    let ran = on_pair(&folder, TWO_STEPS, &["-o", output]).exits_with(&[0, 5]);
    assert_eq!(folder.names(), [""; 0], "no lab is left");
    let result = document(&path);
    let steps = &result.experiments[0].steps;
    assert_eq!(
        steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(),
        ["above the link", "together"]
    );
    for attempt in steps.iter().flat_map(|step| &step.attempts) {
        assert_eq!(attempt.failure, None);
        for run in &attempt.runs {
            assert_eq!((run.exit_code, &run.fault), (Some(0), &None), "{}", run.name);
            assert_eq!(run.document.is_some(), run.name != "count");
        }
    }
    let counted: Vec<_> = steps[1].counted().collect();
    assert_eq!(counted.len(), 2, "it was done twice");
    assert_eq!(counted[0].runs[3].output.as_deref(), Some("1\n"));
    // Those that name one to wait for begin after its end, those that name none together.
    for attempt in &steps[1].attempts {
        let [idle, one, two, count] = &attempt.runs[..] else { panic!("four runs") };
        let ended = idle.start_ns.zip(idle.duration_ns).map(|(start, lasted)| start + lasted);
        assert!(one.start_ns >= ended && two.start_ns >= ended);
        assert!(count.start_ns < one.start_ns);
    }

    // 10 Mbit/s of frames of 1472 + 42 bytes; what arrives is never more.
    let rate = figure(&result, "above the link", "datagrams.rate.up");
    let promised = rate.expected.expect("the link promises it");
    assert!((promised / (10e6 * 1472.0 / 1514.0) - 1.0).abs() < 1e-3, "{promised}");
    assert_eq!((rate.state, rate.published), (State::Within, Some(9.5e6)));
    let lost = figure(&result, "above the link", "datagrams.lost_share.up");
    assert!(lost.measured > Some(0.0) && lost.expected > Some(0.5), "{lost:?}");
    assert_eq!(figure(&result, "above the link", "datagrams.corrupt.up").measured, Some(0.0));
    let least = figure(&result, "together", "latency.rtt.min");
    assert_eq!(
        (least.state, least.values.len()),
        (State::Within, 2),
        "no quicker than the link: {least:?}"
    );
    assert_eq!(figure(&result, "together", "latency.rtt.count").state, State::Within);
    let figures = &steps[1].figures;
    let of = |whose: &Whose| figures.iter().find(|figure| figure.of == *whose).expect("a figure");
    // Each way has the link for itself.
    let sum = of(&Whose::Sum);
    assert!((sum.expected.expect("a promise") / (20e6 * 1448.0 / 1514.0) - 1.0).abs() < 1e-3);
    assert_eq!(sum.state, State::Within);
    let jain = of(&Whose::Jain);
    // Of three connections, no index is less than a third.
    assert!(jain.measured.is_some_and(|index| index > 0.33 && index <= 1.0), "{jain:?}");

    // The same again from the file, and as Markdown.
    let again = run(&["show", output]).exits(0);
    let begin = |text: &str| text.rfind("rates: Rates").expect("a title");
    assert_eq!(
        again.stdout[begin(&again.stdout)..].trim_end(),
        ran.stdout[begin(&ran.stdout)..].trim_end()
    );
    let page = run(&["show", output, "--format", "md"]).exits(0).stdout;
    assert!(page.starts_with("# experiments on pair\n"), "{page}");
    assert!(page.contains("| above the link |"), "{page}");
    let schema = serde_json::to_value(document::schema()).expect("plain data");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let json = serde_json::from_str(&fs::read_to_string(&path).expect("written")).expect("JSON");
    let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
}

#[test]
fn the_five_experiments_of_the_portfolio_are_whole_and_none_is_above_its_links() {
    let Some(folder) = folder() else { return };
    let labs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../labs/portfolio.toml");
    let path = folder.path().join("portfolio.json");
    let words = ["run", labs.to_str().expect("plain"), "-t", "2s", "--only", "1,2,3,4,5"];
    let ran = folder.run(&[&words[..], &["-o", path.to_str().expect("plain")]].concat());
    if ran.code == Some(4) && ran.stderr.contains("there is no program") {
        println!("skipped, because {}", ran.stderr.trim());
        return;
    }
    let ran = ran.exits_with(&[0, 5]);
    let result = document(&path);
    let steps: Vec<usize> = result.experiments.iter().map(|it| it.steps.len()).collect();
    assert_eq!(steps, [7, 3, 3, 4, 1]);
    for step in result.experiments.iter().flat_map(|experiment| &experiment.steps) {
        for attempt in &step.attempts {
            assert_eq!(attempt.failure, None, "{}", step.name);
            let faults: Vec<_> =
                attempt.runs.iter().filter_map(|run| run.fault.as_deref()).collect();
            assert_eq!(faults, [""; 0], "{}", step.name);
        }
        // Of an invalid lab, no figure is believed.
        let is_valid = step.counted().all(|attempt| attempt.shortcomings.is_empty());
        for it in &step.figures {
            assert_ne!(it.state, State::Missing, "{}: {}", step.name, it.figure);
            // What is told without being judged, such as jitter, may have no promise.
            let is_promised = it.figure != "datagrams.jitter.up";
            assert_eq!(it.expected.is_some(), is_promised, "{}: {it:?}", step.name);
            let Some(expected) = it.expected else { continue };
            let measured = it.measured.expect("it is not missing");
            let is_rate = it.figure.ends_with("rate.up") && it.of != Whose::Jain;
            // Streams of unequal shares are each their own matter; all of them together are the link's.
            let is_alone =
                step.figures.iter().all(|other| other.of != Whose::Sum) || it.of == Whose::Sum;
            assert!(
                !(is_rate && is_valid && is_alone) || measured <= expected * 1.03,
                "{}: {it:?}",
                step.name
            );
            let is_round_trip = it.figure == "ping.rtt.mean" && step.figures.len() == 3;
            assert!(!is_round_trip || measured >= expected, "{}: {it:?}", step.name);
        }
    }
    assert!(ran.stdout.contains("Multiplexing"), "{}", ran.stdout);
}

#[test]
fn what_hangs_is_ended_and_leaves_others_their_results() {
    let Some(folder) = folder() else { return };
    let path = folder.path().join("result.json");
    let experiments = r#"
[[experiments.x.steps]]
name = "hangs"
limit = "3s"
runs = [
    { name = "hang", from = "a", run = "sleep 1000" },
    { name = "good", from = "a", to = "b", run = "pathscope latency {to} -n 3 --wait sleep" },
    { name = "never", from = "a", run = "sleep 1", after = "hang" },
]
expect = [{ figure = "latency.rtt.count", is = "3", within = "0" }]
[[experiments.x.steps]]
name = "fails"
runs = [{ from = "a", run = ["sh", "-c", "echo gone wrong >&2; exit 3"] }]
[[experiments.x.steps]]
name = "outside"
runs = [{ from = "a", to = "b", run = "pathscope latency {to} -n 3 --wait sleep" }]
expect = [{ figure = "latency.rtt.count", is = "4", within = "0" }]
"#;
    let ran = on_pair(&folder, experiments, &["-o", path.to_str().expect("plain")]).exits(5);
    assert_eq!(folder.names(), [""; 0], "no lab is left");
    let result = document(&path);
    let [hangs, fails, outside] = &result.experiments[0].steps[..] else { panic!("three steps") };
    let attempt = hangs.counted().next().expect("one attempt");
    let failure = attempt.failure.as_deref().expect("it hung");
    assert!(failure.contains("limit of 3 s, and was ended: hang, never"), "{failure}");
    assert_eq!(hangs.figures[0].state, State::Within, "what another found stands");
    assert_eq!(attempt.runs[2].fault.as_deref(), Some("it never began"));
    let failed = &fails.counted().next().expect("one attempt").runs[0];
    assert_eq!(
        (failed.exit_code, failed.fault.as_deref()),
        (Some(3), Some("it ended with code 3: gone wrong"))
    );
    assert_eq!(outside.figures[0].state, State::Outside);
    assert!(ran.stderr.contains("things are not as expected, first: x, hangs: "), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("latency.rtt.count of pathscope (a-b) is 3, and not 4 to 4"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_ctrl_c_leaves_what_was_done_and_no_lab() {
    let Some(folder) = folder() else { return };
    let path = folder.path().join("result.json");
    let begun = folder.path().join("begun");
    let samples = folder.path().join("samples.csv");
    let experiments = format!(
        "[[experiments.x.steps]]\nname = \"done\"\nruns = [{{ from = \"a\", run = \"true\" }}]\n\
         [[experiments.x.steps]]\nname = \"long\"\nruns = [\n\
         {{ from = \"a\", run = [\"sh\", \"-c\", \"echo begun > {}; sleep 1000\"] }},\n\
         {{ from = \"a\", to = \"b\", run = \"pathscope latency {{to}} -t 600s --wait sleep \
         --samples {}\" }},\n]\n",
        begun.display(),
        samples.display()
    );
    let file = folder.file("pair.toml", &format!("{PAIR}{experiments}"));
    let words = ["run", &file, "-o", path.to_str().expect("plain")];
    let mut running = Running::start(folder.command(&words));
    running.await_stdout("1 of 2");
    let until = clock::now().plus_nanos(60_000_000_000);
    // One that is not yet what it will be is ended by a signal like any program, and has nothing to say.
    let both_run = || begun.exists() && samples.metadata().is_ok_and(|file| file.len() > 0);
    while !both_run() && clock::now() < until {
        std::thread::yield_now();
    }
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert_eq!(folder.names(), [""; 0], "no lab is left");
    let result = document(&path);
    let names: Vec<_> = result.experiments[0].steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["done", "long"]);
    assert!(result.outcome.reason.is_some());
    // Who measures was asked to end, and said what it had.
    let long = &result.experiments[0].steps[1].attempts[0].runs[1];
    assert!(long.document.is_some(), "{long:?}");
    let shown = run(&["show", path.to_str().expect("plain")]).exits(0);
    assert!(shown.stdout.contains("ended early"), "{}", shown.stdout);
}

#[test]
fn a_killed_run_leaves_a_result_that_says_so_and_a_lab_that_can_be_cleared() {
    let Some(folder) = folder() else { return };
    let path = folder.path().join("result.json");
    let experiments = "[[experiments.x.steps]]\nname = \"done\"\nruns = [{ from = \"a\", run = \"true\" }]\n\
        [[experiments.x.steps]]\nname = \"long\"\nruns = [{ from = \"a\", run = \"sleep 1000\" }]\n";
    let file = folder.file("pair.toml", &format!("{PAIR}{experiments}"));
    let words = ["run", &file, "-o", path.to_str().expect("plain")];
    let mut running = Running::start(folder.command(&words));
    running.await_stdout("1 of 2");
    running.signal("KILL");
    drop(running.finish());
    let shown = run(&["show", path.to_str().expect("plain")]).exits(0);
    assert!(shown.stdout.contains("cut off after 'x done'"), "{}", shown.stdout);
    for name in folder.names() {
        // Its keeper ends by itself, too, and may have been the first.
        let down = folder.run(&["down", &name]);
        assert!(down.code == Some(0) || folder.names().is_empty(), "{}", down.said());
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn chains_of_runs_go_on_each_for_itself() {
    let Some(folder) = folder() else { return };
    let path = folder.path().join("result.json");
    let chain = |name: &str| {
        let link = |number: u32| match number {
            0 => format!("{{ name = \"{name}0\", from = \"a\", run = \"true\" }}"),
            _ => format!(
                "{{ name = \"{name}{number}\", from = \"b\", run = \"true\", after = \"{name}{}\" }}",
                number - 1
            ),
        };
        (0..5).map(link).collect::<Vec<_>>().join(",\n")
    };
    let experiments = format!(
        "[[experiments.x.steps]]\nlimit = \"60s\"\nruns = [\n{},\n{},\n{},\n]\n",
        chain("p"),
        chain("q"),
        chain("r")
    );
    on_pair(&folder, &experiments, &["-o", path.to_str().expect("plain")]).exits(0);
    let result = document(&path);
    let attempt = &result.experiments[0].steps[0].attempts[0];
    assert_eq!(attempt.failure, None);
    let codes: Vec<_> = attempt.runs.iter().map(|run| run.exit_code).collect();
    assert_eq!(codes, [Some(0); 15]);
}

#[test]
fn programs_that_close_their_outputs_or_leave_others_behind_hold_nothing_up() {
    let Some(folder) = folder() else { return };
    let path = folder.path().join("result.json");
    let experiments = r#"
[[experiments.x.steps]]
limit = "4s"
runs = [{ name = "silent", from = "a", run = ["sh", "-c", "exec >/dev/null 2>&1; sleep 1000"] }]
[[experiments.x.steps]]
runs = [{ name = "parent", from = "a", run = ["sh", "-c", "sleep 1000 & echo there"] }]
"#;
    let ran = on_pair(&folder, experiments, &["-o", path.to_str().expect("plain")]).exits(5);
    let result = document(&path);
    let [silent, parent] = &result.experiments[0].steps[..] else { panic!("two steps") };
    let failure = silent.attempts[0].failure.as_deref().expect("it hung");
    assert!(failure.contains("limit of 4 s, and was ended: silent"), "{failure}");
    assert_eq!(parent.attempts[0].failure, None, "{}", ran.stdout);
    let run = &parent.attempts[0].runs[0];
    assert_eq!((run.exit_code, run.output.as_deref()), (Some(0), Some("there\n")));
}

#[test]
fn a_tolerance_of_what_nothing_promises_is_a_fault_and_not_silence() {
    let Some(folder) = folder() else { return };
    let text = "hosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = { rate = \"20Mbit\", loss = \"1%\" }\n\
        [[experiments.x.steps]]\nduration = \"1s\"\n\
        runs = [{ from = \"a\", to = \"b\", run = \"pathscope goodput {to} -c 1 --no-probe -t {seconds}s\" }]\n\
        expect = [{ figure = \"goodput.rate.up\", within = \"3%\" }]\n";
    let file = folder.file("lossy.toml", text);
    let ran = folder.run(&["run", &file]).exits(5);
    assert!(
        ran.stderr.contains("the links promise nothing that it could be compared with"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_cannot_be_done_is_told_before_anything_is_built() {
    let Some(folder) = folder() else { return };
    let step = |run: &str| {
        format!("[[experiments.x.steps]]\nruns = [{{ from = \"a\", run = \"{run}\" }}]\n")
    };
    let ran = on_pair(&folder, &step("a-program-that-is-not there"), &[]).exits(4);
    assert!(ran.stderr.contains("no program 'a-program-that-is-not'"), "{}", ran.stderr);
    let wrong = "[[experiments.x.steps]]\nruns = [{ from = \"c\", run = \"true\" }]\n";
    let ran = on_pair(&folder, wrong, &[]).exits(2);
    assert!(
        ran.stderr.contains("pair.toml:6:") && ran.stderr.contains("there is no node `c`"),
        "{}",
        ran.stderr
    );
    let ran = on_pair(&folder, &step("true"), &["--only", "y"]).exits(2);
    assert!(ran.stderr.contains("there is no experiment 'y'; the file has x"), "{}", ran.stderr);
    let ran = on_pair(&folder, &step("true"), &["-t", "0s"]).exits(2);
    assert!(ran.stderr.contains("--duration 0 s is out of range: 1s to "), "{}", ran.stderr);
    let ran = on_pair(&folder, "", &[]).exits(2);
    assert!(ran.stderr.contains("it states no experiments"), "{}", ran.stderr);
}
