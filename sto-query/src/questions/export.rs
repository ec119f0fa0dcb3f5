//! Stacks in the formats of other tools.

use crate::QueryError;
use crate::error::ExportError;
use crate::questions::{ModelRequest, models};
use crate::render::export;
use crate::sources::{EVENT, Filter, Named, Sources};
use crate::tree::{ContextCosts, Subject, View};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

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
    /// JSON for speedscope.
    Speedscope,
    /// JSON for the Firefox Profiler.
    Firefox,
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
    /// Whether it is compressed by gzip. pprof always is, once.
    pub compress: bool,
}

/// Stacks in the format of another tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Exported {
    /// What it has: an entry an event.
    pub subjects: Vec<Subject>,
    /// The file.
    pub bytes: Vec<u8>,
    /// A sentence about models that Perun does not know, where they are the best of a function.
    pub lacks: Option<String>,
}

/// Writes stacks in the format of another tool.
///
/// # Errors
/// As [`Sources::view`], and where the format has no room for them.
pub fn export(sources: &Sources, request: &ExportRequest) -> Result<Exported, QueryError> {
    let ExportRequest { named, filter, .. } = request;
    let (view, contexts) = match request.format {
        ExportFormat::Pprof | ExportFormat::Otlp => sources.view_with_contexts(named, filter)?,
        _ => (sources.view(named, filter)?, None),
    };
    let format = request.format;
    let mut bytes = Vec::new();
    let lacks;
    if request.compress && format != ExportFormat::Pprof {
        let mut gzip = GzEncoder::new(&mut bytes, Compression::default());
        lacks = request.write(sources, &view, contexts.as_ref(), &mut gzip)?;
        gzip.finish().map_err(ExportError::Io)?;
    } else {
        lacks = request.write(sources, &view, contexts.as_ref(), &mut bytes)?;
    }
    let events = match format {
        ExportFormat::Folded | ExportFormat::D3 | ExportFormat::Perun => 1,
        _ => view.sample_types.len(),
    };
    Ok(Exported {
        subjects: (0..events).map(|event| Subject::of(&view, event)).collect(),
        bytes,
        lacks,
    })
}

impl ExportRequest {
    fn models(&self) -> ModelRequest {
        ModelRequest {
            named: self.named.clone(),
            filter: self.filter.clone(),
            x: self.x.clone(),
            ..ModelRequest::default()
        }
    }

    fn write(
        &self,
        sources: &Sources,
        view: &View,
        contexts: Option<&ContextCosts>,
        out: impl Write,
    ) -> Result<Option<String>, QueryError> {
        match self.format {
            ExportFormat::Folded => export::folded(view, EVENT, out)?,
            ExportFormat::Pprof => export::pprof(view, contexts, out)?,
            ExportFormat::Otlp => export::otlp(view, contexts, out)?,
            ExportFormat::Speedscope => export::speedscope(view, out)?,
            ExportFormat::Firefox => export::firefox(view, out)?,
            ExportFormat::D3 => export::d3(view, EVENT, out)?,
            ExportFormat::Callgrind => export::callgrind(view, out)?,
            ExportFormat::Csv => export::csv(view, out)?,
            ExportFormat::Perun => {
                let models = models(sources, &self.models())?;
                export::perun(&models, out)?;
                return Ok(export::perun_lacks(&models));
            }
        }
        Ok(None)
    }

    /// Writes as a file of this name has it: compressed where it ends in `.gz`.
    pub fn for_file(&mut self, file: &Path) {
        self.compress = ends_in(file, "gz");
    }
}

pub(super) fn ends_in(file: &Path, ending: &str) -> bool {
    let extension = file.extension();
    extension.is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
