//! JSON lines: one object with `time`, `name` and `value` per line.

use super::points::{Points, kind_of};
use super::time::unit_of_times;
use super::{Reader, TraceSeries, number, time_in};
use crate::wire::text::excerpt;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The metrics so far.
#[derive(Default)]
pub(super) struct JsonLines(Points);

impl Reader for JsonLines {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let object: BTreeMap<Cow<'_, str>, &RawValue> =
            serde_json::from_slice(line).map_err(|error| {
                let column = error.column();
                format!(
                    "expected an object of JSON, found {}, which breaks at byte {column}",
                    excerpt(line)
                )
            })?;
        let field = |name: &str| {
            let value = object.get(name).map(|value| unquoted(value.get()));
            value.ok_or_else(|| {
                format!(
                    "expected an object with `time`, `name` and `value`, found {}",
                    excerpt(line)
                )
            })
        };
        let times = object
            .iter()
            .find_map(|(key, value)| Some((value, unit_of_times(key)?)));
        let time = match times {
            Some((time, unit)) => time_in(unquoted(time.get())?.as_bytes(), unit)?,
            None => return field("time").map(drop),
        };
        let kind = if object.contains_key("kind") {
            field("kind")??
        } else {
            Cow::Borrowed("")
        };
        let (name, value) = (field("name")??, field("value")??);
        match number(value.as_bytes())? {
            Some(value) => self.0.push(&name, kind_of(kind.as_bytes())?, time, value),
            None => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> Result<(Vec<TraceSeries>, Vec<String>), String> {
        Ok((self.0.finish(), Vec::new()))
    }
}

/// A number as written, or the text of a string.
fn unquoted(json: &str) -> Result<Cow<'_, str>, String> {
    if !json.starts_with('"') {
        return Ok(Cow::Borrowed(json));
    }
    let text = serde_json::from_str::<String>(json);
    text.map(Cow::Owned).map_err(|error| error.to_string())
}
