//! Tests that are repeated: in turns, over values, until a figure is known, and what becomes of it all in one result.

use pathscope_modes::compared::ComparisonDocument;
use pathscope_modes::runs::RunSide;
use tempfile::TempDir;

use crate::common::{Ran, Server, run};

fn latency(server: &Server, words: &[&str]) -> Ran {
    run(&[&["latency", &server.host(), "--iterations", "30"], words].concat())
}

#[test]
fn every_run_says_which_one_it_is() {
    let server = Server::start();
    let words = ["--sweep", "size=64,1KiB", "--repeat", "2", "--json"];
    let document = latency(&server, &words).exits(0).document();
    let run = |it: &pathscope_modes::document::Measurement| {
        let run = it.run.clone().expect("which run it is");
        (run.round, run.point[0].value.clone(), it.name.clone())
    };
    let runs: Vec<_> = document.measurements.iter().map(run).collect();
    let expected = [(1, "64"), (1, "1KiB"), (2, "1KiB"), (2, "64")];
    let expected = expected.map(|(round, value)| {
        (round, value.to_owned(), format!("latency, size={value}, run {round} of 2"))
    });
    assert_eq!(runs, expected);
    let size = |place: usize| {
        let test = serde_json::to_value(&document.measurements[place].test).expect("plain data");
        test["plan"]["latency"]["size_bytes"].as_u64()
    };
    assert_eq!([0, 1, 2, 3].map(size), [64, 1024, 1024, 64].map(Some));
    let rounds = document.rounds.expect("how often");
    assert_eq!((rounds.done, rounds.sweep[0].values.len()), (2, 2));
}

#[test]
fn a_plan_shows_every_variant() {
    let server = Server::start();
    let words = ["--sweep", "size=64,1KiB", "--repeat", "3", "--interleave-with", "--rate 50/s"];
    let plan = latency(&server, &[&words[..], &["--dry-run"]].concat()).exits(0).stdout;
    for (title, size) in [("size=64, A", 64), ("size=64, B", 64), ("size=1KiB, A", 1024)] {
        let from = plan.find(&format!("latency, {title}: ")).unwrap_or_else(|| panic!("{plan}"));
        assert!(plan[from..].contains(&format!("\"size_bytes\": {size}")), "{plan}");
    }
    assert_eq!(plan.matches("\"size_bytes\"").count(), 4, "{plan}");
    assert!(plan.ends_with("each of 4 variants 3 times\n"), "{plan}");
}

#[test]
fn rows_of_samples_say_of_which_run_they_are() {
    let server = Server::start();
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("pings.csv");
    let name = file.to_str().expect("plain");
    let words = ["--protocol", "udp", "--rate", "500/s", "--samples", name];
    let repeated = [&words[..], &["--sweep", "size=64,1KiB", "--repeat", "2"]].concat();
    latency(&server, &repeated).exits(0);
    let text = std::fs::read_to_string(&file).expect("rows");
    let mut rows = text.lines();
    assert!(rows.next().is_some_and(|head| head.ends_with(",measurement")), "{text}");
    let of: Vec<&str> = rows.filter_map(|row| row.rsplit(',').next()).collect();
    for measurement in ["0", "1", "2", "3"] {
        let own = of.iter().filter(|it| **it == measurement).count();
        assert_eq!(own, 30, "of measurement {measurement}");
    }
    assert_eq!(of.len(), 120);
    // One run has the columns that it always had.
    latency(&server, &words).exits(0);
    let text = std::fs::read_to_string(&file).expect("rows");
    assert!(text.lines().next().is_some_and(|head| !head.contains("measurement")), "{text}");
}

#[test]
fn what_is_swept_is_the_axis_of_a_chart_and_two_of_them_are_rows_and_columns() {
    let server = Server::start();
    let folder = TempDir::new().expect("a folder");
    let [plot, page] = ["sweep.svg", "sweep.html"].map(|name| folder.path().join(name));
    let plot_name = plot.to_str().expect("plain");
    let words = ["--sweep", "size=64,1KiB,4KiB", "--repeat", "2", "--plot", plot_name];
    latency(&server, &[&words[..], &["-q"]].concat()).exits(0);
    let svg = std::fs::read_to_string(&plot).expect("it was written");
    for part in [">RTT p50: median of the runs over size<", ">64<", ">1KiB<", ">4KiB<", ">size<"] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
    let result = folder.path().join("both.json");
    let name = result.to_str().expect("plain");
    let words = ["--sweep", "size=64,1KiB", "--sweep", "connections=1,2", "-o", name];
    let said = latency(&server, &words).exits(0).stdout;
    let rows = |first: &str| said.lines().filter(|it| it.trim_start().starts_with(first)).count();
    assert!(said.contains("connections=1"), "{said}");
    assert!(said.contains("RTT p50, latency"), "{said}");
    assert!(rows("1KiB ") >= 1, "{said}");
    run(&["report", name, "-o", page.to_str().expect("plain")]).exits(0);
    let page = std::fs::read_to_string(&page).expect("a page");
    assert!(page.contains(r#""kind":"estimates""#), "no chart");
    assert!(page.contains(r#""places":[["64",0.06],["1KiB",0.94]]"#), "no places");
}

#[test]
fn text_has_a_row_for_each_run_and_all_of_them_side_by_side() {
    let server = Server::start();
    let ran = latency(&server, &["--repeat", "6"]).exits(0);
    let said = &ran.stdout;
    assert!(said.contains("latency, 6 runs"), "{}", ran.said());
    assert!(said.contains("all runs\n"), "{}", ran.said());
    let rows =
        said.lines().filter(|line| line.trim_start().starts_with(|it: char| it.is_ascii_digit()));
    assert_eq!(rows.count(), 6, "{}", ran.said());
    // No run is told in full where nothing was wrong with it.
    assert!(!said.contains("run 3 of 6"), "{}", ran.said());
}

#[test]
fn it_goes_on_until_a_figure_is_known() {
    let server = Server::start();
    let known = ["--repeat", "2..9", "--until", "latency.lost ±0", "--json"];
    let document = latency(&server, &known).exits(0).document();
    let rounds = document.rounds.expect("how often");
    // From six runs on a median has an interval, and nothing was lost in any.
    assert_eq!((rounds.done, rounds.until.map(|goal| goal.reached)), (6, Some(true)));
    // 30 pings have no such percentile: that is seen after the first round.
    let never = ["--repeat", "2..7", "--until", "latency.rtt.p99.9 ±1%"];
    let said = latency(&server, &never).exits(0).stdout;
    assert!(said.contains("not reached: no test of the first round"), "{said}");
    let json = [&never[..], &["--json"]].concat();
    let rounds = latency(&server, &json).exits(0).document().rounds.expect("how often");
    assert_eq!((rounds.done, rounds.until.map(|goal| goal.is_absent)), (1, Some(true)));
}

#[test]
fn two_sides_take_turns_and_are_compared() {
    let server = Server::start();
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("both.json");
    let name = file.to_str().expect("plain");
    let words = ["--repeat", "4", "--interleave-with", "--size '1 KiB'", "-q", "-o", name];
    latency(&server, &words).exits(0);
    let document = crate::common::document_in(&file);
    let sides = document.measurements.iter().map(|it| it.run.as_ref().and_then(|run| run.side));
    let sides: Vec<_> = sides.flatten().map(RunSide::name).collect();
    assert_eq!(sides, ["A", "B", "B", "A", "A", "B", "B", "A"]);
    let compared = run(&["compare", name, "--json"]).exits(0);
    let compared = ComparisonDocument::from_json(&compared.stdout).expect("a comparison");
    assert_eq!(compared.measurements.len(), 1);
    assert_eq!(compared.measurements[0].runs, [4, 4]);
    let differing: Vec<_> = compared.differing.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(differing, ["setting.latency.size"]);
    // It is what was asked for, and nothing to mind.
    let minded = compared.caveats.iter().find(|it| it.name == "settings_differ");
    assert_eq!(minded, None);
    let own = document.comparison.as_ref().expect("its own document has the comparison");
    assert_eq!(own.measurements, compared.measurements);
    assert_eq!(own.differing, compared.differing);
    // The result tells the same by itself, on the screen and in Markdown, and calls the sides as it calls them above.
    let head = |page: &str, line: &str| {
        let found = page.lines().find(|it| it.contains(line));
        found.unwrap_or_else(|| panic!("no {line} in {page}")).to_owned()
    };
    for format in ["text", "md"] {
        let own = run(&["show", name, "--format", format]).exits(0).stdout;
        let said = run(&["compare", name, "--format", format]).exits(0).stdout;
        head(&own, "A beside B: latency");
        let verdict = head(&said, "RTT p50");
        assert!(own.contains(&verdict), "{verdict} is not in {own}");
        assert!(own.contains("setting.latency.size") || own.contains("latency.size"), "{own}");
    }
    let page = run(&["show", name, "--format", "html"]).exits(0).stdout;
    assert!(page.contains("<h2>A beside B: latency</h2>"), "no comparison on the page");
    // One side alone is none.
    let alone = latency(&server, &["--repeat", "2"]).exits(0);
    assert!(!alone.stdout.contains("beside"), "{}", alone.said());
    let alone = latency(&server, &["--repeat", "2", "--json"]).exits(0).document();
    assert_eq!(alone.comparison, None);
}

#[test]
fn each_run_has_to_hold_what_is_asserted_or_the_median_of_all() {
    let server = Server::start();
    let words = ["--repeat", "3", "--json", "--assert", "latency.lost=0"];
    let document = latency(&server, &words).exits(0).document();
    let asserted = |document: &pathscope_modes::document::Document| {
        let checks = document.measurements.iter().map(|it| {
            it.checks
                .iter()
                .filter(|check| check.name == "asserted")
                .map(|it| it.text.clone())
                .collect()
        });
        checks.collect::<Vec<Vec<String>>>()
    };
    assert!(asserted(&document).iter().all(|checks| checks.len() == 1));
    let words = ["--repeat", "3", "--json", "--assert", "latency.lost@median=0"];
    let checks = asserted(&latency(&server, &words).exits(0).document());
    assert_eq!([0, 1, 2].map(|run| checks[run].len()), [0, 0, 1]);
    assert_eq!(checks[2][0], "latency.lost@median=0: it is 0, the median of 3 runs");
    let words = ["--repeat", "3", "--assert", "latency.rtt.min@median<1ns"];
    latency(&server, &words).exits(5).complains(&["latency.rtt.min@median<1ns: it is "]);
}

#[test]
fn what_cannot_be_repeated_is_refused_before_anything_runs() {
    let server = Server::start();
    for (words, said) in [
        (&["--repeat", "0"][..], "no number of times"),
        (&["--repeat", "2..4"], "needs --until"),
        (&["--repeat", "9", "--until", "latency.lost ±1%"], "needs a range"),
        (&["--repeat", "2..9", "--until", "latency.lost +1%"], "takes ±"),
        (&["--repeat", "2..9", "--until", "latency.rtt.p50 ±0%"], "all the same"),
        (&["--repeat", "2..9", "--until", "goodput.rate.up ±1%"], "latency has no goodput.rate.up"),
        (&["--until", "latency.lost ±1%"], "--repeat"),
        (&["--repeat", "2", "--interleave-with", ""], "no words"),
        (&["--repeat", "2", "--interleave-with", "'open"], "no words"),
        (
            &["--repeat", "2", "--interleave-with", "--nonsense"],
            "with --nonsense: unexpected argument",
        ),
        (&["--repeat", "2", "--interleave-with", "elsewhere"], "with elsewhere: "),
        (&["--sweep", "size"], "is no sweep"),
        (&["--sweep", "size=64,none"], "with --size none: "),
        (&["--sweep", "nonsense=1"], "with --nonsense 1: unexpected argument"),
        (&["--sweep", "size=20,40", "--sweep", "size=30,50"], "an option is swept once"),
        (&["--sweep", "size=20,20"], "--sweep size: 20 stands there twice"),
        (&["--sweep", "size=20,20B"], "one and the same test"),
        (&["--sweep", "label=a=1,b=2"], "with --label a=1: --label says nothing of the test"),
        (
            &["--repeat", "2", "--interleave-with", "--label a=1"],
            "--label says nothing of the test",
        ),
        // Beside words that have an effect, too.
        (&["--repeat", "2", "--interleave-with", "--size 99 --port 77"], "--port says nothing"),
        (&["--repeat", "2", "--interleave-with", "--size 99 --repeat 9"], "--repeat says nothing"),
        (&["--repeat", "2", "--interleave-with", "--size 99 -q"], "--quiet says nothing"),
        (
            &["--repeat", "2", "--interleave-with", "--size 99 --assert latency.lost=0"],
            "--assert says nothing",
        ),
        (
            &["--repeat", "2", "--interleave-with", "--size 99 --samples pings.csv"],
            "what is written beside the result",
        ),
        (&["--repeat", "2", "--interleave-with", "--size 99 --help"], "measures nothing"),
        (
            &["--sweep", "size=20,40", "--repeat", "2", "--interleave-with", "--size 99"],
            "one and the same test",
        ),
    ] {
        latency(&server, words).exits(2).complains(&[said]);
    }
    let many = (100..10_100).map(|size| size.to_string()).collect::<Vec<_>>().join(",");
    let many = format!("size={many}");
    let words = ["--sweep", &many, "--sweep", "connections=1,2"];
    latency(&server, &words).exits(2).complains(&["that is 20000 tests"]);
    let search = ["goodput", &server.host(), "--protocol", "udp", "--find-rate", "--repeat", "2"];
    run(&search).exits(2).complains(&["--find-rate", "is not repeated"]);
}
