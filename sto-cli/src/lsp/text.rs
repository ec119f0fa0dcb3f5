//! Text with LSP's positions.

use gen_lsp_types::{Position, Range};
use std::ops;

/// The unit of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
}

/// The text of an open document or of a file.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    /// The byte offsets of the beginnings of lines.
    starts: Vec<usize>,
}

impl Text {
    pub(super) fn new(text: String) -> Text {
        let mut new = Text {
            text,
            starts: Vec::new(),
        };
        new.find_lines();
        new
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    fn find_lines(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        let ends = self.text.match_indices('\n');
        self.starts.extend(ends.map(|(at, _)| at + 1));
    }

    /// Number of lines, including the possibly empty one after the last line break.
    pub(super) fn lines(&self) -> u32 {
        self.starts.len() as u32
    }

    /// A line by its number from 0, without its line break; empty if there is no such line.
    pub(super) fn line(&self, number: u32) -> &str {
        let Some(&start) = self.starts.get(number as usize) else {
            return "";
        };
        let end = self.starts.get(number as usize + 1);
        let line = &self.text[start..end.map_or(self.text.len(), |end| end - 1)];
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// The range of a line without surrounding whitespace.
    pub(super) fn range_of_line(&self, number: u32, encoding: Encoding) -> Range {
        let line = self.line(number);
        let blank = line.len() - line.trim_start().len();
        let end = line.trim_end().len();
        self.range(number, blank.min(end)..end, encoding)
    }

    /// The end of a line.
    pub(super) fn end_of_line(&self, number: u32, encoding: Encoding) -> Position {
        let end = self.line(number).len();
        self.range(number, end..end, encoding).end
    }

    fn range(&self, line: u32, bytes: ops::Range<usize>, encoding: Encoding) -> Range {
        let text = self.line(line);
        let column = |at: usize| match encoding {
            Encoding::Utf8 => at as u32,
            Encoding::Utf16 => text[..at].encode_utf16().count() as u32,
        };
        let position = |at| Position {
            line,
            character: column(at),
        };
        Range {
            start: position(bytes.start),
            end: position(bytes.end),
        }
    }

    /// The name at a position.
    pub(super) fn word(&self, at: Position, encoding: Encoding) -> Option<(&str, Range)> {
        let line = self.line(at.line);
        let at_byte = column_in(line, at.character, encoding);
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let before = line[..at_byte].trim_end_matches(is_of_word).len();
        let after = &line[at_byte..];
        let end = at_byte + after.find(|c| !is_of_word(c)).unwrap_or(after.len());
        let bytes = before..end;
        let word = &line[bytes.clone()];
        (!word.is_empty()).then(|| (word, self.range(at.line, bytes, encoding)))
    }

    /// Replaces a part, or everything. Positions outside of the text mean its end.
    pub(super) fn replace(&mut self, part: Option<Range>, by: &str, encoding: Encoding) {
        match part {
            None => by.clone_into(&mut self.text),
            Some(part) => {
                let start = self.offset(part.start, encoding);
                let end = self.offset(part.end, encoding).max(start);
                self.text.replace_range(start..end, by);
            }
        }
        self.find_lines();
    }

    fn offset(&self, at: Position, encoding: Encoding) -> usize {
        let start = self.starts.get(at.line as usize);
        start.map_or(self.text.len(), |start| {
            start + column_in(self.line(at.line), at.character, encoding)
        })
    }
}

/// The byte offset of a column; rounded down to the beginning of a character.
fn column_in(line: &str, column: u32, encoding: Encoding) -> usize {
    let column = column as usize;
    match encoding {
        Encoding::Utf8 => line.floor_char_boundary(column),
        Encoding::Utf16 => {
            let mut passed = 0;
            let fits = |&(_, c): &(usize, char)| {
                passed += c.len_utf16();
                passed > column
            };
            line.char_indices()
                .find(fits)
                .map_or(line.len(), |(at, _)| at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn changed(text: &str, part: [Position; 2], by: &str, encoding: Encoding) -> String {
        let mut text = Text::new(text.to_owned());
        let [start, end] = part;
        text.replace(Some(Range { start, end }), by, encoding);
        text.text
    }

    #[test]
    fn columns_count_bytes_or_utf_16_units() {
        let text = "ä𝄞x\r\nb";
        let x = [at(0, 3), at(0, 4)];
        assert_eq!(changed(text, x, "y", Encoding::Utf16), "ä𝄞y\r\nb");
        let x = [at(0, 6), at(0, 7)];
        assert_eq!(changed(text, x, "y", Encoding::Utf8), "ä𝄞y\r\nb");
        let found = Text::new(text.to_owned());
        assert_eq!(found.end_of_line(0, Encoding::Utf16), at(0, 4));
        assert_eq!(found.end_of_line(0, Encoding::Utf8), at(0, 7));
        assert_eq!(found.end_of_line(7, Encoding::Utf8), at(7, 0));
    }

    #[test]
    fn positions_outside_of_the_text_mean_its_end() {
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for line in 0..4 {
                for character in [0, 1, 2, 3, 99, u32::MAX] {
                    let here = at(line, character);
                    let text = changed("ä𝄞\nb", [here, at(u32::MAX, 0)], "!", encoding);
                    assert!(text.ends_with('!'), "{line} {character}: {text}");
                    changed("ä𝄞\nb", [at(9, 9), here], "!", encoding);
                    Text::new("ä𝄞\nb".to_owned()).word(here, encoding);
                }
            }
        }
    }

    #[test]
    fn finds_a_word_from_any_position_in_it() {
        let text = Text::new("  return hash(größe);".to_owned());
        for column in 9..=13 {
            let (word, range) = text.word(at(0, column), Encoding::Utf16).unwrap();
            assert_eq!(
                (word, range.start, range.end),
                ("hash", at(0, 9), at(0, 13))
            );
        }
        assert_eq!(text.word(at(0, 16), Encoding::Utf16).unwrap().0, "größe");
        assert_eq!(text.word(at(0, 0), Encoding::Utf16), None);
    }
}
