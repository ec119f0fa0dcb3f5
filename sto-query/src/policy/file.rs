//! Parses policy files: TOML, with errors that name the line of an invalid key or value.

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

/// The structure of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    baseline: Option<Text>,
    #[serde(default, with = "Limits")]
    thresholds: Thresholds,
    #[serde(default)]
    benchmark: BTreeMap<String, BenchmarkThresholds>,
    #[serde(default)]
    ignore: Vec<Entry>,
    #[serde(default, with = "Attribute")]
    attribute: Attribution,
}

#[derive(Deserialize)]
#[serde(
    remote = "Attribution",
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table: to-caller and to-itself"
)]
struct Attribute {
    #[serde(default, with = "Patterns")]
    to_caller: FunctionPatterns,
    #[serde(default, with = "Patterns")]
    to_itself: FunctionPatterns,
}

#[derive(Deserialize)]
#[serde(
    remote = "FunctionPatterns",
    deny_unknown_fields,
    expecting = "a table of patterns: functions, modules and files"
)]
struct Patterns {
    #[serde(default, deserialize_with = "texts")]
    functions: Vec<String>,
    #[serde(default, deserialize_with = "texts")]
    modules: Vec<String>,
    #[serde(default, deserialize_with = "texts")]
    files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(
    remote = "Thresholds",
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table of thresholds"
)]
struct Limits {
    #[serde(default, deserialize_with = "rate")]
    alpha: Option<f64>,
    #[serde(default, deserialize_with = "effect")]
    min_effect: Option<f64>,
    #[serde(default, deserialize_with = "share")]
    min_share: Option<f64>,
    #[serde(default, deserialize_with = "count")]
    min_samples: Option<u64>,
    #[serde(default, deserialize_with = "normalisation")]
    normalisation: Option<NormalisationMethod>,
    #[serde(default, deserialize_with = "text")]
    x: Option<String>,
    #[serde(default)]
    worse_if: BTreeMap<String, WorseIf>,
}

#[derive(Deserialize)]
struct BenchmarkThresholds(#[serde(with = "Limits")] Thresholds);

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: function, reason and expires"
)]
struct Entry {
    function: Spanned<Text>,
    module: Option<Text>,
    reason: Text,
    #[serde(deserialize_with = "day")]
    expires: Date,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Normalisation {
    PerRun,
    UnequalWork,
    Shares,
    /// `{ per = "requests" }`
    Per(Text),
}

/// Text that is not blank.
struct Text(String);

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
                expires: entry.expires,
            },
        },
    };
    let benchmarks = file.benchmark.into_iter();
    Ok(Policy {
        baseline: file.baseline.map(|baseline| baseline.0),
        thresholds: file.thresholds,
        benchmarks: benchmarks.map(|(name, of)| (name, of.0)).collect(),
        ignore: file.ignore.into_iter().map(entry).collect(),
        attribution: file.attribute,
    })
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim().is_empty() {
            return Err(D::Error::invalid_value(
                Unexpected::Str(&text),
                &"text that is not blank",
            ));
        }
        Ok(Text(text))
    }
}

fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<Text>::deserialize(deserializer)?;
    Ok(texts.into_iter().map(|text| text.0).collect())
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Text::deserialize(deserializer).map(|text| Some(text.0))
}

/// Reads a number between 0 and 1.
fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let rate = f64::deserialize(deserializer)?;
    if rate > 0.0 && rate < 1.0 {
        return Ok(Some(rate));
    }
    let expected = "a number between 0 and 1, such as 0.05";
    Err(D::Error::invalid_value(Unexpected::Float(rate), &expected))
}

/// Reads a percentage above 0, as a ratio.
fn effect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let in_range = |percent: f64| percent > 0.0 && percent.is_finite();
    let expected = "percent above 0 in quotes, such as \"10%\"";
    let ratio = deserializer.deserialize_any(Percent { in_range, expected });
    ratio.map(Some)
}

/// Reads a percentage from 0 to below 100, as a ratio.
fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let in_range = |percent: f64| (0.0..100.0).contains(&percent);
    let expected = "percent from 0 to below 100 in quotes, such as \"0.5%\"";
    let ratio = deserializer.deserialize_any(Percent { in_range, expected });
    ratio.map(Some)
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let count = i64::deserialize(deserializer)?;
    let expected = "a whole number from 0, such as 200";
    let of_range = u64::try_from(count).map(Some);
    of_range.map_err(|_| D::Error::invalid_value(Unexpected::Signed(count), &expected))
}

fn normalisation<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<NormalisationMethod>, D::Error> {
    Ok(Some(match Normalisation::deserialize(deserializer)? {
        Normalisation::UnequalWork => NormalisationMethod::Tmm,
        Normalisation::Shares => NormalisationMethod::Total,
        Normalisation::PerRun => NormalisationMethod::PerRun,
        Normalisation::Per(metric) => NormalisationMethod::PerMetric(metric.0),
    }))
}

fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Datetime(Datetime {
            date: Some(date),
            time: None,
            ..
        }) => Ok(Date::from_civil(date.year, date.month, date.day)),
        _ => Err(D::Error::custom(
            "expected a day without quotes, such as 2026-12-31",
        )),
    }
}

/// Reads percentages with their sign, because a bare number might be a ratio.
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
