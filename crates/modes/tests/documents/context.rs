//! What stands above all measurements of a result, and what they say of machines that are one or are not.

use pathscope_core::counters::HostActivity;
use pathscope_core::presentation::Value;
use pathscope_modes::document::Document;
use pathscope_modes::presentation::presentation;

#[test]
fn every_congestion_control_that_ran_is_told_once() {
    let text = include_str!("../../../cli/tests/fixtures/2/goodput-duplex.json");
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

#[test]
fn ends_that_count_each_their_own_network_are_both_told() {
    let text = include_str!("../../../cli/tests/fixtures/2/goodput-duplex.json");
    let mut document = Document::from_json(text).expect("a document");
    let activity = HostActivity { length_ns: 1, retransmits: 3, ..HostActivity::default() };
    for interval in document.measurements.iter_mut().flat_map(|it| &mut it.intervals) {
        let ends = [&mut interval.client, &mut interval.server].into_iter().flatten();
        ends.for_each(|end| end.host_activity = Some(activity));
    }
    let told = |client: &str, server: &str| {
        let mut document = document.clone();
        document.hosts.client.boot_id = Some("one machine".to_owned());
        let mut there = document.hosts.client.clone();
        document.hosts.client.network_namespace = Some(client.to_owned());
        there.network_namespace = Some(server.to_owned());
        document.hosts.server = Some(there);
        let section = presentation(&document).sections.swap_remove(0);
        let backgrounds = section.backgrounds.iter().flat_map(|it| &it.series);
        let mut ids: Vec<_> = backgrounds.map(|series| series.source.id.clone()).collect();
        ids.retain(|id| id.starts_with("end.activity.retransmits"));
        ids
    };
    let of = |end: &str| format!("end.activity.retransmits.{end}");
    assert_eq!(told("net:[1]", "net:[1]"), [of("client")]);
    assert_eq!(told("net:[1]", "net:[2]"), [of("client"), of("server")]);
}
