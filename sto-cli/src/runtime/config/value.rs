//! Values in the configuration file, and errors about them.

use crate::runtime::CliError;
use std::path::Path;
use toml::de::DeValue;

/// An error in the configuration file.
pub(super) struct ConfigProblem {
    pub(super) line: usize,
    pub(super) message: String,
}

impl ConfigProblem {
    pub(super) fn in_file(self, path: &Path) -> CliError {
        CliError::Config {
            path: path.to_owned(),
            line: self.line,
            message: self.message,
        }
    }
}

/// Text, a number, true or false, as it would be written on a command line.
pub(super) fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.as_ref().to_owned()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().replace('_', "")),
        DeValue::Float(number) => Some(number.as_str().replace('_', "")),
        DeValue::Boolean(value) => Some(value.to_string()),
        _ => None,
    }
}
