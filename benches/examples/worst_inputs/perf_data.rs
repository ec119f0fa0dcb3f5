//! Recordings of `perf` in pipe mode, with additional records.

use std::path::Path;

/// A recording, and the values for new records.
struct Pipe {
    bytes: Vec<u8>,
    /// The first sample of the recording.
    sample: Vec<u8>,
    pid: u32,
    begun: u64,
}

const MMAP2: u32 = 10;
const FORK: u32 = 7;

impl Pipe {
    fn new() -> Pipe {
        let sample_data =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/perf-data/pipe.perf.data");
        let bytes = std::fs::read(sample_data).unwrap();
        let (mut at, mut sample) = (16, Vec::new());
        while let Some(header) = bytes.get(at..at + 8) {
            let size = usize::from(u16::from_le_bytes([header[6], header[7]]));
            if header[0] == 9 && sample.is_empty() {
                sample = bytes[at..at + size].to_vec();
            }
            at += size.max(8);
        }
        // A sample has an address, ids of process and thread, and a time.
        Pipe {
            pid: u32::from_le_bytes(sample[16..20].try_into().unwrap()),
            begun: u64::from_le_bytes(sample[24..32].try_into().unwrap()) + 1_000_000_000,
            bytes,
            sample,
        }
    }

    /// Adds a record that ends with ids and time.
    fn record(&mut self, kind: u32, words: &[u32], name: &[u8], time: u64) {
        let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        body.extend_from_slice(name);
        body.extend(
            [
                &self.sample[16..24],
                &time.to_le_bytes(),
                &self.sample[32..40],
            ]
            .concat(),
        );
        let size = u16::try_from(8 + body.len()).unwrap();
        self.bytes.extend(kind.to_le_bytes());
        self.bytes
            .extend([&[0, 0], &size.to_le_bytes()[..]].concat());
        self.bytes.extend(body);
    }

    /// Adds a mapping of this page of 8 KiB.
    fn map(&mut self, pid: u32, page: u32, path: &str, time: u64) {
        let mut name = path.as_bytes().to_vec();
        name.resize(path.len() / 8 * 8 + 8, 0);
        let (low, high) = (page << 13, page >> 19);
        let place = [low, high, 4096, 0, 0, 0, 8, 1, 1, 0, 0, 0, 5, 2];
        self.record(MMAP2, &[&[pid, pid], &place[..]].concat(), &name, time);
    }

    fn sample(&mut self, time: u64) {
        let mut sample = self.sample.clone();
        sample[24..32].copy_from_slice(&time.to_le_bytes());
        self.bytes.extend(sample);
    }
}

/// Mappings, with samples or processes between them.
pub(crate) fn mapped(samples: bool) -> Vec<u8> {
    let mut pipe = Pipe::new();
    let (pid, begun) = (pipe.pid, pipe.begun);
    for page in 1..=30_000 {
        pipe.map(pid, 60_000 - page, "/bin/x", begun);
    }
    for number in 0..30_000 {
        let time = begun + 1000 * u64::from(number);
        if samples {
            pipe.sample(time);
            pipe.map(pid, 100_000 + number, "/bin/x", time + 500);
        } else {
            let child = 1_000_000 + number % 500;
            pipe.record(FORK, &[child, pid, child, pid, 0, 0], &[], time);
            pipe.map(child, 100_000, "/bin/x", time + 500);
        }
    }
    pipe.bytes
}
