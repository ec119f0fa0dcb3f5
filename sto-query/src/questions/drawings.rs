//! Stacks as drawings.

use crate::QueryError;
use crate::calls::new_outliers;
use crate::compare::{CompareOptions, Focus};
use crate::functions::KeyOptions;
use crate::render::flame::{self, FlameOptions, Palette, Widths};
use crate::sources::{EVENT, Filter, Named, Sources};
use crate::tree::{RootsBy, Subject, View, Window};
use serde::{Deserialize, Serialize};
use std::path::Path;
use sto_core::store::Snapshot;

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
    /// Which of their runs, by which event, and which part of their time.
    pub filter: Filter,
    /// Another part of the baseline's time.
    pub against: Option<Window>,
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
    /// A sentence about functions whose calls took unusually long in the candidate alone, of traces of calls.
    pub new_outliers: Option<String>,
    /// The drawing: SVG, or the page.
    pub drawing: String,
}

/// Draws a flame graph.
///
/// # Errors
/// As [`Sources::view`], and where no function or no stack is left to draw.
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
    Ok(drawn(flame::svg((&view, EVENT), &options)?, &[&view]))
}

/// Draws the difference between two sides.
///
/// # Errors
/// As [`flame()`].
pub fn diff(sources: &Sources, request: &DiffRequest) -> Result<Drawn, QueryError> {
    let (named, filter) = ([&request.baseline, &request.candidate], &request.filter);
    let (views, longer) = match &request.drawing.by {
        None => {
            let sides = sources.pair_and_stores(named, filter, request.against, None)?;
            let longer = longer_calls(&sides)?;
            (sides.map(|(view, _)| view), longer)
        }
        Some(by) => (sources.pair_by(named, filter, request.against, by)?, None),
    };
    let [baseline, candidate] = &views;
    let options = FlameOptions {
        note: longer.clone().unwrap_or_default(),
        ..request
            .drawing
            .options(sources, &[baseline, candidate], request.matching)?
    };
    let sides = ((baseline, EVENT), (candidate, EVENT));
    let drawing = flame::diff_svg(sides.0, sides.1, request.widths, &options)?;
    Ok(Drawn {
        new_outliers: longer,
        ..drawn(drawing, &[baseline, candidate])
    })
}

/// A sentence about calls that took unusually long in the candidate alone, where the sides are traces of calls.
fn longer_calls(sides: &[(View, Snapshot); 2]) -> Result<Option<String>, QueryError> {
    let is_time = |(view, _): &(View, _)| {
        let sample_type = view.sample_types.get(EVENT);
        sample_type.is_some_and(|sample_type| view.is_time_of_calls(sample_type))
    };
    if !sides.iter().all(is_time) {
        return Ok(None);
    }
    let sides = sides
        .each_ref()
        .map(|(view, store)| (store, &view.selection));
    Ok(new_outliers(sides, CompareOptions::default().min_share)?)
}

impl DrawingOptions {
    /// Draws as a file of this name has it: a page where it ends in `.html`, else SVG.
    pub fn for_file(&mut self, file: &Path) {
        self.as_page = super::export::ends_in(file, "html");
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
            ..FlameOptions::default()
        })
    }
}

fn drawn(drawing: String, views: &[&View]) -> Drawn {
    let subjects = views.iter().map(|view| Subject::of(view, EVENT));
    Drawn {
        subjects: subjects.collect(),
        new_outliers: None,
        drawing,
    }
}
