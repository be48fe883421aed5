//! Times of day as text: what `strftime` writes, and dates of mail. Whoever asks says which time it is.

use std::fmt::Write as _;

const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAY_S: i64 = 86_400;

/// A time in some zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    /// Since 1970 in UTC.
    pub unix_s: i64,
    /// By so many seconds the zone is ahead of UTC.
    pub offset_s: i64,
}

/// A date and the time of its day.
struct Date {
    year: i64,
    /// From 0.
    month: usize,
    day: i64,
    /// Of the year, from 0.
    of_year: i64,
    /// From 0, a Sunday.
    weekday: usize,
    hour: i64,
    minute: i64,
    second: i64,
}

impl Time {
    fn date(self) -> Date {
        let local = self.unix_s.saturating_add(self.offset_s);
        let (days, seconds) = (local.div_euclid(DAY_S), local.rem_euclid(DAY_S));
        // Years that begin in March have the day of a leap year last; 400 of them are an era.
        let shifted = days + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let from_march = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * from_march + 2) / 153;
        let day = from_march - (153 * month_from_march + 2) / 5 + 1;
        let month = (month_from_march + 2) % 12;
        let year = year_of_era + era * 400 + i64::from(month < 2);
        let before_march = i64::from(is_leap(year)) + 59;
        let of_year = if month < 2 { from_march - 306 } else { from_march + before_march };
        Date {
            year,
            month: month as usize,
            day,
            of_year,
            weekday: (days + 4).rem_euclid(7) as usize,
            hour: seconds / 3_600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
        }
    }

    /// As mail has it (RFC 1123), in UTC.
    pub fn of_mail(self) -> String {
        Self { offset_s: 0, ..self }.formatted("%a, %d %b %Y %H:%M:%S GMT")
    }

    /// As `strftime` writes it in the C locale. What it does not know stays as it is.
    pub fn formatted(self, form: &str) -> String {
        let (date, mut text) = (self.date(), String::new());
        let mut characters = form.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                text.push(character);
                continue;
            }
            let word = characters.as_str();
            // How it is padded, and in what other form: those of the C locale are the same.
            let letters = word.trim_start_matches(['-', '_', '0', '^', '#']);
            let flags = &word[..word.len() - letters.len()];
            let letters = letters.strip_prefix(['E', 'O']).unwrap_or(letters);
            let Some(letter) = letters.chars().next() else {
                text.push('%');
                continue;
            };
            let length = word.len() - letters.len() + letter.len_utf8();
            let mut part = String::new();
            if self.part(&date, letter, &mut part) {
                text.push_str(&flagged(part, flags));
            } else {
                text.extend(["%", &word[..length]]);
            }
            characters = word[length..].chars();
        }
        text
    }

    /// Text takes whatever is written to it. Whether there is such a part.
    fn part(self, date: &Date, letter: char, text: &mut String) -> bool {
        let Date { year, month, day, of_year, weekday, hour, minute, second } = *date;
        let hour_of_half = if hour % 12 == 0 { 12 } else { hour % 12 };
        let of_all = match letter {
            'c' => "%a %b %e %H:%M:%S %Y",
            'x' | 'D' => "%m/%d/%y",
            'X' | 'T' => "%H:%M:%S",
            'F' => "%Y-%m-%d",
            'R' => "%H:%M",
            'r' => "%I:%M:%S %p",
            _ => "",
        };
        let _ = match letter {
            'c' | 'x' | 'D' | 'X' | 'T' | 'F' | 'R' | 'r' => {
                text.push_str(&self.formatted(of_all));
                Ok(())
            }
            'a' => write!(text, "{}", &DAYS[weekday][..3]),
            'A' => write!(text, "{}", DAYS[weekday]),
            'b' | 'h' => write!(text, "{}", &MONTHS[month][..3]),
            'B' => write!(text, "{}", MONTHS[month]),
            'C' => write!(text, "{:02}", year.div_euclid(100)),
            'd' => write!(text, "{day:02}"),
            'e' => write!(text, "{day:2}"),
            'g' => write!(text, "{:02}", date.week().0.rem_euclid(100)),
            'G' => write!(text, "{}", date.week().0),
            'H' => write!(text, "{hour:02}"),
            'I' => write!(text, "{hour_of_half:02}"),
            'j' => write!(text, "{:03}", of_year + 1),
            'k' => write!(text, "{hour:2}"),
            'l' => write!(text, "{hour_of_half:2}"),
            'm' => write!(text, "{:02}", month + 1),
            'M' => write!(text, "{minute:02}"),
            'n' => write!(text, " "),
            'p' => write!(text, "{}", if hour < 12 { "AM" } else { "PM" }),
            'P' => write!(text, "{}", if hour < 12 { "am" } else { "pm" }),
            's' => write!(text, "{}", self.unix_s),
            'S' => write!(text, "{second:02}"),
            't' => write!(text, "\t"),
            'u' => write!(text, "{}", if weekday == 0 { 7 } else { weekday }),
            'U' => write!(text, "{:02}", (of_year + 7 - weekday as i64) / 7),
            'V' => write!(text, "{:02}", date.week().1),
            'W' => write!(text, "{:02}", (of_year + 7 - (weekday as i64 + 6) % 7) / 7),
            'w' => write!(text, "{weekday}"),
            'y' => write!(text, "{:02}", year.rem_euclid(100)),
            'Y' => write!(text, "{year}"),
            'z' | 'Z' => {
                let (sign, ahead) =
                    (if self.offset_s < 0 { '-' } else { '+' }, self.offset_s.abs());
                write!(text, "{sign}{:02}{:02}", ahead / 3_600, ahead / 60 % 60)
            }
            '%' => write!(text, "%"),
            _ => return false,
        };
        true
    }
}

/// Whether a year has 366 days.
const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

impl Date {
    /// The week that it is of, from Monday on, and the year of that (ISO 8601): the one that has its Thursday.
    fn week(&self) -> (i64, i64) {
        let days_of = |year: i64| if is_leap(year) { 366 } else { 365 };
        let thursday = self.of_year + 3 - (self.weekday as i64 + 6) % 7;
        let (year, of_year) = if thursday < 0 {
            (self.year - 1, thursday + days_of(self.year - 1))
        } else if thursday >= days_of(self.year) {
            (self.year + 1, thursday - days_of(self.year))
        } else {
            (self.year, thursday)
        };
        (year, of_year / 7 + 1)
    }
}

/// A part as what stands between `%` and its letter asks for: `-` no padding, `_` blanks, `^` capitals.
fn flagged(part: String, flags: &str) -> String {
    let bare = part.trim_start_matches(['0', ' ']);
    let is_number = !part.is_empty() && part.bytes().all(|it| it == b' ' || it.is_ascii_digit());
    let bare = if is_number && bare.is_empty() { "0" } else { bare };
    match flags.chars().last() {
        Some('-') if is_number => bare.to_owned(),
        Some('_') if is_number => format!("{bare:>width$}", width = part.len()),
        Some('0') if is_number => format!("{bare:0>width$}", width = part.len()),
        Some('^') => part.to_uppercase(),
        _ => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_strftime_does() {
        let time = Time { unix_s: 1_795_739_569, offset_s: 7_200 };
        assert_eq!(time.of_mail(), "Fri, 27 Nov 2026 00:32:49 GMT");
        for (form, text) in [
            ("%c ", "Fri Nov 27 02:32:49 2026 "),
            ("%F %T %z|%s", "2026-11-27 02:32:49 +0200|1795739569"),
            ("%A %B %e %j %I%p %y %D %R", "Friday November 27 331 02AM 26 11/27/26 02:32"),
            ("100%% %Q %", "100% %Q %"),
            ("%G-W%V-%u %g %U %W %P %Ey %Od", "2026-W48-5 26 47 47 am 26 27"),
            ("%-H:%M|%_H|%0e|%^a|%-", "2:32| 2|27|FRI|%-"),
        ] {
            assert_eq!(time.formatted(form), text, "{form}");
        }
        let days = |unix_s| Time { unix_s, offset_s: 0 }.formatted("%F %j %a");
        assert_eq!(days(0), "1970-01-01 001 Thu");
        assert_eq!(days(951_782_400), "2000-02-29 060 Tue");
        assert_eq!(days(951_868_800), "2000-03-01 061 Wed");
        assert_eq!(days(1_735_603_200), "2024-12-31 366 Tue");
        assert_eq!(days(1_740_787_200), "2025-03-01 060 Sat");
        assert_eq!(days(-1), "1969-12-31 365 Wed");
        let weeks = |unix_s| Time { unix_s, offset_s: 0 }.formatted("%F %G-%V %U %W");
        assert_eq!(weeks(1_735_603_200), "2024-12-31 2025-01 52 53");
        assert_eq!(weeks(1_609_459_200), "2021-01-01 2020-53 00 00");
        assert_eq!(weeks(1_740_787_200), "2025-03-01 2025-09 08 08");
    }
}
