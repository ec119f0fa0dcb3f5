//! Thresholds of RegTime compression.

use crate::ParseError;
use crate::units::Nanoseconds;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A duration, either absolute or as a share of a thread's time. Serde writes it as text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub enum Threshold {
    /// A share, 0 to 1, of the time from the start of a thread's first call to the end of its last call.
    Share(f64),
    /// A duration.
    Time(Nanoseconds),
}

/// The thresholds that decide which calls are kept individually, and where expressions end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CallThresholds {
    /// Longer calls are kept individually; `CallDurationThresh` of the paper.
    pub call_duration: Threshold,
    /// A longer gap between two calls of one caller ends an expression; `CallGapThresh`.
    pub call_gap: Threshold,
    /// An expression ends when it becomes longer than this; `TotalTimeFractionThresh`.
    pub total_time: Threshold,
}

impl Default for CallThresholds {
    /// The thresholds in section 7 of the paper: 1 %, 0.1 % and 13 %.
    fn default() -> CallThresholds {
        CallThresholds {
            call_duration: Threshold::Share(0.01),
            call_gap: Threshold::Share(0.001),
            total_time: Threshold::Share(0.13),
        }
    }
}

impl Threshold {
    /// The duration in a thread whose time is `thread_time`.
    pub fn resolve(self, thread_time: Nanoseconds) -> Nanoseconds {
        match self {
            Threshold::Share(share) => Nanoseconds((thread_time.0 as f64 * share) as u64),
            Threshold::Time(time) => time,
        }
    }
}

impl TryFrom<String> for Threshold {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Threshold, ParseError> {
        text.parse()
    }
}

impl From<Threshold> for String {
    fn from(threshold: Threshold) -> String {
        threshold.to_string()
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Share(share) => write!(f, "{}%", (share * 1e8).round() / 1e6),
            Threshold::Time(time) => write!(f, "{}ns", time.0),
        }
    }
}

impl FromStr for Threshold {
    type Err = ParseError;

    /// Parses a share (`0.1%`), or a time with a unit or in seconds (`250us`, `1.5`).
    fn from_str(text: &str) -> Result<Threshold, ParseError> {
        let error = || ParseError::new("a share (1%) or a time (2ms, 1.5s)", text);
        if let Some(share) = text.strip_suffix('%') {
            let share = share.trim_end().parse::<f64>().map_err(|_| error())?;
            return (0.0..=100.0)
                .contains(&share)
                .then_some(Threshold::Share(share / 100.0))
                .ok_or_else(error);
        }
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[number.len()..] {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "" | "s" => 1e9,
            _ => return Err(error()),
        };
        let time = number.parse::<f64>().map_err(|_| error())? * unit;
        let is_time = (0.0..=u64::MAX as f64).contains(&time);
        is_time
            .then_some(Threshold::Time(Nanoseconds(time.round() as u64)))
            .ok_or_else(error)
    }
}

#[cfg(test)]
mod tests {
    use super::Threshold;
    use crate::units::Nanoseconds;

    #[test]
    fn parses_shares_and_times() {
        let time = |ns| Ok(Threshold::Time(Nanoseconds(ns)));
        assert_eq!("0.1%".parse(), Ok(Threshold::Share(0.001)));
        assert_eq!("250us".parse(), time(250_000));
        assert_eq!("1.5".parse(), time(1_500_000_000));
        assert_eq!("2ms".parse(), time(2_000_000));
        for wrong in ["101%", "-1s", "5 parsecs", "", "NaN", "1e30s"] {
            assert!(wrong.parse::<Threshold>().is_err(), "{wrong}");
        }
        for text in ["1%", "0.1%", "13%"] {
            let read: Threshold = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
    }
}
