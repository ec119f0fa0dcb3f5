//! Interactive flame graphs as SVG, of one selection and of the difference between two.
//!
//! The `inferno` crate draws them. It takes lines of folded text, and so a frame's name is made
//! into a label that survives that form.

mod drawing;
mod label;

use super::header::{full_name, header};
use super::numbers::percent;
use super::{Style, printable, shorten};
use crate::compare::Focus;
use crate::report::Subject;
use crate::tree::View;
use drawing::{Drawing, Side};
use inferno::flamegraph::color::{BackgroundColor, PaletteMap};
use inferno::flamegraph::{Options, from_lines};
use label::{Label, Labels};
use std::io::{self, Write};
use sto_core::units::Unit;

/// Levels of calls that are drawn; what is deeper is a part of the frame at this level. A picture
/// of more could not be read, and folded text grows with the square of the depth.
const MAX_LEVELS: usize = 500;

/// The change of share that has full colour, unless a larger one is drawn. Without it, the largest
/// change would be a bright red even where all of them are noise.
const FULL_COLOR_SHARE: f64 = 0.05;

/// Characters of a title that fit above the graph, and of one name in it.
const TITLE_WIDTH: usize = 110;
const NAME_WIDTH: usize = 35;
const FOCUS_WIDTH: usize = 30;

/// Why a flame graph cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlameError {
    /// There is nothing to draw.
    #[error("{build} has no samples to draw")]
    Empty {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// The picture cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Draws the flame graph of a view in one sample type.
///
/// Colours tell kinds of frames; shades depend on names alone, so that a function looks the same
/// in every graph.
///
/// # Errors
/// Where there are no samples, or `writer` fails.
pub fn svg(view: &View, sample_type: usize, writer: impl Write) -> Result<(), FlameError> {
    draw_one((view, sample_type), None, writer)
}

/// Draws the stacks of a view that are in focus, as [`svg`] does.
///
/// # Errors
/// As [`svg`].
pub fn focused_svg(
    view: (&View, usize),
    focus: &Focus,
    writer: impl Write,
) -> Result<(), FlameError> {
    draw_one(view, Some(focus), writer)
}

fn draw_one(
    (view, sample_type): (&View, usize),
    focus: Option<&Focus>,
    writer: impl Write,
) -> Result<(), FlameError> {
    let mut labels = Labels::by_kind();
    let mut drawing = Drawing::default();
    drawing.add(Side::Candidate, (view, sample_type), focus, &mut labels);
    let whole = drawing.whole(Side::Candidate);
    let subject = Subject::new(view, sample_type, whole);
    if whole.is_zero() {
        return Err(empty(&subject));
    }
    let mut palette = PaletteMap::default();
    // The frame below all others has no name, and would have a random colour.
    palette.insert("", label::NEUTRAL);
    for label in labels.all() {
        palette.insert(&label.text, label.color());
    }
    let mut options = options(&subject);
    options.title = header(
        &subject,
        Style {
            width: Some(TITLE_WIDTH),
            color: false,
        },
    );
    let focused = focus.map_or(String::new(), |focus| {
        let share = percent(drawing.in_focus(Side::Candidate));
        format!(
            "Only stacks with {}, {share} of all. ",
            shorten(&printable(focus.name()), FOCUS_WIDTH)
        )
    });
    options.subtitle = Some(focused + &labels.legend() + &drawing.depth_note());
    options.palette_map = Some(&mut palette);
    draw(options, &drawing, drawing.lines(labels.all()), writer)
}

/// Draws the difference between two views, each in its sample type: widths are the candidate's,
/// colours tell how a stack's share of the whole changed, red for more and blue for less.
///
/// Stacks are matched by their functions' symbols. Shares are compared, not costs, so that runs of
/// different length can be. Stacks that the candidate does not have cannot be drawn; the subtitle
/// says how much of the baseline they were.
///
/// # Errors
/// Where either has no samples, or `writer` fails.
pub fn diff_svg(
    baseline: (&View, usize),
    candidate: (&View, usize),
    writer: impl Write,
) -> Result<(), FlameError> {
    draw_difference(baseline, candidate, None, writer)
}

/// Draws the difference between two views in the stacks that are in focus, as [`diff_svg`] does.
///
/// Colours tell how a stack's share of everything changed, not of what is drawn. Where the candidate
/// has none of the stacks, widths are the baseline's.
///
/// # Errors
/// As [`diff_svg`].
pub fn focused_diff_svg(
    baseline: (&View, usize),
    candidate: (&View, usize),
    focus: &Focus,
    writer: impl Write,
) -> Result<(), FlameError> {
    draw_difference(baseline, candidate, Some(focus), writer)
}

fn draw_difference(
    baseline: (&View, usize),
    candidate: (&View, usize),
    focus: Option<&Focus>,
    writer: impl Write,
) -> Result<(), FlameError> {
    let mut labels = Labels::by_symbol();
    let mut drawing = Drawing::default();
    drawing.add(Side::Baseline, baseline, focus, &mut labels);
    drawing.add(Side::Candidate, candidate, focus, &mut labels);
    let before = Subject::new(baseline.0, baseline.1, drawing.whole(Side::Baseline));
    let after = Subject::new(candidate.0, candidate.1, drawing.whole(Side::Candidate));
    for (side, subject) in [(Side::Baseline, &before), (Side::Candidate, &after)] {
        if drawing.whole(side).is_zero() {
            return Err(empty(subject));
        }
    }
    let mut options = options(&after);
    options.title = format!(
        "BASELINE {} → CANDIDATE {}",
        shorten(&full_name(&before), NAME_WIDTH),
        shorten(&full_name(&after), NAME_WIDTH),
    );
    let head = match focus {
        None => {
            "Width: share in the candidate. Red: more than in the baseline, blue: less.".to_owned()
        }
        Some(focus) => format!(
            "Only stacks with {}: {} of the baseline, {} of the candidate. Red: more, blue: less.",
            shorten(&printable(focus.name()), FOCUS_WIDTH),
            percent(drawing.in_focus(Side::Baseline)),
            percent(drawing.in_focus(Side::Candidate)),
        ),
    };
    let widths = match drawing.widths() {
        Side::Candidate => format!(
            " Not drawn: stacks of the baseline alone, {} of it.",
            percent(drawing.gone()),
        ),
        Side::Baseline => " Width: share in the baseline.".to_owned(),
    };
    options.subtitle = Some(head + &widths + &drawing.depth_note());
    draw(
        options,
        &drawing,
        drawing.difference_lines(labels.all()),
        writer,
    )
}

fn options(subject: &Subject) -> Options<'static> {
    let mut options = Options::default();
    options.bgcolors = Some(BackgroundColor::Grey);
    let unit = subject
        .sample_type
        .as_ref()
        .map_or(Unit::Samples, |t| t.unit);
    let unit = if subject.value == 0 {
        Unit::Samples
    } else {
        unit
    };
    options.count_name = unit.name().to_owned();
    // Keeps our order of siblings. Sorted as text, `a b` would come between `a` and `a;c`, and
    // cut the frame `a` in two.
    options.flame_chart = true;
    options
}

fn draw(
    mut options: Options<'_>,
    drawing: &Drawing,
    lines: Vec<String>,
    writer: impl Write,
) -> Result<(), FlameError> {
    options.factor = drawing.factor();
    // A flame chart is drawn from its last line to its first.
    from_lines(&mut options, lines.iter().rev().map(String::as_str), writer)?;
    Ok(())
}

fn empty(subject: &Subject) -> FlameError {
    FlameError::Empty {
        build: full_name(subject),
    }
}
