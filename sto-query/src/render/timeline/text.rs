//! A run over time as rows of shaded blocks.

use super::axis::{format_value, rate, ticks};
use crate::render::header::{header, inlined_note};
use crate::text::{
    Cell, Column, Style, Table, display_width, omitted_line, percent, printable, quantity, title,
};
use crate::timeline::{Grid, RowsBy, Timeline, TimelineMetric, resample};
use sto_core::units::Unit;

/// Number of columns of time if the width is not limited.
const USUAL_COLUMNS: usize = 60;
/// Minimum number of columns of time.
const LEAST_COLUMNS: usize = 10;
/// Minimum distance between the beginnings of two times on the axis, in columns.
const BETWEEN_TICKS: f64 = 7.0;
/// Width of the share and the gap before the columns of time.
const BEFORE: usize = SHARE + 2;
const SHARE: usize = 7;
/// Characters of cells, by the minimum part of the highest cost.
const SHADES: [(f64, char); 4] = [(0.6, '█'), (0.3, '▓'), (0.1, '▒'), (0.01, '░')];
/// Characters of a line, from its lowest to its highest value.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns the report as text: metrics as lines, then a row for each function, module, thread or
/// label value, darker where it cost more, then the time axis.
pub fn text(timeline: &Timeline, style: Style) -> String {
    let mut text = header(&timeline.subject, style) + "\n";
    let Some(own) = timeline.grid().filter(|_| timeline.subject.samples > 0) else {
        return text;
    };
    let grid = own.with_max_slices(columns(timeline, style));
    text += &title(style, &about(timeline, grid));
    let is_by_code = matches!(timeline.by, RowsBy::Function | RowsBy::Module);
    if timeline.with_inlined && is_by_code {
        text += &title(style, &inlined_note(style));
    }
    let mut table = Table::new(vec![
        Column::number(if is_by_code {
            timeline.order.name()
        } else {
            "share"
        }),
        Column::text("over time"),
        Column::text(match timeline.by {
            RowsBy::Function => "function",
            RowsBy::Thread => "thread",
            RowsBy::Module => "module",
            RowsBy::Label(_) => "label",
        }),
    ]);
    for metric in &timeline.metrics {
        let (line, range) = line_of(metric, own, grid);
        let name = printable(&metric.name);
        let beside = BEFORE + 2 + display_width(&range);
        let is_beside = style
            .width
            .is_none_or(|width| beside + display_width(&name) <= width);
        if is_beside {
            table.add_line(format!("{:BEFORE$}{name}: {range}", ""))
        } else {
            table.add_line(format!(
                "{:BEFORE$}{}",
                "",
                style.shorten_to_fit(&name, BEFORE)
            ));
            table.add_line(format!(
                "{:BEFORE$}{}",
                "",
                style.shorten_to_fit(&range, BEFORE)
            ));
        }
        table.add_row(vec![Cell::from(""), Cell::from(line), Cell::from("")]);
    }
    let rows = timeline.rows.iter();
    let rows: Vec<Vec<f64>> = rows.map(|row| resample(&row.values, own, grid)).collect();
    let highest = rows.iter().flatten().copied().fold(0.0, f64::max);
    for (row, cells) in timeline.rows.iter().zip(&rows) {
        let module = row.name.module.iter().filter(|module| !module.is_empty());
        let module =
            module.map(|module| format!("  [{}]", printable(module.trim_matches(['[', ']']))));
        let name = match row.name.name.as_str() {
            "" => "[unknown]",
            name => name,
        };
        table.add_row(vec![
            Cell::from(format!("{:>SHARE$}", percent(row.cost.share))),
            Cell::from(
                cells
                    .iter()
                    .map(|cell| shade(cell / highest))
                    .collect::<String>(),
            ),
            match timeline.by {
                RowsBy::Function => Cell::function(name),
                _ => Cell::from(name),
            }
            .with_prefix_and_suffix(String::new(), module.collect()),
        ]);
    }
    table.add_line(format!("{:BEFORE$}{}", "", axis_line(grid)));
    if !timeline.phases.is_empty() {
        let line = phases(timeline, grid);
        table.add_line(format!("{:>SHARE$}  {line}", "phase"));
    }
    text += &format!("\n{}", table.render(style));
    text += &omitted_line(timeline.omitted, noun(&timeline.by));
    text + &title(style, &legend(timeline, highest / grid.step()))
}

/// Returns the number of columns of time that fit next to the names.
fn columns(timeline: &Timeline, style: Style) -> usize {
    let Some(width) = style.width else {
        return USUAL_COLUMNS;
    };
    let names = timeline
        .rows
        .iter()
        .map(|row| display_width(&row.name.name));
    let names = names.max().unwrap_or(0).clamp(8, (width / 3).max(12));
    width.saturating_sub(BEFORE + 2 + names).max(LEAST_COLUMNS)
}

/// Describes the run, and how much time a column spans.
fn about(timeline: &Timeline, grid: Grid) -> String {
    let run = match (&timeline.subject.profiles[..], timeline.runs) {
        ([newest], runs @ 2..) => format!("Run {newest}, the newest of {runs}; "),
        _ => String::new(),
    };
    let all = if timeline.subject.windows.is_empty() {
        format!(
            "{} from its first sample to its last, ",
            seconds(timeline.seconds)
        )
    } else {
        // The header has the selected time range.
        String::new()
    };
    format!("{run}{all}{} a column", seconds(grid.step()))
}

fn noun(by: &RowsBy) -> &'static str {
    match by {
        RowsBy::Function => "function",
        RowsBy::Thread => "thread",
        RowsBy::Module => "module",
        RowsBy::Label(_) => "label",
    }
}

fn shade(part: f64) -> char {
    let shade = SHADES.iter().find(|(from, _)| part >= *from);
    shade.map_or(' ', |(_, shade)| *shade)
}

/// Explains the shades, given the highest cost per second.
fn legend(timeline: &Timeline, highest: f64) -> String {
    let shades = SHADES.iter().rev();
    let shades = shades.map(|(from, shade)| format!("{shade} from {:.0}%", from * 100.0));
    let shades: Vec<String> = shades.collect();
    let unit = timeline.subject.sample_type.as_ref().map(|t| t.unit);
    let unit = unit.filter(|_| timeline.subject.value > 0);
    let highest = rate(highest, unit.unwrap_or(Unit::Samples));
    format!("{} of {highest}, the most of all cells", shades.join("  "))
}

/// Returns a metric as a line of blocks, and the range of its values.
fn line_of(metric: &TimelineMetric, own: Grid, grid: Grid) -> (String, String) {
    let values = means(&metric.values, own, grid);
    let known = || values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (
        known().fold(f64::INFINITY, f64::min),
        known().fold(f64::NEG_INFINITY, f64::max),
    );
    if least > most {
        return (String::new(), "no value".to_owned());
    }
    let height = |value: &f64| match (value.is_finite(), most > least) {
        (false, _) => ' ',
        (true, false) => HEIGHTS[0],
        (true, true) => {
            let step = (value - least) / (most - least) * HEIGHTS.len() as f64;
            HEIGHTS[(step as usize).min(HEIGHTS.len() - 1)]
        }
    };
    let line = values.iter().map(height).collect();
    let shown = |value| format_value(value, metric.unit.as_deref());
    let range = if most > least {
        format!("{} to {}", shown(least), shown(most))
    } else {
        format!("always {}", shown(least))
    };
    (line, range)
}

/// Resamples a metric to a coarser grid: the mean over the time in which it has values. Rounding errors do not leave the
/// range of the values, so that a constant stays one.
pub(super) fn means(values: &[Option<f64>], own: Grid, grid: Grid) -> Vec<f64> {
    let ends = values.iter().flatten().copied();
    let (least, most) = (
        ends.clone().fold(f64::INFINITY, f64::min),
        ends.fold(f64::NEG_INFINITY, f64::max),
    );
    let sums: Vec<f64> = values.iter().map(|value| value.unwrap_or(0.0)).collect();
    let known: Vec<f64> = values
        .iter()
        .map(|v| f64::from(u8::from(v.is_some())))
        .collect();
    let sums = resample(&sums, own, grid).into_iter();
    let means = sums.zip(resample(&known, own, grid));
    let means = means.map(|(sum, known)| sum / known);
    let in_range = |mean: f64| {
        if mean.is_finite() {
            mean.clamp(least, most)
        } else {
            mean
        }
    };
    means.map(in_range).collect()
}

/// Formats a duration: `2.72 s`.
pub(super) fn seconds(seconds: f64) -> String {
    let nanoseconds = (seconds * 1e9).round() as u64;
    quantity(nanoseconds, Unit::Nanoseconds).unwrap_or_default()
}

/// Returns the time axis, with each time after a `|` at its position.
pub(in crate::render) fn axis_line(grid: Grid) -> String {
    let columns = grid.count() as f64;
    let mut line = String::new();
    for (part, time) in ticks(grid, BETWEEN_TICKS / columns) {
        let column = (part * columns) as usize;
        let label = format!("|{time}");
        let used = display_width(&line);
        if column >= used && column + display_width(&label) <= grid.count() {
            line += &" ".repeat(column - used);
            line += &label;
        }
    }
    line
}

/// Returns the numbers of phases, each after a `|` where the phase begins. Those without room are
/// left out.
fn phases(timeline: &Timeline, grid: Grid) -> String {
    let length = (grid.to() - grid.from()) / 1e9;
    let begins = std::iter::once(0.0).chain(timeline.phases.iter().map(|from| from / length));
    let mut line = String::new();
    for (number, part) in (1..).zip(begins) {
        let column = (part * grid.count() as f64).round() as usize;
        let label = format!("|{number}");
        // Another phase may begin in the same place.
        if column < line.len() || column + label.len() > grid.count() {
            continue;
        }
        line += &" ".repeat(column - line.len());
        line += &label;
    }
    line
}
