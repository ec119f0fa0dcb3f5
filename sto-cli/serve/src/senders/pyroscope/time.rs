//! Times of Pyroscope's clients: since 1970, in seconds, milliseconds, microseconds or nanoseconds.

use crate::intake::TimeRange;
use crate::problem::Problem;
use std::str::FromStr;
use sto_core::units::Nanoseconds;

/// Seconds of the year 5138; larger numbers have a smaller unit.
const MAX_SECONDS: f64 = 1e11;

/// Parses `from` and `until`; `None` if either is missing.
pub(super) fn range(from: Option<&str>, until: Option<&str>) -> Result<Option<TimeRange>, Problem> {
    let from = from.map(|text| time("from", text)).transpose()?;
    let until = until.map(|text| time("until", text)).transpose()?;
    let (Some(from), Some(until)) = (from, until) else {
        return Ok(None);
    };
    if until < from {
        return Err(Problem::bad_request(format!(
            "until is {} ns before from; expected it after",
            from.0 - until.0
        )));
    }
    Ok(Some(TimeRange { from, until }))
}

fn time(key: &str, text: &str) -> Result<Nanoseconds, Problem> {
    let invalid = || {
        Problem::bad_request(format!(
            "{key}={text}: expected the seconds, milliseconds, microseconds or nanoseconds since 1970"
        ))
    };
    let nanoseconds = match u64::from_str(text) {
        // Nanoseconds have more digits than a floating-point number.
        Ok(whole) => {
            let factor = match whole.checked_ilog10().unwrap_or(0) {
                ..11 => 1_000_000_000,
                11..14 => 1_000_000,
                14..17 => 1000,
                _ => 1,
            };
            whole.checked_mul(factor).ok_or_else(invalid)?
        }
        Err(_) => {
            let seconds = f64::from_str(text).map_err(|_| invalid())?;
            if !(0.0..MAX_SECONDS).contains(&seconds) {
                return Err(invalid());
            }
            (seconds * 1e9) as u64
        }
    };
    Ok(Nanoseconds(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_follows_from_the_size() {
        for text in [
            "1615709120",
            "1615709120000",
            "1615709120000000",
            "1615709120000000000",
            "1615709120.0",
        ] {
            let found = time("from", text).expect(text);
            assert_eq!(found, Nanoseconds(1_615_709_120_000_000_000), "{text}");
        }
    }

    #[test]
    fn rejects_what_is_no_time() {
        for text in ["", "now", "-1", "NaN", "1e300", "32503680000"] {
            assert!(time("from", text).is_err(), "{text}");
        }
        assert!(range(Some("20"), Some("10")).is_err());
        assert!(matches!(range(Some("20"), None), Ok(None)));
    }
}
