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
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let before_march = i64::from(is_leap) + 59;
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
            match characters.next() {
                Some(letter) => self.part(&date, letter, &mut text),
                None => text.push('%'),
            }
        }
        text
    }

    /// Text takes whatever is written to it.
    fn part(self, date: &Date, letter: char, text: &mut String) {
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
            'H' => write!(text, "{hour:02}"),
            'I' => write!(text, "{hour_of_half:02}"),
            'j' => write!(text, "{:03}", of_year + 1),
            'k' => write!(text, "{hour:2}"),
            'l' => write!(text, "{hour_of_half:2}"),
            'm' => write!(text, "{:02}", month + 1),
            'M' => write!(text, "{minute:02}"),
            'n' => write!(text, " "),
            'p' => write!(text, "{}", if hour < 12 { "AM" } else { "PM" }),
            's' => write!(text, "{}", self.unix_s),
            'S' => write!(text, "{second:02}"),
            't' => write!(text, "\t"),
            'u' => write!(text, "{}", if weekday == 0 { 7 } else { weekday }),
            'w' => write!(text, "{weekday}"),
            'y' => write!(text, "{:02}", year.rem_euclid(100)),
            'Y' => write!(text, "{year}"),
            'z' | 'Z' => {
                let (sign, ahead) =
                    (if self.offset_s < 0 { '-' } else { '+' }, self.offset_s.abs());
                write!(text, "{sign}{:02}{:02}", ahead / 3_600, ahead / 60 % 60)
            }
            '%' => write!(text, "%"),
            other => write!(text, "%{other}"),
        };
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
    }
}
