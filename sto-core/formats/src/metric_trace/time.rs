//! Times of traces: decimal numbers, exact to the nanosecond.

use std::fmt;

/// Names of the column of times, in lower case.
const TIMES: [&str; 4] = ["time", "t", "timestamp", "seconds"];

/// Units of time and their nanoseconds.
const UNITS: [(&str, i64); 6] = [
    ("s", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// Nanoseconds per unit of a column, or `None` if its name is not one of times: `time`, `Time (ms)`, `t_us`.
pub(super) fn unit_of_times(name: &str) -> Option<i64> {
    let name = name.to_lowercase();
    let mut words = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let is_time = TIMES.contains(&words.next()?);
    let unit = match words.next() {
        None => Some(UNITS[0].1),
        Some(unit) => unit_named(unit),
    };
    unit.filter(|_| is_time && words.next().is_none())
}

fn unit_named(name: &str) -> Option<i64> {
    let found = UNITS.iter().find(|(known, _)| *known == name);
    found.map(|&(_, nanoseconds)| nanoseconds)
}

/// Parses a time in nanoseconds, rounded: a decimal number, followed by a unit or in units of
/// `unit` nanoseconds.
pub(super) fn as_nanoseconds(field: &[u8], unit: i64) -> Option<i64> {
    let text = str::from_utf8(field).ok()?.trim();
    let end = text.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E');
    let (number, name) = text.split_at(end.unwrap_or(text.len()));
    let unit = match name {
        "" => unit,
        name => unit_named(name)?,
    };
    let number = number.trim_end();
    let (is_negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let time = match decimal(digits, unit) {
        Some(time) => time,
        // It has an exponent or more decimals than nanoseconds.
        None => {
            let time = (digits.parse::<f64>().ok()? * unit as f64).round();
            (time < MOST).then_some(time as i64)?
        }
    };
    Some(if is_negative { -time } else { time })
}

/// Limit below which an `f64` fits an `i64`.
const MOST: f64 = (1u64 << 63) as f64;

/// Parses a decimal number with no more decimals than nanoseconds.
fn decimal(digits: &str, unit: i64) -> Option<i64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let places = unit.ilog10() as usize;
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_plain(whole) || !is_plain(fraction) || fraction.len() > places {
        return None;
    }
    let fraction = format!("{fraction:0<places$}");
    let fraction: i64 = if places == 0 {
        0
    } else {
        fraction.parse().ok()?
    };
    whole
        .parse::<i64>()
        .ok()?
        .checked_mul(unit)?
        .checked_add(fraction)
}

/// Nanoseconds, formatted in seconds with as many decimals as needed.
pub(super) struct Seconds(pub(super) i128);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (
            self.0.unsigned_abs() / 1_000_000_000,
            self.0.unsigned_abs() % 1_000_000_000,
        );
        let digits = format!("{rest:09}");
        let digits = digits.trim_end_matches('0');
        let point = if digits.is_empty() { "" } else { "." };
        write!(f, "{sign}{whole}{point}{digits} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_times_exactly_with_units() {
        let s = UNITS[0].1;
        for (text, unit, expected) in [
            ("1700000000.123456789", s, 1_700_000_000_123_456_789),
            (" 0.5 ", s, 500_000_000),
            ("-2", s, -2_000_000_000),
            ("+.25", s, 250_000_000),
            ("1e-3", s, 1_000_000),
            ("12ms", s, 12_000_000),
            ("12.5 us", s, 12_500),
            ("3 µs", s, 3_000),
            ("7", 1, 7),
            ("7.6", 1, 8),
            ("9223372036854775807", 1, i64::MAX),
        ] {
            assert_eq!(
                as_nanoseconds(text.as_bytes(), unit),
                Some(expected),
                "{text}"
            );
        }
        for text in [
            "",
            "x",
            "s",
            "nan",
            "inf",
            "-inf",
            "1h",
            "1.5.2",
            "1e99",
            "--1",
            "9223372037",
            "2026-11-22",
            "1 2",
        ] {
            assert_eq!(as_nanoseconds(text.as_bytes(), s), None, "{text}");
        }
    }

    #[test]
    fn recognises_columns_of_times() {
        for (name, unit) in [
            ("time", UNITS[0].1),
            ("Time (ms)", 1_000_000),
            ("t_us", 1_000),
            ("timestamp[ns]", 1),
        ] {
            assert_eq!(unit_of_times(name), Some(unit), "{name}");
        }
        for name in [
            "",
            "times",
            "uptime",
            "time_of_day",
            "ms",
            "time ms total",
            "tms",
        ] {
            assert_eq!(unit_of_times(name), None, "{name}");
        }
    }

    #[test]
    fn formats_times_in_seconds() {
        for (time, shown) in [(0, "0 s"), (-1_500_000_000, "-1.5 s"), (1, "0.000000001 s")] {
            assert_eq!(Seconds(time).to_string(), shown);
        }
    }
}
