//! A report: what a browser makes of it, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pathscope_core::stats::HalfOctaves;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Ran, Running, Server, document_in, run};

pub fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/2/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

pub fn report(folder: &TempDir, words: &[&str]) -> (Ran, PathBuf) {
    let page = folder.path().join("report.html");
    let name = page.to_str().expect("plain").to_owned();
    (run(&[&["report", "--output", &name], words].concat()), page)
}

/// What is put at the page's end: it does what a reader would, and leaves what it saw. `__` stands before what this test adds.
const PROBE: &str = r#"
const seen = { state: document.documentElement.dataset.state, errors: window.__errors, charts: [] };
document.querySelectorAll(".canvas").forEach((at, number) => {
  const chart = echarts.getInstanceByDom(at);
  const flush = () => chart.getZr().flush();
  const one = { title: at.getAttribute("aria-label"), series: chart.getOption().series.map((it) => ({ name: it.name, data: it.data })) };
  flush();
  one.axes = chart.getOption().xAxis.map((it) => [it.min, it.max]);
  one.axis_titles = chart.getOption().xAxis.map((it) => it.name);
  one.named = [...document.querySelectorAll(`#controls-${number} .name`)].map((it) => it.textContent);
  one.paths = at.querySelectorAll("svg path").length;
  one.fields = chart.getZr().storage.getDisplayList().filter((it) => it.type === "rect").length;
  at.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  flush();
  one.tip = [...at.children].map((child) => child.innerText).join(" ");
  const selected = document.getElementById(`selected-${number}`);
  one.before = selected.textContent;
  at.dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
  flush();
  one.zoom = chart.getOption().dataZoom.map((it) => [it.startValue, it.endValue]);
  one.after = selected.textContent;
  at.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  one.whole = selected.textContent;
  if (one.zoom.length > 0) {
    // From 0.4 to 1.1 s, or two parts of the axis where that is no part of it.
    const { x, y, width, height } = chart.getModel().getComponent("grid").coordinateSystem.getRect();
    const [first, last] = one.axes[0], length = last - first;
    const wanted = first <= 0.4 && last >= 1.1 ? [0.4, 1.1] : [first + length / 4, first + length / 2];
    const root = at.firstElementChild, box = root.getBoundingClientRect();
    const pointer = (type, seconds) => root.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, button: 0, buttons: 1, clientX: box.left + x + (width * (seconds - first)) / length, clientY: box.top + y + height / 2 }));
    pointer("mousemove", wanted[0]);
    pointer("mousedown", wanted[0]);
    pointer("mousemove", (wanted[0] + wanted[1]) / 2);
    pointer("mousemove", wanted[1]);
    pointer("mouseup", wanted[1]);
    flush();
    const { startValue, endValue } = chart.getOption().dataZoom[0];
    one.dragged = { wanted, zoom: [startValue, endValue], told: selected.textContent };
    at.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  }
  const buttons = [...document.querySelectorAll(`#controls-${number} button`)];
  one.buttons = buttons.map((it) => it.textContent);
  const toggle = buttons.find((it) => it.getAttribute("aria-pressed") === "true" && it.className !== "choice");
  if (toggle) {
    toggle.click();
    one.pressed = toggle.getAttribute("aria-pressed");
    one.shown = chart.getOption().legend[0].selected[toggle.textContent];
  }
  const choice = buttons.find((it) => it.textContent === "histogram");
  if (choice) {
    choice.click();
    flush();
    one.bars = chart.getOption().series.map((it) => it.data);
  }
  seen.charts.push(one);
});
dispatchEvent(new Event("beforeprint"));
document.querySelectorAll(".canvas").forEach((at, number) => {
  const drawing = at.querySelector("svg"), left = at.getBoundingClientRect().left;
  const shapes = drawing ? [...drawing.querySelectorAll("path, text")].filter((it) => !it.closest("defs")) : [];
  const right = Math.max(...shapes.map((it) => it.getBoundingClientRect().right - left));
  seen.charts[number].paper = { laid_out_for: echarts.getInstanceByDom(at).getWidth(), right: drawing ? right : null, width: (drawing ?? at.querySelector("canvas")).getBoundingClientRect().width };
});
seen.settings_on_paper = [...document.querySelectorAll("details.settings")].map((it) => it.open);
dispatchEvent(new Event("afterprint"));
seen.settings_after = [...document.querySelectorAll("details.settings")].map((it) => it.open);
seen.asked = performance.getEntriesByType("resource").map((it) => it.name);
const left = document.createElement("script");
left.type = "application/json";
left.id = "__seen";
left.textContent = JSON.stringify(seen).replaceAll("<", "\\u003c");
document.body.append(left);
"#;

/// What a browser sees of the page, or none where there is no browser.
pub fn seen(page: &Path, folder: &TempDir) -> Option<Value> {
    let browser = ["/usr/bin/chromium", "/usr/local/bin/chromium"]
        .into_iter()
        .find(|it| Path::new(it).is_file())?;
    let text = fs::read_to_string(page).expect("it was written");
    let errors = "<head><script>window.__errors = []; \
        addEventListener('error', (event) => __errors.push(event.message)); \
        for (const kind of ['error', 'warn']) console[kind] = (...words) => __errors.push(words.join(' '));</script>";
    let text = text.replacen("<head>", errors, 1);
    // The library has such an end in a string of its own.
    let (page, end) = text.rsplit_once("</body>").expect("a body");
    let text = format!("{page}<script>{PROBE}</script></body>{end}");
    let probed = folder.path().join("probed.html");
    fs::write(&probed, text).expect("a folder of ours");
    let mut command = Command::new(browser);
    let profile = folder.path().join("profile");
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1200,900",
    ]);
    command.arg(format!("--user-data-dir={}", profile.display())).arg("--dump-dom");
    command.arg(format!("file://{}", probed.display())).env("HOME", folder.path()).env("TZ", "UTC");
    let ran = Running::start(command).finish();
    let (_, rest) =
        ran.stdout.split_once("id=\"__seen\">").unwrap_or_else(|| panic!("{}", ran.said()));
    let (json, _) = rest.split_once("</script>").expect("it ends");
    Some(serde_json::from_str(json).expect("JSON"))
}

#[test]
fn a_browser_draws_the_numbers_of_the_result_and_lets_a_reader_look_into_them() {
    let folder = TempDir::new().expect("a folder");
    let (ran, page) = report(&folder, &[&fixture("goodput-duplex")]);
    ran.exits(0).complains(&["report written"]);
    let Some(seen) = seen(&page, &folder) else {
        return println!("skipped, because there is no chromium to open the page in");
    };
    assert_eq!(seen["state"], "drawn");
    assert_eq!(seen["errors"], serde_json::json!([]));
    assert_eq!(seen["asked"], serde_json::json!([]), "a page that needs nobody");
    let charts = seen["charts"].as_array().expect("charts");
    let document: Value =
        serde_json::from_str(&fs::read_to_string(fixture("goodput-duplex")).expect("it is there"))
            .expect("JSON");
    let measurement = &document["measurements"][0];

    let time = &charts[0];
    assert_eq!(time["title"], "goodput: over time");
    assert_eq!(time["series"][0]["name"], "goodput up");
    assert_eq!(time["series"][1]["name"], "goodput down");
    let drawn: Vec<f64> = numbers(&time["series"][0]["data"]);
    let interval = |it: &Value| {
        let end = &it["server"];
        let length_ns = end["end_ns"].as_f64()? - end["start_ns"].as_f64()?;
        Some(end["goodput"]["received_bytes"].as_f64()? * 8e9 / length_ns)
    };
    let intervals = measurement["intervals"].as_array().expect("intervals");
    let measured: Vec<f64> = intervals.iter().filter_map(interval).collect();
    assert!(!drawn.is_empty());
    assert_eq!(drawn, measured[..drawn.len()]);
    // Each stands in the middle of its interval, and the line is held to both ends of it.
    let start_ns = measurement["start_ns"].as_f64().expect("a time");
    let seconds = |at_ns: &Value| Some((start_ns + at_ns.as_f64()?) / 1e9);
    let middle = |it: &Value| {
        let [start, end] = [&it["client"]["start_ns"], &it["client"]["end_ns"]].map(seconds);
        Some(f64::midpoint(start?, end?))
    };
    let middles: Vec<f64> = intervals.iter().filter_map(middle).collect();
    let data = time["series"][0]["data"].as_array().expect("points");
    let places: Vec<f64> = data.iter().filter_map(|point| point[0].as_f64()).collect();
    assert_eq!(places, middles);
    let held = data.iter().filter(|point| point["value"][0].is_f64()).count();
    assert_eq!(held, 2, "{data:?}");
    // The axis ends where the measurement does.
    let ends = intervals.iter().filter_map(|it| seconds(&it["client"]["end_ns"]));
    let end = ends.fold(0.0, f64::max);
    assert_eq!(numbers_of(&time["axes"][0]), [0.0, end]);
    assert!(time["tip"].as_str().is_some_and(|tip| tip.contains("goodput up: ")), "{time}");
    assert!(time["before"].as_str().is_some_and(|text| text.starts_with("Drag")));
    assert!(time["after"].as_str().is_some_and(|text| text.contains("goodput up: ")), "{time}");
    assert_eq!(time["whole"], time["before"]);
    assert_eq!((&time["pressed"], &time["shown"]), (&Value::from("false"), &Value::from(false)));

    let distribution = charts.iter().find(|it| it["title"] == "goodput: distribution");
    let distribution = distribution.expect("one");
    // A line that is alone is named, too, and axes say what they are of.
    assert_eq!(distribution["named"], serde_json::json!(["RTT"]));
    let title = distribution["axis_titles"][0].as_str().expect("a title");
    assert!(title.starts_with("share of samples that took less"), "{title}");
    assert_eq!(
        time["axis_titles"].as_array().and_then(|all| all.last()),
        Some(&Value::from("time since the start"))
    );
    let bars = numbers_of(&distribution["bars"][0]);
    let samples = measurement["client"]["probe"]["rtt"]["count"].as_f64();
    assert_eq!(Some(bars.iter().sum::<f64>()), samples, "{distribution}");
    for chart in charts {
        assert!(chart["paths"].as_u64().is_some_and(|paths| paths > 5), "{chart}");
    }
}

/// The second of each pair.
fn numbers(points: &Value) -> Vec<f64> {
    points.as_array().into_iter().flatten().filter_map(|point| point[1].as_f64()).collect()
}

pub fn numbers_of(list: &Value) -> Vec<f64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

#[test]
fn a_heat_map_holds_every_round_trip_of_each_interval() {
    let server = Server::start();
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("latency.json");
    let file = file.to_str().expect("plain");
    let words = ["latency", &server.host(), "--rate", "500/s", "-t", "2s", "-o", file];
    run(&[&words[..], &["--report-every", "200ms", "--format", "md"]].concat()).exits(0);
    let document = document_in(Path::new(file));
    let mut cells = Vec::new();
    for end in document.measurements[0].intervals.iter().filter_map(|it| it.client.as_ref()) {
        let own = end.latency.as_ref().expect("of this mode");
        let counts: Vec<_> = own.rtt_half_octaves.iter().flat_map(HalfOctaves::filled).collect();
        let told = own.rtt.as_ref().map_or(0, |rtt| rtt.count);
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), told);
        let [start, end] = [end.start_ns, end.end_ns].map(|at_ns| at_ns as f64 / 1e9);
        cells.extend(counts.into_iter().map(|(range, count)| (start, end, range, count)));
    }
    assert!(cells.len() > 5, "{cells:?}");
    let (ran, page) = report(&folder, &[file]);
    ran.exits(0);
    let Some(seen) = seen(&page, &folder) else {
        return println!("skipped, because there is no chromium to open the page in");
    };
    assert_eq!(seen["errors"], serde_json::json!([]));
    let charts = || seen["charts"].as_array().into_iter().flatten();
    let mut maps = charts().filter(|it| it["title"] == "latency: distribution over time");
    let chart = maps.next().expect("one");
    // All that is over time has one axis, from the begin to the end of the measurement.
    let over_time = charts().filter(|it| it["dragged"].is_object());
    let axes: Vec<&Value> = over_time.filter_map(|it| it["axes"].as_array()).flatten().collect();
    assert!(axes.len() > 1 && axes.iter().all(|axis| *axis == axes[0]), "{axes:?}");
    let lowest = cells.iter().map(|cell| cell.2).min().expect("some");
    let start = document.measurements[0].start_ns as f64 / 1e9;
    let expected: Vec<[f64; 5]> = cells
        .iter()
        .map(|&(from, until, range, count)| {
            let low = (range - lowest) as f64;
            [start + from, start + until, low, low + 1.0, count as f64]
        })
        .collect();
    let drawn = chart["series"][0]["data"].as_array().expect("cells");
    assert_eq!(drawn.len(), expected.len());
    for (drawn, expected) in drawn.iter().zip(expected) {
        let drawn = numbers_of(drawn);
        let is_near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-6;
        assert!(drawn.iter().zip(&expected).all(is_near), "{drawn:?} and {expected:?}");
    }
    assert!(chart["fields"].as_u64().is_some_and(|fields| fields >= drawn.len() as u64), "{chart}");
    let tip = chart["tip"].as_str().expect("text");
    assert!(tip.contains(" samples") && tip.contains(" s to "), "{tip}");
    let after = chart["after"].as_str().expect("text");
    assert!(after.contains(": RTT: ") && after.contains(" samples in "), "{after}");
    assert_eq!(chart["whole"], chart["before"]);
}

#[test]
fn what_a_file_says_is_shown_and_not_obeyed() {
    let folder = TempDir::new().expect("a folder");
    let hostile = "</script><script>window.__errors.push('obeyed')</script><img src=x onerror=\"__errors.push('obeyed')\">";
    let text = fs::read_to_string(fixture("goodput-push")).expect("it is there");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    document["measurements"][0]["name"] = hostile.into();
    document["target"] = hostile.into();
    document["hosts"]["client"]["name"] = hostile.into();
    document["measurements"][0]["caveats"] = serde_json::json!([{ "name": "x", "text": hostile }]);
    let file = folder.path().join("hostile.json");
    fs::write(&file, document.to_string()).expect("a folder of ours");
    let (ran, page) = report(&folder, &[file.to_str().expect("plain")]);
    ran.exits(0);
    let Some(seen) = seen(&page, &folder) else {
        return println!("skipped, because there is no chromium to open the page in");
    };
    assert_eq!(seen["errors"], serde_json::json!([]));
    assert!(
        seen["charts"][0]["title"].as_str().is_some_and(|title| title.starts_with(hostile)),
        "{seen}"
    );
}

#[test]
fn several_results_stand_side_by_side() {
    let folder = TempDir::new().expect("a folder");
    let (push, pull) = (fixture("goodput-push"), fixture("goodput-pull"));
    let (ran, page) = report(&folder, &[&push, &pull]);
    ran.exits(0);
    let page = fs::read_to_string(page).expect("it was written");
    let Some(seen) = seen(&folder.path().join("report.html"), &folder) else {
        return println!("skipped, because there is no chromium to open the page in");
    };
    assert_eq!(seen["errors"], serde_json::json!([]));
    let distribution = &seen["charts"][1];
    let names = ["goodput-push: RTT", "goodput-pull: RTT"];
    for (line, name) in names.into_iter().enumerate() {
        assert_eq!(distribution["series"][line]["name"], name);
        assert!(distribution["buttons"].as_array().is_some_and(|all| all.contains(&name.into())));
    }
    assert_eq!(
        (&distribution["pressed"], &distribution["shown"]),
        (&"false".into(), &false.into())
    );
    for part in [
        "2 results side by side",
        ">goodput-push<",
        ">goodput-pull<",
        "<h2>goodput, side by side</h2>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let told = run(&["report", &push, &pull, "--format", "md"]).exits(0);
    assert!(told.stdout.starts_with("# 2 results side by side\n"), "{}", told.said());
    assert!(told.stdout.contains("## goodput, side by side"), "{}", told.said());
}

#[test]
fn what_is_no_result_and_what_cannot_be_written_is_refused_in_a_sentence() {
    let folder = TempDir::new().expect("a folder");
    let push = fixture("goodput-push");
    let garbage = folder.path().join("garbage");
    let text = fs::read_to_string(&push).expect("it is there");
    fs::write(&garbage, &text[..text.len() / 2]).expect("a folder of ours");
    let (ran, page) = report(&folder, &[&push, garbage.to_str().expect("plain")]);
    ran.exits(2).complains(&["garbage", "not a pathscope result"]);
    assert!(!page.exists(), "nothing is written of half of what was asked for");
    run(&["report"]).exits(2).complains(&["RESULT"]);
    run(&["report", "-", "-"]).exits(2).complains(&["standard input holds one result"]);
    run(&["report", &push, "--format", "json"]).exits(2).complains(&["choose html, md or text"]);
    run(&["report", &push, "-o", "/no/such/folder/x.html"])
        .exits(2)
        .complains(&["/no/such/folder/x.html"]);
}

#[test]
fn what_is_read_is_never_written_over() {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("plain").to_owned();
    let kept = fs::read_to_string(fixture("goodput-push")).expect("it is there");
    let (one, other, link) = (at("one.json"), at("other.json"), at("link.json"));
    fs::write(&one, &kept).expect("a folder of ours");
    fs::write(&other, &kept).expect("a folder of ours");
    std::os::unix::fs::symlink("one.json", &link).expect("a folder of ours");
    let picture = at("picture.svg");
    fs::write(&picture, &kept).expect("a folder of ours");
    for words in [
        &["report", &*one, "-o", &*one][..],
        &["report", &other, &one, "-o", &link],
        &["report", &link, "-o", &one],
        &["report", &picture, "--plot", &picture],
        &["show", &picture, "--plot", &picture],
        &["compare", &one, &other, "-o", &one],
        &["compare", &one, &other, "--fail-on", "goodput.rate.up -5%", "--junit", &other],
        &["compare", "--before", &picture, "--after", &one, "--plot", &picture],
    ] {
        run(words).exits(2).complains(&["which is read", "name another file"]);
        for file in [&one, &other, &picture] {
            assert_eq!(fs::read_to_string(file).expect("it is there"), kept, "{words:?}");
        }
    }
    run(&["report", &one, "-o", &at("page.html")]).exits(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_by_the_exit_code() {
    let ran = run(&["report", &fixture("goodput-push"), "-o", "/dev/full"]);
    ran.exits(6).complains(&["cannot write /dev/full"]);
}
