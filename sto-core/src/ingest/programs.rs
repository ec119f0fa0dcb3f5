//! The programs of a recording, and the builds that its profiles are of.
//!
#![doc = include_str!("naming.md")]

use super::{IngestError, IngestOptions};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use sto_formats::excerpt;
use sto_formats::recording::{ModuleIx, Recording, Sample};
use sto_model::limits::MAX_PROGRAMS;
use sto_model::trace::CallThread;
use sto_model::{Build, GnuBuildId};
use sto_model::{Hint, Notice};

/// The programs that ran, most samples first, then by name.
pub(super) struct Programs {
    programs: Vec<Program>,
    /// For each thread of the recording, the index of its program.
    of_thread: Vec<usize>,
    /// What processes are called that the recording has no name of.
    nameless: String,
}

/// A program: all processes of one name.
struct Program {
    name: String,
    samples: u64,
    /// Build id of its main file; where its processes have several, that with most samples.
    build_id: Option<GnuBuildId>,
    /// The main file of each process, where known.
    main_modules: Vec<ModuleIx>,
}

/// A profile to be made: of one program, or of all.
pub(super) struct Part {
    pub(super) build: Build,
    pub(super) program: Option<usize>,
}

impl Programs {
    pub(super) fn of(recording: &Recording, path: &Path) -> Programs {
        let processes = &recording.processes;
        let mut samples = vec![0u64; processes.len()];
        for sample in &recording.samples {
            let thread = &recording.threads[sample.thread.get()];
            let sum = &mut samples[thread.process.get()];
            *sum = sum.saturating_add(sample.cost.samples);
        }
        let mut most_first: Vec<usize> = (0..processes.len()).collect();
        most_first.sort_by_key(|&process| Reverse(samples[process]));

        let nameless = name_of_the_nameless(recording, path);
        let name_of = |process: usize| match processes[process].program.as_str() {
            "" => nameless.as_str(),
            name => name,
        };
        let mut by_name: BTreeMap<&str, Program> = BTreeMap::new();
        for process in most_first {
            let name = name_of(process);
            let program = by_name.entry(name).or_insert_with(|| Program {
                name: name.to_owned(),
                samples: 0,
                build_id: None,
                main_modules: Vec::new(),
            });
            program.samples = program.samples.saturating_add(samples[process]);
            if let Some(main) = processes[process].main_module {
                program.main_modules.push(main);
                if program.build_id.is_none() {
                    let main = &recording.modules[main.get()];
                    program.build_id.clone_from(&main.build_id);
                }
            }
        }
        let mut programs: Vec<Program> = by_name.into_values().collect();
        programs.sort_by_key(|program| Reverse(program.samples));

        let index: BTreeMap<&str, usize> = programs
            .iter()
            .enumerate()
            .map(|(index, program)| (program.name.as_str(), index))
            .collect();
        let threads = recording.threads.iter();
        let of_thread = threads
            .map(|thread| index[name_of(thread.process.get())])
            .collect();
        Programs {
            programs,
            of_thread,
            nameless,
        }
    }

    /// The index of the program that a sample was taken in.
    pub(super) fn ran(&self, sample: &Sample) -> usize {
        self.of_thread[sample.thread.get()]
    }

    /// Whether a thread that called functions was one of a program.
    pub(super) fn called(&self, program: usize, thread: &CallThread) -> bool {
        let name = match thread.program.as_str() {
            "" => &self.nameless,
            name => name,
        };
        self.programs[program].name == name
    }

    /// The name of a program that did not run alone: the others' samples are not in a profile of it.
    pub(super) fn name_beside_others(&self, program: usize) -> Option<&str> {
        let with_samples = self.programs.iter().filter(|program| program.samples > 0);
        (with_samples.count() > 1).then(|| &*self.programs[program].name)
    }

    /// The main program: the one that the user names, if it ran, else the one with most samples.
    fn main(&self, options: &IngestOptions) -> Option<&Program> {
        let named = options.executable.as_ref();
        named
            .and_then(|name| self.programs.iter().find(|program| program.name == *name))
            .or(self.programs.first())
    }

    /// The profile of the whole recording. Its build is that of the main program.
    pub(super) fn whole(&self, options: &IngestOptions, path: &Path) -> Result<Part, IngestError> {
        let main = self.main(options);
        let executable = options.executable.as_ref().or(main.map(|main| &main.name));
        let executable = executable.map_or(UNKNOWN, String::as_str);
        let build_id = main.and_then(|main| main.build_id.as_ref());
        let build =
            build(executable, build_id, options).ok_or_else(|| no_build_name(executable, path))?;
        Ok(Part {
            build,
            program: None,
        })
    }

    /// A profile for each program that has samples, up to [`MAX_PROGRAMS`], and warnings about those that are left
    /// out, also because nothing names their build.
    pub(super) fn split(
        &self,
        options: &IngestOptions,
        path: &Path,
    ) -> Result<(Vec<Part>, Vec<Notice>), IngestError> {
        let mut parts = Vec::new();
        let mut beyond = 0u64;
        let mut left_out = Vec::new();
        let programs = self.programs.iter().enumerate();
        for (index, program) in programs.filter(|(_, program)| program.samples > 0) {
            match build(&program.name, program.build_id.as_ref(), options) {
                Some(_) if parts.len() == MAX_PROGRAMS => {
                    beyond = beyond.saturating_add(program.samples);
                }
                Some(build) => parts.push(Part {
                    build,
                    program: Some(index),
                }),
                None => left_out.push(program),
            }
        }
        match left_out.first() {
            Some(program) if parts.is_empty() => Err(no_build_name(&program.name, path)),
            _ => {
                let beyond = (beyond > 0).then(|| {
                    Notice::from(format!(
                        "{beyond} samples are left out, of the programs with fewest: of a recording, profiles of \
                         {MAX_PROGRAMS} programs are made."
                    ))
                });
                Ok((
                    parts,
                    warn_of(&left_out).into_iter().chain(beyond).collect(),
                ))
            }
        }
    }
}

/// Lets the frames of the main program's own file carry the executable's name, where the user gives
/// one: the builds of a program are often files of different names, and share their stacks only so.
pub(super) fn name_main_modules(recording: &mut Recording, options: &IngestOptions, path: &Path) {
    if options.split_processes || options.executable.is_none() {
        return;
    }
    let programs = Programs::of(recording, path);
    let main = programs.main(options);
    for module in main.map_or(&[][..], |main| &main.main_modules) {
        let module = &mut recording.parts_mut().modules[module.get()];
        module.alias.clone_from(&options.executable);
    }
}

/// The build of a program: the version that the user names, else the GNU build id.
fn build(
    executable: &str,
    build_id: Option<&GnuBuildId>,
    options: &IngestOptions,
) -> Option<Build> {
    let named = options.version.clone();
    Some(Build {
        executable: executable.to_owned(),
        version: named.or_else(|| build_id.map(GnuBuildId::to_string))?,
        gnu_build_id: build_id.cloned(),
        revision: options.revision.clone(),
        commit: options.commit.clone(),
    })
}

const UNKNOWN: &str = "unknown";

/// What programs without a name are called: where the format has no names, as the file is.
fn name_of_the_nameless(recording: &Recording, path: &Path) -> String {
    let has_names = recording
        .processes
        .iter()
        .any(|process| !process.program.is_empty());
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    match stem {
        // `-` is standard input.
        Some(stem) if !has_names && stem != "-" => stem.into_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

fn no_build_name(program: &str, path: &Path) -> IngestError {
    IngestError::NoBuildName {
        path: path.display().to_string(),
        program: program.to_owned(),
    }
}

fn warn_of(left_out: &[&Program]) -> Option<Notice> {
    const NAMED: usize = 5;
    if left_out.is_empty() {
        return None;
    }
    let samples = left_out
        .iter()
        .fold(0u64, |sum, program| sum.saturating_add(program.samples));
    let named = left_out.iter().take(NAMED);
    let named: Vec<String> = named
        .map(|program| excerpt(program.name.as_bytes()))
        .collect();
    let others = match left_out.len().saturating_sub(NAMED) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let text = format!(
        "{samples} samples are left out, of programs without a GNU build id to name their build \
         after: {}{others}; name one for every program.",
        named.join(", ")
    );
    Some(Notice::new(text, Hint::NameBuild))
}
