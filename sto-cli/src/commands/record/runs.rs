//! Makes runs one after another; each is recorded, and stored when it has ended.

use super::input::Input;
use super::jit_files::{copy_all, copy_perf_map, write_vdso};
use super::plan::{Plan, Program};
use super::warnings::Warnings;
use super::work_folder::{WorkFolder, is_full};
use crate::runtime::destination::Destination;
use crate::runtime::error::status_of;
use crate::runtime::perf::{Perf, Target};
use crate::runtime::ui::{self, Counter};
use crate::runtime::{CliError, Outcome, Progress, environment, hints};
use std::fs;
use std::path::Path;
use std::process::ExitStatus;
use sto_core::formats::{FormatError, run_time};
use sto_core::id::ProfileId;
use sto_core::ingest::{IngestError, IngestOptions, IngestOutcome, prepare};
use sto_query::results::IngestedFile;

/// The runs of one program, of two alternately, or of one with several arguments.
pub(crate) struct Session<'a> {
    plan: Plan<'a>,
    perf: &'a Perf,
    work: &'a WorkFolder,
    to: &'a Destination<'a>,
    programs: Vec<Program>,
    /// Each program's executable name, fixed by its first run: in the next run, another program may have the most
    /// samples.
    executables: Vec<Option<String>>,
    input: Option<Input>,
    counter: Counter,
    warnings: Warnings,
    recorded: Recorded,
    /// Number of runs that [`Session::record_next`] made.
    made: u32,
}

/// The stored runs.
pub(crate) struct Recorded {
    pub(super) reports: Vec<IngestedFile>,
    /// The profile ids of each program.
    pub(super) ids: Vec<Vec<ProfileId>>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        plan: Plan<'a>,
        perf: &'a Perf,
        work: &'a WorkFolder,
        to: &'a Destination<'a>,
        programs: Vec<Program>,
    ) -> Session<'a> {
        Session {
            executables: vec![None; programs.len()],
            recorded: Recorded {
                reports: Vec::new(),
                ids: vec![Vec::new(); programs.len()],
            },
            counter: Counter::new(plan.is_silent),
            plan,
            perf,
            work,
            to,
            programs,
            input: Input::here(),
            warnings: Warnings::default(),
            made: 0,
        }
    }

    /// Makes all runs. The order of programs is reversed in every other run, so that drift affects all of
    /// them alike.
    pub(super) fn record(&mut self) -> Result<Outcome, CliError> {
        for warmup in 1..=self.plan.warmup {
            for which in 0..self.programs.len() {
                let outcome = self.warm_up(warmup, which)?;
                if outcome != Outcome::Clean {
                    return Ok(outcome);
                }
            }
        }
        for run in 1..=self.plan.runs {
            let mut order: Vec<usize> = (0..self.programs.len()).collect();
            if run % 2 == 0 {
                order.reverse();
            }
            for which in order {
                self.count("run", run, self.plan.runs, which);
                let outcome = self.record_one(run, which)?;
                if outcome == Outcome::Clean {
                    continue;
                }
                if let Outcome::Interrupted(_) = outcome {
                    return Ok(outcome);
                }
                if self.plan.ends_with_failure {
                    self.warn_of_missing_runs(run, outcome);
                    return Ok(outcome);
                }
            }
        }
        Ok(Outcome::Clean)
    }

    /// Adds another program and returns its number. By default its runs have the executable name of the first program.
    pub(crate) fn add(&mut self, program: Program, executable: Option<&String>) -> usize {
        let first = self.executables.iter().flatten().next().cloned();
        self.executables.push(executable.cloned().or(first));
        self.recorded.ids.push(Vec::new());
        self.programs.push(program);
        self.programs.len() - 1
    }

    /// Makes another run of a program.
    pub(crate) fn record_next(&mut self, which: usize) -> Result<Outcome, CliError> {
        self.made += 1;
        self.record_one(self.made, which)
    }

    /// Prints the warnings and returns the stored runs.
    pub(crate) fn finish(self) -> Recorded {
        self.counter.end();
        self.warnings.print(self.recorded.reports.len());
        self.recorded
    }

    /// Warns that the remaining runs were not made.
    fn warn_of_missing_runs(&self, run: u32, outcome: Outcome) {
        let (Outcome::Command(status), left @ 1..) = (outcome, self.plan.runs - run) else {
            return;
        };
        self.counter.end();
        let (runs, status) = (self.plan.runs, status_of(status));
        let were = match left {
            1 => "the other one was",
            _ => &format!("the other {left} were"),
        };
        ui::print_message(
            "warning",
            &format!("run {run} of {runs} ended with status {status}; {were} not made"),
        );
    }

    fn count(&self, what: &str, number: u32, of: u32, which: usize) {
        if of > 1 || self.programs.len() > 1 {
            let program = match self.programs.len() {
                1 => String::new(),
                _ => format!(": {}", self.programs[which].line()),
            };
            self.counter
                .show(&format!("{what} {number} of {of}{program}"));
        }
    }

    fn warm_up(&mut self, number: u32, which: usize) -> Result<Outcome, CliError> {
        self.count("warm-up", number, self.plan.warmup, which);
        if let Some(input) = &mut self.input {
            input.rewind();
        }
        let Program { command, .. } = &self.programs[which];
        let folder = self.programs[which].folder_of_run();
        let status = self.perf.run(command, folder, self.plan.is_silent)?;
        if let Some(interrupted) = self.perf.interrupted() {
            return Ok(interrupted);
        }
        if !status.success() {
            self.counter.end();
            let line = self.programs[which].line();
            let status = status_of(status);
            let text = format!("warm-up {number} of {line} ended with status {status}");
            ui::print_message("warning", &text);
        }
        Ok(Outcome::Clean)
    }

    fn record_one(&mut self, run: u32, which: usize) -> Result<Outcome, CliError> {
        let (plan, perf) = (self.plan, self.perf);
        let name = match plan.runs {
            1 if self.programs.len() == 1 => "this recording".to_owned(),
            runs => format!("run {run} of {runs}"),
        };
        if let Some(input) = &mut self.input {
            input.rewind();
        }
        let program = &self.programs[which];
        let folder = plan.keep.unwrap_or(&self.work.path);
        let folder = folder.join(&program.folder).join(run.to_string());
        fs::create_dir_all(&folder).map_err(|source| CliError::WriteFile {
            path: folder.clone(),
            source,
        })?;
        let file = folder.join("perf.data");
        // perf may run in another folder.
        let file = std::path::absolute(&file).unwrap_or(file);
        let recording = plan.recording(&program.command, program.folder_of_run());
        let status = perf.record(&recording, &file)?;
        if let Some(interrupted) = perf.interrupted()
            && (plan.runs > 1 || self.programs.len() > 1)
        {
            // A partial run is useless for comparisons.
            self.counter.end();
            let note = format!("run {run} was interrupted, and is not stored");
            ui::print_message("note", &note);
            return Ok(interrupted);
        }
        let report = match self.ingest(&file, status, which) {
            Err(_) if !status.success() && is_full(&folder) => {
                return Err(CliError::NoRoom { folder });
            }
            Err(CliError::Ingest(IngestError::Format(FormatError::NoSamples { .. })))
                if !status.success() =>
            {
                self.counter.end();
                let text = format!("{name}: not stored, as it has no samples");
                ui::print_message("warning", &text);
                return Ok(self.outcome(status));
            }
            report => report?,
        };
        for warning in &report.warnings {
            self.warnings.add(&hints::stored_notice_text(warning));
        }
        if plan.keep.is_some() {
            copy_all(&report, &folder)?;
        } else {
            // A folder that cannot be removed now is removed with the work folder.
            let _ = fs::remove_dir_all(&folder);
        }
        for profile in &report.profiles {
            self.executables[which].get_or_insert(profile.build.executable.clone());
            self.recorded.ids[which].push(profile.id);
        }
        let report = IngestedFile::new(name, &report, hints::stored_notice_text);
        self.recorded.reports.push(report);
        Ok(self.outcome(status))
    }

    /// The outcome of a recording.
    fn outcome(&self, status: ExitStatus) -> Outcome {
        match self.perf.interrupted() {
            Some(interrupted @ Outcome::Interrupted(signal)) => {
                // Ctrl-C is the usual way to end the recording of a running process.
                let is_usual = signal == signal_hook::consts::SIGINT;
                if is_usual && !self.plan.records_command() {
                    Outcome::Clean
                } else {
                    interrupted
                }
            }
            _ if !self.plan.records_command() || status.success() => Outcome::Clean,
            _ => Outcome::Command(status),
        }
    }

    fn ingest(
        &self,
        file: &Path,
        status: ExitStatus,
        which: usize,
    ) -> Result<IngestOutcome, CliError> {
        let pids = match self.plan.target {
            Target::Processes(pids) => pids,
            _ => &[],
        };
        for &pid in pids {
            if let Err(why) = copy_perf_map(pid, file) {
                ui::print_message("warning", &why);
            }
        }
        write_vdso(file);
        let mut options = IngestOptions {
            symbols: environment::symbol_options(&[], file),
            slices: self.plan.how.slices,
            ..self.plan.how.about.options()
        };
        let program = &self.programs[which];
        if let Some(build) = &program.build {
            options.version = Some(build.clone());
        }
        if let Some(place) = &program.place {
            options.revision = Some(place.described.revision.clone());
            options.commit.clone_from(&place.described.commit);
        }
        program.values.describe(&mut options);
        if let Some(executable) = &self.executables[which] {
            options.executable.get_or_insert(executable.clone());
        }
        if self.plan.records_command() {
            let metrics = &mut options.metrics;
            let exit_status = f64::from(status_of(status));
            metrics
                .entry("exit_status".to_owned())
                .or_insert(exit_status);
            if let Some(time) = run_time(file) {
                let seconds = time.0 as f64 / 1e9;
                metrics.entry("seconds".to_owned()).or_insert(seconds);
            }
        }
        let progress = Progress::new(file);
        let mut show = |stage| progress.stage(stage);
        let prepared = prepare(file, &options, &mut show).map_err(|error| match error {
            IngestError::Format(
                FormatError::Io { .. } | FormatError::Empty { .. } | FormatError::Malformed { .. },
            ) if !status.success() => CliError::NothingRecorded {
                status: status_of(status),
            },
            IngestError::Format(FormatError::NoSamples { .. }) if status.success() => {
                CliError::NoSamples
            }
            error => error.into(),
        })?;
        self.to.add(prepared, &mut show)
    }
}
