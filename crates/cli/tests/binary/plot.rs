//! A picture of a result: of what there is, in the form that the file's name says, and what is refused.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::common::{Ran, Server, run};

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/2/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

fn show(name: &str, plot: &Path) -> Ran {
    run(&["show", &fixture(name), "--plot", plot.to_str().expect("plain")])
}

#[test]
fn a_stored_result_is_drawn_with_its_numbers_as_its_file_is_called() {
    let folder = TempDir::new().expect("a folder");
    for (name, parts) in [
        (
            "latency-udp",
            ["RTT: how many of 300 took how long", ">p50 27.36 µs<", ">maximum 2.909 ms<"],
        ),
        ("goodput-duplex", [">goodput up<", ">400.2 Mbit/s<", ">goodput down<"]),
        ("survey", [">goodput down<", ">Gbit/s<", ">time since the start<"]),
    ] {
        let plot = folder.path().join(format!("{name}.svg"));
        show(name, &plot).exits(0).complains(&["plot written"]);
        let svg = fs::read_to_string(&plot).expect("it was written");
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
        for part in parts {
            assert!(svg.contains(part), "{part} in {svg}");
        }
    }
    let plot = folder.path().join("Large.PNG");
    let ran = show("latency-udp", &plot).exits(0);
    assert!(ran.stdout.contains("latency of 127.0.0.1"), "{}", ran.said());
    let png = fs::read(&plot).expect("it was written");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xaeB`\x82"));
    assert_eq!(png[16..20], 1_600_u32.to_be_bytes());
}

/// Of a result at `size` and a probe of `rate`, and so many times as long as the fixture.
pub fn changed(
    folder: &Path,
    number: usize,
    (size, connections): (u32, u32),
    factor: f64,
) -> String {
    let text = fs::read_to_string(fixture("latency-udp")).expect("a fixture");
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("a document");
    json["started_at"] = format!("2026-01-01T00:{number:02}:00.000Z").into();
    let plan = &mut json["measurements"][0]["test"]["plan"]["latency"];
    plan["size_bytes"] = size.into();
    plan["connections"] = connections.into();
    let rtt = &mut json["measurements"][0]["summary"]["latency"]["rtt"]["percentiles"];
    for it in rtt.as_array_mut().expect("percentiles") {
        if let Some(value) = it["value_ns"].as_u64() {
            it["value_ns"] = ((value as f64 * factor).round() as u64 + number as u64).into();
        }
    }
    let path = folder.join(format!("result{number}.json"));
    fs::write(&path, json.to_string()).expect("a folder of ours");
    path.to_str().expect("plain").to_owned()
}

#[test]
fn a_comparison_is_drawn_by_how_far_each_figure_moved() {
    let folder = TempDir::new().expect("a folder");
    let one = (64, 1);
    let before: Vec<String> = (0..5).map(|run| changed(folder.path(), 2 * run, one, 1.0)).collect();
    let after: Vec<String> =
        (0..5).map(|run| changed(folder.path(), 2 * run + 1, one, 2.0)).collect();
    let plot = folder.path().join("moved.svg");
    let plot_name = plot.to_str().expect("plain");
    let words: Vec<&str> = ["compare", "--before"]
        .into_iter()
        .chain(before.iter().map(String::as_str))
        .chain(["--after"])
        .chain(after.iter().map(String::as_str))
        .collect();
    run(&[&words[..], &["--plot", plot_name]].concat()).exits(0).complains(&["plot written"]);
    let svg = fs::read_to_string(&plot).expect("it was written");
    for part in [
        ">how far each moved from before to after, with its 95 % interval<",
        ">RTT p50<",
        ">latency.rtt: how far each percentile moved, with its 95 % interval<",
        ">p90<",
        ">percentile<",
    ] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
    // Points without intervals are no verdict, and say so.
    run(&["compare", &before[0], &after[0], "--plot", plot_name]).exits(0);
    let svg = fs::read_to_string(&plot).expect("it was written");
    let told = ">how far each moved from before to after; nothing can be told of so few runs<";
    assert!(svg.contains(told), "{svg}");
    let page = run(&[&words[..], &["--format", "html"]].concat()).exits(0).stdout;
    assert!(page.contains(r#""kind":"estimates""#), "no chart");
    run(&[&words[..], &["--plot", "moved.gif"]].concat()).exits(2);
}

#[test]
fn results_that_differ_in_two_settings_are_rows_and_columns_and_lie_over_each_other() {
    let folder = TempDir::new().expect("a folder");
    let all = [((1_000, 8), 3.0), ((64, 1), 1.0), ((64, 8), 2.0)];
    let results: Vec<String> = (0..)
        .zip(all)
        .map(|(number, (settings, factor))| changed(folder.path(), number, settings, factor))
        .collect();
    let named: Vec<&str> = results.iter().map(String::as_str).collect();
    let plot = folder.path().join("several.png");
    let plot_name = plot.to_str().expect("plain");
    let words = [&["report", "--format", "text", "--plot", plot_name], &named[..]].concat();
    let said = run(&words).exits(0).complains(&["plot written"]).stdout;
    assert!(fs::read(&plot).expect("it was written").starts_with(b"\x89PNG"));
    let place = |words: &str| said.find(words).unwrap_or_else(|| panic!("no {words} in {said}"));
    assert!(place("latency, by connections and size") < place("latency, side by side"), "{said}");
    let table = &said[place("RTT p50")..place("latency, side by side")];
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows[1].join(" ").contains("size=64 B size=1000 B"), "{table}");
    let row = |first: &str| rows.iter().find(|row| row.first() == Some(&first)).expect("a row");
    assert_eq!(row("1").len(), 3, "{table}");
    assert_eq!(row("1")[2], "–", "{table}");
    assert_eq!(row("8").len(), 3, "{table}");
    // Where one setting differs alone, columns of results are enough.
    let said = run(&["report", "--format", "text", named[1], named[2]]).exits(0).stdout;
    assert!(!said.contains(", by connections"), "{said}");
}

#[test]
fn a_command_that_measures_draws_its_result() {
    let folder = TempDir::new().expect("a folder");
    let plot = folder.path().join("now.svg");
    let (server, name) = (Server::start(), plot.to_str().expect("plain").to_owned());
    run(&["latency", &server.host(), "-n", "100", "--json", "--plot", &name]).exits(0);
    let svg = fs::read_to_string(&plot).expect("it was written");
    assert!(svg.contains("RTT: how many of 100 took how long"), "{svg}");
    // What it holds stays where nothing is measured.
    run(&["latency", "127.0.0.1:9", "-n", "100", "--plot", &name]).exits(3);
    assert_eq!(fs::read_to_string(&plot).expect("it is there"), svg);
}

#[test]
fn the_graph_script_of_lagscope_is_understood() {
    let folder = TempDir::new().expect("a folder");
    let json = folder.path().join("freq_table.json");
    let latencies = "{\"latencies\": [{\"latency\": 20, \"frequency\": 7}, {\"latency\": 31, \"frequency\": 2}]}";
    fs::write(&json, latencies).expect("a folder of ours");
    let image = folder.path().join("graph.svg");
    let (json, image) = (json.to_str().expect("plain"), image.to_str().expect("plain"));
    let ran = run(&["visualize_data.py", "-json", json, "-img", image]).exits(0);
    assert!(ran.stderr.contains("plot written"), "{}", ran.said());
    let svg = fs::read_to_string(image).expect("it was written");
    assert!(svg.contains("how many of 9 took how long"), "{svg}");
    run(&["visualize_data.py", "-png", image]).exits(2).complains(&["no option '-png'"]);
}

#[test]
fn what_cannot_be_drawn_or_written_is_refused_in_a_sentence() {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["x.pdf", "x", "svg"] {
        let told = [name, "give one that ends with .svg or .png"];
        show("latency-udp", &at(name)).exits(2).complains(&told);
        let name = at(name);
        let name = name.to_str().expect("plain");
        run(&["latency", "127.0.0.1:9", "--plot", name]).exits(2).complains(&told);
    }
    show("latency-udp", Path::new("/no/such/folder/x.svg"))
        .exits(2)
        .complains(&["/no/such/folder/x.svg"]);
    let plot = at("nothing.svg");
    show("unreachable", &plot).exits(6).complains(&["nothing.svg", "there is nothing to draw"]);
    assert!(!plot.exists());
    let same = at("same.svg");
    let same = same.to_str().expect("plain");
    run(&["latency", "127.0.0.1:9", "-o", same, "--plot", same]).exits(2).complains(&["--plot"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_by_the_exit_code() {
    let folder = TempDir::new().expect("a folder");
    for name in ["full.svg", "full.png"] {
        let plot = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/full", &plot).expect("a folder of ours");
        show("latency-udp", &plot).exits(6).complains(&["cannot write --plot", name, "No space"]);
    }
}
