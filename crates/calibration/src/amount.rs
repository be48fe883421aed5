//! Numbers of all figures with their units, as people read them.

use pathscope_core::quantity;
use pathscope_modes::figures::Unit;

/// A number with its unit.
pub(crate) fn number(unit: Unit, number: f64) -> String {
    // Less than anything is measured to.
    if number.abs() < 1e-6 {
        return "0".to_owned();
    }
    let (sign, size) = (if number < 0.0 { "-" } else { "" }, number.abs());
    let size = match unit {
        Unit::BitRate => quantity::bit_rate(size),
        Unit::Duration | Unit::Distribution | Unit::Percentiles if size >= 1.0 => {
            quantity::duration_ns(size.round() as u64)
        }
        Unit::Duration | Unit::Distribution | Unit::Percentiles => format!("{size:.6} ns"),
        Unit::Bytes => format!("{size:.0} B"),
        Unit::Count => format!("{size:.0}"),
        Unit::Share => format!("{:.4} %", size * 100.0),
        Unit::PerSecond | Unit::Number | Unit::Dbm | Unit::Megahertz => format!("{size:.4}"),
    };
    format!("{sign}{size}")
}
