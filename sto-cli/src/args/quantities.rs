//! Parsers for labels, ages, sizes and shares.

use std::fmt;
use std::time::Duration;
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, Nanoseconds, TimeOffset, UnixSeconds};

/// Parses `KEY=VALUE`.
pub(crate) fn label(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE"),
    }
}

/// Parses a point of a pattern: `T:VALUE`.
pub(crate) fn point(text: &str) -> Result<(f64, f64), &'static str> {
    let (time, value) = text.split_once(':').unwrap_or_default();
    let point = finite(time).zip(finite(value));
    point.ok_or("expected points T:VALUE separated by commas, such as 0:1,2.5:0.4")
}

/// Parses a time window `FROM..TO`; either end may be missing. Times of runs are in seconds, or have a unit.
pub(crate) fn window(text: &str) -> Result<(Option<f64>, Option<f64>), &'static str> {
    const EXPECTED: &str =
        "expected FROM..TO in the unit of the times, such as 2.5..4, 2.5.. or ..4";
    let (from, to) = text.split_once("..").ok_or(EXPECTED)?;
    let with_unit = |text: &str| run_time(text).ok().map(|time| time.0 as f64 / 1e9);
    let end = |text: &str| {
        if text.is_empty() {
            Ok(None)
        } else {
            finite(text)
                .or_else(|| with_unit(text))
                .map(Some)
                .ok_or(EXPECTED)
        }
    };
    match (end(from)?, end(to)?) {
        (Some(from), Some(to)) if from >= to => Err("the window ends before it begins"),
        window => Ok(window),
    }
}

fn finite(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

/// Parses a time since a run's first sample, in seconds or with a unit: `2.5s`, `800ms`, `2.5`.
pub(crate) fn run_time(text: &str) -> Result<Nanoseconds, &'static str> {
    let time = nanoseconds(text).filter(|&time| time >= 0.0);
    time.map(|time| Nanoseconds(time as u64))
        .ok_or("expected a time from the run's first sample, such as 2.5s or 800ms")
}

/// Parses a time limit: `30s`, `500ms`, `5m`.
pub(crate) fn time_limit(text: &str) -> Result<Duration, &'static str> {
    let time = nanoseconds(text).filter(|&time| time > 0.0);
    time.map(|time| Duration::from_nanos(time as u64))
        .ok_or("expected a time such as 30s or 500ms")
}

/// Parses an offset from a run's first sample, which may be negative: `2.5s`, `-800ms`, `2.5`.
pub(crate) fn time_offset(text: &str) -> Result<TimeOffset, &'static str> {
    let time = nanoseconds(text).map(|time| TimeOffset(time as i64));
    time.ok_or("expected a time from the run's first sample, such as 2.5s or -800ms")
}

/// Parses a time in seconds or with a unit, into nanoseconds.
fn nanoseconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let unit = text.find(|letter: char| letter.is_ascii_alphabetic() || letter == 'µ');
    let (number, unit) = text.split_at(unit.unwrap_or(text.len()));
    let nanoseconds = match unit {
        "" | "s" => 1e9,
        "ms" => 1e6,
        "us" | "µs" => 1e3,
        "ns" => 1.0,
        "m" | "min" => 60e9,
        _ => return None,
    };
    let time = finite(number).map(|number| (number * nanoseconds).round());
    time.filter(|&time| (-LONGEST..=LONGEST).contains(&time))
}

/// Upper limit for times: a century in nanoseconds, so that sums of two times do not overflow.
const LONGEST: f64 = 3.2e18;

/// Parses a part of a run `FROM..TO`; either end may be missing.
pub(crate) fn run_window(text: &str) -> Result<RunPart, String> {
    const EXPECTED: &str = "expected FROM..TO, such as 2.5s..4s, 2.5s.. or ..800ms";
    let (from, to) = text.split_once("..").ok_or(EXPECTED)?;
    let end = |text: &str| {
        if text.is_empty() {
            Ok(None)
        } else {
            run_time(text).map(Some)
        }
    };
    let part = RunPart {
        from: end(from)?.unwrap_or_default(),
        to: end(to)?,
    };
    match part.to {
        Some(to) if part.from >= to => Err("the window ends before it begins".to_owned()),
        _ => Ok(part),
    }
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RunPart {
    pub(crate) from: Nanoseconds,
    pub(crate) to: Option<Nanoseconds>,
}

impl fmt::Display for RunPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |time: Nanoseconds| time.0 as f64 / 1e9;
        write!(f, "{}s..", seconds(self.from))?;
        match self.to {
            Some(to) => write!(f, "{}s", seconds(to)),
            None => Ok(()),
        }
    }
}

/// Parses a number of time slices.
pub(crate) fn slice_count(text: &str) -> Result<SliceCount, String> {
    let count = text.parse().ok().and_then(SliceCount::new);
    count.ok_or_else(|| format!("expected a whole number from 1 to {}", SliceCount::MAX))
}

/// Parses an age: a whole number of hours, days, weeks or years of 365 days.
pub(crate) fn days(text: &str) -> Result<Duration, &'static str> {
    const EXPECTED: &str = "expected a number with a unit: h, d, w or y";
    let (number, unit) = split(text).ok_or(EXPECTED)?;
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        "y" => 365 * 24,
        _ => return Err(EXPECTED),
    };
    let seconds = number.checked_mul(hours * 3600).ok_or("that is too long")?;
    Ok(Duration::from_secs(seconds))
}

/// Parses a point in time: an age before `now`, or a day or time in UTC.
pub(crate) fn since(text: &str, now: UnixSeconds) -> Result<UnixSeconds, &'static str> {
    if let Ok(age) = days(text) {
        return Ok(UnixSeconds(now.0.saturating_sub(age.as_secs())));
    }
    text.parse()
        .map_err(|_| "expected an age such as 7d, or a day or time in UTC such as 2026-03-01")
}

/// Parses a size: a whole number with a decimal or binary unit of bytes.
pub(crate) fn bytes(text: &str) -> Result<Bytes, &'static str> {
    const EXPECTED: &str = "expected a number with a unit: B, kB, MB, GB, KiB, MiB or GiB";
    let (number, unit) = split(text).ok_or(EXPECTED)?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" | "k" => 1_000,
        "mb" | "m" => 1_000_000,
        "gb" | "g" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err(EXPECTED),
    };
    number
        .checked_mul(factor)
        .map(Bytes)
        .ok_or("that is too large")
}

fn split(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    Some((text[..digits].parse().ok()?, text[digits..].trim_start()))
}

/// A share in percent: `0.5` or `0.5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(f64);

impl Percent {
    /// Converts a share, where 1 is 100 percent.
    pub(crate) fn from_share(share: f64) -> Self {
        Percent(share * 100.0)
    }

    /// The share, where 1 is 100 percent.
    pub(crate) fn share(self) -> f64 {
        self.0 / 100.0
    }

    /// Parses a percentage from 0 to below 100.
    pub(crate) fn part(text: &str) -> Result<Self, &'static str> {
        parsed(text)
            .filter(|percent| (0.0..100.0).contains(percent))
            .map(Percent)
            .ok_or("expected percent from 0 to below 100, such as 0.5")
    }

    /// Parses a change in percent, which may be above 100.
    pub(crate) fn change(text: &str) -> Result<Self, &'static str> {
        parsed(text)
            .filter(|&percent| percent > 0.0 && percent.is_finite())
            .map(Percent)
            .ok_or("expected percent above 0, such as 25")
    }
}

fn parsed(text: &str) -> Option<f64> {
    text.strip_suffix('%').unwrap_or(text).parse().ok()
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_accepts_ages_and_times() {
        let now = UnixSeconds(1_772_368_496);
        assert_eq!(since("1d", now), Ok(UnixSeconds(now.0 - 86_400)));
        assert_eq!(since("9999y", now), Ok(UnixSeconds(0)));
        assert_eq!(since("2026-03-01", now), Ok(UnixSeconds(1_772_323_200)));
        assert!(since("yesterday", now).is_err());
    }

    #[test]
    fn window_ends_are_ordered_or_missing() {
        assert_eq!(window("2.5..4"), Ok((Some(2.5), Some(4.0))));
        assert_eq!(window("-1.."), Ok((Some(-1.0), None)));
        assert_eq!(window("..4"), Ok((None, Some(4.0))));
        assert_eq!(window("800ms..2.5s"), Ok((Some(0.8), Some(2.5))));
        for text in ["", "4", "4..2", "4..4", "a..b", "nan..1", "1...2.."] {
            assert!(window(text).is_err(), "{text}");
        }
        assert_eq!(point("-1:2e3"), Ok((-1.0, 2000.0)));
        for text in ["", "1", "1:", ":1", "1:inf", "1:2:3"] {
            assert!(point(text).is_err(), "{text}");
        }
    }

    #[test]
    fn run_times_have_a_unit_or_are_seconds() {
        assert_eq!(run_time("2.5s"), Ok(Nanoseconds(2_500_000_000)));
        assert_eq!(run_time("2.5"), Ok(Nanoseconds(2_500_000_000)));
        assert_eq!(run_time("800 ms"), Ok(Nanoseconds(800_000_000)));
        assert_eq!(run_time("0"), Ok(Nanoseconds(0)));
        for text in ["", "s", "-1s", "1h", "1.5.2", "nan", "1e99", "5s4"] {
            assert!(run_time(text).is_err(), "{text}");
        }
        assert_eq!(time_offset("-800ms"), Ok(TimeOffset(-800_000_000)));
        assert_eq!(time_offset("1"), Ok(TimeOffset(1_000_000_000)));
        assert!(time_offset("-1e99").is_err());
        let part = run_window("..800ms").unwrap();
        assert_eq!(part.to, Some(Nanoseconds(800_000_000)));
        assert_eq!(run_window("1..").unwrap().from, Nanoseconds(1_000_000_000));
        for text in ["", "4", "4..2", "4..4", "a..b", "1...2"] {
            assert!(run_window(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ages_and_sizes_need_a_known_unit() {
        assert_eq!(days("90d"), Ok(Duration::from_secs(90 * 86_400)));
        assert_eq!(days("36h"), Ok(Duration::from_secs(36 * 3600)));
        assert_eq!(bytes("500MB"), Ok(Bytes(500_000_000)));
        assert_eq!(bytes("2 GiB"), Ok(Bytes(2 << 30)));
        for text in [
            "",
            "90",
            "d",
            "-1d",
            "1.5d",
            "90m",
            "99999999999999999999d",
            "9999999999999999y",
        ] {
            assert!(days(text).is_err(), "{text}");
        }
        for text in ["", "500", "MB", "-1MB", "1TBB", "99999999999GB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
