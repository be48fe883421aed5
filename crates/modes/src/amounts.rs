//! What the flows of an end came to in a few numbers that can be added up over tests of any mode, for who serves many of them.
//!
//! Not here: which tests and whose, which whoever adds up knows; what a mode tells of its own tests (`results`).

use pathscope_core::record::{FlowError, FlowErrorKind};

use crate::end::EndedConnections;
use crate::sums::add_fields;

/// What an end sent, or what it received.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Moved {
    /// Bytes of payload, where those are counted.
    pub bytes: u64,
    /// Datagrams, where it is made of them.
    pub datagrams: u64,
    /// Pings, or echoes of them.
    pub pings: u64,
}

/// Both directions, and how flows ended.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Amounts {
    /// What left.
    pub sent: Moved,
    /// What came.
    pub received: Moved,
    /// Flows that ended: well, where that is counted, and those that failed, by what they failed of as far as that is known of each.
    pub ended: EndedConnections,
}

impl Amounts {
    /// These and those.
    pub fn add(&mut self, more: &Self) {
        for (sum, more) in [(&mut self.sent, more.sent), (&mut self.received, more.received)] {
            add_fields!(sum, more; bytes, datagrams, pings);
        }
        self.ended = self.ended.with(&more.ended);
    }

    /// With a flow that failed of this, where one did.
    #[must_use]
    pub fn with_error(mut self, error: Option<&FlowError>) -> Self {
        if let Some(error) = error {
            self.ended.fail(Some(error.kind));
        }
        self
    }

    /// Of a session that was lost before the other end had said what it received: none has ended well.
    #[must_use]
    pub fn unconfirmed(mut self) -> Self {
        let completed = std::mem::take(&mut self.ended.completed);
        self.ended.failed += completed;
        self.ended.network += completed;
        self
    }

    /// With how flows ended by the word of the other end, where that knows of more that failed, or of as many and of what: of a flow
    /// that comes damaged the end that sends hears no more than that it was broken off. Those of which this end knows nothing, since they
    /// were not made or were refused, are no flows of its.
    #[must_use]
    pub fn judged_with(self, there: &Self) -> Self {
        let all = |it: &EndedConnections| it.completed.saturating_add(it.failed);
        let (own, mut theirs) = (self.ended, there.ended);
        if all(&own) == 0 && theirs.completed == 0 {
            // Of a mode that counts none that ended well: one is told of, and one of which bytes came was made.
            let kinds =
                [(FlowErrorKind::Data, theirs.data), (FlowErrorKind::Protocol, theirs.protocol)];
            let mut ended = own;
            let told = kinds.into_iter().find(|&(_, times)| times > 0);
            told.into_iter().for_each(|(kind, _)| ended.fail(Some(kind)));
            return Self { ended, ..self };
        }
        let unknown = all(&theirs).saturating_sub(all(&own));
        theirs.failed = theirs.failed.saturating_sub(unknown);
        theirs.network = theirs.network.saturating_sub(unknown);
        let tells_more = |it: &EndedConnections| (it.failed, it.data, it.protocol);
        if tells_more(&theirs) <= tells_more(&own) {
            return self;
        }
        let failed = theirs.failed.min(all(&own));
        // No more than failed of anything, whatever is said.
        let [network, data, protocol] =
            [theirs.network, theirs.data, theirs.protocol].map(|kind| kind.min(failed));
        let completed = all(&own) - failed;
        Self { ended: EndedConnections { completed, failed, network, data, protocol }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(completed: u64, network: u64, data: u64) -> Amounts {
        let failed = network + data;
        let ended = EndedConnections { completed, failed, network, data, protocol: 0 };
        Amounts { ended, ..Amounts::default() }
    }

    #[test]
    fn a_flow_that_failed_at_either_end_has_failed_once_and_of_what_tells_more() {
        assert_eq!(ended(3, 1, 0).judged_with(&ended(3, 0, 1)), ended(3, 0, 1));
        assert_eq!(ended(3, 0, 1).judged_with(&ended(3, 1, 0)), ended(3, 0, 1));
        assert_eq!(ended(4, 0, 0).judged_with(&ended(2, 1, 1)), ended(2, 1, 1));
        assert_eq!(ended(2, 1, 1).judged_with(&Amounts::default()), ended(2, 1, 1));
        // Eight were refused; of those that were not, one failed there.
        assert_eq!(ended(12, 0, 0).judged_with(&ended(12, 8, 0)), ended(12, 0, 0));
        assert_eq!(ended(12, 0, 0).judged_with(&ended(11, 8, 1)), ended(11, 0, 1));
    }

    #[test]
    fn where_none_is_counted_that_ended_well_the_other_end_tells_of_one_that_failed() {
        let none = Amounts::default();
        assert_eq!(none.judged_with(&ended(0, 0, 1)), ended(0, 0, 1));
        assert_eq!(none.judged_with(&ended(0, 0, u64::MAX)), ended(0, 0, 1));
        // It may never have been made.
        assert_eq!(none.judged_with(&ended(0, 1, 0)), none);
        assert_eq!(ended(0, 1, 0).judged_with(&none), ended(0, 1, 0));
    }

    #[test]
    fn kinds_are_no_more_than_what_failed() {
        let told = EndedConnections { completed: 1, failed: 1, data: 9, ..Default::default() };
        let judged = ended(2, 0, 0).judged_with(&Amounts { ended: told, ..Amounts::default() });
        assert_eq!(judged, ended(1, 0, 1));
    }

    #[test]
    fn what_a_stranger_says_never_overflows() {
        let sent = Moved { bytes: u64::MAX, datagrams: 1, pings: 2 };
        let ended = EndedConnections { failed: u64::MAX, ..EndedConnections::default() };
        let mut sum = Amounts { sent, ended, ..Amounts::default() };
        sum.add(&sum.clone());
        assert_eq!(sum.sent, Moved { bytes: u64::MAX, datagrams: 2, pings: 4 });
        assert_eq!(sum.ended.failed, u64::MAX);
        let told = Amounts { ended: EndedConnections { completed: u64::MAX, ..ended }, ..sum };
        assert_eq!(Amounts::default().judged_with(&told), Amounts::default());
    }
}
