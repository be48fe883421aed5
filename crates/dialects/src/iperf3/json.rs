//! JSON as iperf3 writes it: members in their order, tabs or nothing between them, whole numbers without decimals. Not here: what is written.

use std::fmt::Write as _;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    Whole(u64),
    Double(f64),
    Text(String),
    List(Vec<Self>),
    Object(Object),
    /// JSON as somebody else wrote it, in one line.
    Written(String),
}

/// Members in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object(Vec<(&'static str, Value)>);

impl Object {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.add(key, value);
        self
    }

    /// Where there is one.
    pub fn with_some(self, key: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub fn add(&mut self, key: &'static str, value: impl Into<Value>) {
        self.0.push((key, value.into()));
    }

    /// In several lines, each member behind tabs.
    pub fn pretty(&self) -> String {
        let mut text = String::new();
        object(self, Some(0), &mut text);
        text
    }

    /// In one line.
    pub fn line(&self) -> String {
        let mut text = String::new();
        object(self, None, &mut text);
        text
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Whole(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Whole(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Self>) -> Self {
        Self::List(value)
    }
}

impl From<Object> for Value {
    fn from(value: Object) -> Self {
        Self::Object(value)
    }
}

/// Text takes whatever is written to it.
fn value(value: &Value, depth: Option<usize>, text: &mut String) {
    match value {
        Value::Bool(value) => {
            let _ = write!(text, "{value}");
        }
        Value::Whole(value) => {
            let _ = write!(text, "{value}");
        }
        // The shortest digits that are this number; JSON has no word for what is none.
        Value::Double(value) if value.is_finite() => {
            let _ = write!(text, "{value}");
        }
        Value::Double(_) => text.push_str("null"),
        Value::Text(value) => string(value, text),
        Value::List(values) => list(values, depth, text),
        Value::Object(value) => object(value, depth, text),
        Value::Written(value) => text.push_str(value),
    }
}

fn list(values: &[Value], depth: Option<usize>, text: &mut String) {
    text.push('[');
    for (place, each) in values.iter().enumerate() {
        if place > 0 {
            text.push_str(if depth.is_some() { ", " } else { "," });
        }
        value(each, depth.map(|depth| depth + 1), text);
    }
    text.push(']');
}

fn object(Object(members): &Object, depth: Option<usize>, text: &mut String) {
    let line = |depth: usize, text: &mut String| {
        text.push('\n');
        text.extend(std::iter::repeat_n('\t', depth));
    };
    text.push('{');
    for (place, (key, each)) in members.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        if let Some(depth) = depth {
            line(depth + 1, text);
        }
        string(key, text);
        text.push_str(if depth.is_some() { ":\t" } else { ":" });
        value(each, depth.map(|depth| depth + 1), text);
    }
    if let Some(depth) = depth {
        line(depth, text);
    }
    text.push('}');
}

fn string(value: &str, text: &mut String) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            control if control.is_control() => {
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_the_original_does() {
        let stream =
            Object::new().with("socket", 5_u32).with("seconds", 1.000_138).with("end", 2.0);
        let document = Object::new()
            .with("streams", vec![stream.clone().into(), stream.into()])
            .with("omitted", false)
            .with("none", Vec::new())
            .with("empty", Object::new())
            .with("text", "a\"b\\\n\u{1}é")
            .with("nothing", f64::NAN);
        assert_eq!(
            document.pretty(),
            "{\n\t\"streams\":\t[{\n\t\t\t\"socket\":\t5,\n\t\t\t\"seconds\":\t1.000138,\n\t\t\t\"end\":\t2\n\t\t}, \
             {\n\t\t\t\"socket\":\t5,\n\t\t\t\"seconds\":\t1.000138,\n\t\t\t\"end\":\t2\n\t\t}],\n\t\"omitted\":\tfalse,\n\
             \t\"none\":\t[],\n\t\"empty\":\t{\n\t},\n\t\"text\":\t\"a\\\"b\\\\\\n\\u0001é\",\n\t\"nothing\":\tnull\n}"
        );
        assert_eq!(
            document.line(),
            "{\"streams\":[{\"socket\":5,\"seconds\":1.000138,\"end\":2},{\"socket\":5,\"seconds\":1.000138,\"end\":2}],\
             \"omitted\":false,\"none\":[],\"empty\":{},\"text\":\"a\\\"b\\\\\\n\\u0001é\",\"nothing\":null}"
        );
    }
}
