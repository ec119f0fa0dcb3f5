//! Why a recording cannot be read.

use std::fmt;
use std::path::{Path, PathBuf};
use sto_model::bytes::CursorError;
use sto_model::{Cancelled, Hint};

/// Why a recording cannot be read. Every message names the file, where in it, what was found,
/// what was expected, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file has no bytes.
    #[error("{}: the file is empty; did the recording fail, or is it still being written?", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The bytes are of no known format.
    #[error("{}: not a profile that sto can read: it starts with {found}; expected one of {formats} formats; if it is one of them, name it", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// Its first bytes, made printable, and what they show.
        found: String,
        /// How many formats there are.
        formats: usize,
    },
    /// The file was cut off.
    #[error("{}: truncated: {cut}; was the recording killed, or the copy cut short? Record or copy it again{salvage}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// What is cut, and where: `the file ends at byte 1234, in the middle of its JSON`.
        cut: String,
        /// What can be done with what there is.
        salvage: Salvage,
    },
    /// The file breaks a rule of its format.
    #[error("{}: {at}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where: `line 12`, `the record at byte 1234`.
        at: String,
        /// What was found, what was expected, and what to do.
        problem: String,
        /// Whether it may be that the file was cut off, and can be read up to there.
        may_be_cut: bool,
    },
    /// Compressed data expand to more than they may.
    #[error("cannot read {}: {problem}", path.display())]
    ExpandsTooFar {
        /// The file.
        path: PathBuf,
        /// To how much, and what to do.
        problem: String,
    },
    /// The recording was made in a way that cannot be read here.
    #[error("{}: {problem}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is and what to do.
        problem: String,
    },
    /// No value of a trace is of a time at which the recording ran.
    #[error("{}: {}", path.display(), no_overlap(trace, recording, length, start.as_deref()))]
    NoOverlap {
        /// The trace.
        path: PathBuf,
        /// Its times, from the first to the last.
        trace: String,
        /// Those of the recording's samples, by its clock.
        recording: String,
        /// How long that is.
        length: String,
        /// How long after the recording's first sample the trace's 0 was said to be.
        start: Option<String>,
    },
    /// Reading was ended early.
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
            "the trace is of another time than the recording: its times are {trace}, and with its 0 at {start} of the \
             recording none of them is within the recording's {length}; say another time at which its 0 is"
        ),
        None => format!(
            "the trace is of another time than the recording: its times are {trace}, those of the recording {recording} by its \
             clock, or 0 s to {length} from its first sample; say at what time of the recording its 0 is"
        ),
    }
}

/// What can be done with what there is of a file that was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Salvage {
    /// [`ReadOptions::allow_truncated`](crate::ReadOptions::allow_truncated) takes it.
    Possible,
    /// Nothing, as what it is read by stands at its end or is cut itself.
    Impossible,
}

/// The end of a message that says that the file is to be made again.
impl fmt::Display for Salvage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Salvage::Possible => ", or take what there is",
            Salvage::Impossible => "; what there is cannot be read without the rest",
        })
    }
}

impl FormatError {
    /// An error of a file that breaks a rule of its format.
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

    /// What can be done about it.
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

    /// An error of a file that was cut off: where, and within what.
    pub(super) fn cut_off(path: &Path, cut: impl Into<String>, salvage: Salvage) -> FormatError {
        FormatError::Truncated {
            path: path.to_owned(),
            cut: cut.into(),
            salvage,
        }
    }

    /// An error of a file that was made in a way that cannot be read here.
    pub(super) fn unsupported(path: &Path, problem: String) -> FormatError {
        let path = path.to_owned();
        FormatError::Unsupported { path, problem }
    }

    /// An error of a file of which the named part ends beyond the file's end.
    pub(super) fn ends_early(
        path: &Path,
        part: impl fmt::Display,
        (expected, found): (u64, u64),
        salvage: Salvage,
    ) -> FormatError {
        let cut = format!("{part} ends at byte {expected}, but the file ends at byte {found}");
        FormatError::cut_off(path, cut, salvage)
    }

    /// Makes an error of what the system says of a file.
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

/// What is wrong with the bytes of a file, and where. The name of the file is added last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DecodeError(Box<(At, Problem)>);

pub(super) type Decoded<T> = Result<T, DecodeError>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum At {
    Byte(usize),
    Line(usize),
    /// `threads[0].samples.stack[5]`.
    Path(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    /// What was found, what was expected, and what to do; whether the file may be cut off there.
    Malformed(String, bool),
    /// A value ends at this byte of the file, beyond the end of what holds it; what was found and expected.
    EndsAt(u64, String),
    /// The file ends too soon: where, within what, and what can be done.
    Cut(String, Salvage),
    /// The file was made in a way that cannot be read here: what it is, and what to do.
    Unsupported(String),
}

impl DecodeError {
    pub(super) fn new(at: impl Into<At>, problem: impl Into<String>) -> DecodeError {
        DecodeError(Box::new((
            at.into(),
            Problem::Malformed(problem.into(), false),
        )))
    }

    /// A file that ends at a byte, `within` what.
    pub(super) fn cut(at: usize, within: impl fmt::Display) -> DecodeError {
        let cut = format!("the file ends at byte {at}, {within}");
        DecodeError::cut_off(cut, Salvage::Impossible)
    }

    pub(super) fn cut_off(cut: String, salvage: Salvage) -> DecodeError {
        DecodeError(Box::new((At::Byte(0), Problem::Cut(cut, salvage))))
    }

    /// A file that was made in a way that cannot be read here.
    pub(super) fn unsupported(problem: String) -> DecodeError {
        DecodeError(Box::new((At::Byte(0), Problem::Unsupported(problem))))
    }

    /// Whether what there is of a file that was cut off can be read.
    pub(super) fn is_salvageable(&self) -> bool {
        matches!(self.0.1, Problem::Cut(_, Salvage::Possible))
    }

    /// Whether a value ends beyond the end of what holds it.
    pub(super) fn is_end(&self) -> bool {
        matches!(self.0.1, Problem::EndsAt(..))
    }

    /// An index that is not in its table.
    pub(super) fn index(at: impl Into<At>, table: &str, length: usize, index: i64) -> DecodeError {
        let problem = format!(
            "{index}; expected an index of {table}, which has {length} entries; was the file edited?"
        );
        DecodeError::new(at, problem)
    }

    /// An id of what the file does not have.
    pub(super) fn missing(at: usize, what: &str, id: u64) -> DecodeError {
        let problem =
            format!("{what} {id}, which the file does not have; was it cut short, or edited?");
        DecodeError::new(at, problem)
    }

    pub(super) fn at<P: Into<String>>(at: impl Into<At>) -> impl FnOnce(P) -> DecodeError {
        move |problem| DecodeError::new(at, problem)
    }

    /// The same of a part of the file, where what is wrong was found in that part alone.
    pub(super) fn within(self, part: &str) -> DecodeError {
        match *self.0 {
            (_, Problem::Cut(..)) => DecodeError::new(part, "it ends in the middle of a value"),
            (at, problem) => DecodeError(Box::new((At::Path(format!("{at} of {part}")), problem))),
        }
    }

    /// The same of what begins at this byte of the file.
    pub(super) fn after(mut self, start: usize) -> DecodeError {
        if let At::Byte(at) = &mut self.0.0 {
            *at += start;
        }
        self
    }

    /// The same of a file that the one that was read was made of: `at` finds where it is there, by its byte.
    pub(super) fn moved(self, at: impl FnOnce(usize) -> String) -> DecodeError {
        match *self.0 {
            (At::Byte(byte), problem) => DecodeError(Box::new((At::Path(at(byte)), problem))),
            _ => self,
        }
    }

    pub(super) fn in_file(self, path: &Path, size: usize) -> FormatError {
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

    /// The same of a last line without a line end, where the file may be cut off.
    pub(super) fn in_last_line(mut self, salvage: Salvage) -> DecodeError {
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
