//! Whether the times of runs can be what they say: a machine that measures one run after another begins none before the last has ended, unless its
//! clock was set back meanwhile, or both ran at once. A clock that was set forward is not seen.

use pathscope_core::quantity::duration_ns;

use super::runs::Run;

/// Days of a year before each month, where it is no leap year.
const DAYS_BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// Two runs of one machine of which the second began before the first had ended, in words; `None` where there are none. `sides`: each in the order of
/// time.
pub(super) fn overlap(sides: [&[&Run]; 2]) -> Option<String> {
    let mut all: Vec<(u64, &Run)> = sides
        .into_iter()
        .flatten()
        .filter_map(|run| Some((nanoseconds(&run.began.0)?.saturating_add(run.began.1), *run)))
        .collect();
    all.sort_by_key(|(began, _)| *began);
    all.iter().zip(all.iter().skip(1)).find_map(|((began, run), (next, other))| {
        let early = began.saturating_add(run.lasted_ns).saturating_sub(*next);
        // Times are told in whole milliseconds.
        let is_early = early > 2_000_000;
        // Runs of one result follow one another by a clock that is never set.
        let are_apart = run.began.0 != other.began.0 && run.machine == other.machine;
        (is_early && are_apart).then(|| {
            format!(
                "a run of {} began at {}, {} before the one before it had ended",
                other.name,
                other.began.0,
                duration_ns(early)
            )
        })
    })
}

/// A time as documents tell it, `2026-01-01T00:59:07.250Z` (RFC 3339, UTC), in nanoseconds since 1970.
fn nanoseconds(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, between: char| {
        let numbers: Option<Vec<u64>> = text.split(between).map(|it| it.parse().ok()).collect();
        numbers.and_then(|numbers| <[u64; 3]>::try_from(numbers).ok())
    };
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let ([year, month, day], [hours, minutes, seconds]) =
        (numbers(date, '-')?, numbers(whole, ':')?);
    let before = DAYS_BEFORE.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let leap_days = (1970..year.min(9_999)).filter(|year| is_leap(*year)).count() as u64;
    let of_this = u64::from(is_leap(year) && month > 2);
    let days = year.checked_sub(1970)?.checked_mul(365)? + leap_days + of_this + before;
    let days = days + day.checked_sub(1)?;
    let seconds = days.checked_mul(86_400)? + hours * 3_600 + minutes * 60 + seconds;
    let nanoseconds = format!("{fraction:0<9}").get(..9)?.parse::<u64>().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T12:00:00.000Z", 951_825_600.0),
            ("2000-03-01T00:00:00.000Z", 951_868_800.0),
            ("2026-11-25T13:53:44.451Z", 1_795_614_824.451),
            ("2100-03-01T00:00:00Z", 4_107_542_400.0),
        ] {
            let found = nanoseconds(text).map(|it| it as f64 / 1e9);
            assert!(found.is_some_and(|found| (found - seconds).abs() < 1e-3), "{text}: {found:?}");
        }
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01", "1960-01-01T00:00:00Z"]
        {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
