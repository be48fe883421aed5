//! What a toy's test says, figure by figure.

use crate::figure::group;

const DEFINED: &str = "figures.md";

group! {
    "toy", "Numbers in turn", told 100, at "summary.toy", for [];
    "received": Count Higher at "received", DEFINED, "numbers that the server has received";
    "late": Count Lower at "late", DEFINED, "numbers that left after the next one was due";
}
