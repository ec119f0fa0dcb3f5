//! Calendar dates.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use sto_core::units::UnixSeconds;

/// A day in UTC: `2026-03-01`. The order of days is correct up to the year 9999.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(try_from = "String")]
pub struct Date(String);

impl Date {
    /// Returns the day of a point in time.
    pub fn from_time(time: UnixSeconds) -> Date {
        let mut date = time.to_string();
        date.truncate(date.find('T').unwrap_or(date.len()));
        Date(date)
    }

    pub(crate) fn from_civil(year: u16, month: u8, day: u8) -> Date {
        Date(format!("{year:04}-{month:02}-{day:02}"))
    }
}

impl TryFrom<String> for Date {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Date, &'static str> {
        text.parse()
    }
}

impl FromStr for Date {
    type Err = &'static str;

    /// Parses the output of [`Display`](fmt::Display).
    ///
    /// ```
    /// let day: sto_query::text::Date = "2026-03-01".parse()?;
    /// assert_eq!(day.to_string(), "2026-03-01");
    /// assert!("2026-3-1".parse::<sto_query::text::Date>().is_err());
    /// # Ok::<(), &'static str>(())
    /// ```
    fn from_str(text: &str) -> Result<Date, &'static str> {
        let day = text.parse().ok().map(Date::from_time);
        day.filter(|day| day.0 == text)
            .ok_or("expected a day such as 2026-03-01")
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
