//! Numeric arguments of calls: members of `args`.

use crate::wire::json::Members;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Limit to the arguments of a call.
const MOST: usize = 16;

/// The numbers among an event's arguments, including strings with numbers, as VizTracer writes:
/// `{"func_args": {"n": "1000"}}`. Members of nested objects have both names: `func_args.n`.
pub(super) fn read_numbers(args: &RawValue) -> Vec<(Cow<'_, str>, f64)> {
    let mut found = Vec::new();
    for (name, value) in members(args) {
        if let Some(number) = number(value) {
            found.push((name, number));
        } else if value.get().starts_with('{') {
            found.extend(members(value).filter_map(|(inner, value)| {
                Some((Cow::Owned(format!("{name}.{inner}")), number(value)?))
            }));
        }
    }
    found.truncate(MOST);
    found
}

fn number(value: &RawValue) -> Option<f64> {
    let text = value.get();
    let text = text
        .strip_prefix('"')
        .map_or(text, |text| text.trim_end_matches('"'));
    let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let number = is_number.then(|| text.parse::<f64>().ok())??;
    number.is_finite().then_some(number)
}

/// The members of an object; empty for other values.
fn members(value: &RawValue) -> impl Iterator<Item = (Cow<'_, str>, &RawValue)> {
    let members = serde_json::from_str::<Members<'_, Name<'_>>>(value.get());
    let members = members.map_or_else(|_| Vec::new(), |members| members.0);
    members.into_iter().map(|(Name(name), value)| (name, value))
}

#[derive(Deserialize)]
struct Name<'b>(#[serde(borrow)] Cow<'b, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_and_numeric_strings() {
        let args = |text: &str| {
            let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
            let numbers = read_numbers(&raw).into_iter();
            numbers
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            args(r#"{"n": 1000, "k": -2.5e3, "name": "x"}"#),
            "n=1000 k=-2500"
        );
        assert_eq!(
            args(r#"{"func_args": {"n": "12", "of": "nan"}}"#),
            "func_args.n=12"
        );
        assert_eq!(
            args(r#"{"a": {"b": {"c": 1}}, "is": true, "no": null}"#),
            ""
        );
        assert_eq!(args(r#"{"big": 1e999, "one": "1 000", "list": [1]}"#), "");
        assert_eq!(args("[1, 2]"), "");
        assert_eq!(args("3"), "");
        let many: Vec<String> = (0..99).map(|n| format!("\"a{n}\": {n}")).collect();
        assert_eq!(
            args(&format!("{{{}}}", many.join(","))).split(' ').count(),
            MOST
        );
    }
}
