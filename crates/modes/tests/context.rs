//! What stands above all measurements of a result.

use pathscope_core::presentation::Value;
use pathscope_modes::document::Document;
use pathscope_modes::presentation::presentation;

#[test]
fn every_congestion_control_that_ran_is_told_once() {
    let text = include_str!("../../cli/tests/fixtures/2/goodput-duplex.json");
    let document = Document::from_json(text).expect("a document");
    let told = |asked: &[Option<&str>]| {
        let mut document = document.clone();
        document.hosts.client.network.congestion_control = Some("bbr".to_owned());
        document.hosts.server = None;
        let one = document.measurements[0].clone();
        document.measurements = asked
            .iter()
            .map(|asked| {
                let mut plan = serde_json::to_value(&one.test).expect("plain data");
                plan["plan"]["goodput"]["congestion_control"] = serde_json::json!(asked);
                let test = serde_json::from_value(plan).expect("a test");
                let mut one = one.clone();
                one.test = test;
                one
            })
            .collect();
        let context = presentation(&document).context;
        let control = context.into_iter().find(|it| it.id == "congestion_control");
        control.expect("it is told").value
    };
    let words = |words: &str| Value::Text(words.to_owned());
    assert_eq!(told(&[None]), words("bbr"));
    assert_eq!(told(&[Some("reno")]), words("reno"));
    assert_eq!(told(&[None, Some("reno"), None, Some("reno")]), words("bbr, reno"));
    assert_eq!(told(&[Some("reno"), Some("cubic")]), words("reno, cubic"));
}
