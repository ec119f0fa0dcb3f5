//! `sto prune`: removes profiles from the store.

use crate::args::quantities::{bytes, days, label};
use crate::runtime::{CliError, FormatArg, Machine, Outcome, Progress, StorePath, now};
use clap::{ArgGroup, Args};
use std::time::Duration;
use sto_core::units::{Bytes, UnixSeconds};
use sto_query::questions::{PruneRequest, prune};
use sto_query::render;

const EXAMPLES: &str = "\
Examples:
  sto prune --older-than 90d --dry-run               Show what an age limit of a quarter would remove
  sto prune --keep-last 20 --group-by branch         Keep the 20 newest builds of each branch
  sto prune --max-size 500MB --keep v1.0             Remove the oldest runs until it fits, but not v1.0
  sto prune --label temporary=yes                    Remove runs with this label
  sto prune 3f9a1c22                                 Remove one run

All conditions apply together: --older-than 90d --keep-last 20 removes runs that are older than 90
days, but never from the 20 newest builds. Builds with a tag are always kept. Frames and stacks that no profile uses any more are
removed as well, and the space is returned to the disk.";

/// Remove profiles from the store
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("what").required(true).multiple(true)))]
pub(crate) struct PruneArgs {
    /// Remove only these builds or profiles: `[EXE@]BUILD` or ID
    #[arg(value_name = "SELECTOR", group = "what")]
    only: Vec<String>,

    /// Remove only runs that were recorded longer ago than this: 36h, 90d, 12w, 1y
    #[arg(long, value_name = "AGE", value_parser = days, group = "what")]
    older_than: Option<Duration>,

    /// Keep the runs of the N newest builds of each executable and benchmark
    #[arg(long, value_name = "N", group = "what")]
    keep_last: Option<usize>,

    /// With --keep-last: also keep N builds for each value of this label
    #[arg(long, value_name = "LABEL", requires = "keep_last")]
    group_by: Option<String>,

    /// Remove only runs with this label; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label, group = "what")]
    labels: Vec<(String, String)>,

    /// Remove only runs of this benchmark; `*` stands for any text; may be given several times
    #[arg(long = "benchmark", value_name = "NAME", group = "what")]
    benchmarks: Vec<String>,

    /// Remove runs, oldest first, only until the store's file is no larger than this: 800kB, 500MB, 2GB
    #[arg(long, value_name = "SIZE", value_parser = bytes, group = "what")]
    max_size: Option<Bytes>,

    /// Keep this build or profile in any case; may be given several times
    #[arg(long, value_name = "SELECTOR")]
    keep: Vec<String>,

    /// Show what would be removed and how many bytes, and change nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &PruneArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = PruneRequest::default();
    request.only.clone_from(&args.only);
    request.keep.clone_from(&args.keep);
    let options = &mut request.options;
    options.recorded_before = args.older_than.map(before_now);
    options.keep_last = args.keep_last;
    options.group_by.clone_from(&args.group_by);
    options.labels.clone_from(&args.labels);
    options.benchmarks.clone_from(&args.benchmarks);
    options.max_size = args.max_size;
    options.dry_run = args.dry_run;
    let store = store_path.open()?;
    let progress = Progress::for_store("pruning", &store_path.folder);
    let pruned = prune(&store, &Machine::here(), &request)?;
    drop(progress);
    args.format.print(&pruned, render::maintain::prune)?;
    Ok(Outcome::Clean)
}

fn before_now(age: Duration) -> UnixSeconds {
    UnixSeconds(now().0.saturating_sub(age.as_secs()))
}
