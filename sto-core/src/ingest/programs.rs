//! The programs of a recording, and the builds of its profiles.
//!
//! See [the manual](crate::manual::naming).

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
    /// Index of the main program.
    main: usize,
    /// For each thread of the recording, the index of its program.
    by_thread: Vec<usize>,
    /// The name for processes without a name.
    default_name: String,
}

/// A program: all processes with one name.
struct Program {
    name: String,
    samples: u64,
    /// Build id of the main file; if the processes have several, the one with most samples decides.
    build_id: Option<GnuBuildId>,
    /// The main file of each process for which it is known.
    main_modules: Vec<ModuleIx>,
}

/// A profile to be made: of one program, or with `None` of all.
pub(super) struct Part {
    pub(super) build: Build,
    pub(super) program: Option<usize>,
}

impl Programs {
    pub(super) fn new(recording: &Recording, path: &Path) -> Programs {
        let processes = &recording.processes;
        let mut samples = vec![0u64; processes.len()];
        for sample in &recording.samples {
            let thread = &recording.threads[sample.thread.get()];
            let sum = &mut samples[thread.process.get()];
            *sum = sum.saturating_add(sample.cost.samples);
        }
        let mut most_first: Vec<usize> = (0..processes.len()).collect();
        most_first.sort_by_key(|&process| Reverse(samples[process]));

        let default_name = default_name(recording, path);
        let name_of = |process: usize| match processes[process].program.as_str() {
            "" => default_name.as_str(),
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
        let by_thread = threads
            .map(|thread| index[name_of(thread.process.get())])
            .collect();
        let recorded = recording.recorded;
        let main = recorded.map_or(0, |process| index[name_of(process.get())]);
        Programs {
            programs,
            main,
            by_thread,
            default_name,
        }
    }

    /// Returns the index of the program in which a sample was taken.
    pub(super) fn program_of(&self, sample: &Sample) -> usize {
        self.by_thread[sample.thread.get()]
    }

    /// Returns `true` if a thread of a trace of calls belongs to a program.
    pub(super) fn has_thread(&self, program: usize, thread: &CallThread) -> bool {
        let name = match thread.program.as_str() {
            "" => &self.default_name,
            name => name,
        };
        self.programs[program].name == name
    }

    /// Returns the name of a program, if there are several: its profile is then a part of the recording.
    pub(super) fn name_if_several(&self, program: usize) -> Option<&str> {
        let with_samples = self.programs.iter().filter(|program| program.samples > 0);
        (with_samples.count() > 1).then(|| &*self.programs[program].name)
    }

    /// Returns the main program: the one that the user names if it ran, otherwise the one that was recorded, otherwise
    /// the one with most samples.
    fn main(&self, options: &IngestOptions) -> Option<&Program> {
        let named = options.executable.as_ref();
        named
            .and_then(|name| self.programs.iter().find(|program| program.name == *name))
            .or(self.programs.get(self.main))
    }

    /// Returns the profile of the whole recording; the main program determines its build.
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

    /// Returns a profile for each program with samples, and warnings about programs that are left out: because there
    /// are more than [`MAX_PROGRAMS`], or because their build has no name.
    ///
    /// # Errors
    /// Returns an error if no build has a name.
    pub(super) fn split(
        &self,
        options: &IngestOptions,
        path: &Path,
    ) -> Result<(Vec<Part>, Vec<Notice>), IngestError> {
        let mut parts = Vec::new();
        let mut samples_beyond_limit = 0u64;
        let mut unnamed = Vec::new();
        let programs = self.programs.iter().enumerate();
        for (index, program) in programs.filter(|(_, program)| program.samples > 0) {
            match build(&program.name, program.build_id.as_ref(), options) {
                Some(_) if parts.len() == MAX_PROGRAMS => {
                    samples_beyond_limit = samples_beyond_limit.saturating_add(program.samples);
                }
                Some(build) => parts.push(Part {
                    build,
                    program: Some(index),
                }),
                None => unnamed.push(program),
            }
        }
        if let Some(program) = unnamed.first()
            && parts.is_empty()
        {
            return Err(no_build_name(&program.name, path));
        }
        let mut warnings = Vec::from_iter(unnamed_builds(&unnamed));
        if samples_beyond_limit > 0 {
            warnings.push(Notice::from(format!(
                "{samples_beyond_limit} samples of the programs with fewest samples are left out: of one \
                 recording, at most {MAX_PROGRAMS} programs get profiles."
            )));
        }
        Ok((parts, warnings))
    }
}

/// Gives frames of the main program's own file the executable's name as their module, if the user names one.
///
/// The files of a program's builds often have different names, and builds only share stacks if the names of their
/// modules are equal.
pub(super) fn name_main_modules(recording: &mut Recording, options: &IngestOptions, path: &Path) {
    if options.split_processes || options.executable.is_none() {
        return;
    }
    let programs = Programs::new(recording, path);
    let main = programs.main(options);
    for module in main.map_or(&[][..], |main| &main.main_modules) {
        let module = &mut recording.parts_mut().modules[module.get()];
        module.alias.clone_from(&options.executable);
    }
}

/// Returns the build of a program. Its version is the one that the user gives, otherwise the GNU build id; `None` if
/// there is neither.
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

/// Returns the name for processes without a name: the name of the file if no process has one.
fn default_name(recording: &Recording, path: &Path) -> String {
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

/// Warns about programs that are left out because their build has no name.
fn unnamed_builds(programs: &[&Program]) -> Option<Notice> {
    const LISTED: usize = 5;
    if programs.is_empty() {
        return None;
    }
    let samples = programs
        .iter()
        .fold(0u64, |sum, program| sum.saturating_add(program.samples));
    let listed = programs.iter().take(LISTED);
    let listed: Vec<String> = listed
        .map(|program| excerpt(program.name.as_bytes()))
        .collect();
    let others = match programs.len().saturating_sub(LISTED) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let text = format!(
        "{samples} samples are left out, because their programs have no GNU build id to name the build after: \
         {}{others}; give a name for the builds.",
        listed.join(", ")
    );
    Some(Notice::new(text, Hint::NameBuild))
}
