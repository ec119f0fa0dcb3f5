//! Reading a file export by export, with one export in memory at a time.

use super::samples::{Numbering, Samples};
use super::{framed, is_protobuf, json};
use crate::compressed::CompressedParts;
use crate::error::{DecodeError, Decoded, FormatError};
use crate::recording::{Format, Recording};
use crate::source::{Head, ReadOptions};
use crate::wire::protobuf::Message;
use std::path::Path;
use sto_model::files::ReadAt;
use sto_model::id::RecordingHasher;
use sto_model::units::Bytes;

/// Number of bytes read at once.
const PIECE: usize = 1 << 18;

/// A file that is read from beginning to end.
struct Input<'f> {
    path: &'f Path,
    file: &'f dyn ReadAt,
    options: &'f ReadOptions,
    digest: RecordingHasher,
    held: Vec<u8>,
    /// Number of bytes in the buffer that are done.
    done: usize,
    /// Offset in the file of the buffer.
    at: usize,
}

impl Input<'_> {
    /// Offset in the file of the unread bytes.
    fn at(&self) -> usize {
        self.at + self.done
    }

    fn rest(&self) -> &[u8] {
        &self.held[self.done..]
    }

    /// Reads more bytes; returns `false` at the end of the file.
    fn more(&mut self) -> Result<bool, FormatError> {
        self.held.drain(..self.done);
        self.at += self.done;
        self.done = 0;
        let start = self.held.len();
        let left = self.file.size() - (self.at + start) as u64;
        self.held.resize(start + left.min(PIECE as u64) as usize, 0);
        let new = &mut self.held[start..];
        let read = self.file.read_exact_at(new, (self.at + start) as u64);
        read.map_err(FormatError::io(self.path))?;
        self.digest.update(new);
        let reported = self.options.on_read.call(new.len() as u64);
        reported.map_err(FormatError::Cancelled)?;
        Ok(left > 0)
    }

    /// Reads until `length` bytes are available or the file ends.
    fn fill(&mut self, length: usize) -> Result<(), FormatError> {
        while self.rest().len() < length && self.more()? {}
        Ok(())
    }

    fn error(&self, error: DecodeError) -> FormatError {
        error.in_file(self.path, self.file.size() as usize)
    }
}

/// Reads one export, or several that follow each other.
pub(crate) fn read(
    path: &Path,
    file: &dyn ReadAt,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    let size = file.size() as usize;
    let mut input = Input {
        path,
        file,
        options,
        digest: RecordingHasher::new(),
        held: Vec::new(),
        done: 0,
        at: 0,
    };
    let mut samples = Samples::with_file_size(size, options);
    input.more()?;
    let head = Head::new(input.rest(), input.rest().len() == size);
    if is_protobuf(&head) {
        input.fill(size)?;
        let added = samples.add(Message::from_file(input.rest()), None);
        added.map_err(|error| input.error(error))?;
    } else if input.rest().trim_ascii_start().starts_with(b"{") {
        read_json(&mut input, &mut samples)?;
    } else {
        read_framed(&mut input, &mut samples)?;
    }
    let (source, size) = (input.digest.finish(), Bytes(size as u64));
    Ok(samples.finish().finish(Format::Otlp, source, size))
}

/// Reads messages preceded by their length; each may be compressed.
fn read_framed(input: &mut Input<'_>, samples: &mut Samples) -> Result<(), FormatError> {
    let mut parts = CompressedParts::new(input.options);
    loop {
        input.fill(4)?;
        if input.rest().is_empty() {
            return Ok(());
        }
        let at = input.at() + 4;
        let Some((length, _)) = framed(input.rest()) else {
            let problem = "expected the 4 bytes of a message's length; was the copy cut short?";
            return Err(input.error(DecodeError::new(at - 4, problem)));
        };
        input.fill(4 + length)?;
        let Some(message) = input.rest().get(4..4 + length) else {
            let problem = "a message that ends beyond the end of the file; was the copy cut short?";
            return Err(input.error(DecodeError::new(at, problem)));
        };
        if CompressedParts::is_compressed(message) {
            let name = format!("{}: the message at byte {at}", input.path.display());
            let message = parts.expand(name.as_ref(), message)?;
            let added = add(samples, Message::from_file(&message));
            let within = format!("the compressed message at byte {at}");
            added.map_err(|error| input.error(error.in_part(&within)))?;
        } else {
            let added = add(samples, Message::from_part(message, at));
            added.map_err(|error| input.error(error))?;
        }
        input.done += 4 + length;
    }
}

/// Adds a message in Protocol Buffers, or in JSON, which the exporter also frames if it compresses.
fn add(samples: &mut Samples, message: Message<'_>) -> Decoded<()> {
    match message.bytes().starts_with(b"{") {
        true => {
            let export = json::export(message.bytes(), message.at())?;
            let added = samples.add(Message::from_file(&export), Some(Numbering::V1_10));
            added.map_err(|error| error.map_offset(|byte| json::path(&export, byte)))
        }
        false => samples.add(message, None),
    }
}

fn read_json(input: &mut Input<'_>, samples: &mut Samples) -> Result<(), FormatError> {
    let mut line = 1;
    loop {
        let mut value = json::Value::default();
        while !value.ends_in(input.rest()) && input.more()? {}
        let text = &input.rest()[..value.length()];
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        let export = json::export(text, input.at()).map_err(|error| input.error(error))?;
        let blank = text.len() - text.trim_ascii_start().len();
        let lines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count();
        let begins = line + lines(&text[..blank]);
        let added = samples.add(Message::from_file(&export), Some(Numbering::V1_10));
        let at = |byte| format!("line {begins}, {}", json::path(&export, byte));
        added.map_err(|error| input.error(error.map_offset(at)))?;
        line += lines(text);
        input.done += value.length();
    }
}
