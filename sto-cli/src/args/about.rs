//! Options that describe a run that goes into the store.

use crate::args::quantities::label;
use crate::runtime::{CliError, git, ui};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::collections::BTreeSet;
use sto_core::ingest::IngestOptions;

/// The arguments that `sto ingest` and `sto record` share.
#[derive(Debug, Args)]
pub(crate) struct About {
    /// Name the build; by default after the main program's GNU build id
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    build: Option<String>,

    /// Name the executable; by default the program that was recorded or, if the recording does not tell, the
    /// program with most samples
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    exe: Option<String>,

    /// Store this git revision with the build (HEAD~3, v1.2); by default the revision of the work tree that
    /// contains the working directory
    #[arg(long, value_name = "REV", value_parser = NonEmptyStringValueParser::new())]
    revision: Option<String>,

    /// Name the benchmark that ran
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    benchmark: Option<String>,

    /// Attach a label; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,

    /// Attach a measured number (run time, throughput); may be given several times
    #[arg(long = "metric", value_name = "NAME=NUMBER", value_parser = metric)]
    metrics: Vec<(String, f64)>,
}

impl About {
    /// Rejects a label or metric with two values, and warns about a revision that git does not know.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        if let Some(revision) = &self.revision
            && git::here().describe_revision(revision).is_none()
        {
            let text = format!("git knows no revision `{revision}` here: it is stored as written");
            ui::print_message("warning", &text);
        }
        let mut known = BTreeSet::new();
        match self.named().find(|given| !known.insert(*given)) {
            None => Ok(()),
            Some((what, name)) => Err(CliError::GivenTwice {
                what,
                name: name.clone(),
            }),
        }
    }

    /// Returns an error if the user gave a label or metric that sto sets itself.
    pub(crate) fn check_unset(&self, name: &str) -> Result<(), CliError> {
        match self.named().find(|(_, given)| *given == name) {
            None => Ok(()),
            Some((what, _)) => Err(CliError::GivenTwice {
                what,
                name: name.to_owned(),
            }),
        }
    }

    /// The names of the labels and metrics, each with its kind.
    fn named(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let labels = self.labels.iter().map(|(key, _)| ("label", key));
        let metrics = self.metrics.iter().map(|(name, _)| ("metric", name));
        labels.chain(metrics)
    }

    /// The ingestion options for these arguments, with the work tree's revision and commit by default.
    pub(crate) fn options(&self) -> IngestOptions {
        let described = match &self.revision {
            None => git::here().describe(),
            Some(revision) => git::here().describe_revision(revision),
        };
        let (revision, commit) = match described {
            Some(known) => (Some(known.revision), known.commit),
            None => (self.revision.clone(), None),
        };
        IngestOptions {
            executable: self.exe.clone(),
            version: self.build.clone(),
            revision,
            commit,
            benchmark: self.benchmark.clone(),
            labels: self.labels.iter().cloned().collect(),
            metrics: self.metrics.iter().cloned().collect(),
            ..IngestOptions::default()
        }
    }
}

fn metric(text: &str) -> Result<(String, f64), &'static str> {
    let (name, number) = label(text).map_err(|_| "expected NAME=NUMBER")?;
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((name, number)),
        _ => Err("expected NAME=NUMBER, with a finite decimal number"),
    }
}
