//! Programs to record: one, two, or one with several input sizes.

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
    /// The input size, which its runs store as a metric of this name.
    pub(super) size: Option<(String, f64)>,
    /// The commit that it was built from, and where it runs [default: the working directory].
    pub(super) place: Option<Place>,
}

/// Input sizes that a program is recorded with, and the name of their placeholder: `n=1000,2000`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) name: String,
    /// Each size as written and as a number.
    pub(super) sizes: Vec<(String, f64)>,
}

impl Scale {
    /// Parses `NAME=NUMBER,NUMBER,...`.
    pub(super) fn parse(text: &str) -> Result<Scale, String> {
        let expected = "expected NAME=NUMBER,NUMBER,..., as in n=1000,2000,4000";
        let (name, sizes) = text.split_once('=').ok_or(expected)?;
        let is_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("{expected}; found the name `{name}`"));
        }
        let size = |text: &str| match text.trim().parse::<f64>() {
            Ok(size) if size.is_finite() => Ok((text.trim().to_owned(), size)),
            _ => Err(format!("{expected}; found `{text}`, which is no number")),
        };
        let sizes: Vec<(String, f64)> = sizes.split(',').map(size).collect::<Result<_, _>>()?;
        let twice = sizes
            .iter()
            .enumerate()
            .find(|(ix, (_, size))| sizes[..*ix].iter().any(|(_, known)| known == size));
        match twice {
            Some((_, (size, _))) => Err(format!("`{size}` is given twice")),
            None => Ok(Scale {
                name: name.to_owned(),
                sizes,
            }),
        }
    }

    /// The placeholder for a size in a command.
    fn place(&self) -> String {
        format!("{{{}}}", self.name)
    }

    /// Returns an error if the command has no placeholder for the sizes.
    pub(super) fn check_place(&self, command: &[OsString]) -> Result<(), CliError> {
        let place = self.place();
        let has_place = |word: &OsString| word.to_str().is_some_and(|word| word.contains(&place));
        if command.iter().any(has_place) {
            Ok(())
        } else {
            Err(CliError::NoPlace {
                place,
                line: line(command),
            })
        }
    }
}

impl Program {
    /// The only program; `command` is empty if only running processes are recorded.
    pub(super) fn only(command: &[OsString]) -> Result<Program, CliError> {
        if let Some(program) = command.first() {
            perf::check_command(program)?;
        }
        Ok(Program {
            command: command.to_vec(),
            build: None,
            folder: PathBuf::new(),
            size: None,
            place: None,
        })
    }

    /// A program that was built from a commit.
    pub(crate) fn from_commit(command: &[OsString], place: Place) -> Result<Program, CliError> {
        if let Some(program) = command.first() {
            perf::check_command_in(&place.folder, program)?;
        }
        Ok(Program {
            command: command.to_vec(),
            build: Some(place.name.clone()),
            folder: PathBuf::from(place.name.replace('/', "-")),
            size: None,
            place: Some(place),
        })
    }

    /// One program for each input size, with the size in place of `{NAME}`.
    pub(super) fn with_sizes(self, scale: &Scale) -> Vec<Program> {
        let place = scale.place();
        let with = |word: &OsString, size: &str| match word.to_str() {
            Some(word) => OsString::from(word.replace(&place, size)),
            None => word.clone(),
        };
        let with_size = |(text, size): &(String, f64)| Program {
            command: self.command.iter().map(|word| with(word, text)).collect(),
            build: self.build.clone(),
            folder: self.folder.join(format!("{}={text}", scale.name)),
            size: Some((scale.name.clone(), *size)),
            place: self.place.clone(),
        };
        scale.sizes.iter().map(with_size).collect()
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
            size: None,
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

fn line(command: &[OsString]) -> String {
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
    use super::{Program, Scale, names};
    use std::ffi::OsString;

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

    #[test]
    fn each_size_has_a_command_and_a_metric() {
        let scale = Scale::parse("n=1000,2e3").unwrap();
        let command = ["true", "--size={n}", "{n}"].map(OsString::from);
        let program = Program::only(&command).unwrap();
        let programs = program.with_sizes(&scale);
        let lines: Vec<String> = programs.iter().map(Program::line).collect();
        assert_eq!(lines, ["true --size=1000 1000", "true --size=2e3 2e3"]);
        assert_eq!(programs[1].size, Some(("n".to_owned(), 2000.0)));
    }

    #[test]
    fn rejects_invalid_sizes_and_commands_without_placeholder() {
        for wrong in ["", "n", "=1", "n=", "n=1,x", "n=1,1.0", "n=inf", "a/b=1"] {
            assert!(Scale::parse(wrong).is_err(), "{wrong}");
        }
        let scale = Scale::parse("n=1").unwrap();
        let error = scale.check_place(&["true", "n"].map(OsString::from));
        let error = error.err().unwrap().to_string();
        assert_eq!(error, "`true n` has no placeholder `{n}` for the sizes");
    }
}
