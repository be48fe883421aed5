//! What can be found of a toy's test beside its figures.

use pathscope_core::findings;

findings! {
    /// What has to hold.
    pub(super) enum ToyCheck {
        InTurn: "in_turn", "each number that came was the one that was due, and all that left came",
            "look for what drops or changes bytes of a TCP connection";
    }
}

findings! {
    /// What to mind of the figures.
    pub(super) enum ToyCaveat {
        LateNumbers: "late_numbers", "numbers left after the next one was due",
            "a longer --tick, or less to do for this machine";
    }
}
