//! Comma-separated values: tables whose first line has the column names.

use super::text::scaled;
use crate::source::Head;
use crate::wire::text::excerpt;
use std::borrow::Cow;

/// Limit to the number of fields; no format has as many in a line.
const MAX_FIELDS: usize = 256;

/// The indices of the columns that a reader uses.
pub(crate) trait CsvColumns: Sized {
    /// Finds the columns by their names in the first line.
    fn find(names: &Names<'_>) -> Option<Self>;
}

pub(crate) struct Names<'l>(Vec<Cow<'l, [u8]>>);

impl Names<'_> {
    pub(crate) fn index(&self, name: &[u8]) -> Option<usize> {
        self.0.iter().position(|found| **found == *name)
    }
}

fn named<C: CsvColumns>(line: &[u8]) -> Option<C> {
    C::find(&Names(fields(line)))
}

/// Returns `true` if a profile begins with the names of these columns.
pub(crate) fn begins_with<C: CsvColumns>(head: &Head<'_>) -> bool {
    head.first_line().and_then(named::<C>).is_some()
}

/// The next line of a table as a row. Returns `None` for blank lines and for lines up to and
/// including the column names.
pub(crate) fn row<'c, 'l, C: CsvColumns>(
    columns: &'c mut Option<C>,
    line: &'l [u8],
) -> Option<(&'c C, Row<'l>)> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    if columns.is_none() {
        *columns = named(line);
        return None;
    }
    let fields = fields(line);
    Some((columns.as_ref()?, Row { line, fields }))
}

pub(crate) struct Row<'l> {
    line: &'l [u8],
    fields: Vec<Cow<'l, [u8]>>,
}

impl Row<'_> {
    /// The field in a column, or an error if the line has too few.
    pub(crate) fn field(&self, column: usize) -> Result<&[u8], String> {
        let field = self.fields.get(column).map(Cow::as_ref);
        field.ok_or_else(|| {
            format!(
                "expected as many fields as columns, found {}",
                excerpt(self.line)
            )
        })
    }

    /// The number in a column, [scaled]. It may have thousands separators.
    pub(crate) fn number(&self, column: usize, digits: usize) -> Result<u64, String> {
        number(self.field(column)?, digits)
    }
}

/// A number, [scaled], that may have thousands separators.
pub(crate) fn number(text: &[u8], digits: usize) -> Result<u64, String> {
    let text = text.trim_ascii().iter().copied();
    let without_commas: Vec<u8> = text.filter(|&byte| byte != b',').collect();
    scaled(&without_commas, digits)
}

/// The first fields of a line, without the quotes around them.
fn fields(line: &[u8]) -> Vec<Cow<'_, [u8]>> {
    fields_by(line, b',', MAX_FIELDS)
}

/// The first fields, at most `most`, of a line with this separator, without the quotes around them.
pub(crate) fn fields_by(line: &[u8], separator: u8, most: usize) -> Vec<Cow<'_, [u8]>> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(line) = rest.filter(|_| fields.len() < most) {
        let blanks = line.iter().take_while(|&&byte| byte == b' ').count();
        let (field, rest_of_line) = match line[blanks..].strip_prefix(b"\"") {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = memchr::memchr(separator, line).unwrap_or(line.len());
                (line[..end].trim_ascii().into(), &line[end..])
            }
        };
        fields.push(field);
        rest = memchr::memchr(separator, rest_of_line).map(|comma| &rest_of_line[comma + 1..]);
    }
    fields
}

/// The text up to the closing quote, with doubled quotes reduced to one, and the rest.
fn unquoted(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &text[at..]) {
        at += quote;
        if text.get(at + 1) != Some(&b'"') {
            break;
        }
        at += 2;
    }
    let has_end = text.get(at) == Some(&b'"');
    let end = if has_end { at } else { text.len() };
    let inside = &text[..end];
    let field = match memchr::memmem::find(inside, b"\"\"") {
        None => inside.into(),
        Some(_) => {
            let mut field = Vec::with_capacity(inside.len());
            let mut bytes = inside.iter();
            while let Some(&byte) = bytes.next() {
                field.push(byte);
                if byte == b'"' {
                    bytes.next();
                }
            }
            field.into()
        }
    };
    (field, text.get(end + 1..).unwrap_or(b""))
}
