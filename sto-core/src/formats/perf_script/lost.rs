//! Events that were lost while recording.

use crate::formats::wire::text::decimal;

/// Sums of lost events. perf counts them as they happen (`PERF_RECORD_LOST lost 5`), and since Linux
/// 6.1 all of them once more at the end (`PERF_RECORD_LOST_SAMPLES lost 5`).
#[derive(Default)]
pub(super) struct Lost {
    events: u64,
    samples: u64,
}

impl Lost {
    pub(super) fn add(&mut self, record: &[u8]) {
        let mut words = record.split(|byte| matches!(byte, b' ' | b':'));
        let sum = match words.next() {
            Some(b"PERF_RECORD_LOST") => &mut self.events,
            Some(b"PERF_RECORD_LOST_SAMPLES") => &mut self.samples,
            _ => return,
        };
        *sum = sum.saturating_add(words.find_map(decimal).unwrap_or(0));
    }

    pub(super) fn append(&mut self, behind: Lost) {
        self.events = self.events.saturating_add(behind.events);
        self.samples = self.samples.saturating_add(behind.samples);
    }

    pub(super) fn all(&self) -> u64 {
        self.events.max(self.samples)
    }
}
