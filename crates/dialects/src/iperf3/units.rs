//! Amounts and rates as iperf3 writes them: three digits, amounts in units of twos and rates in units of tens.

/// A unit that was asked for: `k` to `t` are bits, `K` to `T` bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Unit {
    /// From 1, kilo, to 4, tera.
    power: usize,
    is_bytes: bool,
}

/// What stands before the unit, from none to tera.
const PREFIXES: [&str; 5] = ["", "K", "M", "G", "T"];

impl Unit {
    /// That of `-f`.
    pub fn named(typed: &str) -> Option<Self> {
        let power = ["k", "m", "g", "t"].iter().position(|it| typed.eq_ignore_ascii_case(it))? + 1;
        Some(Self { power, is_bytes: typed.bytes().all(|it| it.is_ascii_uppercase()) })
    }
}

/// So many bytes.
pub(super) fn amount(bytes: u64) -> String {
    let (value, prefix) = suited(bytes as f64, 1_024.0);
    format!("{} {prefix}Bytes", three_digits(value))
}

/// So many bits a second.
pub(super) fn rate(bits_per_second: f64, unit: Option<Unit>) -> String {
    let Some(Unit { power, is_bytes }) = unit else {
        let (value, prefix) = suited(bits_per_second, 1_000.0);
        return format!("{} {prefix}bits/sec", three_digits(value));
    };
    let (value, step, name) = if is_bytes {
        (bits_per_second / 8.0, 1_024_f64, "Bytes")
    } else {
        (bits_per_second, 1_000.0, "bits")
    };
    let value = value / step.powi(power as i32);
    format!("{} {}{name}/sec", three_digits(value), PREFIXES[power])
}

/// A value in the largest unit in which it is not less than one.
fn suited(value: f64, step: f64) -> (f64, &'static str) {
    let (mut value, mut power) = (value, 0);
    while value >= step && power + 1 < PREFIXES.len() {
        value /= step;
        power += 1;
    }
    (value, PREFIXES[power])
}

/// As wide as 4 characters where it fits.
fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:4.2}")
    } else if value < 99.95 {
        format!("{value:4.1}")
    } else {
        format!("{value:4.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_written_of_the_unit_that_suits() {
        for (bytes, text) in [
            (0, "0.00 Bytes"),
            (12_582_912, "12.0 MBytes"),
            (1_178_694, "1.12 MBytes"),
            (327_680, " 320 KBytes"),
            (1_023, "1023 Bytes"),
            (3 << 40, "3.00 TBytes"),
        ] {
            assert_eq!(amount(bytes), text);
        }
        for (bps, text) in [
            (100_649_401.9, " 101 Mbits/sec"),
            (99_620_000.0, "99.6 Mbits/sec"),
            (9_960_000.0, "9.96 Mbits/sec"),
            (0.0, "0.00 bits/sec"),
            (22.3e9, "22.3 Gbits/sec"),
        ] {
            assert_eq!(rate(bps, None), text);
        }
        let as_asked = |bps, unit| rate(bps, Unit::named(unit));
        assert_eq!(as_asked(22_982_487_000.0, "k"), "22982487 Kbits/sec");
        assert_eq!(as_asked(8_388_608.0, "K"), "1024 KBytes/sec");
        assert_eq!(as_asked(8e9, "g"), "8.00 Gbits/sec");
        assert_eq!((Unit::named("x"), Unit::named("mb")), (None, None));
    }
}
