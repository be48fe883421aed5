//! What the relayed links of a lab do now and did so far, as tables of 80 columns where names allow.

use pathscope_core::quantity;
use pathscope_lab::picture;
use pathscope_lab::relay::{DirectionAccount, LinkAccount, RelayAccount, Shortcoming};

/// Conditions, counts, how punctual the relay was, and whether measurements count.
pub fn text(account: &RelayAccount) -> String {
    if account.links.is_empty() {
        return "no link is relayed: plain wires change and count nothing\n".to_owned();
    }
    let mut text = String::from("\n");
    let conditions: Vec<_> = account.links.iter().flat_map(conditions).collect();
    picture::table(&mut text, &["link", "to", "conditions now"], &conditions);
    text.push('\n');
    let (headings, rows) = counted(account);
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    picture::table(&mut text, &headings, &rows);
    text = text.replace(NO_BREAK, " ");
    text.push('\n');
    text.push_str(&punctuality(account));
    account.shortcomings().iter().for_each(|it| text.push_str(&(sentence(it) + "\n")));
    text
}

/// A row where both directions are alike, else a row for each.
fn conditions(link: &LinkAccount) -> Vec<Vec<String>> {
    let said = |direction: &DirectionAccount| {
        let conditions = picture::conditions(&direction.conditions);
        if direction.is_cut { format!("CUT; else {conditions}") } else { conditions }
    };
    let row = |name: &str, to: &str, said: String| vec![name.to_owned(), to.to_owned(), said];
    let (forth, back) = (said(&link.forward), said(&link.backward));
    if forth == back {
        return vec![row(&link.name, "both", forth)];
    }
    vec![row(&link.name, &link.forward.to, forth), row("", &link.backward.to, back)]
}

/// Holds together what is to stay on one line of a cell.
const NO_BREAK: char = '\u{a0}';

/// Headings, and a row for each direction; numbers end below each other.
fn counted(account: &RelayAccount) -> (Vec<String>, Vec<Vec<String>>) {
    let headings = ["from", "to", "offered", "delivered", "p99 late", "the others"];
    let directions = account.links.iter().flat_map(|link| [&link.forward, &link.backward]);
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    rows.extend(directions.map(row));
    for column in 2..5 {
        let widest = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        rows.iter_mut().for_each(|row| row[column] = format!("{:>widest$}", row[column]));
    }
    (rows.remove(0), rows)
}

fn row(direction: &DirectionAccount) -> Vec<String> {
    let counts = &direction.truth.total;
    let late = direction.lateness_p99_ns().map_or_else(|| "–".to_owned(), quantity::duration_ns);
    vec![
        direction.from.clone(),
        direction.to.clone(),
        quantity::count(counts.offered.frames),
        quantity::count(counts.delivered.frames),
        late,
        others(direction),
    ]
}

/// What became of frames that were not simply delivered, where there are such frames.
fn others(direction: &DirectionAccount) -> String {
    let counts = &direction.truth.total;
    let all = [
        (counts.in_flight(), "on their way"),
        (counts.dropped, "dropped"),
        (counts.lost, "lost"),
        (counts.cut, "cut off"),
        (counts.overrun, "overrun"),
        (counts.duplicated, "doubled"),
        (counts.corrupted, "corrupted"),
        (counts.spared, "spared"),
        (counts.reordered, "reordered"),
    ];
    let some = all.iter().filter(|(tally, _)| tally.frames > 0);
    let words = some.map(|(tally, what)| {
        let percent = tally.frames as f64 * 100.0 / counts.offered.frames.max(1) as f64;
        let share = match *what {
            // It says nothing lasting of those on their way, and nothing of a few.
            "on their way" => String::new(),
            _ if counts.offered.frames < 100 => String::new(),
            _ if percent < 0.01 => " (< 0.01 %)".to_owned(),
            _ => format!(" ({percent:.2} %)"),
        };
        let words = format!("{} {what}{share}", quantity::count(tally.frames));
        words.replace(' ', &NO_BREAK.to_string())
    });
    words.collect::<Vec<_>>().join(", ")
}

fn punctuality(account: &RelayAccount) -> String {
    let means = match (account.has_priority, account.keeps_awake) {
        (true, true) => "real-time priority, processors kept awake",
        (true, false) => "real-time priority",
        (false, true) => "ordinary priority, processors kept awake",
        (false, false) => "ordinary priority",
    };
    let valid = if account.shortcomings().is_empty() { "valid so far; " } else { "" };
    format!("{valid}relay: {means}\n")
}

/// Why what was measured was the lab.
pub fn sentence(shortcoming: &Shortcoming) -> String {
    match shortcoming {
        Shortcoming::Lost { direction: [from, to], frames } => format!(
            "INVALID: from {from} to {to} the lab lost {} that no condition lost",
            quantity::counted(*frames, "frame")
        ),
        Shortcoming::Late { direction: [from, to], p99_ns } => format!(
            "INVALID: from {from} to {to} one frame in a hundred was {} late or more",
            quantity::duration_ns(*p99_ns)
        ),
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::LatencyHistogram;
    use pathscope_lab::link::{Counts, Tally, Truth};
    use serde_json::{Value, json};

    use super::*;

    fn frames(frames: u64) -> Tally {
        Tally { frames, bytes: 1514 * frames }
    }

    /// As a keeper would tell it: by its words, of which there may be more one day.
    fn direction(ends: [&str; 2], words: &Value, total: Counts, late_ns: u64) -> Value {
        let mut lateness = LatencyHistogram::new();
        (0..total.delivered.frames.min(1_000)).for_each(|_| lateness.record(late_ns));
        let truth = Truth { total, lateness: lateness.distribution(), ..Truth::default() };
        let [from, to] = ends;
        json!({
            "from": from, "to": to, "conditions": words, "is_cut": false, "truth": truth,
            "missed": 0, "too_long": 0, "refused": 0,
        })
    }

    fn account(busy: Counts, late_ns: u64) -> RelayAccount {
        let words = json!({ "rate": "40Mbit", "delay": "10ms", "queue": "67p" });
        let some = Counts { offered: frames(12), delivered: frames(12), ..Counts::default() };
        let link = json!({
            "name": "left:right",
            "forward": direction(["left", "right"], &words, busy, late_ns),
            "backward": direction(["right", "left"], &words, some, 0),
        });
        let account =
            json!({ "links": [link], "has_priority": true, "keeps_awake": false, "turns": 1 });
        serde_json::from_value(account).expect("an account")
    }

    fn busy() -> Counts {
        Counts {
            offered: frames(1_234_567),
            duplicated: frames(2),
            delivered: frames(1_199_998),
            dropped: frames(34_467),
            lost: frames(100),
            ..Counts::default()
        }
    }

    #[test]
    fn only_what_happened_is_told_beside_what_was_delivered() {
        let mut account = account(busy(), 40_000);
        account.links[0].backward.is_cut = true;
        let told = [
            "",
            "link        to     conditions now",
            "left:right  right  rate=40Mbit delay=10ms queue=67p",
            "            left   CUT; else rate=40Mbit delay=10ms queue=67p",
            "",
            "from   to       offered  delivered  p99 late  the others",
            "left   right  1,234,567  1,199,998     40 µs  4 on their way,",
            "                                              34,467 dropped (2.79 %),",
            "                                              100 lost (< 0.01 %),",
            "                                              2 doubled (< 0.01 %)",
            "right  left          12         12         –",
            "",
            "valid so far; relay: real-time priority",
        ];
        assert_eq!(text(&account).lines().collect::<Vec<_>>(), told);
    }

    #[test]
    fn a_table_of_everything_fits_80_columns() {
        let (some, most) = (frames(900_000), frames(100_000_000));
        let account = account(
            Counts {
                offered: most,
                duplicated: some,
                delivered: frames(90_000_000),
                dropped: some,
                lost: some,
                cut: some,
                overrun: some,
                corrupted: some,
                spared: some,
                reordered: some,
            },
            40_000,
        );
        let text = text(&account);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?}\n{text}");
    }

    #[test]
    fn a_lab_that_failed_says_so_and_not_that_it_is_valid() {
        let mut account = account(busy(), 3_000_000);
        account.links[0].backward.missed = 7;
        let text = text(&account);
        assert!(!text.contains("valid so far"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("INVALID: ")).count(), 2, "{text}");
        assert!(text.contains("from right to left the lab lost 7 frames"), "{text}");
    }

    #[test]
    fn without_relayed_links_there_is_nothing_to_count() {
        let mut account = account(busy(), 0);
        account.links.clear();
        assert_eq!(text(&account), "no link is relayed: plain wires change and count nothing\n");
    }
}
