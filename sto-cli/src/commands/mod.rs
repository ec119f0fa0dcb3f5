//! The subcommands: each file has its arguments, then `run`.

mod align;
mod annotate;
mod average;
mod bisect;
mod blame;
mod bottlenecks;
mod calibrate;
mod check_by_server;
#[cfg(feature = "serve")]
mod check_for_client;
mod compact;
mod compare_models;
mod completions;
mod config;
mod correlate;
mod diff;
mod evolve;
mod expand;
mod explain_match;
mod export;
mod export_store;
mod find_regressions;
mod findings;
mod flame;
mod hot;
mod import_parquet;
mod ingest;
mod log;
mod ls;
mod lsp;
mod man;
mod merge;
mod model;
mod occurrences;
mod open;
mod outliers;
mod phases;
mod potential;
mod prune;
mod pull;
mod push;
mod record;
mod regressions_over_time;
mod report;
mod runs;
mod series;
#[cfg(feature = "serve")]
mod serve;
mod show;
mod source;
mod sql;
mod stats;
mod symbolize;
mod tag;
mod timeline;
mod top;
mod tree;
#[cfg(feature = "serve")]
mod ui;
mod verify;
mod waits;

use crate::runtime::{CliError, Outcome, StorePath, interrupt};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Record(record::RecordArgs),
    Ingest(ingest::IngestArgs),
    Ls(ls::LsArgs),
    Runs(runs::RunsArgs),
    Log(log::LogArgs),
    Annotate(annotate::AnnotateArgs),
    Symbolize(symbolize::SymbolizeArgs),
    Tag(tag::TagArgs),
    Merge(merge::MergeArgs),
    Push(push::PushArgs),
    Pull(pull::PullArgs),
    Show(show::ShowArgs),
    Top(top::TopArgs),
    Tree(tree::TreeArgs),
    Timeline(timeline::TimelineArgs),
    Source(source::SourceArgs),
    Hot(hot::HotSpotsArgs),
    Blame(blame::BlameArgs),
    Flame(flame::FlameArgs),
    Open(open::OpenArgs),
    Lsp(lsp::LspArgs),
    #[cfg(feature = "serve")]
    Ui(ui::UiArgs),
    #[cfg(feature = "serve")]
    Serve(serve::ServeArgs),
    Phases(phases::PhasesArgs),
    Outliers(outliers::OutliersArgs),
    Waits(waits::WaitsArgs),
    Potential(potential::PotentialArgs),
    Diff(diff::DiffArgs),
    Model(model::ModelArgs),
    Average(average::AverageArgs),
    Bottlenecks(bottlenecks::BottlenecksArgs),
    Correlate(correlate::CorrelateArgs),
    Align(align::AlignArgs),
    Expand(expand::ExpandArgs),
    Evolve(evolve::EvolveArgs),
    Where(occurrences::WhereArgs),
    Series(series::SeriesArgs),
    RegressionsOverTime(regressions_over_time::RegressionsOverTimeArgs),
    Report(report::ReportArgs),
    FindRegressions(find_regressions::FindRegressionsArgs),
    Bisect(bisect::BisectArgs),
    CompareModels(compare_models::CompareModelsArgs),
    Calibrate(calibrate::CalibrateArgs),
    ExplainMatch(explain_match::ExplainMatchArgs),
    Sql(sql::SqlArgs),
    Export(export::ExportArgs),
    ExportStore(export_store::ExportStoreArgs),
    ImportParquet(import_parquet::ImportParquetArgs),
    Prune(prune::PruneArgs),
    Compact(compact::CompactArgs),
    Stats(stats::StatsArgs),
    Verify(verify::VerifyArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Runs a subcommand. `store` finds the store; `line` returns the whole command line, for its manual.
pub(crate) fn run(
    command: Command,
    store: impl FnOnce() -> Result<StorePath, CliError>,
    line: fn() -> clap::Command,
) -> Result<Outcome, CliError> {
    interrupt::survive_file_size_limit();
    if !handles_signals(&command) {
        interrupt::leave_no_temporary_files();
    }
    match command {
        Command::Record(args) => record::run(&args, &store()?),
        Command::Ingest(args) => ingest::run(&args, &store()?),
        Command::Ls(args) => ls::run(&args, &store()?),
        Command::Runs(args) => runs::run(&args, &store()?),
        Command::Log(args) => log::run(&args, &store()?),
        Command::Annotate(args) => annotate::run(&args, &store()?),
        Command::Symbolize(args) => symbolize::run(&args, &store()?),
        Command::Tag(args) => tag::run(&args, &store()?),
        Command::Merge(args) => merge::run(&args, &store()?),
        Command::Push(args) => push::run(&args, &store()?),
        Command::Pull(args) => pull::run(&args, &store()?),
        Command::Show(args) => show::run(&args, &store()?),
        Command::Top(args) => top::run(&args, &store()?),
        Command::Source(args) => source::run(&args, &store()?),
        Command::Hot(args) => hot::run(&args, &store()?),
        Command::Blame(args) => blame::run(&args, &store()?),
        Command::Timeline(args) => timeline::run(&args, &store()?),
        Command::Tree(args) => tree::run(&args, &store()?),
        Command::Flame(args) => flame::run(&args, &store()?),
        Command::Open(args) => open::run(&args, &store()?),
        Command::Lsp(args) => lsp::run(&args, store),
        #[cfg(feature = "serve")]
        Command::Ui(args) => ui::run(&args, &store()?),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args, store),
        Command::Phases(args) => phases::run(&args, &store()?),
        Command::Outliers(args) => outliers::run(&args, &store()?),
        Command::Waits(args) => waits::run(&args, &store()?),
        Command::Potential(args) => potential::run(&args, &store()?),
        Command::Diff(args) => diff::run(&args, &store()?),
        Command::Model(args) => model::run(&args, &store()?),
        Command::Average(args) => average::run(&args, &store()?),
        Command::Bottlenecks(args) => bottlenecks::run(&args, &store()?),
        Command::Correlate(args) => correlate::run(&args, &store()?),
        Command::Align(args) => align::run(&args, &store()?),
        Command::Evolve(args) => evolve::run(&args, &store()?),
        Command::Expand(args) => expand::run(&args, &store()?),
        Command::Where(args) => occurrences::run(&args, &store()?),
        Command::Series(args) => series::run(&args, &store()?),
        Command::RegressionsOverTime(args) => regressions_over_time::run(&args, &store()?),
        Command::Report(args) => report::run(&args, &store()?),
        Command::FindRegressions(args) => find_regressions::run(&args, &store()?),
        Command::Bisect(args) => bisect::run(&args, &store()?),
        Command::CompareModels(args) => compare_models::run(&args, &store()?),
        Command::Calibrate(args) => calibrate::run(&args, &store()?),
        Command::ExplainMatch(args) => explain_match::run(&args),
        Command::Sql(args) => sql::run(&args, &store()?),
        Command::Export(args) => export::run(&args, &store()?),
        Command::ImportParquet(args) => import_parquet::run(&args, &store()?),
        Command::ExportStore(args) => export_store::run(&args, &store()?),
        Command::Prune(args) => prune::run(&args, &store()?),
        Command::Compact(args) => compact::run(&args, &store()?),
        Command::Stats(args) => stats::run(&args, &store()?),
        Command::Verify(args) => verify::run(&args, &store()?),
        Command::Config(_) => config::run(),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args, line()),
    }
}

/// Whether a command does something of its own when it is asked to end: store an interrupted recording, end a query but
/// not the shell, or finish requests.
fn handles_signals(command: &Command) -> bool {
    match command {
        Command::Record(_) | Command::Bisect(_) | Command::Sql(_) => true,
        #[cfg(feature = "serve")]
        Command::Ui(_) | Command::Serve(_) => true,
        _ => false,
    }
}
