//! Splits a message that comes in blocks into its fields; holds only one field at a time.

use super::protobuf::Message;
use crate::error::{DecodeError, Decoded, FormatError};
use std::path::Path;
use sto_model::files::ReadAt;

#[derive(Default)]
pub(crate) struct Cutter {
    held: Vec<u8>,
    /// Number of bytes already split.
    done: usize,
    /// Offset of the buffer in the file.
    at: usize,
}

impl Cutter {
    /// Adds the next bytes of the file.
    pub(crate) fn add(&mut self, block: &[u8]) {
        self.held.drain(..self.done);
        self.at += self.done;
        self.done = 0;
        self.held.extend_from_slice(block);
    }

    /// The next complete field, as a message of its own.
    pub(crate) fn field(&mut self) -> Decoded<Option<Message<'_>>> {
        let start = self.rest().at();
        let mut rest = self.rest();
        match rest.next() {
            Ok(None) => return Ok(None),
            Err(error) if error.is_end() => return Ok(None),
            field => field?,
        };
        let begin = self.done;
        self.done += rest.at() - start;
        Ok(Some(Message::from_part(
            &self.held[begin..self.done],
            start,
        )))
    }

    /// The bytes after the last complete field.
    pub(crate) fn rest(&self) -> Message<'_> {
        Message::from_part(&self.held[self.done..], self.at + self.done)
    }
}

/// Number of bytes read at once.
const PIECE: usize = 1 << 18;

/// Calls a function for each field of a file, as a message of its own, and another before for the
/// bytes that it is in.
pub(crate) fn each_field(
    path: &Path,
    file: &dyn ReadAt,
    mut on_piece: impl FnMut(&[u8]) -> Result<(), FormatError>,
    mut take: impl FnMut(Message<'_>) -> Decoded<()>,
) -> Result<(), FormatError> {
    let size = file.size();
    let (mut cutter, mut piece, mut offset) = (Cutter::default(), Vec::new(), 0);
    let mut next_piece = |cutter: &mut Cutter| {
        piece.resize((size - offset).min(PIECE as u64) as usize, 0);
        file.read_exact_at(&mut piece, offset)
            .map_err(FormatError::io(path))?;
        offset += piece.len() as u64;
        cutter.add(&piece);
        on_piece(&piece).map(|()| !piece.is_empty())
    };
    let in_file = |error: DecodeError| error.in_file(path, size as usize);
    while next_piece(&mut cutter)? {
        while let Some(field) = cutter.field().map_err(in_file)? {
            take(field).map_err(in_file)?;
        }
    }
    // Anything left is an incomplete field, so this is an error.
    cutter.rest().next().map(|_| ()).map_err(in_file)
}
