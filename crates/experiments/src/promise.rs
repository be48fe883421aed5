//! What the links of a network promise of what is measured over them. How much that is says `theory`.

/// What links promise of a figure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Promise {
    /// Payload that arrives.
    Rate,
    /// Datagrams that do not.
    Lost,
    /// A round trip while nothing waits.
    IdleRoundTrip,
    /// A round trip through the queues that are full.
    FullRoundTrip,
    /// The connections of a run share alike.
    Fairness,
}
