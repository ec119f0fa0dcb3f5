//! `sto bisect`: finds the commit that made a program slower.

mod command;
mod lab;

use crate::commands::find_regressions::JudgementArgs;
use crate::commands::record::{Checkouts, Plan, RecordingArgs, Session, WorkFolder};
use crate::runtime::destination::Destination;
use crate::runtime::git::{Between, Repository};
use crate::runtime::perf::{Perf, Target};
use crate::runtime::ui::{self, Counter};
use crate::runtime::{CliError, FormatArg, Outcome, StorePath, context};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use command::Commands;
use lab::{Lab, Measured};
use std::ffi::OsString;
use sto_query::questions::{BisectRequest, ask};
use sto_query::render;
use sto_query::results::{BisectState, Bisection, NextRun};

const EXAMPLES: &str = "\
Examples:
  sto bisect --good v1.2 --bad HEAD -- 'make && ./bench'
                                           Build each commit, record ./bench, find the first slower one
  sto bisect --good v1 --bad v2 --build-with 'cargo build --release' -- target/release/app in.txt
  sto bisect --good v1 --bad v2 --function parse -- 'make && ./bench'
                                             Find the first in which this function is slower

In a quoted command line, the part before the last `&&` builds a commit and is not recorded. Runs stay in the store: \
the same command resumes from there. Existing runs count, such as those of `sto record --commits`.

Exit status: 0 the commit was found, 2 wrong usage or failure, 3 the result is uncertain, or nothing got slower; 128 plus the \
signal's number if a signal ended it.";

/// Find the commit that made a program slower
///
/// Builds commits in separate work trees, records runs of them, and chooses for each run the commit that gives most
/// information. Stops when one commit is the first slower one with a probability of 95 %. Commits that cannot be built are
/// skipped.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BisectArgs {
    /// Search after this commit, which is fast enough
    #[arg(long, value_name = "REV", value_parser = NonEmptyStringValueParser::new())]
    #[arg(conflicts_with_all = ["build", "revision"])]
    good: String,

    /// Search up to this commit, which is slower
    #[arg(long, value_name = "REV", default_value = "HEAD", value_parser = NonEmptyStringValueParser::new())]
    bad: String,

    /// Search for the commit that made this function slower: its name, part of it, or `re:` and a regular expression
    /// [default: the function that is most clearly slower]
    #[arg(long, value_name = "FUNCTION")]
    function: Option<String>,

    /// Build each commit with this shell command
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    build_with: Option<String>,

    /// Record at most this many runs
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,

    #[command(flatten)]
    recording: RecordingArgs,

    #[command(flatten)]
    judgement: JudgementArgs,

    #[command(flatten)]
    format: FormatArg,

    /// Record this command, in the top folder of each commit: a quoted command line, or a program and its arguments
    #[arg(trailing_var_arg = true, required = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &BisectArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    args.recording.about.check()?;
    let repository = Repository::here()?;
    repository.check_clean()?;
    let between = repository.between(&args.good, &args.bad)?;
    let mut request = args.request(&between)?;
    let to = Destination::open(None, store_path)?;
    to.check_writable()?;
    let commands = Commands::parse(&args.command, args.build_with.as_ref());
    let mut perf = Perf::new()?;
    let work = WorkFolder::make()?;
    let plan = args.plan();
    let checked = perf.check(&work.path, &plan.recording(&[], None));
    if let Some(interrupted) = perf.interrupted() {
        return Ok(interrupted);
    }
    checked?;
    let checkouts = Checkouts {
        repository: &repository,
        perf: &perf,
        work: &work,
        build: commands.build.as_deref(),
    };
    let session = Session::new(plan, &perf, &work, &to, Vec::new());
    let mut lab = Lab::new(checkouts, session, &commands.run);
    let counter = Counter::new(true);
    let mut runs = 0;
    let bisection = loop {
        let bisection = ask(&store_path.sources_or_empty()?, &request, &context())?;
        request.history.executable.clone_from(&bisection.executable);
        let next = match &bisection.state {
            BisectState::Next(next) if runs < args.budget => next,
            _ => break bisection,
        };
        counter.show(&progress(&bisection, next));
        match lab.measure(&next.commit, bisection.executable.as_ref())? {
            Measured::Stored => runs += 1,
            Measured::Failed(why) => {
                counter.end();
                let id = next.commit.to_string();
                if next.information.is_none() {
                    return Err(CliError::EndNotMeasured { id, why });
                }
                ui::print_message("note", &format!("commit {} is skipped: {why}", &id[..12]));
                request.skipped.insert(next.commit.clone(), why);
            }
            Measured::Interrupted(outcome) => {
                counter.end();
                let note =
                    "the measurements stay in the store; the same command resumes from there";
                ui::print_message("note", note);
                return Ok(outcome);
            }
        }
    };
    counter.end();
    lab.finish();
    args.format.print(&bisection, |bisection, style| {
        render::bisect::text(bisection, &between.commits, style)
    })?;
    Ok(match bisection.state {
        BisectState::Found(_) => Outcome::Clean,
        _ => Outcome::TooLittleData,
    })
}

/// The progress line: `measuring 0123456789ab; 5 runs; ...`.
fn progress(bisection: &Bisection, next: &NextRun) -> String {
    let id = next.commit.to_string();
    let known = render::bisect::progress(bisection);
    format!("measuring {}; {known}", &id[..12])
}

impl BisectArgs {
    fn request(&self, between: &Between) -> Result<BisectRequest, CliError> {
        let mut request = BisectRequest::default();
        request.ancestry = between.ancestry.clone();
        request.function.clone_from(&self.function);
        self.judgement.ask(&mut request.check)?;
        let about = self.recording.about.options();
        let history = &mut request.history;
        history.executable = about.executable;
        // Runs without a benchmark are not mixed with runs that name one.
        history.benchmarks = vec![about.benchmark.unwrap_or_default()];
        history.matching = request.check.matching;
        Ok(request)
    }

    fn plan(&self) -> Plan<'_> {
        Plan {
            how: &self.recording,
            target: Target::Command,
            runs: self.budget,
            warmup: 0,
            is_silent: true,
            ends_with_failure: true,
            keep: None,
        }
    }
}
