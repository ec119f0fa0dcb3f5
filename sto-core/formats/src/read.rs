//! Reading a recording from a file, a stream or memory.

use crate::compressed::{Compression, failed};
use crate::encoding::Encoding;
use crate::error::{At, DecodeError, Decoded, FormatError, Salvage};
use crate::recording::{Format, Recording, RecordingBuilder, known};
use crate::registry::{Reader, folder_reader_of, format_of, reader_of, salvage_of};
use crate::source::{Head, LineReader, OnRead, ProgressReader, ReadOptions, written};
use crate::wire::json::first_keys;
use crate::wire::text::{excerpt, read_block};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use sto_model::files::{ByteWindow, ReadAt, RegularFile};
use sto_model::id::{RecordingDigest, RecordingHasher};
use sto_model::limits::MAX_LINE;
use sto_model::units::Bytes;

/// Limit to the bytes examined to recognise the format; comments before a profile are shorter.
const MAX_HEAD: usize = 64 << 20;

/// Number of bytes read first, to see whether the format can be read in pieces.
const FIRST: u64 = 1 << 16;

/// Reads a profile of any supported format from a file, which may be compressed with gzip, zlib,
/// zstd or LZ4, or from a folder that [is one recording](is_recording).
///
/// If the recording has no time, the modification time of the file is used.
///
/// # Errors
/// Returns an error if the file cannot be read, its format is not recognised, or it breaks a rule
/// of its format.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Recording, FormatError> {
    let io = FormatError::io(path);
    let file = File::open(path).map_err(&io)?;
    let metadata = file.metadata().map_err(&io)?;
    if metadata.is_dir() {
        let mut recording = read_folder(path, options)?;
        recording.parts_mut().origin.recorded = recording.origin.recorded.or(written(&metadata));
        return Ok(recording);
    }
    if !metadata.is_file() || metadata.len() == 0 {
        // Pipes and files of /proc have no length.
        return read_stream(path, file, options);
    }
    let file = RegularFile { file, metadata };
    let read = read_file(path, &file, options);
    let mut recording = read.map_err(|error| file.truncation_error().map_or(error, &io))?;
    recording.parts_mut().origin.recorded = recording.origin.recorded.or(written(&file.metadata));
    Ok(recording)
}

/// Returns `true` if the folder is one recording, and not a folder with recordings.
pub fn is_recording(folder: &Path) -> bool {
    folder_reader_of(folder, None).is_some()
}

fn read_folder(folder: &Path, options: &ReadOptions) -> Result<Recording, FormatError> {
    let reader = folder_reader_of(folder, options.format).ok_or_else(|| {
        let problem = "a folder that is not one recording; name a file in it";
        FormatError::unsupported(folder, problem.to_owned())
    })?;
    with_samples(folder, reader(folder, options)?, false)
}

/// Reads the bytes that the file has when it is opened, and holds only what its format needs.
fn read_file(
    path: &Path,
    file: &RegularFile,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    let mut start = Vec::new();
    let mut window = ByteWindow::new(file);
    let read = (&mut window).take(FIRST).read_to_end(&mut start);
    read.map_err(FormatError::io(path))?;
    let head = Head::new(&start, start.len() as u64 == file.size());
    let is_plain = Compression::detect(&start).is_none();
    match chosen(&head, options)
        .filter(|_| is_plain)
        .and_then(reader_of)
    {
        Some(Reader::Pieces(read) | Reader::Passes(read)) => {
            let recording = read(path, file, options)?;
            with_samples(path, recording, is_named_otherwise(&head, options))
        }
        _ => read_from(path, ByteWindow::new(file), file.size(), options),
    }
}

/// Reads a profile of any supported format, which may be compressed, from memory.
///
/// `path` names the source in error messages.
///
/// # Errors
/// Returns an error if the format is not recognised, or the bytes break a rule of it.
pub fn read_bytes(
    path: &Path,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    if Compression::detect(bytes).is_some() || Encoding::detect(bytes).is_some() {
        return read_stream(path, bytes, options);
    }
    let head = Head::all(bytes);
    let format = chosen(&head, options).ok_or_else(|| unknown(path, bytes))?;
    let recording = read_plain(path, bytes, format, options)?;
    with_samples(path, recording, is_named_otherwise(&head, options))
}

/// Reads a profile of any supported format, which may be compressed, from a stream such as standard
/// input.
///
/// Line-based formats are read in blocks, so that memory is only needed for distinct data; other
/// formats are held in memory. `path` names the source in error messages.
///
/// # Errors
/// Returns an error in the same cases as [`read`].
pub fn read_stream(
    path: &Path,
    input: impl Read,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    read_from(path, input, 0, options)
}

/// Like [`read_stream`], for a stream of at least `length` bytes.
fn read_from(
    path: &Path,
    input: impl Read,
    size: u64,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    let input = ProgressReader::new(input, &options.on_read);
    let mut input = Compression::decompress(path, input, options)?;
    let mut bytes = Vec::new();
    let (format, is_named_otherwise) = loop {
        let ends = read_block(&mut input, &mut bytes);
        let head = Head::new(&bytes, *ends.as_ref().unwrap_or(&true));
        let format = chosen(&head, options);
        let is_named_otherwise = is_named_otherwise(&head, options);
        ends.map_err(failed(path, format.map_or(Salvage::Possible, salvage_of)))?;
        match format {
            Some(format) => break (format, is_named_otherwise),
            None if head.is_all || bytes.len() > MAX_HEAD => return Err(unknown(path, &bytes)),
            None => {}
        }
    };
    let mut recording = match built_reader_of(path, format)? {
        Reader::Lines(reader) => {
            let reader = reader(options);
            let recording = read_lines((path, format), bytes, &mut input, reader, options)?;
            with_samples(path, recording, is_named_otherwise)?
        }
        Reader::Whole(_)
        | Reader::Timed(_)
        | Reader::Chunks(_)
        | Reader::Pieces(_)
        | Reader::Passes(_) => {
            let held = input.read_remaining(&mut bytes, size);
            held.map_err(failed(path, salvage_of(format)))?;
            let options = ReadOptions {
                // All bytes were reported already.
                on_read: OnRead::default(),
                ..options.clone()
            };
            let recording = read_plain(path, &bytes, format, &options)?;
            with_samples(path, recording, is_named_otherwise)?
        }
    };
    recording.parts_mut().warnings.extend(input.warning());
    Ok(recording)
}

/// Reads an uncompressed profile of this format.
fn read_plain(
    path: &Path,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    match built_reader_of(path, format)? {
        Reader::Whole(read) => read_whole((path, format), bytes, read),
        Reader::Timed(read) => {
            let read = |bytes: &[u8]| read(bytes, options);
            read_whole((path, format), bytes, read)
        }
        Reader::Chunks(read) => {
            let read = |bytes: &[u8]| read(bytes, options);
            read_whole((path, format), bytes, read)
        }
        Reader::Pieces(read) | Reader::Passes(read) => read(path, &bytes, options),
        Reader::Lines(reader) => {
            let (mut input, mut begun) = (ProgressReader::new(bytes, &options.on_read), Vec::new());
            read_block(&mut input, &mut begun).map_err(FormatError::io(path))?;
            read_lines((path, format), begun, input, reader(options), options)
        }
    }
}

fn built_reader_of(path: &Path, format: Format) -> Result<Reader, FormatError> {
    reader_of(format).ok_or_else(|| {
        let problem = format!(
            "this program was built without reading {}; it reads {}",
            format.name(),
            known()
        );
        FormatError::unsupported(path, problem)
    })
}

/// Reads all bytes of a profile and computes their digest at the same time.
fn read_whole(
    (path, format): (&Path, Format),
    bytes: &[u8],
    read: impl FnOnce(&[u8]) -> Decoded<RecordingBuilder> + Send,
) -> Result<Recording, FormatError> {
    let (source, built) = rayon::join(|| RecordingDigest::hash_bytes(bytes), || read(bytes));
    let built = built.map_err(|error| error.in_file(path, bytes.len()))?;
    Ok(built.finish(format, source, Bytes(bytes.len() as u64)))
}

/// Returns `true` if the user names another format than the content shows.
fn is_named_otherwise(head: &Head<'_>, options: &ReadOptions) -> bool {
    options
        .format
        .is_some_and(|named| format_of(head) != Some(named))
}

/// Rejects a recording without samples. If the user named another format than the content shows,
/// the source's digest is changed, so that it differs from the source read as that format.
fn with_samples(
    path: &Path,
    mut recording: Recording,
    is_named_otherwise: bool,
) -> Result<Recording, FormatError> {
    if is_named_otherwise {
        recording.parts_mut().source = recording
            .source
            .with_option("format", recording.format.name());
    }
    if recording.samples.is_empty() {
        Err(FormatError::NoSamples {
            path: path.to_owned(),
        })
    } else {
        Ok(recording)
    }
}

/// The format named by the user, or else detected from the content.
fn chosen(head: &Head<'_>, options: &ReadOptions) -> Option<Format> {
    if head.bytes.is_empty() {
        return None;
    }
    options.format.or_else(|| format_of(head))
}

fn unknown(path: &Path, bytes: &[u8]) -> FormatError {
    let path = path.to_owned();
    match bytes {
        [] => FormatError::Empty { path },
        _ => FormatError::Unknown {
            path,
            found: found(bytes),
            formats: Format::all().count(),
        },
    }
}

/// Number of bytes searched for these marks.
const RECOGNISED: usize = 128;

const METHOD_TRACE: &str =
    "a method trace of Android's runtime: record with simpleperf or Perfetto instead";

/// Magic bytes of unsupported files, with a description and the remedy.
const MADE_BY: [(&[u8], &str); 5] = [
    (b"*version\n", METHOD_TRACE),
    // While the program is still running.
    (b"SLOW\xf3\0", METHOD_TRACE),
    (
        b"tracemalloc\x94",
        "a snapshot of tracemalloc: record memory with memray or Austin instead",
    ),
    (
        b"#Perl profile database",
        "of Devel::NYTProf: `nytprofcalls FILE` writes folded stacks, which sto reads",
    ),
    (
        b"line_profiler",
        "of line_profiler, which has no callers: record with py-spy or Austin instead",
    ),
];

/// Describes the first bytes, with a guess at the format, for the message about an unknown format.
fn found(bytes: &[u8]) -> String {
    let start = excerpt(bytes.trim_ascii_start());
    let head = &bytes[..bytes.len().min(RECOGNISED)];
    let made_by = MADE_BY
        .iter()
        .find(|(mark, _)| memchr::memmem::find(head, mark).is_some());
    if let Some((_, what)) = made_by {
        return format!("{start} ({what})");
    }
    match bytes {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => format!("{start} (xz: unpack it first)"),
        [b'B', b'Z', b'h', ..] => format!("{start} (bzip2: unpack it first)"),
        [b'g', b'm', b'o', b'n', ..] => {
            format!("{start} (gprof's own file: use the output of `gprof PROGRAM gmon.out`)")
        }
        [b'P', b'K', 3, 4, ..] => format!("{start} (a ZIP archive: unpack it first)"),
        [b'{', ..] if is_of_gecko(bytes) => format!(
            "{start} (a raw profile of Firefox: open it at profiler.firefox.com and save it there)"
        ),
        _ => start,
    }
}

/// Returns `true` if a file is an object with Gecko's profile, before the Firefox Profiler
/// processed it.
fn is_of_gecko(bytes: &[u8]) -> bool {
    let keys = first_keys(bytes);
    [&b"meta"[..], b"libs"].iter().all(|key| keys.contains(key))
}

/// Reads a last line without line end. If truncation is allowed, an invalid one is left out, and a
/// warning is returned.
fn read_unfinished(
    reader: &mut dyn LineReader,
    line: &[u8],
    options: &ReadOptions,
) -> Decoded<Option<String>> {
    if line.is_empty() {
        return Ok(None);
    }
    if options.allow_truncated {
        return Ok(Some(format!(
            "Its last line has no line end, so it may be cut off and was left out: {}.",
            excerpt(line)
        )));
    }
    let read = reader.block(line);
    read.map_err(|error| error.maybe_cut_in_last_line(Salvage::Possible))?;
    Ok(None)
}

/// Reads blocks of lines: `begun`, then the rest of the input. The next block is read and
/// decompressed while one is parsed; only these two, or the longest line, are held.
fn read_lines(
    (path, format): (&Path, Format),
    begun: Vec<u8>,
    mut input: impl Read,
    mut reader: Box<dyn LineReader>,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    let in_file = |error: DecodeError| error.in_file(path, 0);
    let mut digest = RecordingHasher::new();
    let mut size = 0;
    let mut block = begun;
    let mut next = Vec::new();
    // The unfinished line at the beginning of the block, which was digested already.
    let mut left = 0;
    loop {
        let line_end = if reader.takes_parts_of_lines() {
            Some(block.len())
        } else {
            memchr::memrchr(b'\n', &block[left..]).map(|at| left + at + 1)
        };
        let ended = block.len() == left;
        let lines = line_end.unwrap_or(0);
        if block.len() - lines > MAX_LINE {
            let at = At::Byte(size as usize - left + lines);
            let problem = format!(
                "a line of more than {} MiB; is it text at all?",
                MAX_LINE >> 20
            );
            return Err(FormatError::malformed(path, at, problem));
        }
        next.extend_from_slice(&block[lines..]);
        let mut read = Ok(());
        let came = rayon::in_place_scope(|scope| {
            scope.spawn(|_| {
                ((), read) = rayon::join(
                    || digest.update(&block[left..]),
                    || reader.block(&block[..lines]),
                );
            });
            if ended {
                Ok(true)
            } else {
                read_block(&mut input, &mut next)
            }
        });
        read.map_err(in_file)?;
        size += (block.len() - left) as u64;
        if ended {
            let warning = read_unfinished(&mut *reader, &block[lines..], options);
            let warning = warning.map_err(in_file)?;
            let read = reader.finish().map_err(in_file)?;
            let mut recording = read.finish(format, digest.finish(), Bytes(size));
            recording.parts_mut().warnings.extend(warning);
            return Ok(recording);
        }
        came.map_err(failed(path, Salvage::Possible))?;
        left = block.len() - lines;
        block.clear();
        std::mem::swap(&mut block, &mut next);
    }
}
