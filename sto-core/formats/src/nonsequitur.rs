//! Text traces read by NonSequitur: a folder with one file per thread. A line is the begin (`0`) or
//! end (`1`) of a call, with the function and the time in nanoseconds: `0 work 517136037796916`.
//!
//! Source: `traceProcessing.py` and `example_trace` of
//! <https://github.com/auggywonger/nonsequitur_vis>.

use crate::calls::finish;
use crate::compressed::{Compression, failed};
use crate::error::{At, DecodeError, Decoded, FormatError, Salvage};
use crate::names::NamedFrame;
use crate::recording::{Format, LocationIx, Recording, RecordingBuilder};
use crate::source::{Head, LineReader, ProgressReader, ReadOptions};
use crate::wire::text::{decimal, excerpt, lines};
use hashbrown::{HashSet, HashTable};
use rayon::prelude::*;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use sto_model::id::{RecordingDigest, RecordingHasher};
use sto_model::limits::MAX_LINE;
use sto_model::trace::CallThread;
use sto_model::trace::log::{CallLogWriter, ThreadLog};
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::units::{Bytes, Nanoseconds};

/// Number of lines examined to recognise the format.
const JUDGED_LINES: usize = 100;

/// Number of bytes read at once from a file, small enough for the processor's cache.
const BLOCK: usize = 256 << 10;

/// Returns `true` if all of the first lines are begins or ends of calls.
pub(super) fn matches(head: &Head<'_>) -> bool {
    // The last line may be incomplete.
    let text = head.whole_lines();
    let text = memchr::memrchr(b'\n', text).map_or(text, |end| &text[..end]);
    let mut lines = lines(text)
        .map(|(_, line)| line)
        .filter(|line| !line.is_empty())
        .take(JUDGED_LINES)
        .peekable();
    lines.peek().is_some() && lines.all(|line| event(line).is_some())
}

/// Returns `true` if all files of a folder have the format or are empty.
pub(super) fn is_trace(folder: &Path) -> bool {
    let Ok(files) = files_in(folder) else {
        return false;
    };
    let mut any = false;
    let all = files.iter().all(|file| {
        let start = start_of(file);
        any |= start.as_ref().is_ok_and(|start| !start.is_empty());
        start.is_ok_and(|start| {
            let is_all = start.len() < START;
            start.is_empty() || matches(&Head::new(&start, is_all))
        })
    });
    any && all
}

/// Number of bytes of a file examined to recognise it.
const START: usize = 4096;

fn start_of(file: &Path) -> Result<Vec<u8>, FormatError> {
    let io = FormatError::io(file);
    let opened = File::open(file).map_err(&io)?;
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    let mut start = Vec::new();
    let expanded = Compression::decompress(file, opened, &options)?;
    let read = expanded.take(START as u64).read_to_end(&mut start);
    read.map_err(&io)?;
    Ok(start)
}

/// The files of a folder by name, without hidden files. Returns an error if it contains anything
/// else.
fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        if !path.is_file() {
            return Err(io::Error::other("it has more than files"));
        }
        files.push(path);
    }
    files.sort();
    Ok(files)
}

/// Reads a folder with one file per thread. A thread has the name of its file without extension,
/// and the number at the end of that as its id.
pub(super) fn read_folder(folder: &Path, options: &ReadOptions) -> Result<Recording, FormatError> {
    let files = files_in(folder).map_err(FormatError::io(folder))?;
    let mut log = CallLogWriter::new(options.call_folder.as_deref());
    for name in names_of(&files) {
        log.intern_thread(thread(name));
    }
    let mut builder = RecordingBuilder::default();
    let threads = files.par_iter().zip(log.thread_logs());
    let threads = threads.map(|(file, log)| read_thread(file, log, options));
    let mut names: Vec<Names> = Vec::with_capacity(files.len());
    let mut digest = RecordingHasher::new();
    let mut size = 0;
    for (file, thread) in files.iter().zip(threads.collect::<Vec<_>>()) {
        let thread = thread?;
        digest.update(file.file_name().unwrap_or_default().as_encoded_bytes());
        digest.update(&[0]);
        digest.update(thread.source.to_string().as_bytes());
        size += thread.size;
        builder.warnings.extend(thread.warnings);
        names.push(thread.names);
    }
    let in_folder = |error: DecodeError| error.in_file(folder, 0);
    let mut locations = 0;
    for (log, names) in log.thread_logs().iter_mut().zip(&names) {
        let functions = names.add(&mut builder).map_err(in_folder)?;
        let numbers = functions.iter().map(|function| TraceFunctionIx(function.0));
        log.set_functions(numbers.collect());
        let most = functions.iter().map(|function| function.0 + 1).max();
        locations = locations.max(most.unwrap_or(0));
    }
    let locations: Vec<LocationIx> = (0..locations).map(LocationIx).collect();
    let built = finish(builder, log, &locations, options).map_err(in_folder)?;
    Ok(built.finish(Format::NonSequitur, digest.finish(), Bytes(size)))
}

/// The names of threads: their file names without extensions, or with extensions if two would be
/// equal.
fn names_of(files: &[PathBuf]) -> Vec<String> {
    let names = files
        .iter()
        .map(|file| file.file_name().unwrap_or_default().to_string_lossy());
    let names: Vec<_> = names.collect();
    // `.txt.gz` is one extension.
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let stems: HashSet<String> = names.iter().map(|name| stem(name)).collect();
    let is_distinct = stems.len() == names.len();
    let names = names.into_iter();
    names
        .map(|name| {
            if is_distinct {
                stem(&name)
            } else {
                name.into_owned()
            }
        })
        .collect()
}

fn thread(name: String) -> CallThread {
    let number = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    CallThread {
        pid: 0,
        program: String::new(),
        tid: name[number..].parse().unwrap_or(0),
        name,
    }
}

/// The data read from one file.
struct ThreadFile {
    source: RecordingDigest,
    size: u64,
    names: Names,
    warnings: Vec<String>,
}

fn read_thread(
    path: &Path,
    log: &mut ThreadLog,
    options: &ReadOptions,
) -> Result<ThreadFile, FormatError> {
    let file = File::open(path).map_err(FormatError::io(path))?;
    let input = ProgressReader::new(file, &options.on_read);
    let mut input = Compression::decompress(path, input, options)?;
    let in_file = |error: DecodeError| error.in_file(path, 0);
    let mut reader = Lines::default();
    let mut digest = RecordingHasher::new();
    let mut size = 0;
    let mut warnings = Vec::new();
    let mut block = vec![0; BLOCK];
    // Number of bytes at the beginning of the block that belong to an unfinished line.
    let mut left = 0;
    loop {
        let came = input.read(&mut block[left..]);
        let came = came.map_err(failed(path, Salvage::Possible))?;
        if came == 0 {
            break;
        }
        let filled = left + came;
        digest.update(&block[left..filled]);
        size += came as u64;
        let lines = memchr::memrchr(b'\n', &block[left..filled]).map_or(0, |end| left + end + 1);
        reader.read(&block[..lines], log).map_err(in_file)?;
        block.copy_within(lines..filled, 0);
        left = filled - lines;
        if left > MAX_LINE {
            let (line, most) = (reader.line + 1, MAX_LINE >> 20);
            let problem = format!("a line of more than {most} MiB");
            return Err(FormatError::malformed(path, At::Line(line), problem));
        }
        if left == block.len() {
            block.resize(2 * left, 0);
        }
    }
    block.truncate(left);
    if !block.is_empty() && options.allow_truncated {
        warnings.push(format!(
            "The last line of {} has no line end, so it may be cut off and was left out.",
            excerpt(path.file_name().unwrap_or_default().as_encoded_bytes())
        ));
    } else {
        let read = reader.read(&block, log);
        read.map_err(|error| in_file(error.maybe_cut_in_last_line(Salvage::Possible)))?;
    }
    warnings.extend(input.warning());
    Ok(ThreadFile {
        source: digest.finish(),
        size,
        names: reader.names,
        warnings,
    })
}

/// Makes a reader of the file of one thread.
pub(super) fn reader(options: &ReadOptions) -> Box<dyn LineReader> {
    let mut log = CallLogWriter::new(options.call_folder.as_deref());
    log.intern_thread(thread(String::new()));
    Box::new(OneThread {
        lines: Lines::default(),
        log,
        options: options.clone(),
    })
}

struct OneThread {
    lines: Lines,
    log: CallLogWriter,
    options: ReadOptions,
}

impl LineReader for OneThread {
    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        let OneThread { lines, log, .. } = self;
        let mut logs = log.thread_logs().iter_mut();
        logs.try_for_each(|log| lines.read(bytes, log))
    }

    fn finish(self: Box<Self>) -> Decoded<RecordingBuilder> {
        let mut builder = RecordingBuilder::default();
        let functions = self.lines.names.add(&mut builder)?;
        finish(builder, self.log, &functions, &self.options)
    }
}

/// Reads the lines of a thread.
#[derive(Default)]
struct Lines {
    names: Names,
    /// Number of lines so far.
    line: usize,
}

impl Lines {
    /// Reads complete lines.
    fn read(&mut self, text: &[u8], log: &mut ThreadLog) -> Decoded<()> {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            rest = end.map_or(&[], |end| &rest[end + 1..]);
            self.line += 1;
            match event(line) {
                Some((Event::Begin, name, time)) => log.begin(self.names.number(name), time)?,
                Some((Event::End, name, time)) => {
                    // Nearly always it is the innermost call.
                    let innermost = log.innermost();
                    let ended = innermost.filter(|innermost| self.names.get(innermost.0) == name);
                    log.end(ended.or_else(|| Some(self.names.number(name))), time);
                }
                None if line.trim_ascii().is_empty() => {}
                None => {
                    let problem = format!(
                        "expected `0` or `1`, a function and nanoseconds, as in `0 work 1200`, found {}",
                        excerpt(line)
                    );
                    return Err(DecodeError::new(At::Line(self.line), problem));
                }
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Event {
    Begin,
    End,
}

/// A line: begin or end, function, and time.
#[inline]
fn event(line: &[u8]) -> Option<(Event, &[u8], Nanoseconds)> {
    let (event, rest) = match line {
        [b'0', b' ', rest @ ..] => (Event::Begin, rest),
        [b'1', b' ', rest @ ..] => (Event::End, rest),
        _ => return None,
    };
    let rest = match rest.last() {
        Some(digit) if digit.is_ascii_digit() => rest,
        _ => rest.trim_ascii_end(),
    };
    let space = memchr::memrchr(b' ', rest).filter(|&space| space > 0)?;
    let time = number(&rest[space + 1..])?;
    Some((event, &rest[..space], Nanoseconds(time)))
}

#[inline]
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 19 {
        return decimal(digits);
    }
    let mut number = 0;
    let mut is_number = true;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        is_number &= digit < 10;
        // 19 digits always fit a u64; other characters are rejected later.
        number = u64::wrapping_add(u64::wrapping_mul(number, 10), u64::from(digit));
    }
    is_number.then_some(number)
}

/// The names of a thread's functions, in order of first use.
#[derive(Default)]
struct Names {
    text: Vec<u8>,
    ends: Vec<usize>,
    index: HashTable<(u64, u32)>,
    hasher: hashbrown::DefaultHashBuilder,
}

impl Names {
    #[inline]
    fn number(&mut self, name: &[u8]) -> TraceFunctionIx {
        let hash = self.hasher.hash_one(name);
        let is_it = |&(known, no): &(u64, u32)| known == hash && self.get(no) == name;
        if let Some(&(_, no)) = self.index.find(hash, is_it) {
            return TraceFunctionIx(no);
        }
        let no = self.ends.len() as u32;
        self.text.extend_from_slice(name);
        self.ends.push(self.text.len());
        self.index
            .insert_unique(hash, (hash, no), |&(hash, _)| hash);
        TraceFunctionIx(no)
    }

    fn get(&self, no: u32) -> &[u8] {
        let begin = no
            .checked_sub(1)
            .map_or(0, |before| self.ends[before as usize]);
        &self.text[begin..self.ends[no as usize]]
    }

    /// Adds the names to a recording.
    fn add(&self, builder: &mut RecordingBuilder) -> Decoded<Vec<LocationIx>> {
        let names = (0..self.ends.len() as u32).map(|no| {
            let frame = NamedFrame {
                symbol: self.get(no),
                ..NamedFrame::default()
            };
            frame.add(builder).map_err(DecodeError::at("its functions"))
        });
        names.collect()
    }
}
