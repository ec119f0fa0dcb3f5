//! Civil time.

use serde::Serialize;
use std::fmt;
use sto_core::units::UnixSeconds;

/// A day, in UTC: `2026-03-01`. Days compare as they follow one another, up to the year 9999.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Date(String);

impl Date {
    /// The day on which a point in time is.
    pub fn of(time: UnixSeconds) -> Date {
        let mut date = rfc3339(time);
        date.truncate(date.find('T').unwrap_or(date.len()));
        Date(date)
    }

    pub(crate) fn from_civil(year: u16, month: u8, day: u8) -> Date {
        Date(format!("{year:04}-{month:02}-{day:02}"))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A point in time as RFC 3339 writes it, in UTC: `2026-03-01T12:34:56Z`.
///
/// Years after 9999 get the digits they need, which RFC 3339 has no form for.
pub fn rfc3339(time: UnixSeconds) -> String {
    let (days, second) = (time.0 / 86_400, time.0 % 86_400);
    // Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days: years begin
    // in March, so that the leap day is a year's last; an era is the 400 years after which the
    // Gregorian calendar repeats. 719,468 days lie between 0000-03-01 and 1970-01-01.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
