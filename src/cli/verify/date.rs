//! When a report is made.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970; `SOURCE_DATE_EPOCH`, where it is set, so that a report can be repeated to the
/// byte.
pub(super) fn now() -> u64 {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok();
    fixed.and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    })
}

/// `18 November 2026, 05:30 UTC`.
pub(super) fn in_words(unix: u64) -> String {
    const MONTHS: [&str; 12] = [
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
        "January",
        "February",
    ];
    // Years that begin in March have their leap day at the end; 400 of them have 146,097 days.
    let day = unix / 86_400 + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let year = 400 * era + year + u64::from(month >= 10);
    let name = MONTHS[month as usize % 12];
    let minutes = unix / 60 % 1440;
    format!(
        "{of_month} {name} {year}, {:02}:{:02} UTC",
        minutes / 60,
        minutes % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from `date -u -d @N`.
    #[test]
    fn days_are_those_of_the_calendar() {
        for (unix, want) in [
            (0, "1 January 1970, 00:00 UTC"),
            (951_782_399, "28 February 2000, 23:59 UTC"),
            (951_782_400, "29 February 2000, 00:00 UTC"),
            (951_868_800, "1 March 2000, 00:00 UTC"),
            (1_794_978_600, "18 November 2026, 05:10 UTC"),
            (4_107_542_399, "28 February 2100, 23:59 UTC"),
            (4_107_542_400, "1 March 2100, 00:00 UTC"),
        ] {
            assert_eq!(in_words(unix), want);
        }
    }
}
