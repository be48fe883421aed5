//! Both files of a test whose figures are known, letter by letter. Names and order are the reference's, section 7.

use super::super::figures::Connections;
use super::super::screen::tests::{document, settings};
use super::*;

fn written(line: &str, of: fn(&Outcome<'_>) -> String) -> String {
    let (settings, document) = (settings(line), document());
    let interrupts = [("41: MSI mana-rx".to_owned(), 1_000)];
    let counted = (&Connections::default(), &interrupts[..]);
    let figures = Figures::of(&document, &settings, counted).expect("it is measured");
    of(&Outcome { settings: &settings, figures: &figures, host: &document.hosts.client.name })
}

#[test]
fn both_files_are_those_of_the_reference() {
    let line = "-s10.0.0.1 -P2 -n1 -t2 -W1 -C1 --show-tcp-retrans --show-nic-packets eth0";
    assert_eq!(written(line, xml), include_str!("tests/sender.xml"));
    assert_eq!(written(line, json), include_str!("tests/sender.json"));
}

#[test]
fn interrupts_stand_in_both_files_where_they_were_asked_for() {
    let line = "-s10.0.0.1 -P2 -n1 -t2 -W1 -C1 --show-nic-packets eth0 --show-dev-interrupts mana";
    let text = written(line, xml);
    for element in [
        "\t<avg_packets_per_interrupt metric=\"packets/interrupt\">333.048</avg_packets_per_interrupt>\n",
        "\t<interrupts metric=\"count/sec\">250.000</interrupts>\n",
        "\t<total_interrupts metric=\"count\">1000</total_interrupts>\n",
    ] {
        assert!(text.contains(element), "{element}: {text}");
    }
    let text = written(line, json);
    let members = "\"avgPacketsPerInterrupt\": {\"metric\": \"packets/interrupt\", \"value\": \"333.048\"}, \
                   \"interrupt\": {\"metric\": \"count/sec\", \"value\": \"250.000\"}, \
                   \"interruptTotal\": {\"metric\": \"count\", \"value\": \"1000\"}";
    assert!(text.contains(members), "{text}");
}

#[test]
fn verbose_has_threads_and_round_trips() {
    let settings = settings("-s10.0.0.1 -P2 -n1 -t2 -V");
    let document = document();
    let counted = (&Connections::default(), &[][..]);
    let mut figures = Figures::of(&document, &settings, counted).expect("it is measured");
    figures.threads = vec![Moved { seconds: 2.0, bytes: 250_000_000 }; 2];
    let result = Outcome { settings: &settings, figures: &figures, host: "h1" };
    let thread = "\t<thread index=\"1\">
\t\t<realtime metric=\"s\">2.000</realtime>
\t\t<throughput metric=\"KB/s\">125000.000</throughput>
\t\t<throughput metric=\"MB/s\">125.000</throughput>
\t\t<throughput metric=\"mbps\">1000.000</throughput>
\t\t<avg_bytes_per_compl metric=\"B\">0.000</avg_bytes_per_compl>
\t</thread>\n\t<conns_tested>";
    assert!(xml(&result).contains(thread), "{}", xml(&result));
    assert!(xml(&result).contains("\t<tcp_average_rtt metric=\"us\">43</tcp_average_rtt>\n"));
    let json = json(&result);
    assert!(
        json.contains("\"tcpAverageRtt metric\": \"43 us\"") && !json.contains("tcp_retransmits")
    );
    let threads =
        "\"threads\": [{\"index\": \"0\", \"realTime\": {\"metric\": \"s\", \"value\": \"2.000\"}";
    assert!(json.contains(threads), "{json}");
}

#[test]
fn what_means_something_there_is_escaped() {
    assert_eq!(escaped("a<b>&\"'\u{1}\u{e9}"), "a&lt;b&gt;&amp;&quot;&apos; \u{e9}");
    assert_eq!(text("a\"\\\n\u{e9}"), "\"a\\\"\\\\\\u000a\u{e9}\"");
}
