//! Programs to record: one, two, or one with several arguments.

use super::scale::Combination;
use super::{Place, RecordingArgs};
use crate::runtime::perf::{Recording, Target};
use crate::runtime::{CliError, perf};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use sto_query::sources::distinct_names;
use sto_query::text::Command;

/// The programs to record, the number of runs, and the options of the recorder.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) how: &'a RecordingArgs,
    pub(crate) target: Target<'a>,
    pub(crate) runs: u32,
    pub(crate) warmup: u32,
    /// Whether the output of programs is discarded.
    pub(crate) is_silent: bool,
    /// Whether to stop after a run that fails.
    pub(crate) ends_with_failure: bool,
    /// The folder in which recordings are stored.
    pub(crate) keep: Option<&'a Path>,
}

impl<'a> Plan<'a> {
    /// The parameters of perf for a command in a folder.
    pub(crate) fn recording(
        &self,
        command: &'a [OsString],
        folder: Option<&'a Path>,
    ) -> Recording<'a> {
        Recording {
            frequency: self.how.frequency,
            events: &self.how.events,
            off_cpu: self.how.off_cpu,
            call_graph: self.how.call_graph,
            target: self.target,
            command,
            is_silent: self.is_silent,
            folder,
        }
    }

    /// Whether the command itself is recorded; otherwise it only sets the duration of the recording.
    pub(super) fn records_command(&self) -> bool {
        matches!(self.target, Target::Command)
    }
}

/// A program with its arguments, and the build that its runs belong to.
pub(crate) struct Program {
    pub(super) command: Vec<OsString>,
    /// The build's name; `None` if the user names the build, or if it gets its default name.
    pub(super) build: Option<String>,
    /// The program's subfolder for recordings.
    pub(super) folder: PathBuf,
    /// The values in the command, which its runs store as metrics and labels.
    pub(super) values: Combination,
    /// The commit that it was built from, and where it runs [default: the working directory].
    pub(super) place: Option<Place>,
}

impl Program {
    /// The program with these values in place of its placeholders; `command` is empty if only running processes are
    /// recorded.
    pub(super) fn with_values(
        command: &[OsString],
        values: Combination,
    ) -> Result<Program, CliError> {
        let command = values.fill_command(command);
        if let Some(program) = command.first() {
            perf::check_command(program)?;
        }
        Ok(Program {
            command,
            build: None,
            folder: values.folder(),
            values,
            place: None,
        })
    }

    /// Like [`Program::with_values`], for a program that was built from a commit.
    pub(crate) fn from_commit(
        command: &[OsString],
        values: Combination,
        place: Place,
    ) -> Result<Program, CliError> {
        let command = values.fill_command(command);
        if let Some(program) = command.first() {
            perf::check_command_in(&place.folder, program)?;
        }
        Ok(Program {
            command,
            build: Some(place.name.clone()),
            folder: PathBuf::from(place.name.replace('/', "-")).join(values.folder()),
            values,
            place: Some(place),
        })
    }

    /// Two programs to compare, from their command lines. Their builds have the shortest distinct names:
    /// the file names, otherwise with folders, otherwise the command lines.
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
        let program = |words: Vec<String>, build, folder: &str| Program {
            command: words.into_iter().map(OsString::from).collect(),
            build: Some(build),
            folder: PathBuf::from(folder),
            values: Combination::default(),
            place: None,
        };
        Ok(vec![
            program(a, name_a, "baseline"),
            program(b, name_b, "candidate"),
        ])
    }

    /// The folder in which the program runs, unless it is the working directory.
    pub(super) fn folder_of_run(&self) -> Option<&Path> {
        self.place.as_ref().map(|place| place.folder.as_path())
    }

    /// The command line in shell syntax, prefixed by the commit if there is one.
    pub(super) fn line(&self) -> String {
        let line = line(&self.command);
        match &self.place {
            None => line,
            Some(place) => format!("{}: {line}", place.name),
        }
    }
}

/// The command line in shell syntax.
pub(super) fn line(command: &[OsString]) -> String {
    let words = command.iter();
    let words = words.map(|word| word.to_string_lossy().into_owned());
    Command {
        words: words.collect(),
    }
    .to_string()
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
    fn compared_programs_have_distinct_names() {
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
