//! The unit of an axis, for the page's script.

use pathscope_core::figure::Unit;
use serde::Serialize;

use crate::value::axis_unit;

/// A unit: numbers in base units are divided by its multiple.
#[derive(Debug, Serialize)]
pub struct UnitData {
    name: &'static str,
    multiple: f64,
}

/// The unit in which these are best read.
pub(super) fn unit(unit: Unit, values: impl Iterator<Item = f64>) -> UnitData {
    let (name, multiple) = axis_unit(unit, values);
    UnitData { name, multiple }
}
