//! Files of samples as results: the pings of a run, shown and reported row by row, in either form.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Server, run};

const HEAD: &str = "flow,ping,scheduled_ns,sent_ns,received_ns,rtt_ns,server_residence_ns,outcome,counted_from_ns,server_received_ns\n";

#[test]
fn what_a_run_kept_of_its_pings_has_the_figures_of_its_result() {
    let (server, folder) = (Server::start(), TempDir::new().expect("a folder"));
    for name in ["pings.csv", "pings.parquet"] {
        let path = folder.path().join(name);
        let path = path.to_str().expect("plain");
        let words = ["latency", &server.host(), "-n", "2500", "--samples", path, "--json"];
        let result = run(&words).exits(0).document();
        let rtt = &result.measurements[0].summary.latency.as_ref().expect("of pings").rtt;
        let shown: Value =
            serde_json::from_str(&run(&["show", path, "--json"]).exits(0).stdout).expect("JSON");
        let of = &shown["measurements"][0]["summary"]["latency"];
        assert_eq!((&of["sent"], &of["received"]), (&2_500.into(), &2_500.into()), "{name}");
        assert_eq!(
            (&of["rtt"]["min_ns"], &of["rtt"]["max_ns"]),
            (&serde_json::json!(rtt.min_ns), &serde_json::json!(rtt.max_ns))
        );
        let median = of["rtt"]["percentiles"].as_array().expect("a list").iter();
        let mut median = median.filter(|it| it["percent"] == 50.0);
        let told = median.next().map(|it| it["value_ns"].clone());
        assert_eq!(told, Some(serde_json::json!(rtt.median_ns())), "{name}");
        run(&["show", path]).exits(0);
    }
}

#[test]
fn a_page_of_many_pings_is_small_and_keeps_the_extremes() {
    let folder = TempDir::new().expect("a folder");
    let (samples, page) = (folder.path().join("many.csv"), folder.path().join("many.html"));
    let mut text = HEAD.to_owned();
    for number in 0..300_000_u64 {
        let rtt = if number == 123_456 { 77_777_777 } else { 40_000 + number % 1_000 };
        let at = number * 50_000;
        writeln!(text, "0,{number},{at},{at},{},{rtt},,answered,{at},", at + rtt).expect("memory");
    }
    fs::write(&samples, text).expect("a folder of ours");
    let [samples, name] = [&samples, &page].map(|path| path.to_str().expect("plain"));
    run(&["report", samples, "-o", name]).exits(0).complains(&["report written"]);
    let page = fs::read_to_string(&page).expect("it was written");
    // The library is 1.1 MB of it.
    assert!(page.len() < 2_000_000, "{}", page.len());
    for part in
        ["300,000", "<td>77.78</td>", "distribution over time", "in steps of 32 ms over time"]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_file_of_pings_that_is_not_whole_is_refused_with_its_line() {
    let folder = TempDir::new().expect("a folder");
    let samples = folder.path().join("cut.csv");
    let path = samples.to_str().expect("plain");
    fs::write(&samples, format!("{HEAD}0,0,1,1,2,1,,answered,1,\n0,1,5,5,")).expect("ours");
    run(&["report", path]).exits(2).complains(&["cut.csv", "line 3"]);
    fs::write(&samples, HEAD).expect("ours");
    run(&["show", path]).exits(2).complains(&["cut.csv", "it holds no ping"]);
}
