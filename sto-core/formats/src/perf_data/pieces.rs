//! Recordings that perf wrote in several files (`perf record --switch-output`).

use super::read_ahead::ReadAhead;
use super::walk::Walk;
use super::{Piece, check, read_records, records};
use crate::error::FormatError;
use crate::recording::{Format, Recording};
use crate::source::{OnRead, ReadOptions, written};
use linux_perf_data::PerfFile;
use linux_perf_data::linux_perf_event_reader::{EventRecord, RecordType};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_model::files::{Links, RegularFile};
use sto_model::id::RecordingHasher;
use sto_model::units::Bytes;

/// Longest time without a sample between two pieces of a recording of a whole system, in nanoseconds. There is no
/// recorded process by which two such recordings differ.
const MAX_GAP: u64 = 1_000_000_000;

/// The properties that all pieces of a recording share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    host: Option<String>,
    command: Vec<String>,
    events: String,
    /// The first process that the file describes: the recorded one, or 1 or 0 for a whole system.
    pid: u32,
}

/// The times of a file's first and last sample.
type Times = (u64, u64);

/// Groups files that are pieces of one recording. Returns the files' indices: each recording's pieces in order of time,
/// recordings in the order of their first file. Any other file is a group of its own.
pub fn group_pieces(paths: &[&Path]) -> Vec<Vec<usize>> {
    let mut recordings: BTreeMap<Origin, Vec<(Times, usize)>> = BTreeMap::new();
    let mut groups = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        match describe(path) {
            Some((origin, times)) => recordings.entry(origin).or_default().push((times, index)),
            None => groups.push(vec![index]),
        }
    }
    for (origin, mut pieces) in recordings {
        pieces.sort_unstable();
        let goes_on = |((_, end), _): &(Times, usize), ((start, _), _): &(Times, usize)| {
            end <= start && (origin.pid > 1 || start - end <= MAX_GAP)
        };
        let runs = pieces.chunk_by(goes_on);
        groups.extend(runs.map(|run| run.iter().map(|&(_, index)| index).collect()));
    }
    groups.sort_unstable_by_key(|group: &Vec<usize>| group.iter().min().copied());
    groups
}

/// Returns `None` if the file is not a piece of a recording, or has no samples.
fn describe(path: &Path) -> Option<(Origin, Times)> {
    let file = RegularFile::open(path, Links::Follow).ok()?;
    let (mode, range) = check::check(path, &file).ok()?;
    let header = records::header(path, &file, mode).ok()?;
    let command: Vec<String> = records::arguments(&header)?;
    if !command
        .iter()
        .any(|word| word.starts_with("--switch-output"))
    {
        return None;
    }
    let nobody = OnRead::default();
    let mut walk = Walk::new(path, &file, range, &header, &nobody);
    let (mut pid, mut times) = (None, None);
    while let Some(record) = walk.next().ok()? {
        match record.kind {
            RecordType::COMM if pid.is_none() => {
                if let Ok(EventRecord::Comm(comm)) = walk.raw(&record).parse() {
                    pid = Some(comm.pid as u32);
                }
            }
            RecordType::SAMPLE => {
                let time = record.time?;
                let (first, last) = times.unwrap_or((time, time));
                times = Some((time.min(first), time.max(last)));
            }
            _ => {}
        }
    }
    let origin = Origin {
        host: header.hostname().ok().flatten().map(str::to_owned),
        command,
        events: events(&header),
        pid: pid.unwrap_or(0),
    };
    Some((origin, times?))
}

/// Returns the descriptions and ids of the events, as text that can be compared.
pub(super) fn events(header: &PerfFile) -> String {
    format!("{:?}", header.event_attributes())
}

/// Reads pieces of one recording, in order of time. Processes and mappings of a piece are known in the next ones.
///
/// # Errors
/// Returns an error if a file cannot be read, is damaged, or has other events than the first one.
pub fn read_pieces(paths: &[PathBuf], options: &ReadOptions) -> Result<Recording, FormatError> {
    let open =
        |path: &PathBuf| RegularFile::open(path, Links::Follow).map_err(FormatError::io(path));
    let files = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let walked = files.iter();
    let walked = walked.map(|file| ReadAhead::new(file, &options.timings));
    let walked: Vec<ReadAhead<'_>> = walked.collect();
    let pieces = paths.iter().zip(&files).zip(&walked);
    let pieces: Vec<Piece<'_>> = pieces
        .map(|((path, file), walked)| Piece { path, file, walked })
        .collect();
    let builder = read_records(&pieces, options)?;
    let mut source = RecordingHasher::new();
    for (path, walked) in paths.iter().zip(walked) {
        let piece = walked.finish().map_err(FormatError::io(path))?;
        source.update(piece.to_string().as_bytes());
    }
    let size = files.iter().map(|file| file.metadata.len()).sum();
    let mut recording = builder.finish(Format::PerfData, source.finish(), Bytes(size));
    let recorded = files.first().and_then(|file| written(&file.metadata));
    recording.parts_mut().origin.recorded = recorded;
    Ok(recording)
}
