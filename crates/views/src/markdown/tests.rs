//! Markdown as it is written.

use pathscope_core::event::Event;
use pathscope_core::presentation::Value;
use pathscope_core::record::Check;

use super::*;
use crate::at_end::AtEnd;
use crate::view::View;

fn presentation() -> Presentation {
    let value = |rate: f64| Value::BitRate(rate);
    Presentation {
        title: "experiments on two_hosts".to_owned(),
        context: vec![Figure::new("link", Value::Text("a:b".to_owned())).with_note("<b>")],
        sections: vec![Section {
            title: "1: rates".to_owned(),
            figures: vec![Figure::new("round trip", Value::Duration(1_500_000))],
            tables: vec![Table::new(
                "",
                ["step", "expected", "measured", "why"],
                vec![
                    vec![Value::Text("a|b".to_owned()), value(20e6), value(19.1e6)],
                    vec![
                        Value::Text("b".to_owned()),
                        value(1e6),
                        Value::Absent,
                        Value::Text("x\ny".to_owned()),
                    ],
                ],
            )],
            checks: vec![
                Check {
                    name: "counts_agree".to_owned(),
                    passed: Some(false),
                    text: "3 of 4".to_owned(),
                    remedy: Some("ask <b>".to_owned()),
                },
                Check {
                    name: "verified".to_owned(),
                    passed: None,
                    text: "it is not told".to_owned(),
                    remedy: None,
                },
                Check {
                    name: "all".to_owned(),
                    passed: Some(true),
                    text: "all bytes".to_owned(),
                    remedy: None,
                },
            ],
            ..Section::default()
        }],
        commands: CommandLine::known(&["pathscope".to_owned(), "```".to_owned()]),
        ..Presentation::default()
    }
}

#[test]
fn a_result_is_a_page() {
    let text = page(&presentation(), Some((Failure::Check, "1 thing is wrong")));
    assert_eq!(
        text,
        "# experiments on two\\_hosts\n\n**1 thing is wrong**\n\n- link: a:b (&lt;b>)\n\n## 1: rates\n\n\
         - **FAILED** counts agree: 3 of 4 (remedy: ask &lt;b>)\n\n\
         | figure | value |  |\n|---|--:|---|\n| round trip | 1.5 ms |  |\n\n\
         | step | expected, Mbit/s | measured, Mbit/s | why |\n|---|--:|--:|---|\n\
         | a\\|b | 20.00 | 19.10 |  |\n| b | 1.000 | – | x y |\n\n- all bytes\n\
         - unknown: verified: it is not told\n\n\
         command\n\n````text\npathscope '```'\n````\n"
    );
}

#[test]
fn what_a_stranger_named_is_obeyed_by_nobody() {
    let text = words("\u{1b}[31m <script> `x` | **y** ~~z~~ $1$ \u{202e}z");
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("<script"), "{text}");
    assert!(!text.contains(" | ") && text.contains("\\*\\*y"), "{text}");
    assert!(text.contains("\\~\\~z") && text.contains("\\$1"), "{text}");
}

#[test]
fn nothing_is_written_before_the_end() {
    let mut out = Vec::new();
    let presentation = presentation();
    let started = Event::Started { presentation: &presentation, record: &1 };
    AtEnd::new(&mut out, page).event(started).expect("a vector takes every byte");
    assert!(out.is_empty());
    let ended = Event::Finished { presentation: &presentation, record: &1, failure: None };
    AtEnd::new(&mut out, page).event(ended).expect("a vector takes every byte");
    assert!(out.starts_with(b"# experiments"));
}
