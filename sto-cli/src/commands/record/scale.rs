//! Values that take the place of placeholders in a command: `--scale`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::slice;
use sto_core::ingest::IngestOptions;

/// The values of a placeholder: `n=1000,2000` or `input=small.txt,large.txt`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) name: String,
    /// All numbers, or all texts.
    values: Vec<Value>,
}

/// A value of a placeholder.
#[derive(Clone, Debug, PartialEq)]
struct Value {
    name: String,
    text: String,
    /// The value as a number; `None` if the values of the scale are texts.
    number: Option<f64>,
}

/// A value of each scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Combination(Vec<Value>);

impl Scale {
    /// Parses `NAME=VALUE,VALUE,...`.
    pub(super) fn parse(text: &str) -> Result<Scale, String> {
        let expected =
            "expected NAME=VALUE,VALUE,..., as in n=1000,2000 or input=small.txt,large.txt";
        let (name, values) = text.split_once('=').ok_or(expected)?;
        let is_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("{expected}; found the name `{name}`"));
        }
        let value = |text: &str| Value {
            name: name.to_owned(),
            text: text.to_owned(),
            number: text.parse().ok().filter(|number: &f64| number.is_finite()),
        };
        let values: Vec<Value> = values.split(',').map(str::trim).map(value).collect();
        if values.iter().any(|value| value.text.is_empty()) {
            return Err(format!("{expected}; found an empty value"));
        }
        let has_numbers = values.iter().any(|value| value.number.is_some());
        if has_numbers && let Some(text) = values.iter().find(|value| value.number.is_none()) {
            let text = &text.text;
            return Err(format!("`{text}` is no number, but other values are"));
        }
        let is_repeated = |(ix, value): &(usize, &Value)| {
            let mut known = values[..*ix].iter();
            known.any(|known| match value.number {
                Some(_) => known.number == value.number,
                None => known.text == value.text,
            })
        };
        match values.iter().enumerate().find(is_repeated) {
            Some((_, value)) => Err(format!("`{}` is given twice", value.text)),
            None => Ok(Scale {
                name: name.to_owned(),
                values,
            }),
        }
    }

    /// The placeholder in a command.
    pub(super) fn place(&self) -> String {
        place(&self.name)
    }
}

impl Combination {
    /// Returns all combinations; those that differ only in the last scale are next to each other. Without scales, there is
    /// one empty combination.
    pub(super) fn all(scales: &[Scale]) -> Vec<Combination> {
        let first = vec![Combination::default()];
        scales.iter().fold(first, |combinations, scale| {
            let with_values = |Combination(values): &Combination| -> Vec<Combination> {
                let with = |value| Combination([&values[..], slice::from_ref(value)].concat());
                scale.values.iter().map(with).collect()
            };
            combinations.iter().flat_map(with_values).collect()
        })
    }

    /// Returns the command with the values in their places.
    pub(super) fn fill_command(&self, command: &[OsString]) -> Vec<OsString> {
        let fill = |word: &OsString| match word.to_str() {
            Some(word) => self.fill(word).into(),
            None => word.clone(),
        };
        command.iter().map(fill).collect()
    }

    /// Adds the values to the metadata of a run: numbers as metrics, texts as labels. The benchmark's name may have
    /// placeholders, too.
    pub(super) fn describe(&self, options: &mut IngestOptions) {
        options.benchmark = options.benchmark.as_ref().map(|name| self.fill(name));
        for Value { name, text, number } in &self.0 {
            if let Some(number) = number {
                options.metrics.insert(name.clone(), *number);
            } else {
                options.labels.insert(name.clone(), text.clone());
            }
        }
    }

    /// The subfolder for recordings: `n=1000/input=small.txt`.
    pub(super) fn folder(&self) -> PathBuf {
        let names = self.0.iter();
        let names = names.map(|value| format!("{}={}", value.name, value.text).replace('/', "-"));
        names.collect()
    }

    fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, value| {
            text.replace(&place(&value.name), &value.text)
        })
    }
}

/// The placeholder of a scale.
fn place(name: &str) -> String {
    format!("{{{name}}}")
}

#[cfg(test)]
mod tests {
    use super::{Combination, Scale};
    use std::ffi::OsString;
    use std::path::Path;
    use sto_core::ingest::IngestOptions;

    #[test]
    fn combinations_fill_the_command_and_describe_its_runs() {
        let scales = ["n=1000,2e3", "input=a/b, c"].map(|text| Scale::parse(text).unwrap());
        let combinations = Combination::all(&scales);
        let command = ["true", "--size={n}", "{input}-{n}"].map(OsString::from);
        let commands: Vec<_> = combinations
            .iter()
            .map(|values| values.fill_command(&command).join(" ".as_ref()))
            .collect();
        let expected = [
            "true --size=1000 a/b-1000",
            "true --size=1000 c-1000",
            "true --size=2e3 a/b-2e3",
            "true --size=2e3 c-2e3",
        ];
        assert_eq!(commands, expected);
        let mut options = IngestOptions {
            benchmark: Some("of {input}".to_owned()),
            ..IngestOptions::default()
        };
        combinations[2].describe(&mut options);
        assert_eq!(options.metrics["n"], 2000.0);
        assert_eq!(options.labels["input"], "a/b");
        assert_eq!(options.benchmark.as_deref(), Some("of a/b"));
        assert_eq!(combinations[2].folder(), Path::new("n=2e3/input=a-b"));
    }

    #[test]
    fn without_scales_there_is_one_empty_combination() {
        assert_eq!(Combination::all(&[]), [Combination::default()]);
    }

    #[test]
    fn rejects_invalid_scales() {
        for wrong in [
            "", "n", "=1", "n=", "n=1,", "n=1,x", "n=1,1.0", "n=x,x", "n=1,inf", "a/b=1",
        ] {
            assert!(Scale::parse(wrong).is_err(), "{wrong}");
        }
    }
}
