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
    /// A quantity outside its range.
    #[error("{option} {value} is out of range: {low} to {high}")]
    OutOfRange {
        /// The option as typed.
        option: &'static str,
        /// What was asked for.
        value: String,
        /// The least.
        low: String,
        /// The most.
        high: String,
    },
    /// A word that is none of the choices.
    #[error("{option} '{value}' is not known; choose {choices}")]
    UnknownChoice {
        /// The option as typed.
        option: &'static str,
        /// What was typed.
        value: String,
        /// The choices.
        choices: String,
    },
    /// A warm-up that would be most of the run.
    #[error("--warm-up {asked} is more than a tenth of the run; at most {most}")]
    WarmUpTooLong {
        /// What was asked for.
        asked: Period,
        /// The most.
        most: Period,
    },
    /// A name that is too long or holds what no name holds.
    #[error("{option} is not a name of 1 to 64 letters, digits, '-' and '_'")]
    NotAName {
        /// The option as typed.
        option: &'static str,
    },
    /// Something that is no quantity.
    #[error("{option} {why}")]
    Unreadable {
        /// The option as typed.
        option: &'static str,
        /// What is wrong with what was typed.
        why: String,
    },
    /// Not every connection would have a port of its own.
    #[error(
        "--source-port has {ports} ports, and there are {connections} connections at a time; give as many ports"
    )]
    TooFewPorts {
        /// Ports that were given.
        ports: u32,
        /// Connections at a time.
        connections: u32,
    },
    /// What no interface is called.
    #[error("{option} is not an interface's name of 1 to 15 characters without '/' and blanks")]
    NotAnInterface {
        /// The option as typed.
        option: &'static str,
    },
    /// A range whose ends are the wrong way round.
    #[error("{option} [{low},{high}] is no range; write it as [low,high]")]
    Reversed {
        /// The option as typed.
        option: &'static str,
        /// What stands first.
        low: String,
        /// What stands second.
        high: String,
    },
    /// A frame that has no room for the header of its datagram.
    #[error(
        "--rate {rate} at --frame-rate {frame_rate} makes frames of {frame_bytes} bytes, and each needs {least_bytes} for a header and one byte; raise the rate or lower the frame rate"
    )]
    SmallFrame {
        /// Bits a second.
        rate: BitRate,
        /// Frames a second.
        frame_rate: u32,
        /// Bytes of a frame.
        frame_bytes: u64,
        /// The least.
        least_bytes: u64,
    },
    /// A stream that ends before its first frame does.
    #[error(
        "--duration {duration} holds no whole frame at --frame-rate {frame_rate}; give it longer"
    )]
    NoFrame {
        /// How long.
        duration: Period,
        /// Frames a second.
        frame_rate: u32,
    },
    /// An option that would change nothing.
    #[error("{option} has no effect {place}; {advice}")]
    NoEffect {
        /// The option as typed.
        option: &'static str,
        /// Where: behind "has no effect".
        place: &'static str,
        /// What to do.
        advice: &'static str,
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

/// Two options that exclude each other, and what to do.
pub(crate) const fn contradiction(
    one: &'static str,
    other: &'static str,
    advice: &'static str,
) -> PlanError {
    PlanError::Contradiction { one, other, advice }
}

/// `value`, if it is in `range`.
pub(crate) fn in_range<T>(
    option: &'static str,
    value: T,
    range: &RangeInclusive<T>,
) -> Result<(), PlanError>
where
    T: Copy + Display + PartialOrd,
{
    if range.contains(&value) {
        return Ok(());
    }
    Err(PlanError::OutOfRange {
        option,
        value: value.to_string(),
        low: range.start().to_string(),
        high: range.end().to_string(),
    })
}

/// Options that would change nothing, each with whether it was typed: the first of those is refused.
pub(crate) fn no_effect(
    place: &'static str,
    advice: &'static str,
    options: &[(&'static str, bool)],
) -> Result<(), PlanError> {
    match options.iter().find(|(_, is_typed)| *is_typed) {
        Some(&(option, _)) => Err(PlanError::NoEffect { option, place, advice }),
        None => Ok(()),
    }
}

/// A range whose first end is not above its second.
pub(crate) fn ordered<T>(option: &'static str, low: T, high: T) -> Result<(), PlanError>
where
    T: Copy + Display + PartialOrd,
{
    if low <= high {
        return Ok(());
    }
    Err(PlanError::Reversed { option, low: low.to_string(), high: high.to_string() })
}

/// A warm-up of at most a tenth of the run: one that was asked for is refused beyond that, the default
/// is cut.
pub(crate) fn warm_up(
    asked: Option<Period>,
    usual: Period,
    duration: Period,
) -> Result<Period, PlanError> {
    let most = Period(duration.0 / 10);
    match asked {
        Some(asked) if asked > most => Err(PlanError::WarmUpTooLong { asked, most }),
        Some(asked) => Ok(asked),
        None => Ok(usual.min(most)),
    }
}

/// A length of a run, and the warm-up in it.
pub(crate) fn duration(duration: Period, warm_up: Period) -> Result<(), PlanError> {
    in_range("--duration", duration, &DURATION)?;
    in_range("--warm-up", warm_up, &(Period(0)..=Period(duration.0 / 10)))
}

/// A name as systems use them for algorithms, engines and interfaces.
pub(crate) fn name(option: &'static str, name: Option<&str>) -> Result<(), PlanError> {
    let is_name = |name: &str| {
        (1..=NAME).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if name.is_none_or(is_name) { Ok(()) } else { Err(PlanError::NotAName { option }) }
}

/// A name as systems use them for interfaces.
pub(crate) fn interface(option: &'static str, name: Option<&str>) -> Result<(), PlanError> {
    let is_name = |name: &str| {
        (1..=INTERFACE).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
    };
    if name.is_none_or(is_name) { Ok(()) } else { Err(PlanError::NotAnInterface { option }) }
}

/// Numbers of processors.
pub(crate) fn cpus(option: &'static str, cpus: &[u32]) -> Result<(), PlanError> {
    in_range(option, cpus.len() as u64, &(0..=CPU.end() + 1))?;
    cpus.iter().try_for_each(|&cpu| in_range(option, u64::from(cpu), &CPU))
}

/// What was typed, as a quantity or a range of them.
pub(crate) fn read<T>(option: &'static str, typed: &str) -> Result<T, PlanError>
where
    T: FromStr,
    T::Err: Display,
{
    typed.parse().map_err(|error: T::Err| PlanError::Unreadable { option, why: error.to_string() })
}

/// The choice that goes by this name.
pub(crate) fn choice<T: Copy>(
    option: &'static str,
    typed: &str,
    choices: &[(&'static str, T)],
) -> Result<T, PlanError> {
    choices.iter().find(|(name, _)| *name == typed).map(|&(_, choice)| choice).ok_or_else(|| {
        PlanError::UnknownChoice {
            option,
            value: shown(typed),
            choices: choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
        }
    })
}
