//! What a changed message is like: changed in its JSON or its bytes under checks that hold, or on the wire.

use serde_json::{Map, Value, json};

use crate::random::Random;
use crate::wire::{Framing, Message};

/// What is sent instead of a message.
#[derive(Clone, Debug)]
pub enum Saying {
    /// A message, in good frames.
    Message(Message),
    /// Bytes as they are.
    Bytes(Vec<u8>),
    /// Nothing more: the connection is closed.
    Close,
}

/// Types that are put in place of others: all there are, and some that there are not.
const KINDS: [u16; 22] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf, 0x10, 0x11, 0x12, 0x8001, 0x8002,
    0xffff,
];

/// One change of a message; `others` are recorded messages that may be said in between.
pub fn changed(
    random: &mut Random,
    message: &Message,
    others: &[Message],
    framing: &mut Framing,
) -> Vec<Saying> {
    let same = || Saying::Message(message.clone());
    let with_body = |body: Vec<u8>| Saying::Message(Message { kind: message.kind, body });
    match random.below(16) {
        // Most of them: whoever looks at the checksum first sees nothing.
        0..=7 => vec![with_body(changed_json(random, &message.body))],
        8 => vec![with_body(flipped(random, &message.body))],
        9 => {
            let end = random.below(message.body.len() + 1);
            vec![with_body(message.body[..end].to_vec())]
        }
        10 => {
            let kind = random.of(&KINDS).copied().unwrap_or_default();
            vec![Saying::Message(Message { kind, body: message.body.clone() })]
        }
        11 => vec![same(); 2 + random.below(20)],
        12 => {
            let other = random.of(others).cloned();
            let mut all: Vec<Saying> = other.map(Saying::Message).into_iter().collect();
            all.insert(random.below(all.len() + 1), same());
            all
        }
        // Left out: the next one comes in its place.
        13 => Vec::new(),
        14 => {
            let bytes = framing.encode(message.kind, &message.body);
            vec![Saying::Bytes(damaged(random, bytes))]
        }
        _ => {
            let bytes = framing.encode(message.kind, &message.body);
            let end = random.below(bytes.len() + 1);
            vec![Saying::Bytes(bytes[..end].to_vec()), Saying::Close]
        }
    }
}

/// A frame that is damaged, too long or too short for what it says, or out of its order.
fn damaged(random: &mut Random, bytes: Vec<u8>) -> Vec<u8> {
    match random.below(3) {
        0 => flipped(random, &bytes),
        1 => [bytes.clone(), bytes].concat(),
        _ => {
            let length = random.below(300);
            [bytes, random.bytes(length)].concat()
        }
    }
}

/// One to three bits turned over.
pub fn flipped(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
    bytes
}

/// A body whose JSON is changed in one place; what is no JSON has a bit turned over.
pub fn changed_json(random: &mut Random, body: &[u8]) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else {
        return flipped(random, body);
    };
    let places = count(&value);
    let mut at = random.below(places);
    change_at(random, &mut value, &mut at);
    value.to_string().into_bytes()
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(count).sum(),
        Value::Object(all) => all.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes the value of that number in the order in which they stand.
fn change_at(random: &mut Random, value: &mut Value, at: &mut usize) -> bool {
    if *at == 0 {
        change(random, value);
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(all) => all.iter_mut().any(|value| change_at(random, value, at)),
        Value::Object(all) => all.values_mut().any(|value| change_at(random, value, at)),
        _ => false,
    }
}

fn change(random: &mut Random, value: &mut Value) {
    if let Value::Object(all) = value
        && random.happens(70)
    {
        return change_object(random, all);
    }
    *value = match random.below(20) {
        0 => Value::Null,
        1 => json!(0),
        2 => json!(1),
        3 => json!(-1),
        4 => json!(u64::MAX),
        5 => json!(i64::MIN),
        6 => json!(1_u64 << random.below(64)),
        7 => json!(1e308),
        8 => json!(0.1),
        9 => json!(""),
        10 => json!("\u{1b}[2J\u{7}\u{0}\r\n\u{202e}"),
        11 => json!("x".repeat(10_000)),
        12 => json!([]),
        13 => json!({}),
        14 => nested(random.below(200)),
        15 => Value::Array(vec![value.clone(); 1 + random.below(3_000)]),
        16 => json!(true),
        17 => json!(random.next() % 1_000_000),
        18 => json!(random.next().to_string()),
        _ => match value.as_u64() {
            Some(number) => json!(number.wrapping_add(1)),
            None => Value::Null,
        },
    };
}

fn change_object(random: &mut Random, all: &mut Map<String, Value>) {
    let keys: Vec<String> = all.keys().cloned().collect();
    let (Some(one), Some(other)) = (random.of(&keys).cloned(), random.of(&keys).cloned()) else {
        all.insert("\u{1b}]0;\u{7}".to_owned(), json!(0));
        return;
    };
    match random.below(3) {
        0 => {
            all.remove(&one);
        }
        1 => {
            let value = all.remove(&one).unwrap_or_default();
            all.insert(other, value);
        }
        _ => {
            let value = all.get(&one).cloned().unwrap_or_default();
            all.insert("\u{1b}[31m".repeat(1 + random.below(40)), value);
        }
    }
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(0), |inner, _| Value::Array(vec![inner]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Version, kind};

    #[test]
    fn the_same_seed_makes_the_same_changes_and_another_one_others() {
        let message =
            Message { kind: kind::REPORT, body: br#"{"a":[1,{"b":2}],"c":"d"}"#.to_vec() };
        let all = |seed| -> Vec<String> {
            let mut random = Random(seed);
            let mut framing = Framing::new(Version::Two);
            let others = [message.clone()];
            (0..500)
                .map(|_| format!("{:?}", changed(&mut random, &message, &others, &mut framing)))
                .collect()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
    }

    #[test]
    fn every_place_of_a_body_is_reached() {
        let body = br#"{"a":[1,{"b":2}],"c":3}"#;
        let mut random = Random(1);
        let mut kept = [0; 3];
        for _ in 0..2_000 {
            let text = String::from_utf8_lossy(&changed_json(&mut random, body)).into_owned();
            for (kept, part) in kept.iter_mut().zip(["\"a\":[1", "\"b\":2", "\"c\":3"]) {
                *kept += u32::from(text.contains(part));
            }
        }
        assert!(kept.iter().all(|kept| (100..1_950).contains(kept)), "{kept:?}");
    }
}
