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
        let mut date = time.to_string();
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
