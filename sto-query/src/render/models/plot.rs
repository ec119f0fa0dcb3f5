//! Plots of points and a curve in braille characters of two by four dots.

use crate::render::plot::round_step;
use crate::text::{Style, display_width};

/// Number of rows of a plot.
const ROWS: usize = 12;
/// Maximum width of a plot, including labels.
const WIDEST: usize = 80;
/// Minimum width of the drawing.
const NARROWEST: usize = 16;
/// Dots per character.
const ACROSS: usize = 2;
const DOWN: usize = 4;
/// Bit of each dot of a braille character, by column and row.
const DOTS: [[u8; DOWN]; ACROSS] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// An axis with a linear or logarithmic scale.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    is_log: bool,
}

impl Axis {
    /// Returns an axis for these values, logarithmic if requested and all values are positive.
    pub(super) fn from_values(
        values: impl Iterator<Item = f64> + Clone,
        by_logarithm: bool,
    ) -> Axis {
        let finite = values.filter(|value| value.is_finite());
        let from = finite.clone().fold(f64::INFINITY, f64::min);
        let to = finite.fold(f64::NEG_INFINITY, f64::max);
        let is_log = by_logarithm && from > 0.0;
        match from <= to {
            // Linear axes begin at zero, so that distances are proportional to values.
            true if !is_log => Axis {
                from: from.min(0.0),
                to,
                is_log,
            },
            true => Axis { from, to, is_log },
            false => Axis {
                from: 0.0,
                to: 1.0,
                is_log: false,
            },
        }
    }

    /// Returns an axis with zero in its middle.
    pub(super) fn around_zero(farthest: f64) -> Axis {
        let to = if farthest > 0.0 { farthest } else { 1.0 };
        Axis {
            from: -to,
            to,
            is_log: false,
        }
    }

    /// Returns the position of a value, from 0 to 1 within the axis.
    pub(super) fn part(&self, value: f64) -> f64 {
        let [from, to, value] =
            [self.from, self.to, value].map(|value| if self.is_log { value.ln() } else { value });
        if to > from {
            (value - from) / (to - from)
        } else {
            0.5
        }
    }

    /// Returns the value at a position of the axis.
    pub(super) fn value(&self, part: f64) -> f64 {
        if self.is_log {
            (self.from.ln() + part * (self.to.ln() - self.from.ln())).exp()
        } else {
            self.from + part * (self.to - self.from)
        }
    }
}

/// Maximum number of ticks of a logarithmic axis.
const LOG_TICKS: usize = 8;

impl Axis {
    /// Returns round values within the axis, at most `steps` + 1 of them on a linear one: multiples of 1, 2 or 5 times a
    /// power of ten. Those of a logarithmic axis of several decades are powers of ten.
    pub(super) fn ticks(&self, steps: u32) -> Vec<f64> {
        if self.from == self.to {
            return vec![self.from];
        }
        if let Some(ticks) = self.is_log.then(|| self.log_ticks()).flatten() {
            return ticks;
        }
        let step = round_step((self.to - self.from) / f64::from(steps));
        let (first, last) = ((self.from / step).ceil(), (self.to / step).floor());
        (0..=steps)
            .map(|number| first + f64::from(number))
            .filter(|multiple| *multiple <= last)
            .map(|multiple| multiple * step)
            .collect()
    }

    /// Returns `None` if the axis covers too few decades.
    fn log_ticks(&self) -> Option<Vec<f64>> {
        let decades = self.from.log10().floor() as i32..=self.to.log10().floor() as i32;
        let of = |factors: &'static [f64], every: usize| -> Vec<f64> {
            let powers = decades
                .clone()
                .step_by(every)
                .map(|power| 10f64.powi(power));
            let values = powers.flat_map(|power| factors.iter().map(move |by| by * power));
            values
                .filter(|value| (self.from..=self.to).contains(value))
                .collect()
        };
        let fine = of(&[1.0, 2.0, 5.0], 1);
        match fine.len() {
            0..3 => None,
            3..=LOG_TICKS => Some(fine),
            _ => Some(of(&[1.0], decades.clone().count().div_ceil(LOG_TICKS))),
        }
    }
}

/// Factor by which the highest of a hundred points must exceed the others to flatten them.
const FLATTENS: f64 = 10.0;

/// Returns `true` if the highest hundredth of the values, at least one, is so high that the others cannot be told apart
/// on a linear axis, but can on a logarithmic one.
pub(super) fn is_flattened(values: impl Iterator<Item = f64>) -> bool {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let other = values.len().checked_sub(2 + values.len() / 100);
    match (
        values.first(),
        other.and_then(|ix| values.get(ix)),
        values.last(),
    ) {
        (Some(lowest), Some(other), Some(highest)) => *lowest > 0.0 && *highest > FLATTENS * other,
        _ => false,
    }
}

/// The content of a plot.
pub(super) struct Plot<'a> {
    pub(super) points: &'a [(f64, f64)],
    pub(super) curve: &'a dyn Fn(f64) -> f64,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// Format the numbers at the ends of the axes.
    pub(super) x_text: &'a dyn Fn(f64) -> String,
    pub(super) y_text: &'a dyn Fn(f64) -> String,
}

impl Plot<'_> {
    /// Returns the plot as lines of text.
    pub(super) fn text(&self, style: Style) -> String {
        let ends = [self.y.to, self.y.from].map(|value| (self.y_text)(value));
        let labels = ends.each_ref().map(|text| display_width(text));
        let label = labels[0].max(labels[1]);
        let columns = style.text_width().min(WIDEST).saturating_sub(label + 2);
        let columns = columns.max(NARROWEST);
        let cells = self.cells(columns);
        let mut text = String::new();
        for (row, cells) in cells.iter().enumerate() {
            let at = match row {
                0 => &*ends[0],
                _ if row + 1 == ROWS => &*ends[1],
                _ => "",
            };
            let gap = " ".repeat(label - display_width(at));
            let line: String = cells.iter().collect();
            text += format!("{gap}{at} \u{2502}{}", line.trim_end()).trim_end();
            text.push('\n');
        }
        let [from, to] = [self.x.from, self.x.to].map(|value| (self.x_text)(value));
        let gap = columns.saturating_sub(display_width(&from) + display_width(&to));
        text += &format!(
            "{} \u{2514}{}\n",
            " ".repeat(label),
            "\u{2500}".repeat(columns)
        );
        text += &format!(
            "{}  {from}{}{to}\n",
            " ".repeat(label),
            " ".repeat(gap.max(1))
        );
        text
    }

    /// Draws the curve as dots, and points on top of it.
    fn cells(&self, columns: usize) -> Vec<Vec<char>> {
        let mut dots = vec![vec![0u8; columns]; ROWS];
        let (width, height) = (columns * ACROSS, ROWS * DOWN);
        let row_of = |part: f64, rows: usize| ((1.0 - part) * (rows - 1) as f64).round() as usize;
        let is_on = |part: f64| (0.0..=1.0).contains(&part);
        let mut last = None;
        for column in 0..width {
            let x = self.x.value(column as f64 / (width - 1) as f64);
            let part = self.y.part((self.curve)(x));
            let row = is_on(part).then(|| row_of(part, height));
            // Connects the dots of steep parts of the curve.
            let (from, to) = match (last, row) {
                (Some(last), Some(row)) if last < row => (last + 1, row),
                (Some(last), Some(row)) if last > row => (row, last - 1),
                (_, Some(row)) => (row, row),
                (_, None) => (1, 0),
            };
            for row in from..=to {
                dots[row / DOWN][column / ACROSS] |= DOTS[column % ACROSS][row % DOWN];
            }
            last = row;
        }
        let braille = |dots: &u8| match dots {
            0 => ' ',
            &dots => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        };
        let mut cells: Vec<Vec<char>> = dots
            .iter()
            .map(|row| row.iter().map(braille).collect())
            .collect();
        for &(x, y) in self.points {
            let (x, y) = (self.x.part(x), self.y.part(y));
            if is_on(x) && is_on(y) {
                let column = (x * (columns - 1) as f64).round() as usize;
                cells[row_of(y, ROWS)][column] = '\u{2022}';
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagonal_line_passes_through_its_points() {
        let points = [(0.0, 0.0), (5.0, 10.0), (10.0, 20.0)];
        let plot = Plot {
            points: &points,
            curve: &|x| 2.0 * x,
            x: Axis::from_values(points.iter().map(|point| point.0), false),
            y: Axis::from_values(points.iter().map(|point| point.1), false),
            x_text: &|x| format!("{x}"),
            y_text: &|y| format!("{y}"),
        };
        let style = Style {
            width: Some(24),
            ..Style::default()
        };
        let text = plot.text(style);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), ROWS + 2);
        assert!(lines[0].starts_with("20 \u{2502}") && lines[0].ends_with('\u{2022}'));
        assert!(lines[ROWS - 1].starts_with(" 0 \u{2502}\u{2022}"));
        assert_eq!(lines[ROWS + 1], "    0                 10");
        assert!(lines.iter().all(|line| display_width(line) <= 24), "{text}");
        let drawn = |line: &&&str| line.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c));
        assert!(lines.iter().filter(drawn).count() >= ROWS - 2, "{text}");
    }

    #[test]
    fn ticks_are_round_values_within_the_axis() {
        let ticks = |values: [f64; 2], by_logarithm: bool| {
            Axis::from_values(values.into_iter(), by_logarithm).ticks(5)
        };
        assert_eq!(ticks([3.0, 64.0], false), [0.0, 20.0, 40.0, 60.0]);
        assert_eq!(ticks([1e9, 1.1e9], false), [0.0, 5e8, 1e9]);
        assert_eq!(ticks([-7.0, 3.0], false), [-6.0, -4.0, -2.0, 0.0, 2.0]);
        assert_eq!(ticks([3.0, 64.0], true), [5.0, 10.0, 20.0, 50.0]);
        assert_eq!(ticks([0.5, 2000.0], true), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(ticks([31.0, 38.0], true), [32.0, 34.0, 36.0, 38.0]);
        assert_eq!(ticks([5.0, 5.0], true), [5.0]);
        assert!((7..=8).contains(&ticks([1e-300, 1e300], true).len()));
        assert!(Axis::around_zero(3.0).ticks(2).contains(&0.0));
        for extreme in [[0.0, f64::MIN_POSITIVE], [0.0, f64::MAX]] {
            assert!(ticks(extreme, false).len() <= 6);
        }
    }

    #[test]
    fn outlier_flattens_other_values_only_if_it_is_far_above_them() {
        let with = |highest: f64| is_flattened((1..=50).map(f64::from).chain([highest]));
        assert!(with(501.0) && !with(400.0));
        assert!(!is_flattened([0.0, 1.0, 1000.0].into_iter()));
        assert!(!is_flattened([7.0].into_iter()) && !is_flattened([].into_iter()));
    }

    #[test]
    fn axis_ignores_values_that_are_not_finite() {
        let axis = Axis::from_values([f64::NAN, 1.0, f64::INFINITY].into_iter(), true);
        assert_eq!((axis.from, axis.to), (1.0, 1.0));
        assert_eq!(axis.part(1.0), 0.5);
        let none = Axis::from_values(std::iter::empty(), true);
        assert_eq!((none.from, none.to), (0.0, 1.0));
    }
}
