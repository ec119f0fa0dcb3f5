//! The policy file: TOML, of which every key and value is checked where it stands.

use super::{IgnoreEntry, Policy, PolicyError, Thresholds};
use crate::compare::{Ignored, IgnoredFunction, NormalisationMethod, WorseIf};
use crate::functions::{Attribution, FunctionPatterns};
use crate::text::Date;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;
use toml::value::{Datetime, Value};

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    baseline: Option<Text>,
    #[serde(default)]
    thresholds: Limits,
    #[serde(default)]
    benchmark: BTreeMap<String, Limits>,
    #[serde(default)]
    ignore: Vec<Entry>,
    #[serde(default)]
    attribute: Attribute,
}

#[derive(Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    rename_all = "kebab-case",
    expecting = "a table: to-caller and to-itself"
)]
struct Attribute {
    to_caller: Patterns,
    to_itself: Patterns,
}

#[derive(Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table of patterns: functions, modules and files"
)]
struct Patterns {
    functions: Vec<Text>,
    modules: Vec<Text>,
    files: Vec<Text>,
}

#[derive(Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table of thresholds"
)]
struct Limits {
    alpha: Option<Rate>,
    min_effect: Option<Effect>,
    min_share: Option<Share>,
    min_samples: Option<Count>,
    normalisation: Option<Normalisation>,
    #[serde(default)]
    worse_if: BTreeMap<String, Direction>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: function, reason and expires"
)]
struct Entry {
    function: Spanned<Text>,
    module: Option<Text>,
    reason: Text,
    expires: Day,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Normalisation {
    Tmm,
    Shares,
    PerRun,
    /// `{ per = "requests" }`
    Per(Text),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Direction {
    Higher,
    Lower,
    Never,
}

/// Text that says something.
struct Text(String);

/// Between 0 and 1.
struct Rate(f64);

/// Percent above 0, as a ratio.
struct Effect(f64);

/// Percent from 0 to below 100, as a ratio.
struct Share(f64);

struct Count(u64);

struct Day(Date);

pub(super) fn parse(text: &str) -> Result<Policy, PolicyError> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line_of = |offset: usize| 1 + ends.partition_point(|&end| end < offset);
    let file: File = toml::from_str(text).map_err(|error| PolicyError {
        line: line_of(error.span().map_or(0, |span| span.start)),
        message: error.message().replace('\n', "; "),
    })?;
    let entry = |entry: Entry| IgnoreEntry {
        line: line_of(entry.function.span().start),
        ignored: IgnoredFunction {
            function: entry.function.into_inner().0,
            module: entry.module.map(|module| module.0),
            why: Ignored {
                reason: entry.reason.0,
                expires: entry.expires.0,
            },
        },
    };
    Ok(Policy {
        baseline: file.baseline.map(|baseline| baseline.0),
        thresholds: file.thresholds.into(),
        benchmarks: file
            .benchmark
            .into_iter()
            .map(|(name, limits)| (name, limits.into()))
            .collect(),
        ignore: file.ignore.into_iter().map(entry).collect(),
        attribution: Attribution {
            to_caller: file.attribute.to_caller.into(),
            to_itself: file.attribute.to_itself.into(),
        },
    })
}

impl From<Patterns> for FunctionPatterns {
    fn from(patterns: Patterns) -> Self {
        let list = |patterns: Vec<Text>| patterns.into_iter().map(|text| text.0).collect();
        FunctionPatterns {
            functions: list(patterns.functions),
            modules: list(patterns.modules),
            files: list(patterns.files),
        }
    }
}

impl From<Limits> for Thresholds {
    fn from(limits: Limits) -> Self {
        Thresholds {
            alpha: limits.alpha.map(|rate| rate.0),
            min_effect: limits.min_effect.map(|effect| effect.0),
            min_share: limits.min_share.map(|share| share.0),
            min_samples: limits.min_samples.map(|count| count.0),
            normalisation: limits.normalisation.map(|method| match method {
                Normalisation::Tmm => NormalisationMethod::Tmm,
                Normalisation::Shares => NormalisationMethod::Total,
                Normalisation::PerRun => NormalisationMethod::PerRun,
                Normalisation::Per(metric) => NormalisationMethod::PerMetric(metric.0),
            }),
            worse_if: limits.worse_if.into_iter().map(worse_if).collect(),
        }
    }
}

fn worse_if((metric, direction): (String, Direction)) -> (String, WorseIf) {
    let direction = match direction {
        Direction::Higher => WorseIf::Higher,
        Direction::Lower => WorseIf::Lower,
        Direction::Never => WorseIf::Never,
    };
    (metric, direction)
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim().is_empty() {
            return Err(D::Error::invalid_value(
                Unexpected::Str(&text),
                &"text that says something",
            ));
        }
        Ok(Text(text))
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rate = f64::deserialize(deserializer)?;
        if rate > 0.0 && rate < 1.0 {
            return Ok(Rate(rate));
        }
        let expected = "a number between 0 and 1, such as 0.05";
        Err(D::Error::invalid_value(Unexpected::Float(rate), &expected))
    }
}

impl<'de> Deserialize<'de> for Effect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let in_range = |percent: f64| percent > 0.0 && percent.is_finite();
        let expected = "percent above 0 in quotes, such as \"10%\"";
        Ok(Effect(
            deserializer.deserialize_any(Percent { in_range, expected })?,
        ))
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let in_range = |percent: f64| (0.0..100.0).contains(&percent);
        let expected = "percent from 0 to below 100 in quotes, such as \"0.5%\"";
        Ok(Share(
            deserializer.deserialize_any(Percent { in_range, expected })?,
        ))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let count = i64::deserialize(deserializer)?;
        let expected = "a whole number from 0, such as 200";
        u64::try_from(count)
            .map(Count)
            .map_err(|_| D::Error::invalid_value(Unexpected::Signed(count), &expected))
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Datetime(Datetime {
                date: Some(date),
                time: None,
                ..
            }) => Ok(Day(Date::from_civil(date.year, date.month, date.day))),
            _ => Err(D::Error::custom(
                "expected a day without quotes, such as 2026-12-31",
            )),
        }
    }
}

/// Percent with their sign: a bare number could as well be a ratio.
struct Percent<F> {
    in_range: F,
    expected: &'static str,
}

impl<F: Fn(f64) -> bool> Visitor<'_> for Percent<F> {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
        let percent = text
            .strip_suffix('%')
            .and_then(|number| number.trim().parse().ok());
        percent
            .filter(|&percent| (self.in_range)(percent))
            .map(|percent| percent / 100.0)
            .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}
