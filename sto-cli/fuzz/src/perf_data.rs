//! Writes recordings of perf.
//!
//! `perf_event_open(2)` and `tools/perf/Documentation/perf.data-file-format.txt` in the sources of Linux
//! specify the layouts.

pub(crate) const IP: u64 = 1;
pub(crate) const TID: u64 = 1 << 1;
pub(crate) const TIME: u64 = 1 << 2;
pub(crate) const ADDR: u64 = 1 << 3;
pub(crate) const CALLCHAIN: u64 = 1 << 5;
pub(crate) const CPU: u64 = 1 << 7;
pub(crate) const PERIOD: u64 = 1 << 8;
pub(crate) const RAW: u64 = 1 << 10;
pub(crate) const BRANCH_STACK: u64 = 1 << 11;
pub(crate) const REGS_USER: u64 = 1 << 12;
pub(crate) const STACK_USER: u64 = 1 << 13;
pub(crate) const IDENTIFIER: u64 = 1 << 16;

pub(crate) const MMAP: u32 = 1;
pub(crate) const LOST: u32 = 2;
pub(crate) const COMM: u32 = 3;
pub(crate) const EXIT: u32 = 4;
pub(crate) const THROTTLE: u32 = 5;
pub(crate) const FORK: u32 = 7;
pub(crate) const SAMPLE: u32 = 9;
pub(crate) const MMAP2: u32 = 10;
pub(crate) const LOST_SAMPLES: u32 = 13;
pub(crate) const HEADER_ATTR: u32 = 64;
pub(crate) const BUILD_ID: u32 = 67;
pub(crate) const FINISHED_ROUND: u32 = 68;
pub(crate) const HEADER_FEATURE: u32 = 80;
pub(crate) const COMPRESSED: u32 = 81;
pub(crate) const FINISHED_INIT: u32 = 82;

pub(crate) const KERNEL: u16 = 1;
pub(crate) const USER: u16 = 2;
/// `PERF_RECORD_MISC_COMM_EXEC` and `PERF_RECORD_MISC_FORK_EXEC`, which share a bit.
pub(crate) const EXEC: u16 = 1 << 13;
pub(crate) const MMAP_BUILD_ID: u16 = 1 << 14;

const SAMPLE_ID_ALL: u64 = 1 << 18;
const BRANCH_USER_CALL_STACK: u64 = 1 | 1 << 11;
/// `BP`, `SP` and `IP`.
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;

/// A recording under construction.
pub(crate) struct Writer {
    pub(crate) sample_type: u64,
    pub(crate) records: Vec<u8>,
}

/// A sample. The sample type determines which fields are written.
#[derive(Default)]
pub(crate) struct Sample {
    pub(crate) event: u64,
    pub(crate) misc: u16,
    pub(crate) ip: u64,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) time: u64,
    pub(crate) period: u64,
    pub(crate) chain: Vec<u64>,
    pub(crate) raw: Vec<u8>,
    /// Source and target addresses.
    pub(crate) branches: Vec<(u64, u64)>,
    /// Base pointer, stack pointer, instruction pointer.
    pub(crate) registers: Option<[u64; 3]>,
    pub(crate) stack: Vec<u8>,
}

impl Writer {
    pub(crate) fn new(sample_type: u64) -> Writer {
        Writer {
            sample_type: sample_type | IP | TID | TIME | PERIOD | IDENTIFIER,
            records: Vec::new(),
        }
    }

    fn has(&self, field: u64) -> bool {
        self.sample_type & field != 0
    }

    /// Adds a record, truncated to the maximum length.
    pub(crate) fn record(&mut self, kind: u32, misc: u16, body: &[u8]) {
        push_record(&mut self.records, kind, misc, body);
    }

    /// Adds a record of the kernel, followed by its time and event.
    pub(crate) fn event(
        &mut self,
        kind: u32,
        misc: u16,
        mut body: Vec<u8>,
        [pid, tid]: [u32; 2],
        time: u64,
    ) {
        push_u32s(&mut body, &[pid, tid]);
        push_u64s(&mut body, &[time]);
        if self.has(CPU) {
            push_u64s(&mut body, &[0]);
        }
        push_u64s(&mut body, &[1]);
        self.record(kind, misc, &body);
    }

    pub(crate) fn comm(&mut self, misc: u16, pid: u32, name: &[u8], time: u64) {
        let mut body = Vec::new();
        push_u32s(&mut body, &[pid, pid]);
        push_text(&mut body, name);
        self.event(COMM, misc, body, [pid, pid], time);
    }

    /// Adds an `MMAP2` record of a file with an inode or a build id.
    pub(crate) fn mmap2(
        &mut self,
        misc: u16,
        pid: u32,
        [start, len, offset]: [u64; 3],
        file: Result<u64, [u8; 20]>,
        prot: u32,
        (path, time): (&[u8], u64),
    ) {
        let mut body = Vec::new();
        push_u32s(&mut body, &[pid, pid]);
        push_u64s(&mut body, &[start, len, offset]);
        let misc = match file {
            Ok(inode) => {
                push_u32s(&mut body, &[8, 1]);
                push_u64s(&mut body, &[inode, 0]);
                misc
            }
            Err(build_id) => {
                push_u32s(&mut body, &[20]);
                body.extend(build_id);
                misc | MMAP_BUILD_ID
            }
        };
        push_u32s(&mut body, &[prot, 2]);
        push_text(&mut body, path);
        self.event(MMAP2, misc, body, [pid, pid], time);
    }

    /// Writes a sample. Returns `false` if it does not fit into a record.
    pub(crate) fn sample(&mut self, sample: &Sample) -> bool {
        let mut body = Vec::new();
        push_u64s(&mut body, &[sample.event, sample.ip]);
        push_u32s(&mut body, &[sample.pid, sample.tid]);
        push_u64s(&mut body, &[sample.time]);
        if self.has(ADDR) {
            push_u64s(&mut body, &[sample.ip]);
        }
        if self.has(CPU) {
            push_u64s(&mut body, &[0]);
        }
        push_u64s(&mut body, &[sample.period]);
        if self.has(CALLCHAIN) {
            push_u64s(&mut body, &[sample.chain.len() as u64]);
            push_u64s(&mut body, &sample.chain);
        }
        if self.has(RAW) {
            push_u32s(&mut body, &[sample.raw.len() as u32]);
            body.extend(&sample.raw);
        }
        if self.has(BRANCH_STACK) {
            push_u64s(&mut body, &[sample.branches.len() as u64]);
            for &(from, to) in &sample.branches {
                push_u64s(&mut body, &[from, to, 0]);
            }
        }
        if self.has(REGS_USER) {
            push_u64s(&mut body, &[if sample.registers.is_some() { 2 } else { 0 }]);
            push_u64s(
                &mut body,
                sample
                    .registers
                    .as_ref()
                    .map_or(&[][..], |registers| registers),
            );
        }
        if self.has(STACK_USER) {
            push_u64s(&mut body, &[sample.stack.len() as u64]);
            body.extend(&sample.stack);
            if !sample.stack.is_empty() {
                push_u64s(&mut body, &[sample.stack.len() as u64]);
            }
        }
        let fits = body.len() + 8 <= usize::from(u16::MAX);
        if fits {
            self.record(SAMPLE, sample.misc, &body);
        }
        fits
    }

    /// Returns the attributes of the events (`perf_event_attr`).
    fn attr(&self) -> Vec<u8> {
        let mut attr = Vec::new();
        push_u32s(&mut attr, &[1, 112]);
        push_u64s(
            &mut attr,
            &[0, 1_000_000, self.sample_type, 0, SAMPLE_ID_ALL],
        );
        push_u32s(&mut attr, &[0, 0]);
        push_u64s(&mut attr, &[0, 0, BRANCH_USER_CALL_STACK, REGISTERS]);
        push_u32s(&mut attr, &[8192, 0]);
        push_u64s(&mut attr, &[0]);
        push_u32s(&mut attr, &[0, 0]);
        attr
    }

    /// Returns a stream in the format of `perf record -o -`, with these features.
    pub(crate) fn stream(&self, events: u64, features: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = b"PERFILE2".to_vec();
        push_u64s(&mut bytes, &[16]);
        for event in 1..=events {
            let mut body = self.attr();
            push_u64s(&mut body, &[event]);
            push_record(&mut bytes, HEADER_ATTR, 0, &body);
        }
        for (feature, data) in features {
            let mut body = u64::from(*feature).to_le_bytes().to_vec();
            body.extend(data);
            push_record(&mut bytes, HEADER_FEATURE, 0, &body);
        }
        bytes.extend(&self.records);
        bytes
    }

    /// Returns a file in the format of `perf record -o FILE`, with these features.
    pub(crate) fn file(&self, events: u64, features: &[(u8, Vec<u8>)]) -> Vec<u8> {
        const HEADER: u64 = 104;
        let attr = self.attr();
        let attr_size = attr.len() as u64 + 16;
        let ids = HEADER;
        let attrs = ids + 8 * events;
        let data = attrs + attr_size * events;
        let data_size = self.records.len() as u64;
        let mut bits = [0u64; 4];
        for &(feature, _) in features {
            bits[usize::from(feature / 64)] |= 1 << (feature % 64);
        }
        let mut bytes = b"PERFILE2".to_vec();
        push_u64s(&mut bytes, &[HEADER, attr_size]);
        push_u64s(
            &mut bytes,
            &[attrs, attr_size * events, data, data_size, 0, 0],
        );
        push_u64s(&mut bytes, &bits);
        push_u64s(&mut bytes, &(1..=events).collect::<Vec<_>>());
        for event in 0..events {
            bytes.extend(&attr);
            push_u64s(&mut bytes, &[ids + 8 * event, 8]);
        }
        bytes.extend(&self.records);
        let mut at = data + data_size + 16 * features.len() as u64;
        for (_, data) in features {
            push_u64s(&mut bytes, &[at, data.len() as u64]);
            at += data.len() as u64;
        }
        features.iter().for_each(|(_, data)| bytes.extend(data));
        bytes
    }
}

pub(crate) fn push_record(bytes: &mut Vec<u8>, kind: u32, misc: u16, body: &[u8]) {
    let body = &body[..body.len().min(usize::from(u16::MAX) - 8)];
    push_u32s(bytes, &[kind]);
    bytes.extend(misc.to_le_bytes());
    bytes.extend((body.len() as u16 + 8).to_le_bytes());
    bytes.extend(body);
}

pub(crate) fn push_u32s(bytes: &mut Vec<u8>, numbers: &[u32]) {
    numbers
        .iter()
        .for_each(|number| bytes.extend(number.to_le_bytes()));
}

pub(crate) fn push_u64s(bytes: &mut Vec<u8>, numbers: &[u64]) {
    numbers
        .iter()
        .for_each(|number| bytes.extend(number.to_le_bytes()));
}

/// Appends text with a terminating zero, padded to 8 bytes, as at the end of records.
pub(crate) fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    let text = &text[..text.len().min(4000)];
    bytes.extend(text);
    let len = text.len();
    bytes.extend(std::iter::repeat_n(0, len / 8 * 8 + 8 - len));
}

/// Returns text in the format of header features, preceded by its length.
pub(crate) fn feature_text(text: &[u8]) -> Vec<u8> {
    let mut padded = Vec::new();
    push_text(&mut padded, text);
    [&(padded.len() as u32).to_le_bytes()[..], &padded].concat()
}
