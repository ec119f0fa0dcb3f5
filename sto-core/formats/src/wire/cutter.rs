//! Cuts the fields out of a message that is a file and comes in blocks, of which no more is held than a field.

use super::protobuf::Message;
use crate::error::{DecodeError, Decoded, FormatError};
use std::path::Path;
use sto_model::files::ReadAt;

#[derive(Default)]
pub(crate) struct Cutter {
    held: Vec<u8>,
    /// How much of it was cut.
    done: usize,
    /// Where in the file it begins.
    at: usize,
}

impl Cutter {
    /// Takes the next bytes of the file.
    pub(crate) fn add(&mut self, block: &[u8]) {
        self.held.drain(..self.done);
        self.at += self.done;
        self.done = 0;
        self.held.extend_from_slice(block);
    }

    /// The next field that is there as a whole, alone in a message.
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
        Ok(Some(Message::of_part(&self.held[begin..self.done], start)))
    }

    /// What is there after the last field that was cut.
    pub(crate) fn rest(&self) -> Message<'_> {
        Message::of_part(&self.held[self.done..], self.at + self.done)
    }
}

/// How much of a file is read at once.
const PIECE: usize = 1 << 18;

/// Hands on the fields of a file one by one, each alone in a message, and before them the bytes that they are in.
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
        file.fill_at(&mut piece, offset)
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
    // An error, where anything is left.
    cutter.rest().next().map(|_| ()).map_err(in_file)
}
