//! How far compressed records expand, measured before anything of them is held.
//!
//! A record of 64 KiB can expand to 2 GiB, which linux-perf-data would hold at once, and to millions
//! of records, each of which becomes a sample. What `perf record -z` writes is far from either.

use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

/// Most records that compressed data may hold, beside one for each of its bytes.
const MAX_RECORDS: u64 = 1 << 16;
/// Most bytes that may come to be held between two `PERF_RECORD_FINISHED_ROUND`, behind each of
/// which records go on.
const MAX_HELD: u64 = 512 << 20;
/// What holding a record costs beside its own bytes.
const RECORD_OVERHEAD: u64 = 128;
const HEADER_SIZE: usize = 8;

/// The compressed records of a file so far, which are one stream.
pub(super) struct Expansion {
    context: DCtx<'static>,
    buffer: Vec<u8>,
    /// The beginning of a header that goes on in the next piece.
    header: Vec<u8>,
    /// Bytes of the record at hand that are still to come.
    body_left: usize,
    compressed: u64,
    records: u64,
    held: u64,
}

impl Expansion {
    pub(super) fn new() -> Self {
        Expansion {
            context: DCtx::create(),
            buffer: vec![0; 1 << 17],
            header: Vec::with_capacity(HEADER_SIZE),
            body_left: 0,
            compressed: 0,
            records: 0,
            held: 0,
        }
    }

    /// The records so far go on to where they become samples.
    pub(super) fn finish_round(&mut self) {
        self.held = 0;
    }

    /// Expands the next piece; says what is wrong with it.
    pub(super) fn expand(&mut self, compressed: &[u8]) -> Result<(), String> {
        self.compressed += compressed.len() as u64;
        let mut input = InBuffer::around(compressed);
        let mut buffer = std::mem::take(&mut self.buffer);
        loop {
            let mut output = OutBuffer::around(&mut buffer[..]);
            let expanded = self.context.decompress_stream(&mut output, &mut input);
            expanded.map_err(|code| {
                format!(
                    "it cannot be expanded ({}); the file is damaged, record it again",
                    get_error_name(code)
                )
            })?;
            let length = output.pos();
            self.walk(&buffer[..length])?;
            if length < buffer.len() && input.pos() == compressed.len() {
                break;
            }
        }
        self.buffer = buffer;
        Ok(())
    }

    fn walk(&mut self, mut expanded: &[u8]) -> Result<(), String> {
        while !expanded.is_empty() {
            let body = self.body_left.min(expanded.len());
            self.body_left -= body;
            let missing = HEADER_SIZE - self.header.len();
            let header = &expanded[body..expanded.len().min(body + missing)];
            self.header.extend_from_slice(header);
            expanded = &expanded[body + header.len()..];
            if let [.., low, high] = self.header[..]
                && self.header.len() == HEADER_SIZE
            {
                self.header.clear();
                self.begin_record(u16::from_le_bytes([low, high]))?;
            }
        }
        Ok(())
    }

    fn begin_record(&mut self, size: u16) -> Result<(), String> {
        let body = usize::from(size).checked_sub(HEADER_SIZE);
        self.body_left = body.ok_or_else(|| {
            format!("a compressed record has {size} bytes, less than its own header; the file is damaged")
        })?;
        self.records += 1;
        self.held += u64::from(size) + RECORD_OVERHEAD;
        let most_records = MAX_RECORDS + self.compressed;
        if self.records > most_records {
            return Err(format!(
                "its {} compressed bytes so far expand to more than {most_records} records; perf \
                 writes no such file, record it again, without `-z`",
                self.compressed
            ));
        }
        if self.held > MAX_HELD {
            return Err(format!(
                "compressed records expand to more than {MAX_HELD} bytes in one round of perf's \
                 buffers; record again with smaller buffers (`-m`), or without `-z`"
            ));
        }
        Ok(())
    }
}
