//! The header of each version.

use crate::recording::{ProcessIx, RecordingBuilder};
use crate::wire::records::RecordFailure;
use crate::wire::text::{base_name, words};
use sto_model::bytes::Cursor;
use sto_model::units::{Nanoseconds, UnixSeconds};

pub(super) const MAGIC: &[u8] = b"memray\0";
/// Versions of memray 1.11 to 1.18, 1.19, and 1.20.
pub(super) const VERSIONS: std::ops::RangeInclusive<u32> = 11..=13;

pub(super) struct Header {
    pub(super) version: u32,
    /// The version of Python as in `PY_VERSION_HEX`; 0 in files with lines instead of line tables.
    pub(super) python: u32,
    pub(super) has_native: bool,
    pub(super) is_aggregated: bool,
    milliseconds: [u64; 2],
    command: Box<[u8]>,
    process: u32,
    pub(super) main_thread: u64,
    /// Number of memray's own frames on that thread.
    pub(super) own_frames: usize,
}

impl Header {
    pub(super) fn read(bytes: &mut Cursor<'_>) -> Result<Header, RecordFailure> {
        if bytes.take(MAGIC.len() as u64)? != MAGIC {
            return Err("expected `memray`, with which its files begin".into());
        }
        let version = bytes.u32()?;
        if !VERSIONS.contains(&version) {
            let problem = format!(
                "version {version} of memray's files; expected {} to {}, those of memray 1.11 to 1.20: with the memray \
                 that recorded it, `memray transform speedscope FILE` writes one that sto reads",
                VERSIONS.start(),
                VERSIONS.end()
            );
            return Err(problem.into());
        }
        let python = match version {
            11 => 0,
            _ => bytes.u32()?,
        };
        let has_native = bytes.u8()? != 0;
        let is_aggregated = match bytes.u8()? {
            0 => false,
            1 => true,
            other => return Err(format!("a file of kind {other}; expected 0 or 1").into()),
        };
        let _counts = (bytes.u64()?, bytes.u64()?);
        let header = Header {
            version,
            python,
            has_native,
            is_aggregated,
            milliseconds: [bytes.u64()?, bytes.u64()?],
            command: bytes.until_zero()?.into(),
            process: bytes.u32()?,
            main_thread: bytes.u64()?,
            own_frames: usize::try_from(bytes.u64()?).unwrap_or(usize::MAX),
        };
        let _allocators = (bytes.u8()?, bytes.u8()?);
        if version >= 12 {
            let _has_objects = bytes.u8()?;
        }
        if version >= 13 {
            let _library = bytes.until_zero()?;
            for _site_packages_and_path in 0..2 {
                while !bytes.until_zero()?.is_empty() {}
            }
        }
        Ok(header)
    }

    /// Adds the origin of the recording.
    pub(super) fn describe(&self, builder: &mut RecordingBuilder) -> ProcessIx {
        let [begin, end] = self.milliseconds;
        builder.origin.recorded = Some(UnixSeconds(begin / 1000));
        let duration = end.checked_sub(begin).filter(|&duration| duration > 0);
        let nanoseconds = duration.and_then(|duration| duration.checked_mul(1_000_000));
        builder.origin.duration = nanoseconds.map(Nanoseconds);
        let command = builder.text(&self.command).into_owned();
        builder.origin.command = Some(command);
        // `memray run -o FILE app.py`, or a program that uses its library.
        let script = words(&self.command).find(|word| word.ends_with(b".py"));
        let program = script.or_else(|| words(&self.command).next());
        let program = builder
            .text(base_name(program.unwrap_or_default()))
            .into_owned();
        builder.process(self.process, &program)
    }
}
