//! Arguments of `sto record`.

use super::options::RecordingArgs;
use super::plan::{Plan, line};
use super::scale::Scale;
use crate::runtime::CliError;
use crate::runtime::perf::Target;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  sto record --build v1 ./server --port 80          Record a program until it ends, or until Ctrl-C
  sto record --build v1 --runs 5 ./benchmark        Record five runs, to compare builds
  sto record --compare './old in' './new in' --runs 10
                                                    Record two programs alternately, and compare them
  sto record --scale n=1000,2000,4000 ./sort {n}    Record a program with several sizes of its input
  sto record --build v1 --scale n=1,2 --scale in=a,b --benchmark {in} ./sort {n} {in}
                                                    Record the four combinations of two arguments
  sto record --commits v1..HEAD --build-with make -- ./bench
                                                    Record a program at each commit
  sto record --call-graph dwarf ./stripped          Record a program without frame pointers
  sto record -p 1234 sleep 10                       Record a running process for ten seconds
  sto record --build v1 --off-cpu ./server          Also record where it waits; see `sto top --event off-cpu`
  sto record -a -e cycles -e page-faults sleep 10   Record two events of the whole system

Exit status: the one of the command; 128 plus the signal's number if a signal ended it or sto; with
--compare, the one of `sto find-regressions`; with --commits 0, or 3 if none could be built; 2 if sto fails.";

/// Record a program with perf, and store the runs
///
/// Options go before the program; everything after it belongs to the program. The program has this
/// command's standard input and output; the report goes to standard error. If standard input is a
/// file, each of several runs reads all of it. Each run has two metrics: `seconds`, from the program's
/// start to its end, and `exit_status`.
///
/// Callers are found by frame pointers: build with -fno-omit-frame-pointer (Rust: -C force-frame-pointers=yes), or use
/// --call-graph dwarf. Just-in-time compilers must write symbols: `node --perf-basic-prof
/// --interpreted-frames-native-stack`, `python -X perf_jit` (Python 3.13, with --call-graph dwarf), `java
/// -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(super) recording: RecordingArgs,

    /// Add the runs to this dataset of Parquet files, as written by `sto export --format parquet`, or to the store of this
    /// server, `https://HOST[:PORT]`, instead of a store. `sto push --help` tells about tokens
    #[arg(long, value_name = "DEST", conflicts_with_all = ["compare", "commits"])]
    pub(super) to: Option<PathBuf>,

    /// Record the command this many times; stop after a run that fails
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["processes", "all"]
    )]
    pub(super) runs: u32,

    /// First run the command this many times without recording it
    #[arg(long, value_name = "N", default_value = "0", conflicts_with_all = ["processes", "all"])]
    pub(super) warmup: u32,

    /// Record two programs alternately, so that noise of the machine affects both alike, and
    /// compare them as `sto find-regressions` does. Each is a quoted command line. Their standard output is
    /// discarded; runs that fail are not compared
    #[arg(
        long,
        num_args = 2,
        value_names = ["BASELINE", "CANDIDATE"],
        conflicts_with_all = ["command", "processes", "all", "build"]
    )]
    pub(super) compare: Vec<String>,

    /// Record the command with each of these values in place of `{NAME}`; given several times, with all combinations.
    /// Each run stores a number as a metric, for `sto model --x NAME`, and a text as a label. With --build, a command
    /// is skipped if the build already has --runs runs of it
    #[arg(
        long = "scale",
        value_name = "NAME=VALUE,VALUE,...",
        value_parser = Scale::parse,
        requires = "command",
        conflicts_with_all = ["compare", "processes", "all"]
    )]
    pub(super) scales: Vec<Scale>,

    /// Build each commit of this range in a temporary work tree, and record the command there.
    /// A command is skipped if the commit already has --runs runs of it; commits that cannot be built are skipped, too
    #[arg(
        long,
        value_name = "RANGE",
        requires = "command",
        conflicts_with_all = ["compare", "processes", "all", "build", "revision"],
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub(super) commits: Option<String>,

    /// Build each commit with this shell command
    #[arg(long, value_name = "COMMAND", requires = "commits", value_parser = NonEmptyStringValueParser::new())]
    pub(super) build_with: Option<String>,

    /// Build this many commits at a time; nothing is built while runs are recorded
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    #[arg(requires = "commits")]
    pub(super) jobs: u16,

    /// Record this running process, until it or the command ends, or until Ctrl-C; may be given several
    /// times
    #[arg(
        short = 'p',
        long = "pid",
        value_name = "PID",
        id = "processes",
        value_delimiter = ','
    )]
    pub(super) pids: Vec<u32>,

    /// Record the whole system, until the command ends, or until Ctrl-C
    #[arg(
        short = 'a',
        long = "all-cpus",
        id = "all",
        conflicts_with = "processes"
    )]
    pub(super) all: bool,

    /// Keep the recordings in this folder, with the perf maps and jitdumps of their programs
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,

    /// Run this command, with its arguments
    #[arg(
        trailing_var_arg = true,
        required_unless_present_any = ["processes", "all", "compare"]
    )]
    pub(super) command: Vec<OsString>,
}

impl RecordArgs {
    /// Returns an error if the command has no placeholder for a scale, or if the name of a scale is used twice.
    pub(super) fn check_scales(&self) -> Result<(), CliError> {
        for (ix, scale) in self.scales.iter().enumerate() {
            let place = scale.place();
            let has_place =
                |word: &OsString| word.to_str().is_some_and(|word| word.contains(&place));
            if !self.command.iter().any(has_place) {
                let line = line(&self.command);
                return Err(CliError::NoPlace { place, line });
            }
            let name = &scale.name;
            if self.scales[..ix].iter().any(|other| other.name == *name) {
                return Err(CliError::GivenTwice {
                    what: "scale",
                    name: name.clone(),
                });
            }
            self.recording.about.check_unset(name)?;
        }
        Ok(())
    }

    pub(super) fn plan(&self) -> Plan<'_> {
        Plan {
            how: &self.recording,
            target: match (self.all, &self.pids[..]) {
                (true, _) => Target::System,
                (false, []) => Target::Command,
                (false, pids) => Target::Processes(pids),
            },
            runs: self.runs,
            warmup: self.warmup,
            is_silent: !self.compare.is_empty(),
            ends_with_failure: self.compare.is_empty(),
            keep: self.keep.as_deref(),
        }
    }
}
