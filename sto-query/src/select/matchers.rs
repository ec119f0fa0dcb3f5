//! Matchers of labels, as PromQL writes them.

use super::SelectError;
use regex_lite::Regex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::{Chars, FromStr};
use sto_core::model::{Build, Profile};

/// Label of a run that has the name of its program.
pub const SERVICE_NAME: &str = "service_name";
/// Label of a run that has the version of its build.
pub const VERSION: &str = "version";

/// Conditions on the labels of a run, as PromQL writes them: `{service_name="shop", version=~"v1.*", host!="a"}`.
///
/// A run must meet all of them. `=` and `!=` compare texts; `=~` and `!~` match a regular expression against the whole
/// value. A label that a run does not have is empty. Names with other characters than letters, digits, `_` and `.` are
/// written in quotes.
///
/// Besides the labels of its profile, a run has `service_name`, the program; `version`, the build; `benchmark`; and
/// `host`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LabelMatchers(Vec<LabelMatcher>);

/// A condition on one label.
#[derive(Clone, Debug)]
struct LabelMatcher {
    name: String,
    is_negated: bool,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Equal(String),
    /// The regular expression as written, and compiled for whole values.
    Match(String, Regex),
}

impl LabelMatchers {
    /// Returns `true` if labels meet all conditions. `value` returns the value of a label, empty for a missing one.
    pub fn matches<'a>(&self, value: impl Fn(&str) -> &'a str) -> bool {
        self.0.iter().all(|matcher| {
            let value = value(&matcher.name);
            let is_met = match &matcher.test {
                Test::Equal(text) => value == text,
                Test::Match(_, regex) => regex.is_match(value),
            };
            is_met != matcher.is_negated
        })
    }

    /// Splits the conditions into those on this label and the others.
    pub fn split(self, name: &str) -> (LabelMatchers, LabelMatchers) {
        let (on_label, others) = self.0.into_iter().partition(|m| m.name == name);
        (LabelMatchers(on_label), LabelMatchers(others))
    }

    /// Adds more conditions.
    #[must_use]
    pub fn and(mut self, more: LabelMatchers) -> LabelMatchers {
        self.0.extend(more.0);
        self
    }
}

/// Returns the value of a run's label, empty for a missing one.
pub(crate) fn run_label<'a>(build: &'a Build, profile: &'a Profile, name: &str) -> &'a str {
    match name {
        SERVICE_NAME => &build.executable,
        VERSION => &build.version,
        _ => {
            let other = || match name {
                "benchmark" => profile.benchmark.as_ref(),
                "host" => profile.origin.host.as_ref(),
                _ => None,
            };
            let value = profile.labels.get(name).or_else(other);
            value.map_or("", String::as_str)
        }
    }
}

impl PartialEq for LabelMatchers {
    fn eq(&self, other: &LabelMatchers) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for LabelMatchers {}

#[cfg(feature = "schemas")]
impl schemars::JsonSchema for LabelMatchers {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LabelMatchers".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Conditions on labels, as PromQL writes them: {service_name=\"shop\", version=~\"v1.*\"}.",
        })
    }
}

impl fmt::Display for LabelMatchers {
    /// Writes the conditions so that they can be parsed again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (
            ix,
            LabelMatcher {
                name,
                is_negated,
                test,
            },
        ) in self.0.iter().enumerate()
        {
            let separator = if ix == 0 { "" } else { ", " };
            let (operator, value) = match (test, is_negated) {
                (Test::Equal(text), false) => ("=", text),
                (Test::Equal(text), true) => ("!=", text),
                (Test::Match(pattern, _), false) => ("=~", pattern),
                (Test::Match(pattern, _), true) => ("!~", pattern),
            };
            write!(f, "{separator}{}{operator}{}", quoted(name), quoted(value))?;
        }
        f.write_str("}")
    }
}

fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        text.replace('\\', r"\\")
            .replace('"', "\\\"")
            .replace('\n', r"\n")
    )
}

impl From<LabelMatchers> for String {
    fn from(matchers: LabelMatchers) -> String {
        matchers.to_string()
    }
}

impl TryFrom<String> for LabelMatchers {
    type Error = SelectError;

    fn try_from(text: String) -> Result<LabelMatchers, SelectError> {
        text.parse()
    }
}

impl FromStr for LabelMatchers {
    type Err = SelectError;

    /// Parses conditions in braces. An empty text is an empty list.
    fn from_str(text: &str) -> Result<LabelMatchers, SelectError> {
        if text.trim().is_empty() {
            return Ok(LabelMatchers::default());
        }
        let mut parser = Parser { rest: text.chars() };
        parser.matchers().map_err(|expected| SelectError::Matchers {
            at: text.len() - parser.rest.as_str().len(),
            text: text.to_owned(),
            expected,
        })
    }
}

/// The rest of a text. Errors name the expected text in its place.
struct Parser<'a> {
    rest: Chars<'a>,
}

impl Parser<'_> {
    fn matchers(&mut self) -> Result<LabelMatchers, String> {
        let mut matchers = Vec::new();
        self.expect('{')?;
        while !self.takes('}') {
            matchers.push(self.matcher()?);
            if !self.takes(',') {
                self.expect('}')?;
                break;
            }
        }
        match self.peek() {
            None => Ok(LabelMatchers(matchers)),
            Some(_) => Err("nothing after `}`".to_owned()),
        }
    }

    fn matcher(&mut self) -> Result<LabelMatcher, String> {
        let name = self.name()?;
        let is_negated = self.takes('!');
        if !is_negated {
            self.expect('=')?;
        }
        let is_pattern = self.rest.as_str().starts_with('~');
        if is_pattern {
            self.rest.next();
        } else if is_negated {
            self.expect('=')?;
        }
        let at_value = self.rest.clone();
        let value = self.quoted()?;
        let test = if is_pattern {
            let regex = Regex::new(&value).and_then(|_| Regex::new(&format!("^(?s:{value})$")));
            let regex = regex.map_err(|error| {
                self.rest = at_value;
                format!("a regular expression: {error}")
            })?;
            Test::Match(value, regex)
        } else {
            Test::Equal(value)
        };
        Ok(LabelMatcher {
            name,
            is_negated,
            test,
        })
    }

    fn name(&mut self) -> Result<String, String> {
        if matches!(self.peek(), Some('"' | '\'' | '`')) {
            return self.quoted();
        }
        let text = self.rest.as_str();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let name = &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())];
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err("the name of a label".to_owned());
        }
        self.rest = text[name.len()..].chars();
        Ok(name.to_owned())
    }

    /// Reads a string in quotes, with escapes as in Go.
    fn quoted(&mut self) -> Result<String, String> {
        let quote = self.peek().filter(|c| matches!(c, '"' | '\'' | '`'));
        let quote = quote.ok_or("a text in quotes")?;
        self.rest.next();
        let mut text = String::new();
        loop {
            match self.rest.next().ok_or("a closing quote")? {
                end if end == quote => return Ok(text),
                '\\' if quote != '`' => text.push(self.escaped()?),
                other => text.push(other),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let digits = match self.rest.next() {
            Some(same @ ('\\' | '"' | '\'')) => return Ok(same),
            Some('n') => return Ok('\n'),
            Some('r') => return Ok('\r'),
            Some('t') => return Ok('\t'),
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => return Err(r"one of \n, \r, \t, \x, \u, \U, or an escaped quote".to_owned()),
        };
        let number = self.rest.as_str().get(..digits);
        let number = number.and_then(|number| u32::from_str_radix(number, 16).ok());
        let escaped = number.and_then(char::from_u32);
        let escaped = escaped.ok_or_else(|| format!("{digits} hexadecimal digits"))?;
        self.rest = self.rest.as_str()[digits..].chars();
        Ok(escaped)
    }

    /// Skips spaces, and returns the next character.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.as_str().trim_start().chars();
        self.rest.clone().next()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.rest.next();
        }
        is_next
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        self.takes(wanted)
            .then_some(())
            .ok_or_else(|| format!("`{wanted}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_met(matchers: &str, value: &str) -> bool {
        matchers
            .parse::<LabelMatchers>()
            .unwrap()
            .matches(|_| value)
    }

    #[test]
    fn all_four_operators_compare_whole_values() {
        assert!(is_met(r#"{a="v1"}"#, "v1") && !is_met(r#"{a="v1"}"#, "v10"));
        assert!(is_met(r#"{a!="v1"}"#, "v10") && !is_met(r#"{a!="v1"}"#, "v1"));
        assert!(is_met(r#"{a=~"v1|v2"}"#, "v2") && !is_met(r#"{a=~"v1|v2"}"#, "v20"));
        assert!(is_met(r#"{a!~"v.*"}"#, "x") && !is_met(r#"{a!~"v.*"}"#, "v2"));
        assert!(is_met(r#"{a=~".*"}"#, "two\nlines"));
    }

    #[test]
    fn missing_labels_are_empty() {
        assert!(
            is_met(r#"{a=""}"#, "") && is_met(r#"{a!="x"}"#, "") && !is_met(r#"{a=~".+"}"#, "")
        );
    }

    #[test]
    fn every_condition_must_be_met() {
        let matchers: LabelMatchers = r#"{ a = "1" , 'service.name'=~`\d`, }"#.parse().unwrap();
        let labels = |name: &str| if name == "a" { "1" } else { "7" };
        assert!(matchers.matches(labels));
        assert!(!matchers.matches(|_| "1x"));
        assert!(is_met("", "x") && is_met("{}", "x") && is_met(" { } ", "x"));
    }

    #[test]
    fn written_conditions_are_read_back() {
        let text = r#"{"a"="q\"\\", "b"!="\n", "c"=~"x|y", "d.e"!~"\\d"}"#;
        let matchers: LabelMatchers = text.parse().unwrap();
        assert_eq!(matchers.to_string(), text);
        assert_eq!(
            r#"{a="\x41\u00e9"}"#.parse::<LabelMatchers>().unwrap().to_string(),
            r#"{"a"="Aé"}"#
        );
    }

    #[test]
    fn errors_name_the_position_and_what_was_expected() {
        for (text, expected) in [
            ("a=1", "byte 0, expected `{`"),
            ("{a=1}", "byte 3, expected a text in quotes"),
            ("{a=\"1\"", "byte 6, expected `}`"),
            ("{a=\"1}", "byte 6, expected a closing quote"),
            ("{a\"1\"}", "byte 2, expected `=`"),
            ("{1a=\"1\"}", "byte 1, expected the name of a label"),
            ("{a=~\"(\"}", "byte 4, expected a regular expression"),
            ("{a=~\"a)|(b\"}", "byte 4, expected a regular expression"),
            ("{a=\"\\q\"}", "byte 6, expected one of"),
            ("{a=\"\\x4é\"}", "byte 6, expected 2 hexadecimal digits"),
            ("{} x", "byte 3, expected nothing after `}`"),
        ] {
            let error = text.parse::<LabelMatchers>().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
