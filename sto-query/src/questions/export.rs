//! Stacks in the formats of other tools.

use crate::QueryError;
use crate::calls::{CalledRun, CallsError};
use crate::error::ExportError;
use crate::questions::{ModelRequest, models};
use crate::render::export;
use crate::render::profile_page;
use crate::sources::{EVENT, Filter, Named, Sources};
use crate::tree::Subject;
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
    let mut bytes = Vec::new();
    let (subjects, lacks);
    if request.compress && request.format != ExportFormat::Pprof {
        let mut gzip = GzEncoder::new(&mut bytes, Compression::default());
        (subjects, lacks) = request.write(sources, &mut gzip)?;
        gzip.finish().map_err(ExportError::Io)?;
    } else {
        (subjects, lacks) = request.write(sources, &mut bytes)?;
    }
    Ok(Exported {
        subjects,
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

    /// Writes it, and says what of; and what it lacks.
    fn write(
        &self,
        sources: &Sources,
        out: impl Write,
    ) -> Result<(Vec<Subject>, Option<String>), QueryError> {
        let ExportRequest { named, filter, .. } = self;
        if self.format == ExportFormat::Perfetto {
            let run = self.every_call(sources)?;
            export::perfetto(&run, out)?;
            return Ok((vec![Subject::of(&run.view, EVENT)], None));
        }
        let (view, contexts) = match self.format {
            ExportFormat::Pprof | ExportFormat::Otlp => {
                sources.view_with_contexts(named, filter)?
            }
            _ => (sources.view(named, filter)?, None),
        };
        let contexts = contexts.as_ref();
        let (mut events, mut lacks) = (view.sample_types.len(), None);
        match self.format {
            ExportFormat::Folded => {
                export::folded(&view, EVENT, out)?;
                events = 1;
            }
            ExportFormat::Pprof => export::pprof(&view, contexts, out)?,
            ExportFormat::Otlp => export::otlp(&view, contexts, out)?,
            ExportFormat::Html => profile_page::html(&view, out)?,
            ExportFormat::Speedscope => export::speedscope(&view, out)?,
            ExportFormat::Firefox => export::firefox(&view, out)?,
            ExportFormat::Perfetto => {}
            ExportFormat::D3 => {
                export::d3(&view, EVENT, out)?;
                events = 1;
            }
            ExportFormat::Callgrind => export::callgrind(&view, out)?,
            ExportFormat::Csv => export::csv(&view, out)?,
            ExportFormat::Perun => {
                let models = models(sources, &self.models())?;
                export::perun(&models, out)?;
                lacks = export::perun_lacks(&models);
                events = 1;
            }
        }
        let subjects = (0..events).map(|event| Subject::of(&view, event));
        Ok((subjects.collect(), lacks))
    }

    /// A run with its calls, for formats that have nothing else.
    fn every_call(&self, sources: &Sources) -> Result<CalledRun, QueryError> {
        let run = sources.every_call(&self.named, &self.filter);
        run.map_err(|error| match error {
            QueryError::Calls(CallsError::NoCalls { build, .. }) => ExportError::NoCalls {
                build,
                format: "perfetto",
            }
            .into(),
            other => other,
        })
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
