//! The header of a log, and its clock.

use sto_model::bytes::u64_at;
use sto_model::units::Nanoseconds;

/// Bytes of the header, and of each record of the basic mode.
pub(super) const HEADER: usize = 32;

/// How a log was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Records of one size, each complete (`xray-basic`).
    Basic,
    /// The flight data recorder (`xray-fdr`): buffers of threads, with times that build on one another.
    Fdr {
        /// Bytes of each buffer, where logs do not write it with each.
        buffer_size: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) version: u16,
    pub(super) mode: Mode,
    pub(super) clock: Clock,
}

impl Header {
    /// The header that bytes begin with; `None` where they are of no log that is known. Of the buffer's size,
    /// 16 bytes say nothing.
    pub(super) fn of(bytes: &[u8]) -> Option<Header> {
        let (head, frequency) = (u64_at(bytes, 0)?, u64_at(bytes, 8)?);
        let (version, mode) = (head as u16, (head >> 16) as u16);
        let mode = match (mode, version) {
            (0, 1..=3) => Mode::Basic,
            (1, 1..=5) => Mode::Fdr {
                buffer_size: u64_at(bytes, 16).unwrap_or_default(),
            },
            _ => return None,
        };
        Some(Header {
            version,
            mode,
            clock: Clock::new(frequency)?,
        })
    }

    /// Whether records name their process.
    pub(super) fn has_processes(&self) -> bool {
        self.version >= 3
    }
}

/// The processor's clock that a log has its times by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// Cycles a second; 0 where XRay could not find it out.
    frequency: u64,
}

impl Clock {
    /// One of so many cycles a second; `None` where no processor has such a one.
    pub(super) fn new(frequency: u64) -> Option<Clock> {
        let is_credible = frequency == 0 || (1_000_000..=10_000_000_000).contains(&frequency);
        is_credible.then_some(Clock { frequency })
    }

    /// What to know of its times.
    pub(super) fn warning(self) -> Option<String> {
        (self.frequency == 0).then(|| {
            "XRay could not find out how fast the processor's clock goes; its cycles are shown as nanoseconds.".to_owned()
        })
    }

    /// A number of cycles as time, rounded down. Cycles of a clock that is not known are nanoseconds.
    pub(super) fn time(self, cycles: u64) -> Nanoseconds {
        const SECOND: u64 = 1_000_000_000;
        Nanoseconds(match self.frequency {
            0 | SECOND => cycles,
            frequency => {
                let (seconds, cycles) = (cycles / frequency, cycles % frequency);
                seconds
                    .saturating_mul(SECOND)
                    .saturating_add(cycles * SECOND / frequency)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_become_nanoseconds_by_the_frequency_of_the_header() {
        let time = |frequency, cycles| Clock::new(frequency).unwrap().time(cycles).0;
        assert_eq!(
            time(2_400_000_000, 2_400_000_000 * 86_400 * 365 + 12),
            31_536_000_000_000_005
        );
        assert_eq!(time(10_000_000_000, u64::MAX), u64::MAX / 10);
        assert_eq!(time(1_000_000_000, 17), 17);
        assert_eq!(time(0, 17), 17);
        assert_eq!(time(1_000_000, u64::MAX), u64::MAX);
    }
}
