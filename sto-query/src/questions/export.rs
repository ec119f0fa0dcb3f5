//! Stacks for the formats of other tools.

use super::models::{ModelRequest, models};
use crate::QueryError;
use crate::calls::{CallTrace, CallsError};
use crate::error::ExportError;
use crate::models::CostModels;
use crate::sources::{BuildRef, EVENT, Filter, Sources};
use crate::tree::{ContextCosts, Subject, View};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A format of another tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ExportFormat {
    /// Folded stacks of one event, `root;caller;leaf 42`.
    #[default]
    Folded,
    /// pprof's Protocol Buffers, compressed.
    Pprof,
    /// OpenTelemetry profiles, in Protocol Buffers.
    Otlp,
    /// An HTML page with a flame graph and a list of functions for each event.
    Html,
    /// JSON for speedscope.
    Speedscope,
    /// JSON for the Firefox Profiler.
    Firefox,
    /// Perfetto traces in Protocol Buffers: the calls of one run over time.
    Perfetto,
    /// Nested JSON of one event for d3-flame-graph.
    D3,
    /// Functions and calls for KCachegrind and callgrind_annotate.
    Callgrind,
    /// The call tree as a table with a row per node and event.
    Csv,
    /// A Perun profile of the costs of functions by x, with models.
    Perun,
}

/// Request for the data to write in the format of another tool.
///
/// It is an error if the format is Perfetto and the run has no calls, or if it is Perun and no run has x.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ExportRequest {
    /// The profiles.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs, and the event. Formats for several events get all of them.
    pub filter: Filter,
    /// The format.
    pub format: ExportFormat,
    /// The meaning of x for Perun, see [`ModelRequest::x`].
    pub x: String,
}

/// Data to write in the format of another tool.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exported {
    /// The format.
    pub format: ExportFormat,
    /// The selection, for each event that is written.
    pub subjects: Vec<Subject>,
    /// The data.
    pub data: ExportedData,
}

/// The data of a format.
#[derive(Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "an export has one value of it")]
pub enum ExportedData {
    /// Stacks and, for pprof and OTLP, the threads and labels of their samples.
    Stacks(Arc<View>, Option<ContextCosts>),
    /// Calls over time, for Perfetto.
    Calls(CallTrace),
    /// Models of the costs of functions, for Perun.
    Models(CostModels),
}

pub(super) fn export(sources: &Sources, request: &ExportRequest) -> Result<Exported, QueryError> {
    let ExportRequest {
        named,
        filter,
        format,
        x,
    } = request;
    let (data, subjects) = match format {
        ExportFormat::Perfetto => {
            let run = every_call(sources, request)?;
            let subject = Subject::new(&run.view, EVENT);
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
            let subject = Subject::new(&*sources.view(named, filter)?, EVENT);
            (ExportedData::Models(models), vec![subject])
        }
        _ => {
            let (view, contexts) = match format {
                ExportFormat::Pprof | ExportFormat::Otlp => {
                    let (view, contexts) = sources.view_with_contexts(named, filter)?;
                    (Arc::new(view), contexts)
                }
                _ => (sources.view(named, filter)?, None),
            };
            let events = match format {
                ExportFormat::Folded | ExportFormat::D3 => 1,
                _ => view.sample_types.len(),
            };
            let subjects = (0..events)
                .map(|event| Subject::new(&view, event))
                .collect();
            (ExportedData::Stacks(view, contexts), subjects)
        }
    };
    Ok(Exported {
        format: *format,
        subjects,
        data,
    })
}

/// Loads a run with its calls, for formats that contain only calls.
fn every_call(sources: &Sources, request: &ExportRequest) -> Result<CallTrace, QueryError> {
    let run = sources.call_trace_with_all_calls(&request.named, &request.filter);
    run.map_err(|error| match error {
        QueryError::Calls(CallsError::NoCalls { build, .. }) => ExportError::NoCalls {
            build,
            format: "perfetto",
        }
        .into(),
        other => other,
    })
}
