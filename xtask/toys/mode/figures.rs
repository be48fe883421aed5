//! What a toy's test says, figure by figure.

use crate::figures::{FigureDefinition, Unit};

const DEFINED: &str = "figures.md";

/// All of them.
pub const FIGURES: &[FigureDefinition] = &[
    FigureDefinition::higher("received", "received", Unit::Count)
        .means("numbers that the server has received", DEFINED),
    FigureDefinition::lower("late", "late", Unit::Count)
        .means("numbers that left after the next one was due", DEFINED),
];
