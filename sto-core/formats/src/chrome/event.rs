//! A trace event.

use super::arguments::read_numbers;
use crate::error::{DecodeError, Decoded};
use crate::wire::json::Text;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'b"))]
pub(crate) struct Event<'b> {
    pub(super) ph: Text<'b>,
    pub(super) name: Option<Text<'b>>,
    pub(super) cat: Text<'b>,
    /// Microseconds, like the other times.
    ts: Option<&'b RawValue>,
    dur: Option<&'b RawValue>,
    tdur: Option<&'b RawValue>,
    #[serde(deserialize_with = "id")]
    pub(super) pid: Cow<'b, str>,
    #[serde(deserialize_with = "id")]
    pub(super) tid: Cow<'b, str>,
    #[serde(deserialize_with = "id")]
    pub(super) id: Cow<'b, str>,
    id2: Option<Id2<'b>>,
    pub(super) args: Option<&'b RawValue>,
    /// Numeric arguments, for begin and end of calls.
    #[serde(skip)]
    pub(super) arguments: Vec<(Cow<'b, str>, f64)>,
}

/// One of the two is present.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Id2<'b> {
    #[serde(default, deserialize_with = "id")]
    local: Cow<'b, str>,
    #[serde(default, deserialize_with = "id")]
    global: Cow<'b, str>,
}

/// The identity of an asynchronous event.
pub(super) enum AsyncId<'e> {
    /// An id within its process.
    Local(&'e str),
    /// An id in all processes.
    Global(&'e str),
}

/// Reads a number or a string; both are names.
fn id<'d: 'b, 'b, D: serde::Deserializer<'d>>(deserializer: D) -> Result<Cow<'b, str>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?.get();
    Ok(match raw.as_bytes().first() {
        Some(b'"') if !raw.contains('\\') => raw[1..raw.len() - 1].into(),
        Some(b'"') => serde_json::from_str::<String>(raw)
            .map_err(serde::de::Error::custom)?
            .into(),
        Some(b'-' | b'0'..=b'9') if !raw.contains(['.', 'e', 'E']) => raw.into(),
        Some(b'-' | b'0'..=b'9') => raw.parse().unwrap_or(0.0_f64).to_string().into(),
        Some(b'n') => Cow::default(),
        _ => return Err(serde::de::Error::custom("expected a number or a string")),
    })
}

impl<'b> Event<'b> {
    /// The phase, such as `B`; 0 if there is none.
    pub(super) fn phase(&self) -> u8 {
        match *self.ph.0 {
            [phase] => phase,
            _ => 0,
        }
    }

    /// Reads the event's arguments.
    pub(super) fn with_arguments(mut self) -> Event<'b> {
        if let (b'B' | b'E' | b'X' | b'b' | b'e', Some(args)) = (self.phase(), self.args) {
            self.arguments = read_numbers(args);
        }
        self
    }

    pub(super) fn is(&self, ph: u8, name: &str) -> bool {
        let named = self.name.as_ref();
        self.phase() == ph && named.is_some_and(|own| *own.0 == *name.as_bytes())
    }

    pub(super) fn has_time(&self) -> bool {
        self.ts.is_some()
    }

    /// Nanoseconds by the trace's clock; `None` without a time.
    pub(super) fn time(&self) -> Option<i64> {
        self.ts.and_then(|ts| nanoseconds(ts.get()))
    }

    /// Like [`Event::time`], but a missing time is an error; `at` is the event's path.
    pub(super) fn needed_time(&self, at: impl FnOnce() -> String) -> Decoded<i64> {
        self.time().ok_or_else(|| wrong(self.ts, "ts", at()))
    }

    /// The end of a complete event that begins at a time; `None` without a duration.
    pub(super) fn end(&self, begin: i64, at: impl FnOnce() -> String) -> Decoded<Option<i64>> {
        let (took, field) = match self.dur {
            Some(dur) => (dur, "dur"),
            None => match self.tdur {
                Some(tdur) => (tdur, "tdur"),
                None => return Ok(None),
            },
        };
        let length = nanoseconds(took.get()).filter(|&took| took >= 0);
        let end = length.and_then(|took| begin.checked_add(took));
        end.map(Some).ok_or_else(|| wrong(Some(took), field, at()))
    }

    pub(super) fn async_id(&self) -> Option<AsyncId<'_>> {
        match &self.id2 {
            _ if !self.id.is_empty() => Some(AsyncId::Global(&self.id)),
            Some(id2) if !id2.global.is_empty() => Some(AsyncId::Global(&id2.global)),
            Some(id2) if !id2.local.is_empty() => Some(AsyncId::Local(&id2.local)),
            _ => None,
        }
    }

    pub(super) fn args<T: Deserialize<'b>>(&self, at: &str) -> Decoded<T> {
        let text = self.args.map_or("{}", RawValue::get);
        serde_json::from_str(text)
            .map_err(|error| DecodeError::new(format!("{at}.args"), error.to_string()))
    }
}

fn wrong(found: Option<&RawValue>, field: &str, at: String) -> DecodeError {
    let found = found.map_or("none".into(), |found| {
        found.get().chars().take(40).collect::<String>()
    });
    let problem = format!("{found}; expected microseconds, within 292 years of 0");
    DecodeError::new(format!("{at}.{field}"), problem)
}

/// Converts microseconds to nanoseconds, exactly for up to three decimals. They may be in a string,
/// as `llvm-xray` writes them. `None` if the text is not a number or does not fit.
fn nanoseconds(text: &str) -> Option<i64> {
    let text = text.strip_prefix('"').map_or(text, |text| {
        text.strip_suffix('"').unwrap_or(text).trim_ascii()
    });
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 16 || !are_digits(whole) || !are_digits(fraction) {
        // A number with an exponent, or a very large one.
        let number = (text.parse::<f64>().ok()? * 1000.0).round();
        return (number.abs() < i64::MAX as f64).then_some(number as i64);
    }
    let mut time = whole.parse::<i64>().ok()?;
    let digit = |place: usize| {
        fraction
            .as_bytes()
            .get(place)
            .map_or(0, |digit| digit - b'0')
    };
    for place in 0..3 {
        time = time.checked_mul(10)?.checked_add(digit(place).into())?;
    }
    let time = time.checked_add(i64::from(digit(3) >= 5))?;
    Some(sign * time)
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn microseconds_since_the_epoch_are_exact() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1795401670245481.2513", Some(1_795_401_670_245_481_251)),
            ("\"1795401670245481.2500\"", Some(1_795_401_670_245_481_250)),
            ("-0.0015", Some(-2)),
            ("12.3456", Some(12_346)),
            ("1.5e3", Some(1_500_000)),
            ("9223372036854775", Some(9_223_372_036_854_775_000)),
            ("9223372036854776", None),
            ("1e40", None),
            ("\"\"", None),
            ("null", None),
            ("{}", None),
            ("--1", None),
        ] {
            assert_eq!(nanoseconds(text), expected, "{text}");
        }
    }
}
