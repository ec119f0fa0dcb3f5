//! The header of a log, and its clock.

use sto_model::bytes::u64_at;
use sto_model::units::Nanoseconds;

/// Size of the header, and of each record in basic mode.
pub(super) const HEADER: usize = 32;

/// The mode of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Complete records of one size (`xray-basic`).
    Basic,
    /// The flight data recorder (`xray-fdr`): buffers of threads with relative times.
    Fdr {
        /// Size of each buffer, for logs that do not store it per buffer.
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
    /// Parses a header; `None` if the log is not of a known version. The last 16 bytes are only
    /// used for the buffer size.
    pub(super) fn parse(bytes: &[u8]) -> Option<Header> {
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

    /// Returns `true` if records have their process.
    pub(super) fn has_processes(&self) -> bool {
        self.version >= 3
    }
}

/// The processor clock of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// Cycles per second; 0 if unknown to XRay.
    frequency: u64,
}

impl Clock {
    /// Makes a clock; `None` if no processor has this frequency.
    pub(super) fn new(frequency: u64) -> Option<Clock> {
        let is_credible = frequency == 0 || (1_000_000..=10_000_000_000).contains(&frequency);
        is_credible.then_some(Clock { frequency })
    }

    /// A warning if the frequency is unknown.
    pub(super) fn warning(self) -> Option<String> {
        (self.frequency == 0).then(|| {
            "XRay could not determine the frequency of the processor's clock; cycles are shown as nanoseconds.".to_owned()
        })
    }

    /// Converts cycles to time, rounded down. If the frequency is unknown, a cycle is a nanosecond.
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
    fn converts_cycles_by_the_frequency() {
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
