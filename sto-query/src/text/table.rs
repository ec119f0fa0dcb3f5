//! Tables for terminals, pipes and logs, with aligned columns.

use super::names::{MAX_NAME_WIDTH, Wide, distinct_names, shorten_distinctly};
use super::{MIN_NAME_WIDTH, Style, display_width, printable, shorten};
use std::collections::BTreeMap;
use std::iter::zip;

/// Number of spaces between two columns.
const GAP: usize = 2;
/// Minimum width of longer text in the last column. Dispensable columns are left out to reach it.
const ENOUGH_FOR_NAMES: usize = 34;

/// A table whose last column is text of any length, such as a function's name.
///
/// The last column is cut to the width that the others leave. It comes last so that it does not
/// displace other columns when nothing is cut.
pub(crate) struct Table {
    columns: Vec<Column>,
    lines: Vec<Line>,
    indent: usize,
}

enum Line {
    Row(Vec<Cell>),
    /// A line between rows, which is not wrapped.
    Text(String),
}

/// The properties of a column.
pub(crate) struct Column {
    title: &'static str,
    is_number: bool,
    most: usize,
    dispensable: u8,
}

impl Column {
    /// Creates a left-aligned column of text.
    pub(crate) fn text(title: &'static str) -> Column {
        Column {
            title,
            is_number: false,
            most: usize::MAX,
            dispensable: 0,
        }
    }

    /// Creates a right-aligned column of numbers.
    pub(crate) fn number(title: &'static str) -> Column {
        Column {
            is_number: true,
            ..Column::text(title)
        }
    }

    /// Sets the maximum width of cells in a terminal.
    pub(crate) fn with_max_width(self, columns: usize) -> Column {
        Column {
            most: columns,
            ..self
        }
    }

    /// Allows to leave out the column if it is empty, or if the last column needs more room. Columns
    /// with the highest rank are left out first.
    pub(crate) fn with_drop_rank(self, rank: u8) -> Column {
        Column {
            dispensable: rank,
            ..self
        }
    }
}

/// The rows from which a function's name must differ: those with the same scope.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Scope(Option<usize>);

/// A cell of a table. Invisible characters of its text are [escaped](fn@printable).
pub(crate) struct Cell {
    before: String,
    text: String,
    after: String,
    function: Option<Scope>,
    mark: fn(Style, &str) -> String,
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell {
            before: String::new(),
            text: printable(text.as_ref()).into_owned(),
            after: String::new(),
            function: None,
            mark: |_, text| text.to_owned(),
        }
    }
}

impl Cell {
    /// Creates a cell with the name of a function, for the last column. The table shows its short
    /// form, or a longer one if the short form of another row looks the same.
    pub(crate) fn function(name: impl AsRef<str>) -> Cell {
        Cell::callee(name, None)
    }

    /// Creates a cell with the name of a function in a tree, in which only functions with the same
    /// caller are told apart.
    pub(crate) fn callee(name: impl AsRef<str>, caller: Option<usize>) -> Cell {
        Cell {
            function: Some(Scope(caller)),
            ..Cell::from(name)
        }
    }

    /// Adds tree lines before and notes after the text of the last column. Neither is cut, but the
    /// notes are left out if a name has no room next to them.
    pub(crate) fn with_prefix_and_suffix(self, before: String, after: String) -> Cell {
        Cell {
            before,
            after,
            ..self
        }
    }

    /// Returns the notes after the text, if a name has room next to them.
    fn shown_after(&self, style: Style, from: usize) -> &str {
        let taken = from + display_width(&self.before) + display_width(&self.after);
        match style.width {
            Some(width) if taken + MIN_NAME_WIDTH > width => "",
            _ => &self.after,
        }
    }

    fn width(&self) -> usize {
        [&self.before, &self.text, &self.after]
            .map(|part| display_width(part))
            .iter()
            .sum()
    }

    /// Sets the style of the text.
    pub(crate) fn with_style(self, mark: fn(Style, &str) -> String) -> Cell {
        Cell { mark, ..self }
    }
}

impl Table {
    /// Creates a table without rows.
    pub(crate) fn new(columns: Vec<Column>) -> Table {
        Table {
            columns,
            lines: Vec::new(),
            indent: 0,
        }
    }

    /// Sets the distance of the table from the left edge.
    pub(crate) fn with_indent(self, columns: usize) -> Table {
        Table {
            indent: columns,
            ..self
        }
    }

    /// Adds a row, with one cell per column.
    pub(crate) fn add_row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.lines.push(Line::Row(cells));
    }

    /// Adds a line between rows.
    pub(crate) fn add_line(&mut self, text: String) {
        self.lines.push(Line::Text(text));
    }

    /// Returns the heading and the lines of the table; empty if it has no lines.
    pub(crate) fn render(&self, style: Style) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let style = Style {
            width: style.width.map(|width| width.saturating_sub(self.indent)),
            ..style
        };
        let widths = self.widths(style);
        let heading: Vec<Cell> = self
            .columns
            .iter()
            .map(|column| column.title.into())
            .collect();
        let title = heading.last().map_or("", |cell| &cell.text);
        let title = style.shorten_to_fit(title, taken(&widths));
        let heading = self.line_of(&heading, &widths, &title, style);
        let mut text = format!(
            "{:indent$}{}\n",
            "",
            style.bold(&heading),
            indent = self.indent
        );
        let mut names = self.names(style, taken(&widths)).into_iter();
        for line in &self.lines {
            let line = match line {
                Line::Text(line) => line.clone(),
                Line::Row(cells) => {
                    let cell = &cells[widths.len()];
                    let name = (cell.mark)(style, &names.next().unwrap_or_default());
                    let after = cell.shown_after(style, taken(&widths));
                    let name = format!("{}{name}{}", cell.before, style.dim(after));
                    self.line_of(cells, &widths, &name, style)
                }
            };
            text += &format!("{:indent$}{line}\n", "", indent = self.indent);
        }
        text
    }

    /// Returns the widths of all columns but the last; `None` for columns that are left out.
    fn widths(&self, style: Style) -> Vec<Option<usize>> {
        let others = self.columns.len().saturating_sub(1);
        let rows = || self.lines.iter().filter_map(Line::cells);
        let widest = |ix: usize| {
            let cells = rows().map(|cells| cells[ix].width());
            let title = display_width(self.columns[ix].title);
            cells
                .max()
                .unwrap_or(0)
                .min(self.columns[ix].most)
                .max(title)
        };
        let is_useless = |ix: usize| {
            self.columns[ix].dispensable > 0 && rows().all(|cells| cells[ix].width() == 0)
        };
        let widths = (0..others).map(|ix| (!is_useless(ix)).then(|| widest(ix)));
        let mut widths: Vec<Option<usize>> = widths.collect();
        let wanted = widest(others).min(ENOUGH_FOR_NAMES);
        while style
            .width
            .is_some_and(|width| taken(&widths) + wanted > width)
        {
            let shown = (0..others).filter(|&ix| widths[ix].is_some());
            let next = shown.max_by_key(|&ix| self.columns[ix].dispensable);
            match next.filter(|&ix| self.columns[ix].dispensable > 0) {
                Some(ix) => widths[ix] = None,
                None => break,
            }
        }
        widths
    }

    /// Returns the texts of the last column, cut to the width that remains from this column on.
    fn names(&self, style: Style, from: usize) -> Vec<String> {
        let last = self
            .lines
            .iter()
            .filter_map(Line::cells)
            .filter_map(|cells| cells.last());
        if style.full_names {
            return last.map(|cell| cell.text.clone()).collect();
        }
        let mut texts: Vec<String> = last.clone().map(|cell| cell.text.clone()).collect();
        let mut scopes: BTreeMap<Scope, Vec<usize>> = BTreeMap::new();
        for (ix, cell) in last.clone().enumerate() {
            if let Some(scope) = cell.function {
                scopes.entry(scope).or_default().push(ix);
            }
        }
        for rows in scopes.into_values() {
            let short = distinct_names(rows.iter().map(|&ix| &*texts[ix]));
            zip(rows, short).for_each(|(ix, name)| texts[ix] = name);
        }
        let room = |cell: &Cell| match style.width {
            None if cell.function.is_some() => MAX_NAME_WIDTH,
            None => usize::MAX,
            Some(width) => {
                let after = display_width(cell.shown_after(style, from));
                let taken = from + display_width(&cell.before) + after;
                width.saturating_sub(taken).max(MIN_NAME_WIDTH)
            }
        };
        let wide = zip(last, &texts).map(|(cell, text)| Wide {
            text,
            max: room(cell),
            is_function: cell.function.is_some(),
        });
        shorten_distinctly(&wide.collect::<Vec<_>>())
    }

    /// Formats a line, given the text of its last cell.
    fn line_of(
        &self,
        cells: &[Cell],
        widths: &[Option<usize>],
        last: &str,
        style: Style,
    ) -> String {
        let mut line = String::new();
        for ((cell, width), column) in zip(zip(cells, widths), &self.columns) {
            let Some(width) = *width else { continue };
            let text = match style.width {
                Some(_) => &shorten(&cell.text, width),
                None => &cell.text,
            };
            let padding = " ".repeat(width.saturating_sub(display_width(text)));
            let text = (cell.mark)(style, text);
            let (before, after) = if column.is_number {
                (&*padding, "")
            } else {
                ("", &*padding)
            };
            line += &format!("{before}{text}{after}{:GAP$}", "");
        }
        line += last;
        line.truncate(line.trim_end().len());
        line
    }
}

/// Returns the width of all columns but the last, including gaps.
fn taken(widths: &[Option<usize>]) -> usize {
    widths.iter().flatten().map(|width| width + GAP).sum()
}

impl Line {
    fn cells(&self) -> Option<&Vec<Cell>> {
        match self {
            Line::Row(cells) => Some(cells),
            Line::Text(_) => None,
        }
    }
}
