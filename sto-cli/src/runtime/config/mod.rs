//! The user's configuration file: defaults of options, aliases and colours.
//!
#![doc = include_str!("config.md")]

mod alias;
mod defaults;
mod value;

use crate::runtime::user_folder::user_folder;
use crate::runtime::{CliError, text};
use alias::{Alias, words_of};
use clap::Command;
use defaults::OptionDefault;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, io};
use sto_query::text::Colors;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use value::{ConfigProblem, scalar};

/// The content of the configuration file; empty if there is no file.
#[derive(Debug, Default)]
pub(crate) struct Config {
    path: PathBuf,
    /// The folder of the store, if nothing else names one.
    pub(crate) store: Option<PathBuf>,
    /// Folders of stores that may be used when found, even if they belong to other users.
    pub(crate) safe_stores: Vec<PathBuf>,
    /// Colours of text.
    pub(crate) colors: Colors,
    defaults: Vec<OptionDefault>,
    aliases: BTreeMap<String, Alias>,
}

impl Config {
    /// Reads `$STO_CONFIG`, otherwise `$XDG_CONFIG_HOME/sto/config.toml`, otherwise
    /// `~/.config/sto/config.toml`; if `$STO_CONFIG` is empty, there is no file.
    pub(crate) fn load() -> Result<Config, CliError> {
        let Some((path, is_named)) = Config::file() else {
            return Ok(Config::default());
        };
        let text = match text::read_settings(&path) {
            Err(CliError::ReadFile { source, .. }) if !is_named && is_missing(&source) => {
                return Ok(Config::default());
            }
            text => text?,
        };
        let home = env::var_os("HOME").map(PathBuf::from);
        Config::parse(&text, home.as_deref())
            .map(|config| Config {
                path: path.clone(),
                ..config
            })
            .map_err(|problem| problem.in_file(&path))
    }

    /// The path of the file, which need not exist, and whether the user named it.
    pub(crate) fn file() -> Option<(PathBuf, bool)> {
        path(&|name| env::var_os(name))
    }

    fn parse(text: &str, home: Option<&Path>) -> Result<Config, ConfigProblem> {
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line_of = |offset: usize| 1 + ends.partition_point(|&end| end < offset);
        let file = DeTable::parse(text).map_err(|error| ConfigProblem {
            line: line_of(error.span().map_or(0, |span| span.start)),
            message: error.message().replace('\n', "; "),
        })?;
        let mut config = Config::default();
        for (key, value) in file.get_ref() {
            let line = line_of(key.span().start);
            let name = key.get_ref().as_ref();
            match value.get_ref() {
                DeValue::Table(table) if name == "alias" => {
                    for (alias, words) in table {
                        let line = line_of(alias.span().start);
                        let words = words_of(words.get_ref()).ok_or_else(|| ConfigProblem {
                            line,
                            message: "an alias is a command with its arguments, such as \
                                      \"top --by total\""
                                .to_owned(),
                        })?;
                        let alias = alias.get_ref().as_ref().to_owned();
                        config.aliases.insert(alias, Alias { words, line });
                    }
                }
                // The option is `--color`, but accept British spelling.
                DeValue::Table(table) if ["colors", "colours"].contains(&name) => {
                    for (role, value) in table {
                        let line = line_of(role.span().start);
                        config
                            .set_color(role.get_ref(), value.get_ref())
                            .map_err(|message| ConfigProblem { line, message })?;
                    }
                }
                DeValue::Table(table) => {
                    for (option, value) in table {
                        let line = line_of(option.span().start);
                        config.add(Some(name), option.get_ref().as_ref(), value, line)?;
                    }
                }
                DeValue::String(folder) if name == "store" => {
                    config.store = Some(folder_of(folder, home).ok_or_else(|| ConfigProblem {
                        line,
                        message: "the store must be an absolute path, or begin with ~/".to_owned(),
                    })?);
                }
                DeValue::Array(folders) if name == "safe-stores" => {
                    let folders = folders.iter().map(|folder| match folder.get_ref() {
                        DeValue::String(folder) => folder_of(folder, home),
                        _ => None,
                    });
                    config.safe_stores =
                        folders
                            .collect::<Option<_>>()
                            .ok_or_else(|| ConfigProblem {
                                line,
                                message: "safe-stores must be absolute paths, or begin with ~/"
                                    .to_owned(),
                            })?;
                }
                _ => config.add(None, name, value, line)?,
            }
        }
        Ok(config)
    }

    fn set_color(&mut self, role: &str, value: &DeValue<'_>) -> Result<(), String> {
        let mut roles = self.colors.roles();
        let names = roles.each_ref().map(|(name, _)| *name).join(", ");
        let Some((_, look)) = roles.iter_mut().find(|(name, _)| *name == role) else {
            return Err(format!(
                "there is no colour role `{role}`: expected {names}"
            ));
        };
        let text = scalar(value).ok_or_else(|| format!("`{role}` must be text or a number"))?;
        **look = text.parse().map_err(|error| format!("`{role}`: {error}"))?;
        Ok(())
    }

    fn add(
        &mut self,
        command: Option<&str>,
        option: &str,
        value: &Spanned<DeValue<'_>>,
        line: usize,
    ) -> Result<(), ConfigProblem> {
        let values = match value.get_ref() {
            DeValue::Array(values) => values.iter().map(|value| scalar(value.get_ref())).collect(),
            value => scalar(value).map(|value| vec![value]),
        };
        let Some(values) = values else {
            return Err(ConfigProblem {
                line,
                message: format!(
                    "`{option}` must be text, a number, true, false, or a list of them"
                ),
            });
        };
        self.defaults.push(OptionDefault {
            command: command.map(str::to_owned),
            option: option.to_owned(),
            values,
            line,
        });
        Ok(())
    }

    /// Adds the defaults to the command line.
    ///
    /// # Errors
    /// Returns an error if the file names unknown commands or options, or values that they do not accept.
    pub(crate) fn add_defaults(&self, mut command: Command) -> Result<Command, CliError> {
        for (name, alias) in &self.aliases {
            alias
                .check(name, &command)
                .map_err(|problem| problem.in_file(&self.path))?;
        }
        for default in &self.defaults {
            command = default
                .add_to(command)
                .map_err(|problem| problem.in_file(&self.path))?;
        }
        Ok(command)
    }

    /// Returns the arguments of the process, with an alias replaced by its words.
    pub(crate) fn expand_alias(
        &self,
        args: impl Iterator<Item = OsString>,
        command: &Command,
    ) -> Vec<OsString> {
        alias::expand(&self.aliases, args.collect(), command)
    }
}

/// Whether the error means that the file or a folder above it does not exist.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn path(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<(PathBuf, bool)> {
    if let Some(named) = variable("STO_CONFIG") {
        return (!named.is_empty()).then(|| (PathBuf::from(named), true));
    }
    let folder = user_folder(variable, "XDG_CONFIG_HOME", ".config")?;
    Some((folder.join("sto/config.toml"), false))
}

fn folder_of(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    let path = match text.strip_prefix("~/") {
        Some(below) => home?.join(below),
        None => PathBuf::from(text),
    };
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::{CommandFactory, FromArgMatches};

    fn loaded(text: &str) -> Result<(Config, Command), String> {
        let config = Config::parse(text, Some(Path::new("/home/u")))
            .map_err(|problem| format!("{}: {}", problem.line, problem.message))?;
        let command = config
            .add_defaults(Cli::command())
            .map_err(|error| error.to_string())?;
        Ok((config, command))
    }

    fn parsed(text: &str, line: &[&str]) -> String {
        let (config, command) = loaded(text).unwrap();
        let args = config.expand_alias(line.iter().map(OsString::from), &command);
        let matches = command.get_matches_from(args);
        format!("{:?}", Cli::from_arg_matches(&matches).unwrap())
    }

    #[test]
    fn the_command_line_overrides_the_file() {
        let file = "color = 'never'\n[top]\nlimit = 7\ninlined = true\n";
        let top = parsed(file, &["sto", "top", "v1"]);
        assert!(top.contains("limit: Some(7)"), "{top}");
        assert!(top.contains("inlined: true"), "{top}");
        assert!(top.contains("color: Never"), "{top}");
        let top = parsed(file, &["sto", "top", "v1", "-n", "3", "--color", "always"]);
        assert!(top.contains("limit: Some(3)"), "{top}");
        assert!(top.contains("color: Always"), "{top}");
    }

    #[test]
    fn aliases_are_expanded_after_global_options() {
        let file = "[alias]\nworst = \"top --by total -n '5'\"\nlast = ['runs', '-n', 1]\n";
        let worst = parsed(file, &["sto", "--store", "worst", "worst", "v1"]);
        assert!(worst.contains("by: Total"), "{worst}");
        assert!(worst.contains("limit: Some(5)"), "{worst}");
        assert!(worst.contains("store: Some(\"worst\")"), "{worst}");
        assert!(parsed(file, &["sto", "last"]).contains("limit: Some(1)"));
    }

    #[test]
    fn the_store_in_the_file_must_be_an_absolute_path() {
        let store = |text: &str| loaded(text).map(|(config, _)| config.store);
        assert_eq!(
            store("store = '~/perf'"),
            Ok(Some(PathBuf::from("/home/u/perf")))
        );
        assert_eq!(
            store("store = '/srv/sto'"),
            Ok(Some(PathBuf::from("/srv/sto")))
        );
        assert!(
            store("store = 'perf'")
                .unwrap_err()
                .starts_with("1: the store must be an absolute")
        );
    }

    #[test]
    fn colours_in_the_file_override_the_defaults() {
        let (config, _) = loaded("[colors]\nregression = 'bold 208'\ndim = 'none'\n").unwrap();
        let mut usual = Colors::USUAL;
        usual.regression = "bold 208".parse().unwrap();
        usual.dim = "none".parse().unwrap();
        assert_eq!(config.colors, usual);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, message) in [
            ("\n[top\n", "2: "),
            ("[tpo]\nlimit = 1\n", "line 2: there is no command `tpo`"),
            (
                "[top]\n\nlimt = 1\n",
                "line 3: `sto top` has no option `--limt`",
            ),
            (
                "[top]\nlimit = 'many'\n",
                "line 2: invalid value 'many' for '--limit <COUNT>'",
            ),
            (
                "color = 'blue'\n",
                "line 1: invalid value 'blue' for '--color <WHEN>'",
            ),
            (
                "paint = 1\n",
                "line 1: the command line as a whole has no option `--paint`",
            ),
            (
                "[top]\nlimit = { a = 1 }\n",
                "2: `limit` must be text, a number",
            ),
            (
                "[alias]\ntop = 'ls'\n",
                "line 2: an alias cannot have the name of a command",
            ),
            (
                "[alias]\nx = 'nosuch'\n",
                "line 2: the alias `x` begins with `nosuch`",
            ),
            ("[alias]\nx = \"top 'v\"\n", "2: an alias is a command"),
            (
                "[colors]\nheading = 'blurple'\n",
                "2: `heading`: `blurple` is not a colour: expected black, red",
            ),
            (
                "[colours]\n\ndim = 256\n",
                "3: `dim`: `256` is not a colour: expected black",
            ),
            (
                "[colors]\nheader = 'red'\n",
                "2: there is no colour role `header`: expected heading, dim, regression, improvement",
            ),
            ("[colors]\ndim = [1]\n", "2: `dim` must be text or a number"),
        ] {
            let error = loaded(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn the_file_follows_the_xdg_specification() {
        let found = |variables: &[(&str, &str)]| {
            path(&|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        let home = ("HOME", "/home/u");
        let expected = |path: &str, is_named| Some((PathBuf::from(path), is_named));
        assert_eq!(
            found(&[home]),
            expected("/home/u/.config/sto/config.toml", false)
        );
        assert_eq!(
            found(&[home, ("XDG_CONFIG_HOME", "/etc/me")]),
            expected("/etc/me/sto/config.toml", false)
        );
        assert_eq!(
            found(&[home, ("STO_CONFIG", "x.toml")]),
            expected("x.toml", true)
        );
        assert_eq!(found(&[home, ("STO_CONFIG", "")]), None);
        assert_eq!(found(&[]), None);
    }
}
