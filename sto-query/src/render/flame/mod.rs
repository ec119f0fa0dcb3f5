//! Interactive flame graphs of one selection or of the difference between two, as SVG or HTML page,
//! and on the pages of findings.
//!
//! Without scripts, they show every frame except those that are too narrow. With scripts, they can
//! be searched, zoomed, and navigated by keyboard.
//!
//! See [the manual](crate::manual::drawings).

mod drawing;
mod figure;
mod inverted;
mod label;
mod layout;
mod options;
mod palette;
mod picture;
mod run_figure;

use super::header::{first_line, full_name, window_text};
use super::html::Page;
use crate::compare::Focus;
use crate::error::FlameError;
use crate::text::{Style, format_count, percent, printable, quantity, shorten};
use crate::tree::{Subject, View};
use drawing::{Drawing, Side};
pub(super) use figure::{FlameGraph, FlameSides, change_legend};
use label::Labels;
pub(super) use label::text as label_of;
use maud::{Markup, html};
use options::MAX_LEVELS;
pub use options::{FlameOptions, Widths};
pub use palette::Palette;
pub(super) use picture::MAX_FRAMES;
use picture::Picture;
pub(super) use run_figure::{FrameLabels, draw_frames};
use sto_core::units::Unit;

/// Change, as a share of the drawn stacks, that has the full colour, unless a larger change is drawn. Without this minimum
/// the largest change would be bright red even if all changes were noise.
const FULL_COLOR_SHARE: f64 = 0.05;

/// Width in characters of the title above the graph, and of the names in it.
const TITLE_WIDTH: usize = 110;
const NAME_WIDTH: usize = 26;
const EVENT_WIDTH: usize = 16;
const FOCUS_WIDTH: usize = 20;

/// Draws the flame graph of a view in one sample type.
///
/// Colours show the kinds of frames. Shades depend only on names, so that a function looks the same
/// in every graph.
///
/// # Errors
///
/// Returns an error if there are no samples, or the options select none of them.
pub fn svg(
    (view, sample_type): (&View, usize),
    options: &FlameOptions,
) -> Result<String, FlameError> {
    let mut labels = Labels::default();
    let of_frames = vec![labels.label_by_kind(view)];
    let views = [(Side::Candidate, (view, sample_type))];
    let drawing = Drawing::new(&views, options, of_frames);
    let subject = Subject::with_whole(view, sample_type, drawing.whole(Side::Candidate));
    if drawing.whole(Side::Candidate).is_zero() {
        return Err(empty(&subject));
    }
    if drawing.drawn[Side::Candidate as usize].is_zero() {
        return Err(FlameError::NothingChosen);
    }
    let title = first_line(
        &subject,
        Style {
            width: Some(TITLE_WIDTH),
            ..Style::default()
        },
    );
    let chosen = chosen(options).map_or(String::new(), |stacks| {
        let share = percent(drawing.share_drawn(Side::Candidate));
        format!("{stacks}, {share} of all. ")
    });
    let time = window_text(&subject.windows).map_or(String::new(), |taken| format!("{taken}. "));
    let notes = time + &chosen + order_note(options) + &labels.legend(options.palette);
    Ok(draw(&title, notes, &drawing, &labels, &subject, options))
}

/// Draws the difference between two views, each in its sample type. Colours show how the cost of a
/// stack changed: red for an increase, blue for a decrease.
///
/// Stacks are matched by function, as in [`compare`](crate::compare::compare). Costs are those of a
/// run, by [`FlameOptions::growth`], or otherwise shares of all stacks. The subtitle gives the share of stacks that only one side has,
/// if they cannot be drawn.
///
/// # Errors
///
/// Returns an error if either view has no samples, or there is nothing to draw.
pub fn diff_svg(
    baseline: (&View, usize),
    candidate: (&View, usize),
    widths: Widths,
    options: &FlameOptions,
) -> Result<String, FlameError> {
    let mut labels = Labels::default();
    let of_frames = labels.label_by_function([baseline.0, candidate.0], options.matching);
    let views = [(Side::Baseline, baseline), (Side::Candidate, candidate)];
    let mut drawing = Drawing::new(&views, options, of_frames.into());
    let before = Subject::with_whole(baseline.0, baseline.1, drawing.whole(Side::Baseline));
    let after = Subject::with_whole(candidate.0, candidate.1, drawing.whole(Side::Candidate));
    for (side, subject) in [(Side::Baseline, &before), (Side::Candidate, &after)] {
        if drawing.whole(side).is_zero() {
            return Err(empty(subject));
        }
    }
    if drawing.drawn.iter().all(|cost| cost.is_zero()) {
        return Err(FlameError::NothingChosen);
    }
    let chosen = chosen(options).map_or(String::new(), |stacks| {
        let [before, after] =
            [Side::Baseline, Side::Candidate].map(|side| drawing.share_drawn(side));
        format!("{stacks}: {} → {}. ", percent(before), percent(after))
    });
    drawing.set_widths(widths);
    if drawing.drawn[drawing.side as usize].is_zero() {
        return Err(FlameError::NothingElided {
            baseline: full_name(&before),
            candidate: full_name(&after),
        });
    }
    let title = difference_title(&before, &after);
    let times = window_text(&before.windows).zip(window_text(&after.windows));
    let times = times.map_or(String::new(), |(old, new)| format!("{old} → {new}. "));
    let notes = times + &chosen + order_note(options) + &width_note(&drawing, options);
    Ok(draw(&title, notes, &drawing, &labels, &after, options))
}

/// Formats `BASELINE demo@v1 → CANDIDATE demo@v2, cpu-clock (722 ms → 992 ms)`.
fn difference_title(before: &Subject, after: &Subject) -> String {
    let mut title = format!(
        "BASELINE {} → CANDIDATE {}",
        shorten(&full_name(before), NAME_WIDTH),
        shorten(&full_name(after), NAME_WIDTH),
    );
    if let Some(sample_type) = &after.sample_type {
        title += &format!(", {}", shorten(&printable(&sample_type.event), EVENT_WIDTH));
    }
    let amount = |subject: &Subject| {
        let sample_type = subject.sample_type.as_ref();
        sample_type
            .and_then(|sample_type| quantity(subject.value, sample_type.unit))
            .unwrap_or_else(|| format_count(subject.samples, "sample"))
    };
    title + &format!(" ({} → {})", amount(before), amount(after))
}

/// Describes the selected stacks; `None` if all are selected.
fn chosen(options: &FlameOptions) -> Option<String> {
    let named = |word: &str, focus: &Focus| {
        let name = shorten(&printable(focus.name()), FOCUS_WIDTH);
        format!("{word} {name}")
    };
    let with = options.focus.iter().map(|focus| named("with", focus));
    let without = options.ignore.iter().map(|ignore| named("without", ignore));
    let chosen: Vec<String> = with.chain(without).collect();
    (!chosen.is_empty()).then(|| format!("Only stacks {}", chosen.join(", ")))
}

fn order_note(options: &FlameOptions) -> &'static str {
    if options.inverted {
        "Callers below their callees. "
    } else {
        ""
    }
}

/// Explains the widths and colours of a difference, and which stacks have no width.
fn width_note(drawing: &Drawing, options: &FlameOptions) -> String {
    let [more, less] = options.palette.change_color_names();
    let costs = if options.growth.is_some() {
        "a run costs more in the candidate"
    } else {
        "a larger share in the candidate"
    };
    if drawing.is_elided {
        return format!(
            "Width: share in the baseline. {less}: stacks that the candidate lacks, {}.",
            percent(drawing.share_drawn(Side::Baseline)),
        );
    }
    let (side, other) = match drawing.side {
        Side::Candidate => ("candidate", "baseline"),
        Side::Baseline => ("baseline", "candidate"),
    };
    format!(
        "Width: share in the {side}. {more}: {costs}. {less}: less. Not drawn: stacks that only the {other} has, {}.",
        percent(drawing.exclusive_share(drawing.side.other())),
    )
}

/// Draws one view, or the difference of two whose candidate is `subject`.
fn draw(
    title: &str,
    mut notes: String,
    drawing: &Drawing,
    labels: &Labels,
    subject: &Subject,
    options: &FlameOptions,
) -> String {
    let is_difference = !drawing.whole(Side::Baseline).is_zero();
    let sample_type = subject.sample_type.as_ref();
    let (picture, left_out) = drawing.picture(
        labels.all(),
        sample_type.map_or(Unit::Samples, |sample_type| sample_type.unit),
        (!is_difference).then_some(options.palette),
        MAX_FRAMES,
    );
    notes += &left_out;
    notes = format!("{} {}", notes.trim(), options.note);
    let is_colorblind = is_difference && options.palette == Palette::Colorblind;
    if options.as_page {
        page(title, notes.trim(), &picture, is_colorblind)
    } else {
        picture.document(title, notes.trim(), is_colorblind)
    }
}

fn page(title: &str, notes: &str, picture: &Picture, is_colorblind: bool) -> String {
    let page = Page {
        title,
        style: "",
        script: "",
    };
    page.render(&html! {
        header { h2 { (title) } p.reason { (notes) } }
        main {
            figure.flame.colorblind[is_colorblind] {
                (picture.svg())
                figcaption { (HOW_TO) }
            }
        }
    })
}

/// How to use a drawing on a page.
const HOW_TO: &str = "Each box is a function. In a browser that runs the script of this page, a click, or Enter, shows one \
                      stack alone; arrow keys walk from box to box, Escape shows all again.";

/// Draws the flame graph of a view in one sample type for a page, with at most `max_frames` frames.
pub(super) fn draw_view(
    id: &str,
    (view, sample_type): (&View, usize),
    max_frames: usize,
) -> Markup {
    let mut labels = Labels::default();
    let of_frames = vec![labels.label_by_kind(view)];
    let options = FlameOptions::default();
    let views = [(Side::Candidate, (view, sample_type))];
    let drawing = Drawing::new(&views, &options, of_frames);
    let unit = view.sample_types[sample_type].unit;
    let (picture, note) = drawing.picture(labels.all(), unit, Some(options.palette), max_frames);
    html! {
        figure.flame id=(id) {
            (picture.svg())
            figcaption { (HOW_TO) " " (labels.legend(options.palette)) (note) }
        }
    }
}

fn empty(subject: &Subject) -> FlameError {
    FlameError::Empty {
        build: full_name(subject),
    }
}
