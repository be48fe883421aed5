//! What is said of a test beside what it is: what its client calls it, and what a program printed of it. Only kinds of peers whose words have
//! a place for these carry them.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes that a title may take as text of JSON: a line of what is printed begins with it.
const TITLE_BYTES: usize = 1_000;
/// Bytes that other data may take so. iperf3's servers read 8,192 of all that a client says, of which most is other than these.
const DATA_BYTES: usize = 6_000;

/// What a client says of a test beside what it is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Remarks {
    /// What it is called.
    pub title: Option<String>,
    /// Whatever its user wants to have kept with results at both ends.
    pub extra_data: Option<String>,
    /// Whether the client is to be told what the server's program prints of it.
    pub wants_output: bool,
}

impl Remarks {
    /// The option of the first that is said, if any is.
    pub fn option(&self) -> Option<&'static str> {
        let said = [
            ("--title", self.title.is_some()),
            ("--extra-data", self.extra_data.is_some()),
            ("--server-output", self.wants_output),
        ];
        said.iter().find(|(_, is_said)| *is_said).map(|(option, _)| *option)
    }

    /// Whether there is room for them on the wire; if not, which is too long, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        let texts =
            [("--title", &self.title, TITLE_BYTES), ("--extra-data", &self.extra_data, DATA_BYTES)];
        for (option, text, most) in texts {
            let bytes =
                text.as_ref().map_or(0, |text| Value::from(text.as_str()).to_string().len());
            if bytes > most {
                return Err(format!(
                    "{option} takes {bytes} bytes as JSON, and there is room for {most}: make it shorter"
                ));
            }
        }
        Ok(())
    }
}

/// What a program printed of a test, as the other end is told it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Printed {
    /// Lines for people.
    Text(String),
    /// A document for programs.
    Json(Value),
}

impl Printed {
    /// A document; none where this is no JSON.
    pub fn of_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self::Json)
    }

    /// A document in one line; nothing of lines for people.
    pub fn json_line(&self) -> Option<String> {
        match self {
            // It has other signs for orders to a terminal, but for the last of them, which stand in texts alone.
            Self::Json(value) => Some(value.to_string().chars().fold(String::new(), written)),
            Self::Text(_) => None,
        }
    }

    /// For people: nothing in it that a terminal takes for an order. What a stranger's program says is read by who has asked for it.
    pub fn for_people(&self) -> String {
        match self {
            Self::Text(text) => text.chars().map(harmless).collect(),
            // JSON has other signs in place of those that are orders, but for the last of them.
            Self::Json(value) => format!("{value:#}").chars().map(harmless).collect(),
        }
    }
}

fn written(mut text: String, character: char) -> String {
    if character.is_control() {
        // Writing to a text does not fail.
        let _ = write!(text, "\\u{:04x}", u32::from(character));
    } else {
        text.push(character);
    }
    text
}

fn harmless(character: char) -> char {
    if character.is_control() && !matches!(character, '\n' | '\t') {
        char::REPLACEMENT_CHARACTER
    } else {
        character
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_that_are_too_long_as_they_are_said_are_told_by_their_option() {
        let said = |title: &str, data: &str| Remarks {
            title: Some(title.to_owned()),
            extra_data: Some(data.to_owned()),
            wants_output: false,
        };
        assert_eq!(said(&"a".repeat(TITLE_BYTES - 2), &"b".repeat(DATA_BYTES - 2)).check(), Ok(()));
        assert_eq!(Remarks::default().check(), Ok(()));
        let long = said(&"a".repeat(TITLE_BYTES - 1), "");
        assert!(long.check().expect_err("it is too long").starts_with("--title takes 1001 bytes"));
        // A quotation mark takes two.
        let marks = said("", &"\"".repeat(DATA_BYTES / 2));
        assert!(marks.check().expect_err("it is too long").starts_with("--extra-data takes 6002"));
    }

    #[test]
    fn what_a_stranger_printed_gives_a_terminal_no_orders() {
        let text = Printed::Text("a\u{1b}[2Jb\tc\n\u{9b}d\r".to_owned());
        assert_eq!(text.for_people(), "a\u{fffd}[2Jb\tc\n\u{fffd}d\u{fffd}");
        let json = Printed::of_json("{\"a\":\"\\u001b\\u009b\"}").expect("it is JSON");
        assert_eq!(json.for_people(), "{\n  \"a\": \"\\u001b\u{fffd}\"\n}");
        assert_eq!(Printed::of_json("{"), None);
        assert_eq!(json.json_line().as_deref(), Some("{\"a\":\"\\u001b\\u009b\"}"));
    }
}
