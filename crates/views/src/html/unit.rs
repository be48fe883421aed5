//! The unit of an axis as data for the page's script. Not how a number is written.

use pathscope_core::figure::Unit;
use serde::Serialize;

use crate::value::axis_unit;

/// A unit: numbers in base units are divided by its multiple.
#[derive(Debug, Serialize)]
pub struct UnitData {
    name: &'static str,
    multiple: f64,
}

impl UnitData {
    /// The one in which the largest of these is best read.
    pub fn of(unit: Unit, values: impl Iterator<Item = f64>) -> Self {
        let (name, multiple) = axis_unit(unit, values);
        Self { name, multiple }
    }
}
