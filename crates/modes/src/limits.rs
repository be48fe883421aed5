//! What a plan may ask for. The same bounds hold for words typed here and for plans that a stranger
//! sends, so that nothing behind them checks again.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use pathscope_core::quantity::{BitRate, Bytes, Period, shown};
use thiserror::Error;

/// Bytes of one connection.
pub const TRANSFER: RangeInclusive<Bytes> = Bytes(1)..=Bytes(1 << 60);
/// Bytes of one system call.
pub const BUFFER: RangeInclusive<Bytes> = Bytes(1)..=Bytes(64 << 20);
/// A sender's rate.
pub const RATE: RangeInclusive<BitRate> = BitRate(1_000)..=BitRate(1_000_000_000_000_000);
/// Processors' numbers, and how many may be named.
pub const CPU: RangeInclusive<u64> = 0..=4_095;
/// Length of a test.
pub const DURATION: RangeInclusive<Period> = Period(10_000_000)..=Period::from_secs(366 * 86_400);
/// From one live report to the next.
pub const REPORT_EVERY: RangeInclusive<Period> = Period(10_000_000)..=Period::from_secs(3_600);
/// Code points of differentiated services: six bits.
pub const DSCP: RangeInclusive<u64> = 0..=63;
/// Routers that a packet may pass: what a byte holds, and none that cannot leave.
pub const HOPS: RangeInclusive<u64> = 1..=255;
/// Buffers of sockets.
pub const SOCKET_BUFFER: RangeInclusive<Bytes> = Bytes(1 << 10)..=Bytes(1 << 30);
/// The largest segment: what Linux takes.
pub const MSS: RangeInclusive<Bytes> = Bytes(88)..=Bytes(32_767);
/// From the last word to the question whether the other end is there: what Linux takes, in seconds.
pub const KEEPALIVE: RangeInclusive<Period> = Period::from_secs(1)..=Period::from_secs(32_767);
/// For how long what was sent may stay unacknowledged: the kernel counts milliseconds.
pub const USER_TIMEOUT: RangeInclusive<Period> = Period::from_millis(1)..=Period::from_secs(86_400);
/// Labels of IPv6 packets: 20 bits, of which 0 is none.
pub const FLOW_LABEL: RangeInclusive<u64> = 1..=0xf_ffff;
/// Ports.
pub const PORT: RangeInclusive<u64> = 1..=65_535;
/// Addresses of one end.
pub const BINDS: usize = 1_024;
/// Letters of an interface: `IFNAMSIZ` of Linux, less the terminator.
const INTERFACE: usize = 15;
/// Letters of a name.
const NAME: usize = 64;

/// Why a plan cannot be.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum PlanError {
    /// What one option asks for cannot be, or changes nothing.
    #[error("{option} {why}")]
    Unfit {
        /// The option as typed.
        option: &'static str,
        /// What is wrong with that: behind the option.
        why: String,
    },
    /// Nothing says how much a stream carries.
    #[error(
        "say what a stream is like: --profile NAME (one of {profiles}), or --rate with its bits a second"
    )]
    NoStream {
        /// The profiles there are.
        profiles: String,
    },
    /// Two options that exclude each other.
    #[error("{one} and {other} exclude each other; {advice}")]
    Contradiction {
        /// One of them.
        one: &'static str,
        /// The other.
        other: &'static str,
        /// What to do.
        advice: &'static str,
    },
}

impl PlanError {
    /// What this option asks for cannot be.
    pub(crate) fn unfit(option: &'static str, why: impl Into<String>) -> Self {
        Self::Unfit { option, why: why.into() }
    }

    /// What was asked for lies outside its range.
    pub(crate) fn out_of_range(
        option: &'static str,
        value: impl Display,
        (low, high): (impl Display, impl Display),
    ) -> Self {
        Self::unfit(option, format!("{value} is out of range: {low} to {high}"))
    }

    /// What was typed is none of the choices.
    pub(crate) fn unknown_choice(option: &'static str, typed: &str, choices: &str) -> Self {
        Self::unfit(option, format!("'{}' is not known; choose {choices}", shown(typed)))
    }
}

/// `value`, if there is one, is in `range`.
pub(crate) fn in_range<T>(
    option: &'static str,
    value: impl Into<Option<T>>,
    range: &RangeInclusive<T>,
) -> Result<(), PlanError>
where
    T: Copy + Display + PartialOrd,
{
    match value.into().filter(|value| !range.contains(value)) {
        Some(value) => Err(PlanError::out_of_range(option, value, (range.start(), range.end()))),
        None => Ok(()),
    }
}

/// Options that would change nothing, each with whether it was typed: the first of those is refused.
pub(crate) fn no_effect(
    place: &'static str,
    advice: &'static str,
    options: &[(&'static str, bool)],
) -> Result<(), PlanError> {
    match options.iter().find(|(_, is_typed)| *is_typed) {
        Some(&(option, _)) => {
            Err(PlanError::unfit(option, format!("has no effect {place}; {advice}")))
        }
        None => Ok(()),
    }
}

/// Two things that exclude each other, and whether both are asked for.
pub(crate) fn not_both(
    [one, other]: [&'static str; 2],
    is_both: bool,
    advice: &'static str,
) -> Result<(), PlanError> {
    if is_both { Err(PlanError::Contradiction { one, other, advice }) } else { Ok(()) }
}

/// What something else excludes, each with whether it is asked for: the first of those is refused.
pub(crate) fn exclude(
    other: &'static str,
    advice: &'static str,
    options: &[(&'static str, bool)],
) -> Result<(), PlanError> {
    options.iter().try_for_each(|&(one, is_asked)| not_both([one, other], is_asked, advice))
}

/// The upper end of what is drawn from `low` on, if there is one: in its own range, and not below that.
pub(crate) fn upper_end<T>(
    option: &'static str,
    low: T,
    high: Option<T>,
    range: &RangeInclusive<T>,
) -> Result<(), PlanError>
where
    T: Copy + Display + PartialOrd,
{
    in_range(option, high, range)?;
    match high.filter(|high| low > *high) {
        Some(high) => {
            let why = format!("[{low},{high}] is no range; write it as [low,high]");
            Err(PlanError::unfit(option, why))
        }
        None => Ok(()),
    }
}

/// A warm-up that is shorter than the run: one that was asked for is refused beyond that, the default is a tenth at the most.
pub(crate) fn warm_up(
    asked: Option<Period>,
    usual: Period,
    duration: Period,
) -> Result<Period, PlanError> {
    match asked {
        Some(asked) if asked >= duration => {
            let why = format!(
                "{asked} is no shorter than the run of {duration}; give less, or a longer --duration"
            );
            Err(PlanError::unfit("--warm-up", why))
        }
        Some(asked) => Ok(asked),
        None => Ok(usual.min(Period(duration.0 / 10))),
    }
}

/// A length of a run, and the warm-up in it.
pub(crate) fn duration(duration: Period, warm_up: Period) -> Result<(), PlanError> {
    in_range("--duration", duration, &DURATION)?;
    in_range("--warm-up", warm_up, &(Period(0)..=Period(duration.0 - 1)))
}

/// A name as systems use them for algorithms, engines and interfaces.
pub(crate) fn name(option: &'static str, name: Option<&str>) -> Result<(), PlanError> {
    let is_name = |name: &str| {
        (1..=NAME).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let why = "is not a name of 1 to 64 letters, digits, '-' and '_'";
    if name.is_none_or(is_name) { Ok(()) } else { Err(PlanError::unfit(option, why)) }
}

/// A name as systems use them for interfaces.
pub(crate) fn interface(option: &'static str, name: Option<&str>) -> Result<(), PlanError> {
    let is_name = |name: &str| {
        (1..=INTERFACE).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
    };
    let why = "is not an interface's name of 1 to 15 characters without '/' and blanks";
    if name.is_none_or(is_name) { Ok(()) } else { Err(PlanError::unfit(option, why)) }
}

/// Numbers of processors.
pub(crate) fn cpus(option: &'static str, cpus: &[u32]) -> Result<(), PlanError> {
    in_range(option, cpus.len() as u64, &(0..=CPU.end() + 1))?;
    cpus.iter().try_for_each(|&cpu| in_range(option, u64::from(cpu), &CPU))
}

/// What was typed, as a quantity or a range of them.
pub(crate) fn read<T>(option: &'static str, typed: &str) -> Result<T, PlanError>
where
    T: FromStr<Err: Display>,
{
    typed.parse().map_err(|error: T::Err| PlanError::unfit(option, error.to_string()))
}

/// What a choice is called as it is typed.
pub(crate) fn name_of<T: Copy + PartialEq>(
    choices: &[(&'static str, T)],
    choice: T,
) -> &'static str {
    choices.iter().find(|(_, other)| *other == choice).map_or("", |(name, _)| name)
}

/// The choice that goes by this name.
pub(crate) fn choice<T: Copy>(
    option: &'static str,
    typed: &str,
    choices: &[(&'static str, T)],
) -> Result<T, PlanError> {
    choices.iter().find(|(name, _)| *name == typed).map(|&(_, choice)| choice).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        PlanError::unknown_choice(option, typed, &names.join(", "))
    })
}
