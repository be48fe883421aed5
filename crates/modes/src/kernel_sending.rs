//! How the kernel sends on the connections of some flows, as far as it bears on what they hand to it. Not here: what follows from it, which
//! is each mode's.

use pathscope_core::record::SocketFacts;

/// How the kernel sends on the connections of some flows, whose sockets are all set alike.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct KernelSending {
    /// The largest segment; absent: not known.
    pub segment_bytes: Option<usize>,
    /// Whether its congestion control lets packets out at a pace, as BBR does.
    pub is_paced: bool,
}

impl KernelSending {
    /// As one of these sockets is set.
    pub fn of(facts: &SocketFacts) -> Self {
        let control = facts.congestion_control.as_deref();
        Self {
            segment_bytes: facts.segment_bytes.and_then(|bytes| usize::try_from(bytes).ok()),
            is_paced: control.is_some_and(|name| name.starts_with("bbr")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_bbr_paces() {
        let of = |name: Option<&str>| {
            let congestion_control = name.map(str::to_owned);
            KernelSending::of(&SocketFacts { congestion_control, ..SocketFacts::default() })
                .is_paced
        };
        let paced: Vec<_> =
            ["bbr", "bbr2", "cubic", "reno", "dctcp"].map(|name| of(Some(name))).to_vec();
        assert_eq!(paced, [true, true, false, false, false]);
        assert!(!of(None));
    }
}
