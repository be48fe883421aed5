//! The commands of the guides, each as it stands there: understood in full, and those of the guide to goodput and of the guides by
//! task run with sizes and times cut.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{Running, Server, pathscope, run};

const PAGE: &str = include_str!("../../../../docs/guide/goodput.md");
const FIND_RATE: &str = include_str!("../../../../docs/guide/find-rate.md");

/// Pages whose commands are understood and not run: what a word on its own is added to, and how many there are at least.
const OTHERS: [(&str, &str, usize); 5] = [
    (include_str!("../../../../docs/guide/datagrams.md"), "goodput B --protocol udp", 18),
    (include_str!("../../../../docs/guide/latency.md"), "latency B", 35),
    (LAGSCOPE, "latency B", 3),
    (include_str!("../../../../docs/guide/media.md"), "media B --rate 1Mbit", 23),
    (include_str!("../../../../docs/guide/multipath.md"), "multipath B", 17),
];

/// The page on lagscope, whose commands are also run.
const LAGSCOPE: &str = include_str!("../../../../docs/guide/lagscope.md");

/// Guides by task, whose commands are of every mode, and how many that measure each has at least.
const BY_TASK: [(&str, &str, usize); 8] = [
    ("start", include_str!("../../../../docs/guide/start.md"), 30),
    ("fast-networks", include_str!("../../../../docs/guide/fast-networks.md"), 17),
    ("corruption", include_str!("../../../../docs/guide/corruption.md"), 12),
    ("connections", include_str!("../../../../docs/guide/connections.md"), 9),
    ("streams", include_str!("../../../../docs/guide/streams.md"), 12),
    ("wifi", include_str!("../../../../docs/guide/wifi.md"), 10),
    ("fairness", include_str!("../../../../docs/guide/fairness.md"), 8),
    ("reading", READING, 11),
];

/// The two pages on what came out.
const READING: &str = concat!(
    include_str!("../../../../docs/guide/reading-a-result.md"),
    include_str!("../../../../docs/guide/reading-a-verdict.md"),
);

/// Guides to what is decided from results.
const DECIDING: &str = concat!(
    include_str!("../../../../docs/guide/assert.md"),
    include_str!("../../../../docs/guide/compare.md"),
    include_str!("../../../../docs/guide/repeat.md"),
    include_str!("../../../../docs/guide/report.md"),
);

/// The commands of each block of commands, without comments.
fn blocks(page: &str) -> Vec<Vec<String>> {
    let mut blocks = Vec::new();
    let mut block: Option<Vec<String>> = None;
    for line in page.lines() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some("")) => block = Some(Vec::new()),
            // A block of output: its end is no begin.
            (None, Some(_)) => block = Some(vec!["output".to_owned()]),
            (Some(_), Some(_)) => blocks.extend(block.take()),
            (Some(lines), None) => {
                lines.push(line.split(" # ").next().unwrap_or(line).trim().to_owned());
            }
            (None, None) => {}
        }
    }
    let is_ours = |block: &Vec<String>| block.iter().all(|line| line.starts_with("pathscope "));
    blocks.into_iter().filter(is_ours).collect()
}

/// The words behind the program's name, as a shell splits them: what stands between quotes is one.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        if index % 2 == 0 {
            words.extend(part.split_whitespace().map(str::to_owned));
        } else {
            words.push(part.to_owned());
        }
    }
    words.split_off(1)
}

/// What the last column of a table is called where it holds commands.
const HEADS: [&str; 3] = ["command", "pathscope", "here"];

/// Commands that measure, wherever a page has them: in a block, in a sentence, or in the last column of a table of
/// commands, where words alone are added to `base`.
fn commands(page: &str, base: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut is_block, mut head) = (false, None);
    for line in page.lines() {
        if line.starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            let command = line.split(" # ").next().unwrap_or(line);
            let command = command.strip_prefix("$ ").unwrap_or(command);
            // In a lab, what stands behind its own words.
            found.extend(command.rsplit(" -- ").next().map(str::to_owned));
        } else if let Some(row) = line.strip_prefix('|') {
            let cell = row.trim_end_matches('|').rsplit('|').next().unwrap_or(row).trim();
            if HEADS.contains(head.get_or_insert(cell)) {
                found.extend(spans(cell).map(|span| match span.strip_prefix('-') {
                    Some(_) => format!("pathscope {base} {span}"),
                    None => span.to_owned(),
                }));
            }
        } else {
            head = None;
            found.extend(spans(line).map(str::to_owned));
        }
    }
    found
}

/// Those of `commands` that are of one of these subcommands.
fn of(subcommands: &[&str], commands: Vec<String>) -> Vec<String> {
    let is_one = |command: &String| {
        let mut words = command.split(' ');
        words.next() == Some("pathscope")
            && words.next().is_some_and(|word| subcommands.contains(&word))
            // A subcommand's name alone is a name in a sentence.
            && words.next().is_some()
    };
    commands.into_iter().filter(is_one).collect()
}

const MEASURING: [&str; 5] = ["survey", "goodput", "latency", "media", "multipath"];

/// What a line has between backticks.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The same, over in a moment.
fn cut(mut words: Vec<String>) -> Vec<String> {
    for index in 1..words.len() {
        let shorter = match words[index - 1].as_str() {
            "--duration" => "500ms".to_owned(),
            "--time-limit" => "600ms".to_owned(),
            "--transfer" => words[index].replace("GiB", "KiB").replace("MiB", "KiB"),
            "--iterations" if words[index] != "forever" => "5".to_owned(),
            _ => continue,
        };
        words[index] = shorter;
    }
    let ends = ["--duration", "--time-limit", "--transfer", "--iterations"];
    if !words.iter().any(|word| ends.contains(&word.as_str())) {
        words.extend(["--duration", "500ms"].map(str::to_owned));
    }
    words
}

#[test]
fn each_command_of_the_guide_is_understood_as_it_stands() {
    let (goodput, find_rate) = (blocks(PAGE).concat(), blocks(FIND_RATE).concat());
    assert!(goodput.len() >= 20 && find_rate.len() >= 5, "{goodput:?} {find_rate:?}");
    let commands = [goodput, find_rate].concat();
    for command in commands.iter().filter(|command| command.starts_with("pathscope goodput ")) {
        assert_understood(command);
    }
}

fn assert_understood(command: &str) {
    let mut words = words(command);
    words.push("--dry-run".to_owned());
    // A number that the reader is to fill in.
    let words: Vec<&str> =
        words.iter().map(|word| if word == "N" { "7" } else { word.as_str() }).collect();
    let ran = run(&words);
    assert!(ran.code == Some(0) && ran.stdout.contains("\"plan\""), "{command}: {}", ran.said());
}

/// Of a command that measures nothing: words that are none are refused before help is given, and nothing is done.
fn assert_words_are_known(command: &str) {
    let words = words(command);
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.push("--help");
    let ran = run(&words);
    assert!(ran.code == Some(0), "{command}: {}", ran.said());
}

#[test]
fn each_command_of_the_guides_to_deciding_is_understood() {
    let mut all = commands(DECIDING, "goodput B");
    // What goes on in the next line is no command yet.
    all.retain(|command| !command.ends_with('\\'));
    let measuring = of(&MEASURING, all.clone());
    assert!(measuring.len() >= 11, "{measuring:#?}");
    measuring.iter().for_each(|command| assert_understood(command));
    let others = of(&["compare", "report", "show"], all);
    assert!(others.len() >= 10, "{others:#?}");
    others.iter().for_each(|command| assert_words_are_known(command));
}

#[test]
fn each_command_of_the_other_guides_is_understood_as_it_stands() {
    for (page, base, least) in OTHERS {
        let mode = base.split(' ').next().unwrap_or(base);
        let commands = of(&[mode], commands(page, base));
        assert!(commands.len() >= least, "{base}: {} {commands:#?}", commands.len());
        commands.iter().for_each(|command| assert_understood(command));
    }
}

#[test]
fn each_command_of_the_guides_by_task_is_understood_as_it_stands() {
    for (name, page, least) in BY_TASK {
        let measuring = of(&MEASURING, commands(page, "goodput B"));
        assert!(measuring.len() >= least, "{name}: {} {measuring:#?}", measuring.len());
        measuring.iter().for_each(|command| assert_understood(command));
    }
}

#[test]
fn commands_of_the_guides_by_task_that_measure_nothing_are_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for (_, page, _) in BY_TASK {
        for command in of(&["compare", "lab", "report", "show"], commands(page, "goodput B")) {
            for lab in words(&command).iter().filter(|word| word.starts_with("labs/")) {
                assert!(root.join(lab).is_file(), "{command}");
            }
            assert_words_are_known(&command);
            seen += 1;
        }
    }
    assert!(seen >= 12, "{seen}");
}

/// Words of commands that are not run: not every machine has what they name, they take more than a moment, or a moment is too short
/// for what they want.
const NOT_RUN: [&str; 15] = [
    "--path",
    "--interface",
    "--cpu",
    "--source-port",
    "--until",
    "--repeat",
    "--sweep",
    "--assert",
    "--find-rate",
    "--connections 10000",
    "--iterations 1000",
    "--burst-delay",
    "--warm-up",
    "survey",
    "multipath",
];

#[test]
fn commands_of_the_guides_by_task_do_what_they_say() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    // One of those that differ by values alone.
    let mut done = BTreeSet::new();
    for (_, page, _) in BY_TASK {
        for command in of(&MEASURING, commands(page, "goodput B")) {
            if NOT_RUN.iter().any(|words| command.contains(words)) {
                continue;
            }
            let mut words = cut(words(&command));
            let options = words[1..].iter().filter(|word| word.starts_with("--"));
            if !done.insert((words[0].clone(), options.cloned().collect::<Vec<_>>())) {
                continue;
            }
            words[1] = "127.0.0.1".to_owned();
            words.retain(|word| word != "--json");
            words.extend(["--port".to_owned(), server.port.to_string(), "--json".to_owned()]);
            let mut client = pathscope(&words.iter().map(String::as_str).collect::<Vec<_>>());
            client.current_dir(folder.path());
            let ran = Running::start(client).finish().exits(0);
            let document = ran.document();
            assert!(!document.measurements.is_empty(), "{command}: {}", ran.said());
            for measurement in &document.measurements {
                let failed: Vec<_> =
                    measurement.checks.iter().filter(|check| check.has_failed()).collect();
                assert!(failed.is_empty(), "{command}: {failed:?}");
            }
        }
    }
    assert!(done.len() >= 30, "{} {done:#?}", done.len());
}

#[test]
fn the_commands_of_the_page_on_lagscope_do_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = commands(LAGSCOPE, "latency B");
    let servers = of(&["server"], all.clone());
    let alone = servers.iter().find(|it| it.ends_with(" --accept lagscope")).expect("one is alone");
    let mut server = pathscope(&["server", "--listen", "127.0.0.1", "--lagscope-port", "0"]);
    server.args(&words(alone)[1..]);
    let server = Server::listening(Running::start(server));
    servers.iter().for_each(|command| assert_words_are_known(command));
    let mut clients = of(&["latency", "lagscope"], all);
    // What stands for any words is no command.
    clients.retain(|command| !command.contains('…'));
    assert!(clients.len() >= 4, "{clients:?}");
    for command in &clients {
        let mut words = words(command);
        let port = server.port.to_string();
        if words[0] == "lagscope" {
            words.extend([format!("-p{port}"), "-o0".to_owned(), "-n200".to_owned()]);
        } else {
            words[1] = "127.0.0.1".to_owned();
            if let Some(place) = words.iter().position(|word| word == "--port") {
                words.drain(place..place + 2);
            }
            words.extend(["--port", &port, "--duration", "300ms"].map(str::to_owned));
        }
        let mut client = pathscope(&words.iter().map(String::as_str).collect::<Vec<_>>());
        client.current_dir(folder.path());
        let ran = Running::start(client).finish().exits(0);
        let said = ran.stdout.contains("pings") || ran.stdout.contains("successful Pings: 200");
        assert!(said, "{command}: {}", ran.said());
    }
}

#[test]
fn the_server_under_a_supervisor_starts_as_it_stands_there_and_ends_well() {
    let (page, ..) = OTHERS[1];
    let lines: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("ExecStart=")).collect();
    let [line] = lines[..] else { panic!("one unit: {lines:?}") };
    let words = words(line);
    let [mode, options @ ..] = &words[..] else { panic!("a command: {line}") };
    assert!(line.starts_with("/usr/local/bin/pathscope ") && mode == "server", "{line}");
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let server = Server::start_with(&options);
    server.running.signal("TERM");
    server.running.finish().exits(0).complains(&["terminated by a signal"]);
}

#[test]
fn each_command_of_the_guide_does_what_it_says() {
    let usual = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    for block in blocks(PAGE) {
        // A server that stands above a client is the one that it asks.
        let mut own: Option<Server> = None;
        let mut code = 0;
        for command in &block {
            let mut words = words(command);
            if words[0] == "server" {
                let options: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                code = if options.contains(&"--exit-after") { 5 } else { 0 };
                let mut command = pathscope(
                    &[&["server", "--listen", "127.0.0.1", "--port", "0"], &options[..]].concat(),
                );
                command.current_dir(folder.path());
                own = Some(Server::listening(Running::start(command)));
                continue;
            }
            let port = own.as_ref().unwrap_or(&usual).port.to_string();
            for word in &mut words[1..] {
                if ["B", "::1"].contains(&word.as_str()) {
                    // The server of this test has one address.
                    *word = "127.0.0.1".to_owned();
                }
            }
            let mut words = if code == 0 { cut(words) } else { words };
            words.extend(["--port", &port, "--json"].map(str::to_owned));
            let mut client = pathscope(&words.iter().map(String::as_str).collect::<Vec<_>>());
            client.current_dir(folder.path());
            let ran = Running::start(client).finish().exits(code);
            let document = ran.document();
            for measurement in &document.measurements {
                let failed: Vec<_> =
                    measurement.checks.iter().filter(|check| check.has_failed()).collect();
                assert_eq!(failed.is_empty(), code == 0, "{command}: {failed:?}");
                let summary = measurement.summary.goodput.as_ref().expect("it is goodput");
                let ways = [summary.up, summary.down].into_iter().flatten();
                let received: u64 = ways.filter_map(|way| way.received_bytes).sum();
                assert!(received > 0, "{command}: {}", ran.said());
            }
        }
    }
}

#[test]
fn an_option_that_a_remedy_names_is_one_of_that_command() {
    let page = include_str!("../../../../docs/findings.md");
    let help = |of: &str| run(&[of, "--help"]).stdout;
    let mut named = 0;
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let of = row.split(" | ").next().unwrap_or(row).trim_start_matches("| ");
        let text = match of {
            "goodput" | "latency" | "media" | "multipath" => help(of),
            "a lab" | "a calibration" => run(&["lab", "verify", "--help"]).stdout,
            _ => help("goodput"),
        };
        let options = row.split([' ', ',', ';', '(', ')', '|', ':']);
        for option in options.filter(|word| word.starts_with("--") && word.len() > 2) {
            let mut lines = text.lines();
            let is_there = lines.any(|line| line.split([' ', ',', '=']).any(|it| it == option));
            assert!(is_there, "{option} in: {row}");
            named += 1;
        }
    }
    assert!(named > 10, "{named}");
}
