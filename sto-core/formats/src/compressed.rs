//! Decompression of gzip, zlib, zstd and LZ4 around a profile.
//!
//! A few compressed bytes can expand to terabytes. So expansion has two limits: a ratio, which
//! output of profilers never comes close to, and a size for formats that must be held in memory.

use crate::encoding::Encoding;
use crate::error::{FormatError, Salvage};
use crate::source::ReadOptions;
use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;
use sto_model::Cancelled;

/// Expanded size that is always allowed.
const FREE: u64 = 64 << 20;
/// Limit to the expanded bytes beyond that, per byte of the input. Output of `perf script` reaches
/// 50.
const MAX_RATIO: u64 = 256;
/// Limit to the size of a stream or expanded file whose format must be held in memory.
const MAX_HELD: u64 = 2 << 30;
/// Limit to nested compressions: one of the format, one of a copy.
const MAX_LAYERS: usize = 2;

#[derive(Clone, Copy)]
pub(super) enum Compression {
    Gzip,
    /// Used by Perun for its profiles.
    Zlib,
    Zstd,
    /// Used by memray for its recordings.
    Lz4,
}

impl Compression {
    /// Detects the compression by the magic numbers of RFC 1952, RFC 8878 and LZ4 frames, and by
    /// the zlib headers of RFC 1950 that no text begins with.
    pub(super) fn detect(bytes: &[u8]) -> Option<Compression> {
        match bytes {
            [0x1f, 0x8b, 8, ..] => Some(Compression::Gzip),
            [0x78, 0x01 | 0x9c | 0xda, ..] => Some(Compression::Zlib),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Compression::Lz4),
            _ => None,
        }
    }

    /// Removes all compressions of an input, and converts text to UTF-8.
    pub(super) fn decompress<'a>(
        path: &Path,
        input: impl Read + 'a,
        options: &ReadOptions,
    ) -> Result<Expanded<'a>, FormatError> {
        let io = failed(path, Salvage::Possible);
        let cut = Rc::new(Cell::new(false));
        let came = Rc::new(Cell::new(0));
        let max_input = options.max_input.map_or(0, |bytes| bytes.0);
        let mut input: Box<dyn Read + 'a> = Box::new(Counted {
            input,
            count: Rc::clone(&came),
        });
        for layer in 0..=MAX_LAYERS {
            let mut start = Vec::new();
            let read = (&mut input).take(4).read_to_end(&mut start);
            read.map_err(&io)?;
            let (compression, encoding) = (Compression::detect(&start), Encoding::detect(&start));
            input = Box::new(io::Cursor::new(start).chain(input));
            match compression {
                None => {
                    let is_expanded = layer > 0 || encoding.is_some();
                    if let Some(encoding) = encoding {
                        input = encoding.to_utf8(input).map_err(&io)?;
                    }
                    return Ok(Expanded {
                        input,
                        is_expanded,
                        max_held: MAX_HELD.max(max_input),
                        cut,
                    });
                }
                Some(compression) => {
                    let cut = options.allow_truncated.then(|| Rc::clone(&cut));
                    let came = Rc::clone(&came);
                    let layer = Layer::new(compression, input, (came, max_input), cut);
                    input = Box::new(layer.map_err(&io)?);
                }
            }
        }
        let problem = format!("compressed more than {MAX_LAYERS} times over; decompress it first");
        Err(io(refused(problem)))
    }
}

/// The decompressed bytes of a profile.
pub(super) struct Expanded<'a> {
    input: Box<dyn Read + 'a>,
    is_expanded: bool,
    /// Limit to the bytes held in memory.
    max_held: u64,
    /// Whether compressed data ended early, if that is allowed.
    cut: Rc<Cell<bool>>,
}

impl Expanded<'_> {
    /// Reads all remaining bytes. `size` is the size of an uncompressed file including the bytes
    /// already read, or 0 for a stream.
    pub(super) fn read_remaining(&mut self, bytes: &mut Vec<u8>, size: u64) -> io::Result<()> {
        let mut most = self.max_held;
        if !self.is_expanded {
            most = most.max(size);
            let more = (size as usize).saturating_sub(bytes.len());
            bytes.try_reserve_exact(more)?;
        }
        let left = most.saturating_sub(bytes.len() as u64);
        (&mut self.input).take(left + 1).read_to_end(bytes)?;
        check_held(bytes.len() as u64, most)
    }

    /// A warning if compressed data ended early.
    pub(super) fn warning(&self) -> Option<String> {
        self.cut
            .get()
            .then(|| "Its compressed data end early; the part before was read.".to_owned())
    }
}

impl Read for Expanded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer)
    }
}

/// A decoder of one layer of compression.
struct Layer<'a> {
    name: &'static str,
    decoder: Box<dyn Read + 'a>,
    /// Compressed bytes consumed by the decoder.
    taken: Rc<Cell<u64>>,
    expanded: u64,
    /// Bytes read from the input below all layers.
    came: Rc<Cell<u64>>,
    /// The user's limit to expanded bytes; 0 without one.
    max_input: u64,
    /// Set if the data ended early; `None` if that is an error.
    cut: Option<Rc<Cell<bool>>>,
}

impl<'a> Layer<'a> {
    fn new(
        compression: Compression,
        input: Box<dyn Read + 'a>,
        (came, max_input): (Rc<Cell<u64>>, u64),
        cut: Option<Rc<Cell<bool>>>,
    ) -> io::Result<Self> {
        let taken = Rc::new(Cell::new(0));
        let input = Counted {
            input,
            count: Rc::clone(&taken),
        };
        let (name, decoder): (_, Box<dyn Read + 'a>) = match compression {
            Compression::Gzip => ("gzip", Box::new(flate2::read::MultiGzDecoder::new(input))),
            Compression::Zlib => ("zlib", Box::new(flate2::read::ZlibDecoder::new(input))),
            Compression::Zstd => ("zstd", Box::new(zstd::stream::read::Decoder::new(input)?)),
            Compression::Lz4 => ("LZ4", Box::new(lz4_flex::frame::FrameDecoder::new(input))),
        };
        Ok(Layer {
            name,
            decoder,
            taken,
            expanded: 0,
            came,
            max_input,
            cut,
        })
    }

    fn check_expanded(&self) -> io::Result<()> {
        let came = self.came.get();
        let by_ratio = FREE.saturating_add(came.saturating_mul(MAX_RATIO));
        if self.expanded <= by_ratio.max(self.max_input) {
            return Ok(());
        }
        Err(too_far(format!(
            "its first {came} bytes expand to more than {} MiB, and {MAX_RATIO} times as much as they \
             are: a decompression bomb. If it is a profile nevertheless, allow its expanded size",
            FREE >> 20
        )))
    }

    fn end_early(&self) -> io::Result<usize> {
        let Some(cut) = &self.cut else {
            return Err(io::Error::other(DecompressError::Cut(format!(
                "its {} data end early, after {} bytes",
                self.name,
                self.taken.get()
            ))));
        };
        cut.set(true);
        Ok(0)
    }
}

impl Read for Layer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let error = match self.decoder.read(buffer) {
            Ok(length) => {
                self.expanded += length as u64;
                return self.check_expanded().map(|()| length);
            }
            Err(error) => error,
        };
        let is_from_below = error.raw_os_error().is_some()
            || error.kind() == io::ErrorKind::Interrupted
            || error
                .get_ref()
                .is_some_and(|error| error.is::<DecompressError>() || error.is::<Cancelled>());
        if is_from_below {
            return Err(error);
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return self.end_early();
        }
        Err(refused(format!(
            "its {} data are damaged near byte {} ({error}); copy it again",
            self.name,
            self.taken.get()
        )))
    }
}

/// Parts of a file that are compressed individually with zstd. The limit applies to their sum.
pub(super) struct CompressedParts {
    max_input: u64,
    came: Rc<Cell<u64>>,
    expanded: u64,
}

impl CompressedParts {
    pub(super) fn new(options: &ReadOptions) -> CompressedParts {
        CompressedParts {
            max_input: options.max_input.map_or(0, |bytes| bytes.0),
            came: Rc::default(),
            expanded: 0,
        }
    }

    /// Returns `true` if a part is compressed.
    pub(super) fn is_compressed(part: &[u8]) -> bool {
        matches!(Compression::detect(part), Some(Compression::Zstd))
    }

    /// Decompresses a part; `name` is the file and the part, for messages.
    pub(super) fn expand(&mut self, name: &Path, part: &[u8]) -> Result<Vec<u8>, FormatError> {
        let io = failed(name, Salvage::Impossible);
        self.came.set(self.came.get() + part.len() as u64);
        let limits = (Rc::clone(&self.came), self.max_input);
        let layer = Layer::new(Compression::Zstd, Box::new(part), limits, None);
        let mut layer = layer.map_err(&io)?;
        layer.expanded = self.expanded;
        let mut bytes = Vec::new();
        let most = MAX_HELD.max(self.max_input);
        (&mut layer)
            .take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(&io)?;
        check_held(bytes.len() as u64, most).map_err(&io)?;
        self.expanded = layer.expanded;
        Ok(bytes)
    }

    /// The beginning of a part that may be incomplete, decompressed.
    pub(super) fn beginning(part: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Ok(decoder) = zstd::stream::read::Decoder::new(part) {
            let _ = decoder.take(1 << 16).read_to_end(&mut bytes);
        }
        bytes
    }
}

/// An error of this module, wrapped so that outer decoders pass it on unchanged.
#[derive(Debug, thiserror::Error)]
enum DecompressError {
    #[error("{0}")]
    Other(String),
    #[error("{0}")]
    Cut(String),
    #[error("{0}")]
    TooFar(String),
}

/// Returns an error if more bytes than allowed must be held.
fn check_held(bytes: u64, most: u64) -> io::Result<()> {
    if bytes > most {
        Err(too_far(format!(
            "it has more than {most} bytes, which its format needs in memory; write it to a file without compression, which may have any size, or allow more"
        )))
    } else {
        Ok(())
    }
}

fn refused(problem: String) -> io::Error {
    io::Error::other(DecompressError::Other(problem))
}

fn too_far(problem: String) -> io::Error {
    io::Error::other(DecompressError::TooFar(problem))
}

/// Converts I/O errors from reading a file; `salvage` applies if it was cut off.
pub(super) fn failed(path: &Path, salvage: Salvage) -> impl Fn(io::Error) -> FormatError {
    move |error| match error.get_ref().and_then(|error| error.downcast_ref()) {
        Some(DecompressError::Cut(cut)) => FormatError::cut_off(path, cut, salvage),
        Some(DecompressError::TooFar(problem)) => FormatError::ExpandsTooFar {
            path: path.to_owned(),
            problem: problem.clone(),
        },
        _ => FormatError::io(path)(error),
    }
}

struct Counted<R> {
    input: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.count.set(self.count.get() + length as u64);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_memory_for_endless_stream() {
        let zstd = zstd::encode_all(&vec![7; 8 << 20][..], 1).expect("it is compressed in memory");
        for is_expanded in [false, true] {
            let input: Box<dyn Read> = if is_expanded {
                Box::new(zstd::stream::read::Decoder::new(&*zstd).expect("it is zstd's"))
            } else {
                Box::new(io::repeat(7))
            };
            let mut stream = Expanded {
                input,
                is_expanded,
                max_held: 1 << 20,
                cut: Rc::default(),
            };
            let mut bytes = vec![7; 100];
            let error = stream
                .read_remaining(&mut bytes, 0)
                .expect_err("it has no end");
            assert_eq!(bytes.len(), (1 << 20) + 1);
            let error = failed(Path::new("-"), Salvage::Impossible)(error).to_string();
            assert!(
                error.starts_with("cannot read -: it has more than 1048576 bytes"),
                "{error}"
            );
        }
    }

    #[test]
    fn limits_expansion_of_all_parts_together() {
        let part = zstd::encode_all(&vec![0; 32 << 20][..], 1).expect("it is compressed in memory");
        let mut parts = CompressedParts::new(&ReadOptions::default());
        let mut expand = || parts.expand(Path::new("x: the message at byte 4"), &part);
        assert_eq!(expand().expect("it is small").len(), 32 << 20);
        let error = (0..3).find_map(|_| expand().err());
        let error = error.expect("128 MiB of a few KB").to_string();
        assert!(error.contains("a decompression bomb"), "{error}");
    }
}
