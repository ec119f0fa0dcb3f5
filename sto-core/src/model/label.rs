//! Labels of samples.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What a program says of the work that a sample was taken in: the kind of a request, the size of an
/// allocation. A sample may have several labels of one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SampleLabel {
    /// What it is of.
    pub key: String,
    /// What it says of it.
    pub value: LabelValue,
}

/// The value of a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LabelValue {
    /// A text.
    Text(String),
    /// A number.
    Number {
        /// The number, as many of the unit.
        number: i64,
        /// Its unit, as the file names it; empty where it does not.
        unit: String,
    },
}

impl SampleLabel {
    /// The value as text: a number with its unit, `1024 bytes`.
    ///
    /// Sizes have a unit also where the file does not say it, as pprof has it: the keys of heap
    /// profiles are `bytes`, and those of tcmalloc `request` and `alignment`.
    pub fn text(&self) -> Cow<'_, str> {
        let (number, unit) = match &self.value {
            LabelValue::Text(text) => return Cow::Borrowed(text),
            LabelValue::Number { number, unit } => (number, unit.as_str()),
        };
        match (unit, self.key.as_str()) {
            ("", "bytes" | "request" | "alignment") => format!("{number} bytes"),
            ("", _) => number.to_string(),
            (unit, _) => format!("{number} {unit}"),
        }
        .into()
    }
}
