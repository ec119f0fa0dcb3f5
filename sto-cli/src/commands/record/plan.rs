//! What is to be recorded: one program or two, how often, and in which order.

use crate::runtime::{CliError, perf};
use std::ffi::OsString;
use std::path::Path;
use sto_query::sources::distinct_names;
use sto_query::text::Command;

/// A program with its arguments, and the build that its runs are of.
pub(super) struct Program {
    pub(super) command: Vec<OsString>,
    /// `None` where the user names it, or nobody does.
    pub(super) build: Option<String>,
    /// The folder of its recordings among others.
    pub(super) folder: &'static str,
}

impl Program {
    /// The only one; without words where a process is recorded that runs already.
    pub(super) fn only(command: &[OsString]) -> Result<Program, CliError> {
        if let Some(program) = command.first() {
            perf::check_command(program)?;
        }
        Ok(Program {
            command: command.to_vec(),
            build: None,
            folder: "",
        })
    }

    /// Two that are compared, from their command lines. Their builds are named by as much as makes
    /// them differ: the file's name, else the folders that it is in, else the command line.
    pub(super) fn pair(lines: &[String]) -> Result<Vec<Program>, CliError> {
        let [baseline, candidate] = lines else {
            unreachable!("clap takes two")
        };
        let split = |line: &String| -> Result<Vec<String>, CliError> {
            let words = shlex::split(line).filter(|words| !words.is_empty());
            let words = words.ok_or_else(|| CliError::CommandLine { line: line.clone() })?;
            perf::check_command(words[0].as_ref())?;
            Ok(words)
        };
        let (a, b) = (split(baseline)?, split(candidate)?);
        let (name_a, name_b) = names(&a, &b);
        let program = |words: Vec<String>, build, folder| Program {
            command: words.into_iter().map(OsString::from).collect(),
            build: Some(build),
            folder,
        };
        Ok(vec![
            program(a, name_a, "baseline"),
            program(b, name_b, "candidate"),
        ])
    }

    /// As a shell reads it.
    pub(super) fn line(&self) -> String {
        let words = self.command.iter();
        let words = words.map(|word| word.to_string_lossy().into_owned());
        Command {
            words: words.collect(),
        }
        .to_string()
    }
}

fn names(a: &[String], b: &[String]) -> (String, String) {
    let (a_name, b_name) = distinct_names(Path::new(&a[0]), Path::new(&b[0]));
    if a_name != b_name {
        return (a_name, b_name);
    }
    let line = |words: &[String]| {
        let words = words.to_vec();
        Command { words }.to_string()
    };
    match (line(a), line(b)) {
        (a, b) if a == b => (format!("{a} (1)"), format!("{b} (2)")),
        named => named,
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[track_caller]
    fn assert_names(a: &str, b: &str, expected: (&str, &str)) {
        let words = |line| shlex::split(line).unwrap();
        let (a, b) = names(&words(a), &words(b));
        assert_eq!((a.as_str(), b.as_str()), expected);
    }

    #[test]
    fn two_programs_are_named_by_what_tells_them_apart() {
        assert_names("./old -x 'a b'", "./new -x", ("old", "new"));
        assert_names("a/rg x", "b/rg x", ("a/rg", "b/rg"));
        assert_names(
            "rg -j1 'a b'",
            "rg -j2 'a b'",
            ("rg -j1 'a b'", "rg -j2 'a b'"),
        );
        assert_names("rg x", "rg x", ("rg x (1)", "rg x (2)"));
    }
}
