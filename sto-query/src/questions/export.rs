//! Stacks for the formats of other tools.

use crate::QueryError;
use crate::calls::{CalledRun, CallsError};
use crate::error::ExportError;
use crate::models::CostModels;
use crate::questions::{ModelRequest, models};
use crate::sources::{EVENT, Filter, Named, Sources};
use crate::tree::{ContextCosts, Subject, View};
use serde::{Deserialize, Serialize};

/// A format of another tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ExportFormat {
    /// Folded stacks, `root;caller;leaf 42`, of one event.
    #[default]
    Folded,
    /// pprof's Protocol Buffers, compressed.
    Pprof,
    /// OpenTelemetry's profiles, in Protocol Buffers.
    Otlp,
    /// A page for browsers: of each event a flame graph and its functions.
    Html,
    /// JSON for speedscope.
    Speedscope,
    /// JSON for the Firefox Profiler.
    Firefox,
    /// Perfetto's traces in Protocol Buffers: the calls over time of one run.
    Perfetto,
    /// Nested JSON for d3-flame-graph, of one event.
    D3,
    /// Functions and calls for KCachegrind and callgrind_annotate.
    Callgrind,
    /// The call tree as a table, a row a node and event.
    Csv,
    /// Perun's profile of what functions cost by x, with models.
    Perun,
}

/// Stacks for another tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ExportRequest {
    /// The profiles.
    pub named: Named,
    /// Which of their runs, and by which event; all events go along where the format has room for more
    /// than one.
    pub filter: Filter,
    /// The format.
    pub format: ExportFormat,
    /// What x is, for Perun: as of [`ModelRequest::x`].
    pub x: String,
}

/// What is written in the format of another tool.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exported {
    /// The format.
    pub format: ExportFormat,
    /// The selection, by each event that is written.
    pub subjects: Vec<Subject>,
    /// The data.
    pub data: ExportedData,
}

/// The data of a format.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportedData {
    /// Stacks, and for pprof and OTLP the threads and labels of their samples.
    Stacks(View, Option<ContextCosts>),
    /// Calls over time, for Perfetto.
    Calls(CalledRun),
    /// Models of what functions cost, for Perun.
    Models(CostModels),
}

/// Loads what is to be written in the format of another tool.
///
/// # Errors
/// As [`Sources::view`]; for Perfetto, where the run has no calls; for Perun, as [`models()`].
pub fn export(sources: &Sources, request: &ExportRequest) -> Result<Exported, QueryError> {
    let ExportRequest {
        named,
        filter,
        format,
        x,
    } = request;
    let (data, subjects) = match format {
        ExportFormat::Perfetto => {
            let run = every_call(sources, request)?;
            let subject = Subject::of(&run.view, EVENT);
            (ExportedData::Calls(run), vec![subject])
        }
        ExportFormat::Perun => {
            let models = models(
                sources,
                &ModelRequest {
                    named: named.clone(),
                    filter: filter.clone(),
                    x: x.clone(),
                    ..ModelRequest::default()
                },
            )?;
            let subject = Subject::of(&sources.view(named, filter)?, EVENT);
            (ExportedData::Models(models), vec![subject])
        }
        _ => {
            let (view, contexts) = match format {
                ExportFormat::Pprof | ExportFormat::Otlp => {
                    sources.view_with_contexts(named, filter)?
                }
                _ => (sources.view(named, filter)?, None),
            };
            let events = match format {
                ExportFormat::Folded | ExportFormat::D3 => 1,
                _ => view.sample_types.len(),
            };
            let subjects = (0..events).map(|event| Subject::of(&view, event)).collect();
            (ExportedData::Stacks(view, contexts), subjects)
        }
    };
    Ok(Exported {
        format: *format,
        subjects,
        data,
    })
}

/// A run with its calls, for formats that have nothing else.
fn every_call(sources: &Sources, request: &ExportRequest) -> Result<CalledRun, QueryError> {
    let run = sources.every_call(&request.named, &request.filter);
    run.map_err(|error| match error {
        QueryError::Calls(CallsError::NoCalls { build, .. }) => ExportError::NoCalls {
            build,
            format: "perfetto",
        }
        .into(),
        other => other,
    })
}
