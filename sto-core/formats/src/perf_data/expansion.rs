//! Decompression of compressed records, piece by piece.
//!
//! A 64 KiB record can expand to 2 GiB and to millions of records, each of which becomes a sample.
//! `perf record -z` never writes anything close to that, so both are limited.

use super::check::{HEADER_SIZE, Header};
use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

/// Limit to the number of records in compressed data, in addition to one per compressed byte.
const MAX_RECORDS: u64 = 1 << 16;
/// Limit to the bytes held between two `PERF_RECORD_FINISHED_ROUND`, which release the held
/// records.
const MAX_HELD: u64 = 512 << 20;
/// Estimated memory per held record in addition to its bytes.
const RECORD_OVERHEAD: u64 = 128;
/// Twice the maximum size of a record, so that there is room for more after an incomplete one.
const BUFFER: usize = 1 << 17;

/// The compressed records of a file, which form one stream.
pub(super) struct Expansion {
    context: DCtx<'static>,
    buffer: Vec<u8>,
    /// Number of bytes at the front of the buffer that belong to a record which continues in the
    /// next piece.
    begun: usize,
    compressed: u64,
    records: u64,
    held: u64,
}

impl Expansion {
    pub(super) fn new() -> Self {
        Expansion {
            context: DCtx::create(),
            buffer: Vec::new(),
            begun: 0,
            compressed: 0,
            records: 0,
            held: 0,
        }
    }

    /// Resets the count of held bytes when a round ends.
    pub(super) fn finish_round(&mut self) {
        self.held = 0;
    }

    /// Expands the next piece and passes each complete record, without its header, to a callback.
    pub(super) fn expand(
        &mut self,
        compressed: &[u8],
        mut give: impl FnMut(Header, &[u8]),
    ) -> Result<(), String> {
        self.compressed += compressed.len() as u64;
        self.buffer.resize(BUFFER, 0);
        let mut input = InBuffer::around(compressed);
        loop {
            let mut output = OutBuffer::around(&mut self.buffer[self.begun..]);
            let expanded = self.context.decompress_stream(&mut output, &mut input);
            expanded.map_err(|code| {
                format!(
                    "it cannot be expanded ({}); the file is damaged, record it again",
                    get_error_name(code)
                )
            })?;
            let end = self.begun + output.pos();
            let mut start = 0;
            while let Some(&header) = self.buffer[start..end].first_chunk() {
                let header = Header::parse(header);
                let size = usize::from(header.size);
                if size < HEADER_SIZE as usize {
                    return Err(format!(
                        "a compressed record has {size} bytes, less than its own header; the file is damaged"
                    ));
                }
                if size > end - start {
                    break;
                }
                self.count(header.size)?;
                let record = &self.buffer[start..start + size];
                give(header, &record[HEADER_SIZE as usize..]);
                start += size;
            }
            self.buffer.copy_within(start..end, 0);
            self.begun = end - start;
            if end < BUFFER && input.pos() == compressed.len() {
                return Ok(());
            }
        }
    }

    fn count(&mut self, size: u16) -> Result<(), String> {
        self.records += 1;
        self.held += u64::from(size) + RECORD_OVERHEAD;
        let most_records = MAX_RECORDS + self.compressed;
        if self.records > most_records {
            return Err(format!(
                "its {} compressed bytes so far expand to more than {most_records} records; perf does not write such files, record it again without `-z`",
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
