//! The fields of each event's `struct perf_event_attr` that determine the layout of its samples, as
//! raw bits.
//!
//! linux-perf-event-reader drops bits that it does not know. Each bit may add a field to a sample
//! and so move the fields after it. Samples with unknown bits are therefore rejected.

use super::check::Mode;
use sto_model::files::{ByteWindow, ReadAt};

/// Offsets in the header of the size of an event description, and of the offset and size of their
/// section.
const ATTR_SIZE: u64 = 16;
const ATTRS_OFFSET: u64 = 24;
const ATTRS_SIZE: u64 = 32;
const PIPE_HEADER_SIZE: u64 = 16;
const RECORD_HEADER_SIZE: u64 = 8;
const RECORD_HEADER_ATTR: u32 = 64;
const RECORD_HEADER_FEATURE: u32 = 80;

/// Offsets in `struct perf_event_attr` of `include/uapi/linux/perf_event.h` of its size and of
/// these fields.
const SIZE: u64 = 4;
const SAMPLE_TYPE: u64 = 24;
const READ_FORMAT: u64 = 32;
const FLAGS: u64 = 40;
const BRANCH_SAMPLE_TYPE: u64 = 72;

/// Number of bits of each field that Linux 6.19 defines. The last ones are
/// `PERF_SAMPLE_WEIGHT_STRUCT`, `PERF_FORMAT_LOST` and `PERF_SAMPLE_BRANCH_COUNTERS`.
const SAMPLE_TYPE_BITS: u32 = 25;
const READ_FORMAT_BITS: u32 = 5;
const BRANCH_SAMPLE_TYPE_BITS: u32 = 20;

const SAMPLE_READ: u64 = 1 << 4;
const SAMPLE_BRANCH_STACK: u64 = 1 << 11;
const BRANCH_COUNTERS: u64 = 1 << 19;
const DEFER_CALLCHAIN: u64 = 1 << 38;

/// The bits of an event that determine the fields of its samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    sample_type: u64,
    pub(super) read_format: u64,
    flags: u64,
    branch_sample_type: u64,
}

impl Attributes {
    fn at(file: &mut ByteWindow<'_>, attr: u64) -> Attributes {
        let mut field = |at| file.u64_at(attr.saturating_add(at)).unwrap_or_default();
        let size = u64::from(field(SIZE) as u32);
        Attributes {
            sample_type: field(SAMPLE_TYPE),
            read_format: field(READ_FORMAT),
            flags: field(FLAGS),
            // Added in Linux 3.4.
            branch_sample_type: if size > BRANCH_SAMPLE_TYPE {
                field(BRANCH_SAMPLE_TYPE)
            } else {
                0
            },
        }
    }

    /// Returns `true` if the event counts other events between branches.
    pub(super) fn counts_branches(&self) -> bool {
        self.branch_sample_type & BRANCH_COUNTERS != 0
    }

    /// The reason why the event's samples cannot be read, if they cannot.
    pub(super) fn problem(&self) -> Option<String> {
        if self.flags & DEFER_CALLCHAIN != 0 {
            return Some(
                "its call chains of user space were deferred (`--call-graph fp,defer`), so they are separate from its samples. Record without `defer`, or run `perf script`, which joins \
                 them, and ingest its text"
                    .into(),
            );
        }
        let has = |bit: u64| self.sample_type & bit != 0;
        let fields = [
            ("sample_type", self.sample_type, SAMPLE_TYPE_BITS, true),
            (
                "read_format",
                self.read_format,
                READ_FORMAT_BITS,
                has(SAMPLE_READ),
            ),
            (
                "branch_sample_type",
                self.branch_sample_type,
                BRANCH_SAMPLE_TYPE_BITS,
                has(SAMPLE_BRANCH_STACK),
            ),
        ];
        let unknown = |&(_, bits, known, used): &(_, u64, u32, bool)| used && bits >> known != 0;
        fields.into_iter().find(unknown).map(|(name, bits, ..)| {
            format!(
                "its samples have fields unknown to this version of sto (bit {} of {name}), so those \
                 after them cannot be found. Use a newer sto, or run `perf script` and ingest its \
                 text",
                bits.ilog2()
            )
        })
    }
}

/// The attributes of each event of a checked file, in order.
pub(super) fn attributes(file: &dyn ReadAt, mode: Mode) -> Vec<Attributes> {
    let mut file = ByteWindow::new(file);
    let attrs = match mode {
        Mode::File => in_section(&mut file).unwrap_or_default(),
        Mode::Pipe => in_records(&mut file),
    };
    let attrs = attrs.into_iter();
    attrs.map(|attr| Attributes::at(&mut file, attr)).collect()
}

fn in_section(file: &mut ByteWindow<'_>) -> Option<Vec<u64>> {
    let mut field = |at| file.u64_at(at).ok();
    let (start, size) = (field(ATTRS_OFFSET)?, field(ATTRS_SIZE)?);
    let attr_size = usize::try_from(field(ATTR_SIZE)?).ok();
    let attr_size = attr_size.filter(|&size| size > 0)?;
    Some(
        (start..start.checked_add(size)?)
            .step_by(attr_size)
            .collect(),
    )
}

fn in_records(file: &mut ByteWindow<'_>) -> Vec<u64> {
    let mut attrs = Vec::new();
    let mut at = PIPE_HEADER_SIZE;
    // perf writes event descriptions before all other records.
    while let Ok(header) = file.u64_at(at) {
        match header as u32 {
            RECORD_HEADER_ATTR => attrs.push(at + RECORD_HEADER_SIZE),
            RECORD_HEADER_FEATURE => {}
            _ => break,
        }
        at += header >> 48;
    }
    attrs
}
