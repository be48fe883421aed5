//! JSON text for people: indented as far as one reads, and what lies deeper each on one line. A document has lists of tens of thousands of
//! numbers there, which would take a line for each and spaces before that, most of its length.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// Lists and objects within so many others are on one line: rows of flows, the ends of an interval, the counters of a distribution.
const DEEPEST: usize = 6;

/// A value as such text.
pub(crate) fn to_string<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Indented::default()))?;
    String::from_utf8(text).map_err(|error| serde_json::Error::io(io::Error::other(error)))
}

/// Lays text out.
#[derive(Debug, Default)]
struct Indented {
    /// Lists and objects that are open.
    depth: usize,
    pretty: PrettyFormatter<'static>,
}

/// Has this written by whoever lays out the list or object that is open.
macro_rules! inside {
    ($self:ident.$call:ident($($argument:expr),*)) => {
        if $self.depth > DEEPEST {
            CompactFormatter.$call($($argument),*)
        } else {
            $self.pretty.$call($($argument),*)
        }
    };
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        inside!(self.begin_array(to))
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        let ended = inside!(self.end_array(to));
        self.depth -= 1;
        ended
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        inside!(self.begin_array_value(to, first))
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        inside!(self.end_array_value(to))
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        inside!(self.begin_object(to))
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        let ended = inside!(self.end_object(to));
        self.depth -= 1;
        ended
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        inside!(self.begin_object_key(to, first))
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        inside!(self.begin_object_value(to))
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        inside!(self.end_object_value(to))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_shallow_has_a_line_each_and_what_is_deep_one_for_all() {
        let shallow = json!({ "a": [1, { "b": [] }], "c": {}, "d": [[[[1, 2]]]] });
        let text = to_string(&shallow).expect("it can be written");
        assert_eq!(text, serde_json::to_string_pretty(&shallow).expect("it can be written"));
        let deep = json!([[[[[[[1, { "b": [2, 3] }], { "c": 4, "d": 5 }, 6]]]]]]);
        let text = to_string(&deep).expect("it can be written");
        let lines: Vec<&str> = text.lines().map(str::trim).skip(6).take(4).collect();
        assert_eq!(lines, [r#"[1,{"b":[2,3]}],"#, r#"{"c":4,"d":5},"#, "6", "]"]);
        assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), deep);
    }
}
