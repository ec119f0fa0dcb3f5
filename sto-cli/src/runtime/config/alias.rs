//! Aliases of commands with arguments.

use super::value::{ConfigProblem, scalar};
use clap::{Arg, Command};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use toml::de::DeValue;

#[derive(Debug)]
pub(super) struct Alias {
    pub(super) words: Vec<String>,
    pub(super) line: usize,
}

impl Alias {
    /// Returns an error if the alias does not begin with a command, or has the name of one.
    pub(super) fn check(&self, name: &str, command: &Command) -> Result<(), ConfigProblem> {
        let problem = |message| {
            Err(ConfigProblem {
                line: self.line,
                message,
            })
        };
        let first = self.words.first().map_or("", String::as_str);
        if is_command(command, name) {
            return problem(format!(
                "an alias cannot have the name of a command: `{name}`"
            ));
        }
        if !is_command(command, first) {
            return problem(format!(
                "the alias `{name}` begins with `{first}`, which is not a command"
            ));
        }
        Ok(())
    }
}

/// Returns the arguments of the process, with an alias replaced by its words.
pub(super) fn expand(
    aliases: &BTreeMap<String, Alias>,
    mut args: Vec<OsString>,
    command: &Command,
) -> Vec<OsString> {
    let takes_value = |arg: &OsStr| {
        let mut options = command.get_arguments();
        let named = |option: &Arg| {
            option
                .get_long()
                .is_some_and(|long| arg == &*format!("--{long}"))
        };
        options.any(|option| named(option) && option.get_action().takes_values())
    };
    let mut at = 1;
    while let Some(arg) = args.get(at) {
        if takes_value(arg) {
            at += 2;
        } else if arg.as_encoded_bytes().starts_with(b"-") {
            at += 1;
        } else {
            break;
        }
    }
    let name = args.get(at).and_then(|name| name.to_str());
    if let Some(alias) = name.and_then(|name| aliases.get(name)) {
        args.splice(at..=at, alias.words.iter().map(OsString::from));
    }
    args
}

fn is_command(command: &Command, name: &str) -> bool {
    name == "help"
        || command
            .get_subcommands()
            .any(|known| known.get_name() == name)
}

/// The words of a command: text in shell syntax, or a list.
pub(super) fn words_of(value: &DeValue<'_>) -> Option<Vec<String>> {
    let words = match value {
        DeValue::String(text) => shlex::split(text)?,
        DeValue::Array(words) => {
            let words: Option<Vec<_>> = words.iter().map(|word| scalar(word.get_ref())).collect();
            words?
        }
        _ => return None,
    };
    (!words.is_empty()).then_some(words)
}
