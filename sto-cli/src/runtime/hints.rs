//! The options and commands that do what the library's hints say.

use sto_core::{Hint, Notice};
use sto_query::text::{Action, Words};

/// What readers can do next, by this command.
pub(crate) const WORDS: Words = Words {
    action,
    option: "--",
};

fn action(action: Action) -> &'static str {
    match action {
        Action::AddProfile => "sto ingest FILE",
        Action::AttachMetric => "sto ingest --metric NAME=NUMBER",
        Action::Check => "sto find-regressions",
        Action::CheckInFull => "sto find-regressions --verbose",
        Action::Compact => "sto compact",
        Action::CountInlined => "--inlined",
        Action::ExplainMatch => "sto explain-match",
        Action::Json => "--format json",
        Action::JsonReport => "--report json",
        Action::RemoveRun => "sto prune ID",
        Action::SetTag => "sto tag BUILD NAME",
        Action::ShowAll => "--verbose",
        Action::SourceFolder => "--source-dir",
        Action::TopInlined => "sto top --inlined",
        _ => "",
    }
}

/// What is read with the command that does something about it.
pub(crate) fn say(notice: &Notice) -> String {
    with_hint(&notice.text, notice.hint)
}

/// The text with the option or command that does something about it.
pub(crate) fn with_hint(text: &str, hint: Option<Hint>) -> String {
    let words = hint.map_or("", words);
    match text.strip_suffix('.') {
        Some(sentence) => format!("{sentence}{words}."),
        None => format!("{text}{words}"),
    }
}

fn words(hint: Hint) -> &'static str {
    match hint {
        Hint::AllowTruncated => ": --allow-truncated",
        Hint::NameFormat => ": --format NAME",
        Hint::RaiseMaxInput => " by --max-input",
        Hint::NameBuild => ": --build NAME",
        Hint::OtherStore => ": --store DIR",
        Hint::MakeStore => "; `sto ingest` makes one",
        Hint::KeepSlices => "; --slices 1 keeps them",
        Hint::WholeTime => {
            "; ingest it without --slices, or with --slices 1, which leaves it whole"
        }
        Hint::SymbolFolder => " with --symbol-dir",
        Hint::AddProfile => "; `sto ingest FILE` adds one",
        Hint::ListBuilds => "; `sto ls` shows their ids",
        Hint::ListRuns => "; `sto runs` lists them all",
        Hint::NameProgram => "; name one with --exe",
        Hint::NameBenchmark => "; name one with --benchmark",
        Hint::AttachMetric => "; `sto ingest --metric NAME=NUMBER` or `sto annotate` attaches one",
        // One that this command has no option for.
        _ => "",
    }
}
