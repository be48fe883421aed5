//! Bodies of messages: JSON from a stranger, made harmless before it becomes types.
//!
//! What a stranger says may reach a terminal, so no control character survives. It must not fill memory, so a body is
//! walked through before anything of it is kept: its lists, objects and depth are counted, and more than any message has
//! is an error at the first entry too many. What is read then becomes types at once, and nothing is kept of fields that
//! are not known; those are ignored.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;

use serde::Serialize;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use thiserror::Error;

/// Entries of a list. The longest that is ever sent is a distribution's, of some 27,000 buckets.
const LIST_MOST: usize = 32_768;
/// Characters of a text.
const TEXT_MOST: usize = 2_000;
/// Lists and objects in one another. A row of a report stands in some ten.
const DEPTH_MOST: u32 = 32;
/// Bytes of a body for each of its objects: the shortest of which there are many, a flow's total, has 30. An object of two
/// bytes may become some hundred.
const OBJECT_BYTES: usize = 24;
/// And so many in any body: short ones have few, and most of those are empty.
const OBJECTS_LEAST: usize = 16;

/// Why a body cannot be read.
#[derive(Debug, Error)]
pub enum BodyError {
    /// Not the JSON that was expected.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// More entries than any list has.
    #[error("a list of {0} entries is longer than {LIST_MOST}")]
    LongList(usize),
    /// More objects than any message of its length has.
    #[error("a body of {bytes} bytes has more than {most} objects")]
    ManyObjects {
        /// Its length.
        bytes: usize,
        /// The most that one has of it.
        most: usize,
    },
    /// Lists and objects in one another.
    #[error("lists and objects stand in one another more than {DEPTH_MOST} deep")]
    Deep,
    /// What should be totals in few bytes, and is not.
    #[error("{0} bytes are no whole number of totals")]
    Totals(usize),
    /// The name of a field is no name.
    #[error("a field has a name that is too long or holds control characters")]
    WildName,
}

/// Reads a body.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BodyError> {
    Ok(Tame::of(bytes)?.read()?)
}

/// A body that is JSON, fills no memory and holds nothing that steers a terminal.
#[derive(Debug)]
pub(super) struct Tame<'bytes>(Cow<'bytes, [u8]>);

impl<'bytes> Tame<'bytes> {
    /// This body; its texts replaced where they have to be.
    pub fn of(bytes: &'bytes [u8]) -> Result<Self, BodyError> {
        let walk = Walk::new(bytes.len(), None);
        walk.through(bytes)?;
        if !walk.found_wild_text.get() {
            return Ok(Self(Cow::Borrowed(bytes)));
        }
        let walk = Walk::new(bytes.len(), Some(Vec::with_capacity(bytes.len())));
        walk.through(bytes)?;
        Ok(Self(Cow::Owned(walk.rewritten.into_inner().unwrap_or_default())))
    }

    /// As this type, where it is one.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }
}

/// One walk through a body.
struct Walk {
    bytes: usize,
    objects: Cell<usize>,
    found_wild_text: Cell<bool>,
    /// What is more to the point than what the parser makes of it.
    error: Cell<Option<BodyError>>,
    /// The body anew, with its texts tamed, where that is wanted.
    rewritten: RefCell<Option<Vec<u8>>>,
}

impl Walk {
    const fn new(bytes: usize, rewritten: Option<Vec<u8>>) -> Self {
        Self {
            bytes,
            objects: Cell::new(0),
            found_wild_text: Cell::new(false),
            error: Cell::new(None),
            rewritten: RefCell::new(rewritten),
        }
    }

    fn through(&self, bytes: &[u8]) -> Result<(), BodyError> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let walked = Step { walk: self, depth: 0, separator: "" }.deserialize(&mut json);
        let walked = walked.and_then(|()| json.end());
        walked.map_err(|error| self.error.take().unwrap_or(BodyError::Json(error)))
    }

    /// It is not to be read.
    fn refuse<E: Error>(&self, error: BodyError) -> E {
        let said = E::custom(&error);
        self.error.set(Some(error));
        said
    }

    /// One more object.
    fn count_object<E: Error>(&self) -> Result<(), E> {
        let most = self.bytes / OBJECT_BYTES + OBJECTS_LEAST;
        self.objects.set(self.objects.get() + 1);
        if self.objects.get() <= most {
            return Ok(());
        }
        Err(self.refuse(BodyError::ManyObjects { bytes: self.bytes, most }))
    }

    /// This comes next in the body anew.
    fn put(&self, text: &str) {
        if let Some(bytes) = &mut *self.rewritten.borrow_mut() {
            bytes.extend_from_slice(text.as_bytes());
        }
    }

    /// This value does.
    fn write<T: Serialize + ?Sized, E: Error>(&self, value: &T) -> Result<(), E> {
        match &mut *self.rewritten.borrow_mut() {
            Some(bytes) => serde_json::to_writer(bytes, value).map_err(E::custom),
            None => Ok(()),
        }
    }
}

/// A value in a walk.
#[derive(Clone, Copy)]
struct Step<'walk> {
    walk: &'walk Walk,
    depth: u32,
    /// What stands between it and what came before.
    separator: &'static str,
}

impl Step<'_> {
    /// A value in a list or an object.
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MOST {
            return Err(self.walk.refuse(BodyError::Deep));
        }
        Ok(Self { depth: self.depth + 1, separator: "", ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Step<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.walk.put(self.separator);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Step<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.walk.write(&())
    }

    fn visit_bool<E: Error>(self, it: bool) -> Result<(), E> {
        self.walk.write(&it)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.walk.write(&number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.walk.write(&number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.walk.write(&number)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if is_tame(text) {
            return self.walk.write(text);
        }
        self.walk.found_wild_text.set(true);
        if self.walk.rewritten.borrow().is_none() {
            return Ok(());
        }
        self.walk.write(&tamed(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut entry = self.deeper()?;
        let mut entries = 0;
        self.walk.put("[");
        while list.next_element_seed(entry)?.is_some() {
            entry.separator = ",";
            entries += 1;
            if entries > LIST_MOST {
                return Err(self.walk.refuse(BodyError::LongList(entries)));
            }
        }
        self.walk.put("]");
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let value = self.deeper()?;
        self.walk.count_object()?;
        self.walk.put("{");
        let mut separator = "";
        while fields.next_key_seed(Name { walk: self.walk, separator })?.is_some() {
            separator = ",";
            fields.next_value_seed(value)?;
        }
        self.walk.put("}");
        Ok(())
    }
}

/// The name of a field, and what stands before it.
struct Name<'walk> {
    walk: &'walk Walk,
    separator: &'static str,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        // Error messages quote names.
        if !is_tame(name) {
            return Err(self.walk.refuse(BodyError::WildName));
        }
        self.walk.put(self.separator);
        self.walk.write(name)?;
        self.walk.put(":");
        Ok(())
    }
}

fn is_tame(text: &str) -> bool {
    text.len() <= TEXT_MOST && !text.chars().any(is_wild)
}

fn tamed(text: &str) -> String {
    let wild_replaced = |character| if is_wild(character) { '\u{fffd}' } else { character };
    let mut short: String = text.chars().take(TEXT_MOST).map(wild_replaced).collect();
    if text.chars().nth(TEXT_MOST).is_some() {
        short.push('…');
    }
    short
}

/// Moves a cursor, colours, rings, or turns the direction of what follows (Unicode TR 9).
fn is_wild(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_survives() {
        let text: String = read(br#""a\u001b[2Jb\u009bc\u202ed\n""#).expect("a text");
        assert_eq!(text, "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\u{fffd}");
        let nested: Vec<Vec<String>> = read(br#"[["\u0007"]]"#).expect("texts");
        assert_eq!(nested, [["\u{fffd}"]]);
        let name = read::<Value>(br#"[{"\u001b":1}]"#).expect_err("an escape in a name");
        assert!(matches!(name, BodyError::WildName));
    }

    #[test]
    fn long_texts_are_cut_and_long_lists_refused() {
        let long = format!("\"{}\"", "é".repeat(TEXT_MOST + 1));
        let text: String = read(long.as_bytes()).expect("a text");
        assert_eq!(text.chars().count(), TEXT_MOST + 1);
        assert!(text.ends_with('…'));
        let list = format!("[{}0]", "0,".repeat(LIST_MOST));
        let error = read::<Vec<u8>>(list.as_bytes()).expect_err("a long list");
        assert_eq!(error.to_string(), "a list of 32769 entries is longer than 32768");
    }

    #[test]
    fn depth_is_an_error_and_no_overflow() {
        assert!(read::<Value>("[".repeat(100_000).as_bytes()).is_err());
        let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read::<Value>(deep(32).as_bytes()).is_ok());
        let error = read::<Value>(deep(33).as_bytes()).expect_err("too deep");
        assert!(matches!(error, BodyError::Deep), "{error}");
    }

    #[test]
    fn what_is_too_much_is_refused_where_it_becomes_so_and_not_at_the_end() {
        // None of these is whole: whoever read on would find that first.
        let list = format!("[{}", "0,".repeat(LIST_MOST + 1));
        let error = Tame::of(list.as_bytes()).expect_err("a long list");
        assert!(matches!(error, BodyError::LongList(32_769)), "{error}");
        let objects = format!("{{{}", r#""":{},"#.repeat(150_000));
        let error = Tame::of(objects.as_bytes()).expect_err("many objects");
        assert_eq!(error.to_string(), "a body of 900001 bytes has more than 37516 objects");
        let nested = "[".repeat(100_000);
        assert!(matches!(Tame::of(nested.as_bytes()), Err(BodyError::Deep)));
    }

    #[test]
    fn wild_text_is_replaced_and_all_else_left_as_it_is() {
        let body =
            r#"{"a":[null,true,-3,18446744073709551615,0.1,{}],"b":"\u001b","é":{"c":"d\""}}"#;
        let read: Value = read(body.as_bytes()).expect("it is tame");
        let expected = body.replace("\\u001b", "\u{fffd}");
        assert_eq!(read, serde_json::from_str::<Value>(&expected).expect("JSON"));
    }

    #[test]
    fn what_follows_a_body_is_an_error() {
        assert!(read::<Value>(b"{} {}").is_err() && read::<Value>(b"").is_err());
    }

    #[test]
    fn whole_numbers_keep_all_their_digits() {
        let number: u64 = read(b"18446744073709551615").expect("a number");
        assert_eq!(number, u64::MAX);
    }
}
