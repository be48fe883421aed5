//! What limited a run, in every mode: the limit, whether that is sure, and what it rests on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Finding as _;
use crate::findings;
use crate::quantity::ratio;

/// What limited a run, and how that is known.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Verdict {
    /// What held the run back.
    pub limit: Limit,
    /// Whether nothing speaks for another limit, and what decided it is well beyond its threshold. Where it is not, the
    /// sentence says `probably`, and why. Earlier documents do not say.
    #[serde(default)]
    pub sure: Option<bool>,
    /// A sentence.
    pub text: String,
    /// The figures it rests on, most telling first.
    pub evidence: Vec<Evidence>,
    /// What to do about that limit, as the list of findings has it: a fragment. Earlier documents do not say.
    #[serde(default)]
    pub remedy: Option<String>,
}

findings! {
    /// What can hold a transfer back.
    #[derive(Deserialize, Hash, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Limit {
        ConfiguredRate: "configured_rate", "the rate that was asked for",
            "a higher --rate, or none";
        ConfiguredPauses: "configured_pauses", "the pauses that were asked for between bursts",
            "a shorter --burst-delay, or a larger --burst-count";
        Turns: "turns", "that both ends send in turns: each waits for the other's last byte",
            "a larger --segments, or --pattern duplex";
        SenderStopped: "sender_stopped", "the sending end's program, which stood still",
            "look for what suspends, freezes or pauses that machine, and repeat";
        ReceiverStopped: "receiver_stopped", "the receiving end's program, which stood still",
            "look for what suspends, freezes or pauses that machine, and repeat";
        SenderCpu: "sender_cpu", "the sending end's processor",
            "more connections on more processors; nothing else beside it; a faster machine";
        ReceiverCpu: "receiver_cpu", "the receiving end's processor",
            "more connections on more processors; nothing else beside it; a faster machine";
        ReceiveWindow: "receive_window", "the window that the receiver offered",
            "a larger --receive-buffer, or more connections";
        SendBuffer: "send_buffer", "the sender's socket buffer",
            "a larger --send-buffer, or more connections";
        Network: "network", "the path: its capacity, its queue or its loss, as seen by congestion control",
            "it is what was to be measured; what is lost and sent again stands beside it";
        SenderLate: "sender_late", "the sender: frames left late, or not at all",
            "give that machine less to do, or ask for a lower rate";
        Sender: "sender", "the sender, whatever it is there that goes no faster",
            "look at that machine's processors and programs while it runs";
        ReceiverSocket: "receiver_socket", "the receiver's socket, which had no room for what the network brought",
            "a larger --receive-buffer, or a receiver that is faster";
        NetworkLoss: "network_loss", "loss on the path",
            "it is what was to be measured; a search for the highest rate without loss says where it begins";
        NetworkDelay: "network_delay", "delay on the path",
            "a larger --buffer-depth rides it out, where so much delay may be";
        Damage: "damage", "data that was altered on the path",
            "repeat over another path, with offloads switched off, and see docs/method/verification.md";
        Undetermined: "undetermined", "nothing stands out",
            "repeat for longer, with nothing else beside it";
        #[serde(other)]
        Unknown: "unknown", "a limit that this version does not know",
            "show the result with the version that wrote it";
    }
}

impl Verdict {
    /// A verdict that nothing speaks against; what is undetermined is never sure.
    pub fn new(limit: Limit, text: impl Into<String>, evidence: Vec<Evidence>) -> Self {
        let sure = Some(!matches!(limit, Limit::Undetermined | Limit::Unknown));
        let remedy = Some(limit.definition().remedy.to_owned());
        Self { limit, sure, text: text.into(), evidence, remedy }
    }

    /// The same verdict, with all that speaks against it: one that anything does is not sure, and says so.
    #[must_use]
    pub fn doubted(mut self, doubts: &[String]) -> Self {
        if !doubts.is_empty() && self.sure == Some(true) {
            self.sure = Some(false);
            self.text = format!("probably {} (not sure: {})", self.text, doubts.join("; "));
        }
        self
    }

    /// The same verdict, with the evidence of these names marked as what decided it: those that a reader is shown
    /// first. A name that there is no evidence of marks nothing.
    #[must_use]
    pub fn decided_by(mut self, names: &[&str]) -> Self {
        for evidence in &mut self.evidence {
            evidence.decides = names.contains(&evidence.name.as_str());
        }
        self
    }
}

/// One figure that a verdict rests on.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Evidence {
    /// What was observed: `sender_cpu_share`.
    pub name: String,
    /// How much, in the unit of the name; shares are of one.
    pub value: f64,
    /// A few words for people.
    pub text: String,
    /// Whether the verdict would be another without this figure. Two at most are marked; earlier documents mark
    /// none.
    #[serde(default)]
    pub decides: bool,
}

impl Evidence {
    /// A figure in the unit of its name, and a few words for people.
    pub fn new(name: &str, value: f64, text: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value, text: text.into(), decides: false }
    }

    /// A share of one, and of what.
    pub fn share(name: &str, value: f64, of: &str) -> Self {
        Self::new(name, value, format!("{} {of}", ratio(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_called_the_same_in_documents_and_in_the_list() {
        for definition in Limit::ALL {
            let limit: Limit = serde_json::from_str(&format!("\"{}\"", definition.name))
                .expect("the name is a value");
            assert_eq!(limit.definition(), definition);
        }
    }

    #[test]
    fn a_limit_of_a_later_version_is_read() {
        let limit: Limit =
            serde_json::from_str("\"quantum_entanglement\"").expect("unknown is a value");
        assert_eq!(limit, Limit::Unknown);
    }

    #[test]
    fn evidence_of_an_earlier_version_decides_nothing_and_a_verdict_marks_its_own() {
        let old: Evidence = serde_json::from_str(r#"{"name":"busy","value":0.9,"text":"90 %"}"#)
            .expect("the mark may be missing");
        assert!(!old.decides);
        let evidence = vec![old, Evidence::share("cpu", 0.2, "of a processor")];
        let verdict = Verdict::new(Limit::Network, "", evidence);
        let marked = verdict.decided_by(&["busy", "no such figure"]);
        let decides: Vec<bool> = marked.evidence.iter().map(|evidence| evidence.decides).collect();
        assert_eq!(decides, [true, false]);
    }

    #[test]
    fn a_verdict_is_sure_until_something_speaks_against_it() {
        let said = || Verdict::new(Limit::Network, "the path: it is full", Vec::new());
        let sure = said().doubted(&[]);
        assert_eq!((sure.sure, sure.text.as_str()), (Some(true), "the path: it is full"));
        let unsure = said().doubted(&["few looks".to_owned(), "other programs".to_owned()]);
        assert_eq!(unsure.sure, Some(false));
        assert_eq!(
            unsure.text,
            "probably the path: it is full (not sure: few looks; other programs)"
        );
        // What is not known is no guess either.
        let none = Verdict::new(Limit::Undetermined, "nothing stands out", Vec::new());
        let none = none.doubted(&["few looks".to_owned()]);
        assert_eq!((none.sure, none.text.as_str()), (Some(false), "nothing stands out"));
    }

    #[test]
    fn a_verdict_of_an_earlier_version_does_not_say_whether_it_is_sure() {
        let old: Verdict =
            serde_json::from_str(r#"{"limit":"network","text":"the path","evidence":[]}"#)
                .expect("the word may be missing");
        assert_eq!((old.sure, old.remedy), (None, None));
    }
}
