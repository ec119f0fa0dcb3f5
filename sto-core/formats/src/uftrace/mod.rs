//! The data folder of `uftrace record`, version 4 of its files.
//!
//! See [the manual](crate::manual::uftrace).

mod arguments;
mod names;
mod records;
mod sessions;
mod symbols;

use crate::calls;
use crate::demangle::demangle;
use crate::error::{DecodeError, Decoded, FormatError};
use crate::names::NamedFrame;
use crate::recording::{Built, Format, LocationIx, Recording, RecordingBuilder};
use crate::source::{Head, ReadOptions};
use arguments::Specs;
use hashbrown::HashMap;
use names::{Address, Arguments, Names};
use rayon::prelude::*;
use records::{ReadThread, Reader};
use sessions::Sessions;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use sto_model::FrameKind;
use sto_model::files::{Links, ReadAt, RegularFile};
use sto_model::id::{RecordingDigest, RecordingHasher};
use sto_model::trace::CallThread;
use sto_model::trace::log::{CallLogWriter, ThreadLog};
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::units::Bytes;
use symbols::Symbols;

/// The first bytes of the file `info`, and the length of its header.
const MAGIC: &[u8] = b"Ftrace!\0";
const HEADER: usize = 40;

/// Size limit to files that are held in memory: lists of functions, maps, `task.txt`.
const MAX_TEXT: u64 = 1 << 30;

/// Returns `true` if a file is the `info` of a folder written by `uftrace record`.
pub(super) fn matches(head: &Head<'_>) -> bool {
    head.bytes.starts_with(MAGIC)
}

/// Rejects a single file of a folder.
pub(super) fn read(_: &[u8]) -> Decoded<RecordingBuilder> {
    let problem = "it belongs to a folder written by uftrace; name the folder";
    Err(DecodeError::unsupported(problem.to_owned()))
}

/// Returns `true` if a folder was written by `uftrace record`.
pub(super) fn is_data(folder: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    let info = RegularFile::open(&folder.join("info"), Links::Follow);
    let begun = info.and_then(|info| (&info.file).read_exact(&mut magic));
    begun.is_ok() && magic == MAGIC
}

/// Reads a folder; its threads are read in parallel.
pub(super) fn read_folder(folder: &Path, options: &ReadOptions) -> Result<Recording, FormatError> {
    let files = files_in(folder).map_err(FormatError::io(folder))?;
    let info = Info::read(folder)?;
    let tasks = folder.join("task.txt");
    let sessions = Sessions::read(&text(&tasks)?, |sid| {
        text(&folder.join(format!("sid-{sid}.map"))).unwrap_or_default()
    });
    let sessions = sessions.map_err(|(line, problem)| {
        FormatError::malformed(&tasks, format!("line {line}"), problem)
    })?;
    let symbols = symbols_of(folder, &files, &sessions);
    let arguments = Arguments {
        names: Names {
            sessions: &sessions,
            symbols: &symbols,
            are_relative: info.are_symbols_relative,
        },
        specs: Specs::parse(&info.text),
    };
    let mut writer = CallLogWriter::new(options.call_folder.as_deref());
    for &tid in files.threads.keys() {
        let pid = sessions.process_of(tid);
        let program = sessions
            .session_at(pid, 0)
            .map(|session| &*sessions.list[session].program);
        let program = program.and_then(|program| program.rsplit('/').next());
        writer.intern_thread(CallThread {
            pid,
            program: program.unwrap_or_default().to_owned(),
            tid,
            name: String::new(),
        });
    }
    let threads: Vec<(&u32, &PathBuf)> = files.threads.iter().collect();
    let logs = writer.thread_logs().par_iter_mut().zip(threads);
    let read = logs.map(|(log, (tid, path))| {
        let pid = sessions.process_of(*tid);
        read_thread(path, (&arguments, pid), log, options)
    });
    // Collect all results, so that the first error does not depend on the number of cores.
    let read: Vec<Result<ReadFile, FormatError>> = read.collect();
    let read = read.into_iter().collect::<Result<Vec<_>, _>>()?;

    let mut builder = RecordingBuilder::default();
    info.describe(&mut builder);
    builder.warnings.extend(warnings(&files, &read));
    let mut functions = Functions {
        names: arguments.names,
        locations: Vec::new(),
        numbers: HashMap::new(),
    };
    for (log, file) in writer.thread_logs().iter_mut().zip(&read) {
        let addresses = file.thread.addresses.iter();
        let numbers = addresses.map(|&address| functions.number(address, &mut builder));
        let numbers = numbers.collect::<Built<Vec<TraceFunctionIx>>>();
        log.set_functions(
            numbers.map_err(|error| FormatError::unsupported(folder, error.to_string()))?,
        );
    }
    let (source, size) = source(&tasks, &read)?;
    let locations = functions.locations;
    let built = calls::finish(builder, writer, &locations, options);
    let built = built.map_err(|error| error.in_file(folder, 0))?;
    Ok(built.finish(Format::Uftrace, source, size))
}

/// The files of a folder.
#[derive(Default)]
struct Files {
    /// The calls of threads, `TID.dat`.
    threads: BTreeMap<u32, PathBuf>,
    /// `FILE.sym`.
    symbols: Vec<PathBuf>,
    /// Files of the kernel, of perf events, and of other tools, which are not read.
    passed_over: Vec<String>,
}

fn files_in(folder: &Path) -> io::Result<Files> {
    let mut files = Files::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some((stem, ending)) = name.to_str().and_then(|name| name.rsplit_once('.')) else {
            continue;
        };
        match (ending, stem.parse()) {
            ("dat", Ok(tid)) => drop(files.threads.insert(tid, entry.path())),
            ("dat", Err(_)) if entry.metadata()?.len() > 0 => {
                files.passed_over.push(format!("{stem}.dat"));
            }
            ("sym", _) => files.symbols.push(entry.path()),
            _ => {}
        }
    }
    files.symbols.sort();
    files.passed_over.sort();
    Ok(files)
}

fn text(path: &Path) -> Result<Vec<u8>, FormatError> {
    let read = RegularFile::open(path, Links::Follow).and_then(|file| file.read(MAX_TEXT));
    read.map_err(FormatError::io(path))
}

/// The contents of the file `info`.
struct Info {
    /// Whether addresses of functions are relative to the start of their file in memory.
    are_symbols_relative: bool,
    text: String,
}

impl Info {
    fn read(folder: &Path) -> Result<Info, FormatError> {
        let path = folder.join("info");
        let bytes = text(&path)?;
        let Some(header) = bytes
            .first_chunk::<HEADER>()
            .filter(|header| header.starts_with(MAGIC))
        else {
            let problem = "expected the header of uftrace's data";
            return Err(FormatError::malformed(&path, "byte 0", problem));
        };
        let (version, is_big_endian) = (header[8], header[14] != 1);
        if !(3..=4).contains(&version) || is_big_endian {
            let problem = format!(
                "it is of version {version}, {}; little-endian data of versions 3 and 4 are read. `uftrace dump --chrome` writes a format that sto reads",
                if is_big_endian {
                    "big-endian"
                } else {
                    "little-endian"
                }
            );
            return Err(FormatError::unsupported(&path, problem));
        }
        const SYMBOLS_ARE_RELATIVE: u8 = 1 << 5;
        Ok(Info {
            are_symbols_relative: header[16] & SYMBOLS_ARE_RELATIVE > 0,
            text: String::from_utf8_lossy(&bytes[HEADER..]).into_owned(),
        })
    }

    fn describe(&self, builder: &mut RecordingBuilder) {
        let value = |name: &str| {
            let value = self.text.lines().find_map(|line| line.strip_prefix(name))?;
            Some(value.trim_matches(['"', ' ']).to_owned())
        };
        let origin = builder.origin();
        origin.command = value("cmdline:");
        origin.host = value("osinfo:hostname=");
        origin.kernel =
            value("osinfo:kernel=").map(|kernel| kernel.trim_start_matches("Linux ").to_owned());
        origin.cpu = value("cpuinfo:desc=");
    }
}

/// The result for the file of a thread.
struct ReadFile {
    path: PathBuf,
    thread: ReadThread,
    digest: RecordingDigest,
    size: u64,
}

/// Reads the calls of a thread and computes the digest of its file.
fn read_thread(
    path: &Path,
    (arguments, pid): (&Arguments<'_>, u32),
    log: &mut ThreadLog,
    options: &ReadOptions,
) -> Result<ReadFile, FormatError> {
    let file = RegularFile::open(path, Links::Follow).map_err(FormatError::io(path))?;
    let (read, digest) = rayon::join(
        || Reader::new(arguments, pid, log).read(&file, options.allow_truncated),
        || digest(&file, options),
    );
    let read = read.map_err(|error| error.in_file(path, file.size() as usize))?;
    let digest = digest.map_err(FormatError::io(path))?;
    Ok(ReadFile {
        path: path.to_owned(),
        thread: read,
        digest,
        size: file.size(),
    })
}

fn digest(file: &RegularFile, options: &ReadOptions) -> io::Result<RecordingDigest> {
    let mut digest = RecordingHasher::new();
    let (mut piece, mut at) = (vec![0; 1 << 20], 0);
    while at < file.size() {
        let length = piece.len().min((file.size() - at) as usize);
        file.read_exact_at(&mut piece[..length], at)?;
        digest.update(&piece[..length]);
        options
            .on_read
            .call(length as u64)
            .map_err(io::Error::other)?;
        at += length as u64;
    }
    Ok(digest.finish())
}

/// The digest of `task.txt` and the files of threads, and their total size.
fn source(tasks: &Path, threads: &[ReadFile]) -> Result<(RecordingDigest, Bytes), FormatError> {
    let text = text(tasks)?;
    let tasks = (tasks, RecordingDigest::hash_bytes(&text), text.len() as u64);
    let threads = threads
        .iter()
        .map(|file| (&*file.path, file.digest, file.size));
    let mut digest = RecordingHasher::new();
    let mut bytes = 0;
    for (path, of_file, size) in std::iter::once(tasks).chain(threads) {
        digest.update(path.file_name().unwrap_or_default().as_encoded_bytes());
        digest.update(&[0]);
        digest.update(of_file.to_string().as_bytes());
        bytes += size;
    }
    Ok((digest.finish(), Bytes(bytes)))
}

fn warnings(files: &Files, threads: &[ReadFile]) -> Vec<String> {
    let mut warnings = Vec::new();
    if !files.passed_over.is_empty() {
        warnings.push(format!(
            "Only calls of the program are read; data of the kernel, perf and other tools were ignored ({}).",
            files.passed_over.join(", ")
        ));
    }
    let sum = |of: fn(&ReadThread) -> u64| threads.iter().map(|file| of(&file.thread)).sum::<u64>();
    let (left, events) = (sum(|thread| thread.left), sum(|thread| thread.events));
    if left > 0 {
        warnings.push(format!(
            "{left} calls have no exit, for example because of longjmp or exec; they end when their caller continues."
        ));
    }
    if events > 0 {
        warnings.push(format!("{events} events between the calls were ignored."));
    }
    for file in threads {
        if let Some(at) = file.thread.damaged {
            warnings.push(format!(
                "{} is cut off or damaged after byte {at}: {} bytes were left out.",
                file.path.display(),
                file.size - at
            ));
        }
    }
    warnings
}

/// The functions of all files that are mapped in any session, by path.
fn symbols_of(folder: &Path, files: &Files, sessions: &Sessions) -> HashMap<String, Symbols> {
    let mappings = sessions.list.iter().flat_map(|session| &session.mappings);
    let mut mapped: Vec<&str> = mappings.map(|mapping| &*mapping.file).collect();
    mapped.sort_unstable();
    mapped.dedup();
    let read = files.symbols.par_iter().filter_map(|path| {
        let symbols = Symbols::read(text(path).ok()?);
        Some((path, symbols))
    });
    let mut by_path = HashMap::new();
    let mut by_name = HashMap::new();
    for (path, symbols) in read.collect::<Vec<_>>() {
        match symbols
            .path()
            .map(|path| String::from_utf8_lossy(path).into_owned())
        {
            Some(of) => drop(by_path.insert(of, symbols)),
            None => drop(by_name.insert(path.clone(), symbols)),
        }
    }
    for file in mapped {
        if !by_path.contains_key(file)
            && let Some(symbols) = by_name.remove(&folder.join(symbols::symbol_file_name(file)))
        {
            by_path.insert(file.to_owned(), symbols);
        }
    }
    by_path
}

/// The called functions, each once, wherever it is mapped.
struct Functions<'a> {
    names: Names<'a>,
    locations: Vec<LocationIx>,
    numbers: HashMap<LocationIx, TraceFunctionIx>,
}

impl Functions<'_> {
    fn number(
        &mut self,
        address: Address,
        builder: &mut RecordingBuilder,
    ) -> Built<TraceFunctionIx> {
        let location = self.location(address, builder)?;
        let next = TraceFunctionIx(self.locations.len() as u32);
        let number = *self.numbers.entry(location).or_insert(next);
        if number == next {
            self.locations.push(location);
        }
        Ok(number)
    }

    fn location(&self, address: Address, builder: &mut RecordingBuilder) -> Built<LocationIx> {
        let Some((mapping, function)) = self.names.find(address) else {
            return builder.function(FrameKind::Unresolved, "[unknown]", "");
        };
        let module = mapping.file.rsplit('/').next().unwrap_or_default();
        let Some(function) = function else {
            let offset = address.1 - mapping.begin;
            let symbol = format!("[{module}+{offset:#x}]");
            return builder.function(FrameKind::Unresolved, &symbol, module);
        };
        let symbol = demangle(function.name);
        let frame = NamedFrame {
            symbol: symbol.as_bytes(),
            // The file it belongs to is not recorded.
            module: if function.is_of_other_file {
                b""
            } else {
                module.as_bytes()
            },
            ..NamedFrame::default()
        };
        frame.add(builder)
    }
}
