//! What all flows of an end receive together, where a transfer is of so many bytes in all and nobody says of which flow how many: a
//! server that sends until it is told to stop makes its streams as unequal as they come. Not here: how its end is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pathscope_core::id::Role;
use pathscope_core::quantity::Bytes;

use super::{Extent, Pattern};
use crate::conventions::StreamEnd;

/// Bytes that the flows of an end have received, those of all its workers together.
#[derive(Clone, Debug, Default)]
pub struct Together(Arc<AtomicU64>);

/// A transfer that is over when all flows together have received so much.
#[derive(Clone, Debug)]
pub struct JointTransfer {
    together: Together,
    all: u64,
}

impl JointTransfer {
    /// That of an end where flows receive which end like this, of so many connections each way; none where each has its own end.
    pub fn of(
        extent: Extent,
        (pattern, connections): (Pattern, u32),
        (role, end): (Role, StreamEnd),
        together: Option<&Together>,
    ) -> Option<Self> {
        let Extent::TransferBytes(Bytes(each)) = extent else { return None };
        let is_joint = end == StreamEnd::Stopped
            && role == Role::Client
            && pattern.is_one_way()
            && pattern.sends(Role::Server);
        let together = together.filter(|_| is_joint)?.clone();
        Some(Self { together, all: each.saturating_mul(connections.into()) })
    }

    /// So many bytes have come on a flow. Those of them that are of the transfer: what comes beyond its sum is not.
    #[inline]
    pub fn take(&self, bytes: u64) -> u64 {
        let before = self.together.0.fetch_add(bytes, Ordering::Relaxed);
        self.all.saturating_sub(before).min(bytes)
    }

    /// Whether all of it has come.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.together.0.load(Ordering::Relaxed) >= self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_take_of_it_what_is_left_however_unequal_they_are() {
        let (together, each) = (Together::default(), Extent::TransferBytes(Bytes(100)));
        let client = (Role::Client, StreamEnd::Stopped);
        let of = || JointTransfer::of(each, (Pattern::Bidir, 3), client, Some(&together));
        let (one, other) = (of().expect("it is joint"), of().expect("it is joint"));
        assert_eq!((one.take(250), other.take(40), other.is_over()), (250, 40, false));
        assert_eq!((one.take(30), one.is_over(), other.is_over()), (10, true, true));
        assert_eq!(other.take(7), 0);
    }

    #[test]
    fn it_is_joint_where_a_client_alone_says_when_its_server_stops() {
        let together = Together::default();
        let is_joint = |extent, pattern, end| {
            JointTransfer::of(extent, (pattern, 2), end, Some(&together)).is_some()
        };
        let each = Extent::TransferBytes(Bytes(1));
        let client = (Role::Client, StreamEnd::Stopped);
        assert!(is_joint(each, Pattern::Pull, client));
        for (extent, pattern, end) in [
            (each, Pattern::Push, client),
            (each, Pattern::Pull, (Role::Server, StreamEnd::Stopped)),
            (each, Pattern::Pull, (Role::Client, StreamEnd::Told)),
            (Extent::DurationNs(pathscope_core::quantity::Period(1)), Pattern::Pull, client),
        ] {
            assert!(!is_joint(extent, pattern, end), "{extent:?} {pattern:?} {end:?}");
        }
    }
}
