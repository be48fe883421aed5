//! What a result says of a control connection that was made anew, or that the path has damaged.

use crate::findings::RunCaveat;
use pathscope_core::quantity::count;
use pathscope_core::record::Caveat;
use pathscope_peers::dialogue::Renewals;

/// The caveat, where there is anything to say. `is_whole`: the run came to its end.
pub(crate) fn caveat(renewals: Renewals, is_whole: bool) -> Option<Caveat> {
    let Renewals { made, .. } = renewals;
    let damaged = renewals.damaged();
    let times = match made {
        0 => "was not made anew".to_owned(),
        1 => "was made anew once".to_owned(),
        made => format!("was made anew {} times", count(made.into())),
    };
    // Of a run that failed, the last of it may never have come through.
    let again = |before: &str| {
        let text = format!("{before} said again, so that no figure suffers from it");
        if is_whole { text } else { String::new() }
    };
    let (messages, each) = match damaged {
        1 => ("a message".to_owned(), "it"),
        damaged => (format!("{} messages", count(damaged.into())), "each"),
    };
    let text = match damaged {
        0 if made == 0 => return None,
        0 => format!(
            "the control connection broke and {times}{}",
            again("; what was said on it was")
        ),
        _ => format!(
            "the path damaged {messages} of the control connection, which {times}; {each} was found by its checksum{}, \
             but a path that damages these damages data, too",
            again(" and")
        ),
    };
    Some(Caveat::new(RunCaveat::ControlConnectionRenewed, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_damaged_words_is_told_as_it_is() {
        let told = |made, damaged_here, is_whole| {
            let renewals = Renewals { made, damaged_here, damaged_there: 0 };
            caveat(renewals, is_whole).map(|caveat| caveat.text)
        };
        assert_eq!(told(0, 0, true), None);
        let text = told(1, 1, true).expect("it is told");
        assert!(text.contains("was made anew once") && text.contains("said again"), "{text}");
        let text = told(4, 5, false).expect("it is told");
        assert!(text.contains("5 messages") && text.contains("made anew 4 times"), "{text}");
        assert!(!text.contains("said again"), "its run failed: {text}");
        let text = told(1, 0, false).expect("it is told");
        assert_eq!(text, "the control connection broke and was made anew once");
    }
}
