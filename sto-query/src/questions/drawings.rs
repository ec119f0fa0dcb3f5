//! Stacks as drawings, and in the formats of other tools.

use crate::QueryError;
use crate::compare::Focus;
use crate::error::ExportError;
use crate::functions::KeyOptions;
use crate::render::export;
use crate::render::flame::{self, FlameOptions, Palette, Widths};
use crate::sources::{EVENT, Filter, Named, Sources};
use crate::tree::{ContextCosts, RootsBy, Subject, View};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

/// What a drawing shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DrawingOptions {
    /// Only stacks that have these functions, named as [`Focus::new`] takes them.
    pub focus: Option<String>,
    /// No stack that has these functions.
    pub ignore: Option<String>,
    /// Whether the functions that cost by themselves stand first, and their callers below.
    pub inverted: bool,
    /// What stacks stand below.
    pub by: Option<RootsBy>,
    /// The colours.
    pub palette: Palette,
    /// Whether it is a page, and not SVG.
    pub as_page: bool,
}

/// A flame graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct FlameRequest {
    /// The profiles.
    pub named: Named,
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// What is drawn.
    pub drawing: DrawingOptions,
}

/// A differential flame graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DiffRequest {
    /// What to compare with.
    pub baseline: Named,
    /// What to compare.
    pub candidate: Named,
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// What is drawn.
    pub drawing: DrawingOptions,
    /// What the widths are of.
    pub widths: Widths,
    /// Which functions of the two builds are one.
    pub matching: KeyOptions,
}

/// A drawing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Drawn {
    /// What was drawn: one selection, or a baseline and a candidate.
    pub subjects: Vec<Subject>,
    /// The drawing: SVG, or the page.
    pub drawing: String,
}

/// Draws a flame graph.
///
/// # Errors
/// As [`Sources::view_by`], and where no function or no stack is left to draw.
pub fn flame(sources: &Sources, request: &FlameRequest) -> Result<Drawn, QueryError> {
    let FlameRequest {
        named,
        filter,
        drawing,
    } = request;
    let view = match &drawing.by {
        None => sources.view(named, filter)?,
        Some(by) => sources.view_by(named, filter, by)?,
    };
    let options = drawing.options(sources, &[&view], KeyOptions::default())?;
    let mut svg = Vec::new();
    flame::svg((&view, EVENT), &options, &mut svg)?;
    Ok(drawn(svg, &[&view]))
}

/// Draws the difference between two sides.
///
/// # Errors
/// As [`flame()`].
pub fn diff(sources: &Sources, request: &DiffRequest) -> Result<Drawn, QueryError> {
    let (named, filter) = ([&request.baseline, &request.candidate], &request.filter);
    let [baseline, candidate] = match &request.drawing.by {
        None => sources.pair(named, filter)?,
        Some(by) => sources.pair_by(named, filter, by)?,
    };
    let views = [&baseline, &candidate];
    let options = request.drawing.options(sources, &views, request.matching)?;
    let mut svg = Vec::new();
    flame::diff_svg(
        (&baseline, EVENT),
        (&candidate, EVENT),
        request.widths,
        &options,
        &mut svg,
    )?;
    Ok(drawn(svg, &views))
}

impl DrawingOptions {
    /// Draws as a file of this name has it: a page where it ends in `.html`, else SVG.
    pub fn for_file(&mut self, file: &Path) {
        self.as_page = ends_in(file, "html");
    }

    fn options(
        &self,
        sources: &Sources,
        views: &[&View],
        matching: KeyOptions,
    ) -> Result<FlameOptions, QueryError> {
        let functions = |name: &Option<String>| -> Result<_, QueryError> {
            let Some(name) = name else { return Ok(None) };
            let focus = Focus::new(name, views)?;
            if let several @ [_, _, ..] = focus.functions() {
                sources.surroundings().takes_all(name, several);
            }
            Ok(Some(focus))
        };
        Ok(FlameOptions {
            focus: functions(&self.focus)?,
            ignore: functions(&self.ignore)?,
            inverted: self.inverted,
            palette: self.palette,
            as_page: self.as_page,
            matching,
        })
    }
}

fn drawn(svg: Vec<u8>, views: &[&View]) -> Drawn {
    let subjects = views.iter().map(|view| Subject::of(view, EVENT));
    Drawn {
        subjects: subjects.collect(),
        drawing: String::from_utf8(svg).expect("drawings are text"),
    }
}

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
}

/// Stacks for another tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ExportRequest {
    /// The profiles.
    pub named: Named,
    /// Which of their runs, and by which event; all events go along where the format has a place for more
    /// than one.
    pub filter: Filter,
    /// The format.
    pub format: ExportFormat,
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
}

/// Writes stacks in the format of another tool.
///
/// # Errors
/// As [`Sources::view`], and where the format has no place for them.
pub fn export(sources: &Sources, request: &ExportRequest) -> Result<Exported, QueryError> {
    let ExportRequest { named, filter, .. } = request;
    let (view, contexts) = match request.format {
        ExportFormat::Pprof => sources.view_with_contexts(named, filter)?,
        _ => (sources.view(named, filter)?, None),
    };
    let (format, contexts) = (request.format, contexts.as_ref());
    let mut bytes = Vec::new();
    if request.compress && format != ExportFormat::Pprof {
        let mut gzip = GzEncoder::new(&mut bytes, Compression::default());
        format.write(&view, contexts, &mut gzip)?;
        gzip.finish().map_err(ExportError::Io)?;
    } else {
        format.write(&view, contexts, &mut bytes)?;
    }
    let events = match format {
        ExportFormat::Folded | ExportFormat::D3 => 1,
        _ => view.sample_types.len(),
    };
    Ok(Exported {
        subjects: (0..events).map(|event| Subject::of(&view, event)).collect(),
        bytes,
    })
}

impl ExportRequest {
    /// Writes as a file of this name has it: compressed where it ends in `.gz`.
    pub fn for_file(&mut self, file: &Path) {
        self.compress = ends_in(file, "gz");
    }
}

fn ends_in(file: &Path, ending: &str) -> bool {
    let extension = file.extension();
    extension.is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

impl ExportFormat {
    fn write(
        self,
        view: &View,
        contexts: Option<&ContextCosts>,
        out: impl Write,
    ) -> Result<(), ExportError> {
        match self {
            ExportFormat::Folded => export::folded(view, EVENT, out),
            ExportFormat::Pprof => export::pprof(view, contexts, out),
            ExportFormat::Speedscope => export::speedscope(view, out),
            ExportFormat::Firefox => export::firefox(view, out),
            ExportFormat::D3 => export::d3(view, EVENT, out),
            ExportFormat::Callgrind => export::callgrind(view, out),
            ExportFormat::Csv => export::csv(view, out),
        }
    }
}
