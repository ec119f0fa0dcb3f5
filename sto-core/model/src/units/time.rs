//! Formatting and parsing of dates and times.

use super::UnixSeconds;
use crate::{ParseError, serde_text_or_parts};
use std::fmt;
use std::str::FromStr;

impl fmt::Display for UnixSeconds {
    /// Formats the time as in RFC 3339, in UTC: `2026-03-01T12:34:56Z`.
    ///
    /// Years after 9999, which RFC 3339 does not define, have more digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0 / 86_400, self.0 % 86_400);
        // Source: Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days. Years
        // begin in March, so that the leap day is the last day of a year. An era is the 400 years after
        // which the Gregorian calendar repeats. 719,468 days lie between 0000-03-01 and 1970-01-01.
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
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
        )
    }
}

impl FromStr for UnixSeconds {
    type Err = ParseError;

    /// Parses a date or time in UTC as in RFC 3339, from 1970 on: `2026-03-01`, `2026-03-01T12:34`,
    /// `2026-03-01 12:34:56`. A `Z` after the time is optional.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError::new("a day or time in UTC such as 2026-03-01", text);
        parse(text).ok_or_else(error)
    }
}

serde_text_or_parts!(UnixSeconds, u64, |time| time.0, |seconds| Some(
    UnixSeconds(seconds)
));

fn parse(text: &str) -> Option<UnixSeconds> {
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) => (day, time.strip_suffix('Z').unwrap_or(time)),
        None => (text, "00:00"),
    };
    let day = numbers::<3>(day, '-')?;
    let time = match time.len() {
        5 => numbers(&format!("{time}:00"), ':')?,
        _ => numbers(time, ':')?,
    };
    let ([year, month, day], [hour, minute, second]) = (day, time);
    let is_known = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_known {
        return None;
    }
    // days_from_civil from the same source.
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let time = UnixSeconds(days * 86_400 + hour * 3_600 + minute * 60 + second);
    // Dates that do not exist, such as February 30, become other dates.
    let written = time.to_string();
    written.starts_with(&text[..10]).then_some(time)
}

/// Parses `N` unsigned numbers of 2 to 4 digits with a separator between them.
fn numbers<const N: usize>(text: &str, separator: char) -> Option<[u64; N]> {
    let number = |part: &str| {
        let is_number = (2..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| part.parse().ok())?
    };
    let parts: Option<Vec<u64>> = text.split(separator).map(number).collect();
    parts?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_formatted_times() {
        for seconds in [0, 951_782_399, 951_827_696, 1_772_368_496, 4_107_542_399] {
            let time = UnixSeconds(seconds);
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        assert_eq!("2026-03-01 12:34".parse(), Ok(UnixSeconds(1_772_368_440)));
        for text in [
            "",
            "2026",
            "2026-02-30",
            "2026-13-01",
            "2026-03-01T24:00",
            "1969-12-31",
            "2026-3-1",
            "+026-03-01",
        ] {
            assert!(text.parse::<UnixSeconds>().is_err(), "{text}");
        }
    }
}
