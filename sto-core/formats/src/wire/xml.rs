//! Shared code of the XML formats.

use crate::error::{DecodeError, Decoded};
use quick_xml::errors::{Error, SyntaxError};
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::borrow::Cow;
use sto_model::limits::MAX_DEPTH;

/// Limit to the nesting of elements: the deepest stack, and a few elements around it.
const MAX_OPEN: usize = MAX_DEPTH + 64;

/// The elements of a file, each with its beginning and end.
pub(crate) struct Xml<'b> {
    reader: Reader<&'b [u8]>,
    length: usize,
    open: Vec<Vec<u8>>,
    has_root: bool,
}

pub(crate) enum Part<'b> {
    Begin(Element<'b>),
    /// The end of the element with this name.
    End(Vec<u8>),
    Text(Cow<'b, str>),
}

pub(crate) struct Element<'b>(BytesStart<'b>);

/// Returns `true` if a file begins as XML and this element occurs near the beginning.
pub(crate) fn begins_with_xml(bytes: &[u8], element: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let start = &start[..start.len().min(1024)];
    start.starts_with(b"<") && memchr::memmem::find(start, element).is_some()
}

impl<'b> Xml<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Xml<'b> {
        let mut reader = Reader::from_reader(bytes);
        reader.config_mut().expand_empty_elements = true;
        Xml {
            reader,
            length: bytes.len(),
            open: Vec::new(),
            has_root: false,
        }
    }

    /// The next part; `None` after the end of the outermost element.
    pub(crate) fn next(&mut self) -> Decoded<Option<Part<'b>>> {
        loop {
            if self.has_root && self.open.is_empty() {
                return Ok(None);
            }
            let event = self.reader.read_event();
            match event.map_err(|error| self.syntax(&error))? {
                Event::Start(_) if self.open.len() == MAX_OPEN => {
                    return Err(self.error(format!("elements more than {MAX_OPEN} deep")));
                }
                Event::Start(start) => return Ok(Some(self.begin(start))),
                // The XML reader checks that the names match.
                Event::End(_) => return Ok(self.open.pop().map(Part::End)),
                Event::Text(text) => {
                    return Ok(Some(Part::Text(lossy(text.into_inner()))));
                }
                Event::Eof => return Err(self.cut()),
                _ => {}
            }
        }
    }

    fn begin(&mut self, start: BytesStart<'b>) -> Part<'b> {
        self.has_root = true;
        self.open.push(start.name().as_ref().to_owned());
        Part::Begin(Element(start))
    }

    fn syntax(&self, error: &Error) -> DecodeError {
        match error {
            Error::Syntax(SyntaxError::InvalidBangMarkup) => self.error(error.to_string()),
            // All other syntax errors are unclosed constructs.
            Error::Syntax(_) => self.cut(),
            _ => self.error(error.to_string()),
        }
    }

    fn cut(&self) -> DecodeError {
        DecodeError::cut(self.length, "in the middle of its XML")
    }

    /// Makes an error at the part that was read last.
    pub(crate) fn error(&self, problem: impl Into<String>) -> DecodeError {
        DecodeError::new(self.reader.buffer_position() as usize, problem)
    }
}

impl Element<'_> {
    pub(crate) fn name(&self) -> &[u8] {
        self.0.local_name().into_inner()
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes.with_checks(false).flatten();
        let value = found
            .into_iter()
            .find(|found| found.key.as_ref() == name.as_bytes())?
            .value;
        let value = String::from_utf8_lossy(&value);
        // Unknown escapes stay unchanged.
        Some(unescape(&value).map_or_else(|_| value.to_string(), Cow::into_owned))
    }
}

fn lossy(text: Cow<'_, [u8]>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => String::from_utf8_lossy(text),
        Cow::Owned(text) => Cow::Owned(String::from_utf8_lossy(&text).into_owned()),
    }
}
