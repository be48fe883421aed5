//! Sentences of ours in the words of another tool's users: where one names an option, theirs stands there. Not what they mean.

use std::borrow::Cow;

/// Words of ours, and those of the tool for the same. Of two that begin alike the longer stands first.
pub type Spellings = &'static [(&'static str, &'static str)];

/// The text with words of the tool in the place of ours, where each stands by itself.
pub fn spelled(text: &str, spellings: Spellings) -> Cow<'_, str> {
    spellings.iter().fold(Cow::Borrowed(text), |text, &(ours, theirs)| {
        if text.contains(ours) { Cow::Owned(replaced(&text, ours, theirs)) } else { text }
    })
}

fn replaced(text: &str, ours: &str, theirs: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(ours) {
        let (before, from) = rest.split_at(place);
        let behind = &from[ours.len()..];
        // `--port` is no part of `--port-file`, nor of `--lagscope--port`.
        let goes_on = |it: char| it.is_alphanumeric() || it == '-';
        let is_part = before.ends_with(goes_on) || behind.starts_with(goes_on);
        done.extend([before, if is_part { ours } else { theirs }]);
        rest = behind;
    }
    done.push_str(rest);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPELLINGS: Spellings =
        &[("--lagscope-port", "-p"), ("--port", "-p"), ("'pathscope server'", "'lagscope -r'")];

    #[test]
    fn options_are_told_as_the_tool_has_them() {
        for (ours, theirs) in [
            ("name its port with --port", "name its port with -p"),
            ("--port, --lagscope-port: in use", "-p, -p: in use"),
            ("--port-file and -–port", "--port-file and -–port"),
            ("start it ('pathscope server')", "start it ('lagscope -r')"),
            ("nothing of it", "nothing of it"),
            ("", ""),
        ] {
            assert_eq!(spelled(ours, SPELLINGS), theirs);
            assert_eq!(spelled(ours, &[]), ours);
        }
    }
}
