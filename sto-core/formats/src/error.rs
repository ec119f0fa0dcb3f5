//! Errors of readers.

use std::fmt;
use std::path::{Path, PathBuf};
use sto_model::bytes::CursorError;
use sto_model::{Cancelled, Hint};

/// An error when reading a recording.
///
/// Each message names the file and the place in it, the found and the expected content, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is empty.
    #[error("{}: the file is empty; did the recording fail, or is it still being written?", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The format of the file is not recognised.
    #[error("{}: not a profile that sto can read: it starts with {found}; expected one of {formats} formats; if it has one of these, name it", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// A printable excerpt of the first bytes and a guess at their format.
        found: String,
        /// Number of supported formats.
        formats: usize,
    },
    /// The file is truncated.
    #[error("{}: truncated: {cut}; was the recording killed, or the copy cut short? Record or copy it again{salvage}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// End of the file: `the file ends at byte 1234, in the middle of its JSON`.
        cut: String,
        /// Whether the part before the cut can be read.
        salvage: Salvage,
    },
    /// The file breaks a rule of its format.
    #[error("{}: {at}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Place in the file: `line 12`, `the record at byte 1234`.
        at: String,
        /// The found and expected values, and the remedy.
        problem: String,
        /// Whether the file may have been cut off here, so that the part before can be read.
        may_be_cut: bool,
    },
    /// Compressed data expand beyond the limit.
    #[error("cannot read {}: {problem}", path.display())]
    ExpandsTooFar {
        /// The file.
        path: PathBuf,
        /// The size or limit, and the remedy.
        problem: String,
    },
    /// The recording uses a variant or setting of its format that is not supported.
    #[error("{}: {problem}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The unsupported variant, and the remedy.
        problem: String,
    },
    /// The times of a trace and of the recording do not overlap.
    #[error("{}: {}", path.display(), no_overlap(trace, recording, length, start.as_deref()))]
    NoOverlap {
        /// The trace.
        path: PathBuf,
        /// The first and last time of the trace.
        trace: String,
        /// The first and last time of the recording's samples, by its own clock.
        recording: String,
        /// Duration of the recording.
        length: String,
        /// The offset, as given by the user, of the trace's time 0 from the recording's first
        /// sample.
        start: Option<String>,
    },
    /// Reading was cancelled.
    #[error(transparent)]
    Cancelled(Cancelled),
    /// The recording holds no samples.
    #[error("{}: holds no samples; did the program run long enough, and did the event count anything?", path.display())]
    NoSamples {
        /// The file.
        path: PathBuf,
    },
}

fn no_overlap(trace: &str, recording: &str, length: &str, start: Option<&str>) -> String {
    match start {
        Some(start) => format!(
            "the trace does not overlap the recording: its times are {trace}, and with its time 0 at {start} of the \
             recording none is within the recording's {length}; choose another start of the trace"
        ),
        None => format!(
            "the trace does not overlap the recording: its times are {trace}, the recording's are {recording} by its \
             clock, or 0 s to {length} from its first sample; choose the start of the trace"
        ),
    }
}

/// Whether the part of a truncated file before the cut can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Salvage {
    /// It can, with [`ReadOptions::allow_truncated`](crate::ReadOptions::allow_truncated).
    Possible,
    /// It cannot, because an index at the end of the file that is needed to read it is missing or
    /// damaged.
    Impossible,
}

/// Formats the remedy that ends the message of a truncated file.
impl fmt::Display for Salvage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Salvage::Possible => ", or read the part before the cut",
            Salvage::Impossible => "; the part before the cut cannot be read without the rest",
        })
    }
}

impl FormatError {
    /// Makes an error for a file that breaks a rule of its format.
    #[doc(hidden)]
    pub fn malformed(
        path: &Path,
        at: impl fmt::Display,
        problem: impl Into<String>,
    ) -> FormatError {
        FormatError::Malformed {
            path: path.to_owned(),
            at: at.to_string(),
            problem: problem.into(),
            may_be_cut: false,
        }
    }

    /// The remedy, if there is an option for it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            FormatError::Unknown { .. } => Some(Hint::NameFormat),
            FormatError::ExpandsTooFar { .. } => Some(Hint::RaiseMaxInput),
            FormatError::NoOverlap { .. } => Some(Hint::TraceStart),
            FormatError::Malformed {
                may_be_cut: true, ..
            }
            | FormatError::Truncated {
                salvage: Salvage::Possible,
                ..
            } => Some(Hint::AllowTruncated),
            _ => None,
        }
    }

    /// Makes an error for a truncated file.
    pub(super) fn cut_off(path: &Path, cut: impl Into<String>, salvage: Salvage) -> FormatError {
        FormatError::Truncated {
            path: path.to_owned(),
            cut: cut.into(),
            salvage,
        }
    }

    /// Makes an error for an unsupported variant of a format.
    pub(super) fn unsupported(path: &Path, problem: String) -> FormatError {
        let path = path.to_owned();
        FormatError::Unsupported { path, problem }
    }

    /// Makes an error for a file that ends before one of its parts does.
    pub(super) fn ends_early(
        path: &Path,
        part: impl fmt::Display,
        (expected, found): (u64, u64),
        salvage: Salvage,
    ) -> FormatError {
        let cut = format!("{part} ends at byte {expected}, but the file ends at byte {found}");
        FormatError::cut_off(path, cut, salvage)
    }

    /// Returns a conversion from I/O errors of the file at `path`.
    pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> FormatError {
        |source| match source.get_ref().and_then(|error| error.downcast_ref()) {
            Some(&Cancelled) => FormatError::Cancelled(Cancelled),
            None => FormatError::Io {
                path: path.to_owned(),
                source,
            },
        }
    }
}

/// A decoding error and its place in the file. [`DecodeError::in_file`] adds the file's name.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(Box<(At, Problem)>);

pub(super) type Decoded<T> = Result<T, DecodeError>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum At {
    Byte(usize),
    Line(usize),
    /// A path like `threads[0].samples.stack[5]`.
    Path(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    /// The problem, and whether the file may have been cut off here.
    Malformed(String, bool),
    /// The byte at which a value should end, which lies beyond the end of its container, and the
    /// problem.
    EndsAt(u64, String),
    /// The file is truncated: where and in what, and whether the part before can be read.
    Cut(String, Salvage),
    /// An unsupported variant of a format, and the remedy.
    Unsupported(String),
}

impl DecodeError {
    pub(super) fn new(at: impl Into<At>, problem: impl Into<String>) -> DecodeError {
        DecodeError(Box::new((
            at.into(),
            Problem::Malformed(problem.into(), false),
        )))
    }

    /// Makes an error for a file that ends at byte `at`; `within` says in the middle of what.
    pub(super) fn cut(at: usize, within: impl fmt::Display) -> DecodeError {
        let cut = format!("the file ends at byte {at}, {within}");
        DecodeError::cut_off(cut, Salvage::Impossible)
    }

    pub(super) fn cut_off(cut: String, salvage: Salvage) -> DecodeError {
        DecodeError(Box::new((At::Byte(0), Problem::Cut(cut, salvage))))
    }

    /// Makes an error for an unsupported variant of a format.
    pub(super) fn unsupported(problem: String) -> DecodeError {
        DecodeError(Box::new((At::Byte(0), Problem::Unsupported(problem))))
    }

    /// Returns `true` if the file was cut off and the part before can be read.
    pub(super) fn is_salvageable(&self) -> bool {
        matches!(self.0.1, Problem::Cut(_, Salvage::Possible))
    }

    /// Returns `true` if a value ends beyond the end of its container.
    pub(super) fn is_end(&self) -> bool {
        matches!(self.0.1, Problem::EndsAt(..))
    }

    /// Makes an error for an index that is out of range.
    pub(super) fn index_out_of_range(
        at: impl Into<At>,
        table: &str,
        length: usize,
        index: i64,
    ) -> DecodeError {
        let problem = format!(
            "{index}; expected an index of {table}, which has {length} entries; was the file edited?"
        );
        DecodeError::new(at, problem)
    }

    /// Makes an error for an id that is not defined in the file.
    pub(super) fn undefined_id(at: usize, what: &str, id: u64) -> DecodeError {
        let problem =
            format!("{what} {id}, which the file does not have; was it cut short, or edited?");
        DecodeError::new(at, problem)
    }

    pub(super) fn at<P: Into<String>>(at: impl Into<At>) -> impl FnOnce(P) -> DecodeError {
        move |problem| DecodeError::new(at, problem)
    }

    /// Names the part of the file that the error's place is relative to.
    pub(super) fn in_part(self, part: &str) -> DecodeError {
        match *self.0 {
            (_, Problem::Cut(..)) => DecodeError::new(part, "it ends in the middle of a value"),
            (at, problem) => DecodeError(Box::new((At::Path(format!("{at} of {part}")), problem))),
        }
    }

    /// Moves the error's byte offset by `start`.
    pub(super) fn shift_offset(mut self, start: usize) -> DecodeError {
        if let At::Byte(at) = &mut self.0.0 {
            *at += start;
        }
        self
    }

    /// Replaces the byte offset in converted data by the place in the original file, which `at`
    /// finds.
    pub(super) fn map_offset(self, at: impl FnOnce(usize) -> String) -> DecodeError {
        match *self.0 {
            (At::Byte(byte), problem) => DecodeError(Box::new((At::Path(at(byte)), problem))),
            _ => self,
        }
    }

    /// Makes the error of a file of `size` bytes.
    pub fn in_file(self, path: &Path, size: usize) -> FormatError {
        let (at, problem) = *self.0;
        let size = size as u64;
        let (problem, may_be_cut) = match problem {
            Problem::EndsAt(end, _) if end > size => {
                let value = format_args!("the value at {at}");
                return FormatError::ends_early(path, value, (end, size), Salvage::Impossible);
            }
            Problem::Cut(cut, salvage) => return FormatError::cut_off(path, cut, salvage),
            Problem::Unsupported(problem) => return FormatError::unsupported(path, problem),
            Problem::EndsAt(_, problem) => (problem, false),
            Problem::Malformed(problem, may_be_cut) => (problem, may_be_cut),
        };
        FormatError::Malformed {
            path: path.to_owned(),
            at: at.to_string(),
            problem,
            may_be_cut,
        }
    }

    /// Adds to the message that the file may have been cut off in its last line.
    pub(super) fn maybe_cut_in_last_line(mut self, salvage: Salvage) -> DecodeError {
        if let Problem::Malformed(problem, may_be_cut) = &mut self.0.1 {
            problem.push_str(&format!(
                "; the file ends within this line: if it was cut off there, record or copy it again{salvage}"
            ));
            *may_be_cut = salvage == Salvage::Possible;
        }
        self
    }
}

impl From<CursorError> for DecodeError {
    fn from(error: CursorError) -> DecodeError {
        let problem = error.to_string();
        DecodeError(Box::new(match error {
            CursorError::EndsEarly { at, end, .. } => (At::Byte(at), Problem::EndsAt(end, problem)),
            CursorError::TooManyBits { at, .. } => {
                (At::Byte(at), Problem::Malformed(problem, false))
            }
        }))
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Byte(byte) => write!(f, "byte {byte}"),
            At::Line(line) => write!(f, "line {line}"),
            At::Path(path) => f.write_str(path),
        }
    }
}

impl From<usize> for At {
    fn from(byte: usize) -> At {
        At::Byte(byte)
    }
}

impl From<String> for At {
    fn from(path: String) -> At {
        At::Path(path)
    }
}

impl From<&str> for At {
    fn from(path: &str) -> At {
        At::Path(path.to_owned())
    }
}
