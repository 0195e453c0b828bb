//! Points in time as logs write them, and the periods that slices are made of.
//!
//! Read are dates as ISO 8601 has them (`2026-03-05`, `2026-03-05T17:20:11Z`, `2026-03-05 17:20`) and
//! whole numbers since 1970 in UTC: seconds with ten digits, milliseconds with thirteen, microseconds with
//! sixteen, nanoseconds with nineteen. A number of other length is not guessed at. A date is taken as it
//! is written: an offset from UTC behind it changes nothing.

use std::fmt;

/// What a point in time is rounded down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Period {
    Year,
    Month,
    Week,
    Day,
    Hour,
}

impl Period {
    /// All of them, with their names.
    pub(super) const ALL: [(&'static str, Period); 5] = [
        ("year", Period::Year),
        ("month", Period::Month),
        ("week", Period::Week),
        ("day", Period::Day),
        ("hour", Period::Hour),
    ];

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        let found = Period::ALL.iter().find(|(_, period)| *period == self);
        found.map_or("", |(name, _)| name)
    }

    /// The period of a point in time, such as `2026-03`; none for a text that is no point in time, or
    /// none of this precision.
    pub(super) fn of(self, text: &str) -> Option<String> {
        let time = Time::read(text.trim())?;
        time.period(self).map(|period| period.to_string())
    }
}

/// A point in time: a day, and the hour where it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Time {
    year: i64,
    month: i64,
    /// None where only the month is written.
    day: Option<i64>,
    hour: Option<i64>,
}

impl Time {
    fn read(text: &str) -> Option<Time> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Time::of_number(text);
        }
        let mut parts = text.splitn(2, ['T', 't', ' ']);
        let mut date = parts.next()?.split('-');
        let (year, month) = (digits(date.next()?, 4)?, digits(date.next()?, 2)?);
        let day = date.next().map(|day| digits(day, 2));
        if date.next().is_some() || !(1..=12).contains(&month) {
            return None;
        }
        let day = match day {
            None => None,
            Some(day) => Some(day.filter(|day| (1..=days_in(year, month)).contains(day))?),
        };
        let hour = match parts.next() {
            None => None,
            Some(clock) => Some(hour(clock)?),
        };
        // A time of day belongs to a day.
        (hour.is_none() || day.is_some()).then_some(Time {
            year,
            month,
            day,
            hour,
        })
    }

    fn of_number(text: &str) -> Option<Time> {
        let unit = match text.len() {
            10 => 1,
            13 => 1_000,
            16 => 1_000_000,
            19 => 1_000_000_000,
            _ => return None,
        };
        let seconds = text.parse::<i64>().ok()? / unit;
        let (year, month, day) = date(seconds.div_euclid(86_400));
        Some(Time {
            year,
            month,
            day: Some(day),
            hour: Some(seconds.rem_euclid(86_400) / 3600),
        })
    }

    fn period(self, period: Period) -> Option<Shown> {
        Some(match period {
            Period::Year => Shown::Year(self.year),
            Period::Month => Shown::Month(self.year, self.month),
            Period::Day => Shown::Day(self.year, self.month, self.day?),
            Period::Hour => Shown::Hour(self.year, self.month, self.day?, self.hour?),
            Period::Week => {
                let number = number(self.year, self.month, self.day?);
                // The week of a day is that of its Thursday, and belongs to the year of it. Day 0 was a
                // Thursday.
                let thursday = number - (number + 3).rem_euclid(7) + 3;
                let (year, ..) = date(thursday);
                let week = (thursday - self::number(year, 1, 1)) / 7 + 1;
                Shown::Week(year, week)
            }
        })
    }
}

/// A period as it is written.
enum Shown {
    Year(i64),
    Month(i64, i64),
    Week(i64, i64),
    Day(i64, i64, i64),
    Hour(i64, i64, i64, i64),
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shown::Year(y) => write!(f, "{y:04}"),
            Shown::Month(y, m) => write!(f, "{y:04}-{m:02}"),
            Shown::Week(y, w) => write!(f, "{y:04}-W{w:02}"),
            Shown::Day(y, m, d) => write!(f, "{y:04}-{m:02}-{d:02}"),
            Shown::Hour(y, m, d, h) => write!(f, "{y:04}-{m:02}-{d:02}T{h:02}"),
        }
    }
}

/// A number of exactly so many digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

/// The hour of `17:20:11.5+02:00`, or of `17:20`.
fn hour(clock: &str) -> Option<i64> {
    let clock = clock.trim_start();
    let end = clock.find(|c: char| !(c.is_ascii_digit() || ":.,".contains(c)));
    let (clock, zone) = clock.split_at(end.unwrap_or(clock.len()));
    let mut parts = clock.split(':');
    let hour = digits(parts.next()?, 2).filter(|hour| *hour < 24)?;
    digits(parts.next()?, 2).filter(|minute| *minute < 60)?;
    if let Some(second) = parts.next() {
        let whole = second.split(['.', ',']).next()?;
        // A leap second is the sixty-first.
        digits(whole, 2).filter(|second| *second <= 60)?;
    }
    let zone = zone.trim();
    let offset = matches!(zone.as_bytes().first(), Some(b'+' | b'-'))
        && zone[1..].bytes().all(|b| b.is_ascii_digit() || b == b':');
    let known = ["", "Z", "z", "UTC"].contains(&zone) || offset;
    (known && parts.next().is_none()).then_some(hour)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to the first of January of a year.
fn new_year(year: i64) -> i64 {
    let before = year - 1;
    // 719,162 days lie between 0001-01-01 and 1970-01-01.
    365 * before + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) - 719_162
}

/// Days from 1970-01-01 to a date.
fn number(year: i64, month: i64, day: i64) -> i64 {
    new_year(year) + (1..month).map(|m| days_in(year, m)).sum::<i64>() + day - 1
}

/// The date so many days after 1970-01-01.
fn date(number: i64) -> (i64, i64, i64) {
    // 146,097 days are 400 years; the guess is at most one year off.
    let mut year = 1970 + (number * 400).div_euclid(146_097);
    while new_year(year) > number {
        year -= 1;
    }
    while new_year(year + 1) <= number {
        year += 1;
    }
    let mut rest = number - new_year(year);
    let mut month = 1;
    while rest >= days_in(year, month) {
        rest -= days_in(year, month);
        month += 1;
    }
    (year, month, rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values by `date -u -d … +%G-W%V` and `date -u -d @…` of GNU coreutils.
    #[test]
    fn periods_are_those_of_the_calendar() {
        let cases = [
            (Period::Week, "2026-01-01", "2026-W01"),
            (Period::Week, "2027-01-01", "2026-W53"),
            (Period::Week, "2024-12-30", "2025-W01"),
            (Period::Week, "2023-01-01", "2022-W52"),
            (Period::Week, "2000-02-29", "2000-W09"),
            (Period::Hour, "1773000000", "2026-03-08T20"),
            (Period::Hour, "1773000000123", "2026-03-08T20"),
            (Period::Day, "1773000000123456", "2026-03-08"),
            (Period::Day, "1773000000123456789", "2026-03-08"),
            (Period::Month, "2026-03-05T17:20:11+02:00", "2026-03"),
            (Period::Month, "2026-03", "2026-03"),
            (Period::Year, "2026-03", "2026"),
            (Period::Hour, "2026-03-05 07:20", "2026-03-05T07"),
            (Period::Hour, "2026-03-05T07:20:00.25Z", "2026-03-05T07"),
            (Period::Day, "1969-12-31", "1969-12-31"),
        ];
        for (period, text, want) in cases {
            assert_eq!(period.of(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_point_in_time_is_not_guessed_at() {
        for text in [
            "",
            "2026",
            "20260305",
            "7",
            "2026-13-01",
            "2026-02-29",
            "2026-3-5",
            "05.03.2026",
            "2026-03-05T25:00",
            "2026-03-05T07",
            "yesterday",
            "2026-03-05X07:20",
            "-1773000000",
            "2026-03T07:20",
            "99999999999",
        ] {
            assert_eq!(Period::Month.of(text), None, "{text}");
        }
        // Known to the month, or to the day.
        assert_eq!(Period::Day.of("2026-03"), None);
        assert_eq!(Period::Hour.of("2026-03-05"), None);
    }

    #[test]
    fn days_and_dates_are_inverse() {
        for day in (-800_000..800_000).step_by(37) {
            let (y, m, d) = date(day);
            assert_eq!(number(y, m, d), day);
        }
        assert_eq!((date(0), date(-1)), ((1970, 1, 1), (1969, 12, 31)));
    }
}
