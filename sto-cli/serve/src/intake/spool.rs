//! Bodies on disk, from their acknowledgement until their windows are in the store.
//!
//! The spool is a folder of numbered segments, and a segment is a sequence of records:
//!
//! ```text
//! 4 bytes   length of the header, little-endian
//! 4 bytes   length of the body
//! header    origin, format and time of arrival, as JSON
//! body      the received bytes
//! 16 bytes  BLAKE3 of all of these, truncated
//! ```
//!
//! A record is acknowledged after an `fdatasync` that covers it, and a segment is deleted when its windows are in the
//! store. A server that was killed may leave an incomplete last record, which nobody was told is stored.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use sto_core::id::RecordingHasher;

/// The folder of segments. Only one process has it open.
pub(super) struct Spool {
    folder: PathBuf,
    /// Locked while the spool is open.
    _lock: File,
    open: Option<Segment>,
    next: u64,
}

struct Segment {
    path: PathBuf,
    file: File,
    /// Bytes of acknowledged records.
    len: u64,
}

/// The ending of names of segments.
const SEGMENT: &str = "spool";

/// Length of the lengths before a record's header, and of the checksum at its end.
const HEAD: usize = 8;
const CHECKSUM: usize = 16;

impl Spool {
    /// Opens the spool in a folder, which is created if it does not exist. Returns `None` if another process has it
    /// open.
    pub(super) fn open(folder: &Path) -> io::Result<Option<Spool>> {
        fs::create_dir_all(folder)?;
        let parents = folder.ancestors().skip(1).take(2);
        for parent in parents.filter(|parent| parent.is_dir()) {
            File::open(parent)?.sync_all()?;
        }
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("lock"))?;
        match lock.try_lock() {
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            locked => locked?,
        }
        let last = segments(folder)?.pop();
        Ok(Some(Spool {
            folder: folder.to_owned(),
            _lock: lock,
            open: None,
            next: last.map_or(0, |(number, _)| number) + 1,
        }))
    }

    /// The segments that are not deleted yet, oldest first.
    pub(super) fn segments(&self) -> io::Result<Vec<PathBuf>> {
        let all = segments(&self.folder)?.into_iter();
        Ok(all.map(|(_, path)| path).collect())
    }

    /// Appends records, which are on disk when this returns.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot write them. None of them is then in the spool, and the open segment takes
    /// no further ones.
    pub(super) fn append(&mut self, records: &[&[u8]]) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let segment = match &mut self.open {
            Some(segment) => segment,
            None => {
                let path = self.folder.join(format!("{:010}.{SEGMENT}", self.next));
                let file = OpenOptions::new()
                    .create_new(true)
                    .append(true)
                    .open(&path)?;
                self.next += 1;
                File::open(&self.folder)?.sync_all()?;
                self.open.insert(Segment { path, file, len: 0 })
            }
        };
        let bytes = records.concat();
        let written = segment
            .file
            .write_all(&bytes)
            .and_then(|()| segment.file.sync_data());
        match written {
            Ok(()) => segment.len += bytes.len() as u64,
            // The reader stops at a record that could not be cut off, if it is incomplete.
            Err(_) => segment.file.set_len(segment.len)?,
        }
        written
    }

    /// Bytes of the open segment.
    pub(super) fn open_bytes(&self) -> u64 {
        self.open.as_ref().map_or(0, |segment| segment.len)
    }

    /// Closes the open segment, if there is one, and returns its path and size.
    pub(super) fn close_segment(&mut self) -> Option<(PathBuf, u64)> {
        self.open.take().map(|segment| (segment.path, segment.len))
    }
}

/// Deletes a segment, which is gone for good when this returns.
pub(super) fn delete(segment: &Path) -> io::Result<()> {
    fs::remove_file(segment)?;
    match segment.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

fn segments(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_suffix(SEGMENT)?.strip_suffix('.'));
        if let Some(number) = number.and_then(|number| number.parse().ok()) {
            found.push((number, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Encodes a record.
///
/// # Errors
///
/// Returns an error if the header or the body has 4 GiB or more.
pub(super) fn encode(header: &[u8], body: &[u8]) -> io::Result<Vec<u8>> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(io::Error::other);
    let mut record = Vec::with_capacity(HEAD + header.len() + body.len() + CHECKSUM);
    record.extend(length(header)?.to_le_bytes());
    record.extend(length(body)?.to_le_bytes());
    record.extend(header);
    record.extend(body);
    record.extend(checksum(&record));
    Ok(record)
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = RecordingHasher::new();
    hasher.update(bytes);
    hasher.finish().0
}

/// The records of a segment, in order.
pub(super) struct Records<R> {
    input: R,
    /// Bytes of the complete records so far.
    offset: u64,
}

/// A record of a segment.
pub(super) struct Record {
    /// Position in the segment.
    pub(super) offset: u64,
    pub(super) header: Vec<u8>,
    pub(super) body: Vec<u8>,
}

impl<R: Read> Records<R> {
    pub(super) fn new(input: R) -> Records<R> {
        Records { input, offset: 0 }
    }

    /// Reads the next record; `None` at the end, or if the record is incomplete or damaged.
    pub(super) fn next(&mut self) -> io::Result<Option<Record>> {
        let mut bytes = Vec::new();
        if !self.read(&mut bytes, HEAD)? {
            return Ok(None);
        }
        let length = |at: usize| {
            let length = bytes[at..at + 4].try_into().map(u32::from_le_bytes);
            length.map_or(0, |length| length as usize)
        };
        let (header, body) = (length(0), length(4));
        if !self.read(&mut bytes, header + body + CHECKSUM)? {
            return Ok(None);
        }
        let found = bytes.split_off(HEAD + header + body);
        if found != checksum(&bytes) {
            return Ok(None);
        }
        let offset = self.offset;
        self.offset += (bytes.len() + CHECKSUM) as u64;
        let body = bytes.split_off(HEAD + header);
        Ok(Some(Record {
            offset,
            header: bytes.split_off(HEAD),
            body,
        }))
    }

    /// The input, which may be read beyond the complete records.
    pub(super) fn into_input(self) -> R {
        self.input
    }

    /// Number of bytes of all complete records so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    fn read(&mut self, bytes: &mut Vec<u8>, count: usize) -> io::Result<bool> {
        let read = (&mut self.input).take(count as u64).read_to_end(bytes)?;
        Ok(read == count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut records = Records::new(bytes);
        std::iter::from_fn(|| records.next().unwrap())
            .map(|record| record.body)
            .collect()
    }

    #[test]
    fn reads_the_records_before_an_incomplete_or_damaged_one() {
        let records = [&b"one"[..], b"", b"three"];
        let records = records.map(|body| encode(b"{}", body).unwrap());
        let whole = records.concat();
        assert_eq!(bodies(&whole), [&b"one"[..], b"", b"three"]);
        let before_last = records[..2].concat().len();
        for end in before_last..whole.len() {
            assert_eq!(bodies(&whole[..end]).len(), 2, "cut at {end}");
            let mut damaged = whole.clone();
            damaged[end] ^= 1;
            assert_eq!(bodies(&damaged).len(), 2, "damaged at {end}");
        }
    }

    #[test]
    fn segments_are_read_in_order_and_by_one_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(folder.path()).unwrap().unwrap();
        assert!(Spool::open(folder.path()).unwrap().is_none());
        let mut expected = Vec::new();
        for body in ["a", "b"] {
            spool
                .append(&[&encode(b"", body.as_bytes()).unwrap()])
                .unwrap();
            expected.push(spool.close_segment().unwrap().0);
        }
        drop(spool);
        let spool = Spool::open(folder.path()).unwrap().unwrap();
        assert_eq!(spool.segments().unwrap(), expected);
        delete(&expected[0]).unwrap();
        assert_eq!(spool.segments().unwrap(), expected[1..]);
    }
}
