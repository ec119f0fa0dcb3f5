//! Call logs of LLVM XRay: basic mode, versions 1 to 3, and flight data recorder, versions 1 to 5;
//! and logs converted by `llvm-xray convert -f yaml`.
//!
//! See [the manual](crate::manual::xray).

mod basic;
mod fdr;
mod header;
mod program;
mod threads;
pub(super) mod yaml;

use crate::calls;
use crate::error::{DecodeError, FormatError, Salvage};
use crate::recording::{Built, Format, LocationIx, ModuleIx, Recording, RecordingBuilder};
use crate::source::{Head, ReadOptions};
use header::{HEADER, Header, Mode};
use program::Program;
use std::io;
use std::path::Path;
use sto_model::FrameKind;
use sto_model::files::ReadAt;
use sto_model::trace::log::{CallLogWriter, SpoolError};
use sto_model::units::Bytes;
use threads::Threads;

/// Returns `true` if a file begins like a log.
pub(super) fn matches(head: &Head<'_>) -> bool {
    Header::parse(head.bytes).is_some()
}

/// A log that is being read.
struct Log<'a> {
    path: &'a Path,
    file: &'a dyn ReadAt,
    options: &'a ReadOptions,
    header: Header,
}

/// Name of the first argument of a call, the only one that XRay records.
const FIRST_ARGUMENT: &str = "arg1";

/// Offset of a cut or damage in a log, and the number of bytes left out.
struct Damage {
    at: u64,
    left_out: u64,
}

impl Damage {
    /// The sum of several, with the first offset.
    fn sum(all: &[Damage]) -> Option<Damage> {
        let at = all.iter().map(|damage| damage.at).min()?;
        let left_out = all.iter().map(|damage| damage.left_out).sum();
        Some(Damage { at, left_out })
    }
}

/// Reads a log and looks up its functions in its program.
pub(super) fn read(
    path: &Path,
    file: &dyn ReadAt,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    let mut head = vec![0; (HEADER as u64).min(file.size()) as usize];
    file.read_exact_at(&mut head, 0)
        .map_err(FormatError::io(path))?;
    if head.len() < HEADER {
        let end = (HEADER as u64, file.size());
        return Err(FormatError::ends_early(
            path,
            "its header",
            end,
            Salvage::Impossible,
        ));
    }
    let Some(header) = Header::parse(&head) else {
        let problem = "expected the header of an XRay log of version 1 to 3 (basic mode) or 1 to 5 (flight data recorder) with the frequency of the processor's clock";
        return Err(FormatError::malformed(path, "byte 0", problem));
    };
    let log = Log {
        path,
        file,
        options,
        header,
    };
    let program = Program::find(path, &options.symbols);
    let name = match &program {
        Ok(program) => program
            .path()
            .file_name()
            .map(|name| name.to_string_lossy().into_owned()),
        Err(_) => program::name_of(path),
    };
    let name = name.unwrap_or_default();
    let writer = CallLogWriter::new(options.call_folder.as_deref());
    let ((source, damage, events), (writer, functions)) = match header.mode {
        Mode::Basic => {
            let mut threads = Threads::new(writer, &name);
            let (source, damage) = basic::read(&log, &mut threads)?;
            ((source, damage, 0), threads.finish())
        }
        Mode::Fdr { buffer_size } => {
            let mut threads = Threads::new(writer, &name);
            (
                fdr::read(&log, buffer_size, &mut threads)?,
                threads.finish(),
            )
        }
    };
    let mut builder = RecordingBuilder::default();
    builder.warnings.extend(log.warning(damage));
    builder.warnings.extend(passed_over(events));
    let locations = locate(&functions, (program, &name), options, &mut builder);
    let locations =
        locations.map_err(|problem| FormatError::unsupported(path, problem.to_string()))?;
    let finished = calls::finish(builder, writer, &locations, options);
    let builder = finished.map_err(|error| error.in_file(path, 0))?;
    Ok(builder.finish(Format::XRay, source, Bytes(file.size())))
}

/// A warning about events that the program wrote itself, such as custom and typed events.
fn passed_over(events: u64) -> Option<String> {
    let counted = match events {
        0 => return None,
        1 => "1 event written by the program itself is not a call and was".to_owned(),
        many => format!("{many} events written by the program itself are not calls and were"),
    };
    Some(format!("{counted} passed over."))
}

/// The locations of functions by number, and a warning if they are unknown.
fn locate(
    ids: &[u32],
    (program, name): (Result<Program, String>, &str),
    options: &ReadOptions,
    builder: &mut RecordingBuilder,
) -> Built<Vec<LocationIx>> {
    let greatest = ids.iter().copied().max().unwrap_or_default();
    let program = program.and_then(|program| match program.mismatch(greatest) {
        Some(problem) => Err(problem),
        None => Ok(program),
    });
    let program: Option<(Program, ModuleIx)> = match program {
        Ok(program) => {
            builder.warnings.extend(program.warning(&options.symbols));
            let module = builder.module(program.module());
            Some((program, module))
        }
        Err(problem) => {
            builder.warnings.push(format!("{problem}."));
            None
        }
    };
    let mut locate = |&id: &u32| {
        let known = program.as_ref();
        match known.and_then(|(program, module)| Some((*module, program.entry(id)?))) {
            Some((module, entry)) => builder.address(module, entry),
            None => builder.function(FrameKind::Unresolved, &format!("[function {id}]"), name),
        }
    };
    ids.iter().map(&mut locate).collect()
}

impl Log<'_> {
    /// Fills a buffer with up to `most` bytes from an offset on.
    fn fill(&self, buffer: &mut Vec<u8>, offset: u64, most: usize) -> Result<(), FormatError> {
        let left = self.file.size() - offset;
        buffer.resize(left.min(most as u64) as usize, 0);
        self.file
            .read_exact_at(buffer, offset)
            .map_err(FormatError::io(self.path))
    }

    fn io(&self, error: io::Error) -> FormatError {
        FormatError::io(self.path)(error)
    }

    fn spool(&self, error: SpoolError) -> FormatError {
        DecodeError::from(error).in_file(self.path, 0)
    }

    fn was_read(&self, bytes: usize) -> Result<(), FormatError> {
        let called = self.options.on_read.call(bytes as u64);
        called.map_err(FormatError::Cancelled)
    }

    /// Records damage, if that is allowed; otherwise returns an error. Without a problem, the log
    /// is cut off there.
    fn damage(&self, at: u64, left_out: u64, wrong: Option<String>) -> Result<Damage, FormatError> {
        if self.options.allow_truncated {
            return Ok(Damage { at, left_out });
        }
        Err(match wrong {
            Some(problem) => FormatError::malformed(self.path, format!("byte {at}"), problem),
            None => {
                let cut = format!("it ends within the record at byte {at}");
                FormatError::cut_off(self.path, cut, Salvage::Possible)
            }
        })
    }

    fn warning(&self, damage: Option<Damage>) -> impl Iterator<Item = String> {
        let clock = self.header.clock.warning();
        let damage = damage.map(|Damage { at, left_out }| {
            format!(
                "The file is cut off or damaged after byte {at}: {left_out} bytes were left out."
            )
        });
        clock.into_iter().chain(damage)
    }
}
