//! How a client finds out what kind of server is at an address: what it says at the port that this kind has by itself, and what an answer of
//! one begins with. Values; whoever asks has sockets and patience.

use pathscope_flow::Transport;

/// What is said to find out.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// Over what.
    pub transport: Transport,
    /// What is said first; nothing where servers of this kind speak first.
    pub says: Vec<u8>,
    /// The same in words, as people are told what was sent.
    pub in_words: &'static str,
    /// What it makes of what was heard, given what was said.
    pub answer: fn(said: &[u8], heard: &[u8]) -> Verdict,
}

/// What an answer tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It is a server of this kind.
    Known,
    /// It may be one: more is to come.
    More,
    /// It is none.
    Other,
}

impl Verdict {
    /// Of an answer that is to begin with these bytes.
    pub fn of_begin(heard: &[u8], begin: &[u8]) -> Self {
        let seen = heard.len().min(begin.len());
        match heard[..seen] == begin[..seen] {
            true if seen == begin.len() => Self::Known,
            true => Self::More,
            false => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_known_when_its_begin_is_whole() {
        for (heard, verdict) in [
            (&b""[..], Verdict::More),
            (b"ab", Verdict::More),
            (b"abc", Verdict::Known),
            (b"abcd", Verdict::Known),
            (b"b", Verdict::Other),
        ] {
            assert_eq!(Verdict::of_begin(heard, b"abc"), verdict);
        }
    }
}
