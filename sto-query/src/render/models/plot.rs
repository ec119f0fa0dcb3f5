//! Plots of points and a curve in braille characters of two by four dots.

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
    fn axis_ignores_values_that_are_not_finite() {
        let axis = Axis::from_values([f64::NAN, 1.0, f64::INFINITY].into_iter(), true);
        assert_eq!((axis.from, axis.to), (1.0, 1.0));
        assert_eq!(axis.part(1.0), 0.5);
        let none = Axis::from_values(std::iter::empty(), true);
        assert_eq!((none.from, none.to), (0.0, 1.0));
    }
}
