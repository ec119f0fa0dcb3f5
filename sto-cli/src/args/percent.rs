//! Shares, as users write them.

use std::fmt;

/// A share in percent: `0.5` or `0.5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(f64);

impl Percent {
    /// A share of 1 is 100 percent.
    pub(crate) fn from_share(share: f64) -> Self {
        Percent(share * 100.0)
    }

    /// 100 percent is a share of 1.
    pub(crate) fn share(self) -> f64 {
        self.0 / 100.0
    }

    /// Parses a part of a whole.
    pub(crate) fn part(text: &str) -> Result<Self, &'static str> {
        parsed(text)
            .filter(|percent| (0.0..100.0).contains(percent))
            .map(Percent)
            .ok_or("expected percent from 0 to below 100, such as 0.5")
    }

    /// Parses a change, which may be more than the whole.
    pub(crate) fn change(text: &str) -> Result<Self, &'static str> {
        parsed(text)
            .filter(|&percent| percent > 0.0 && percent.is_finite())
            .map(Percent)
            .ok_or("expected percent above 0, such as 25")
    }
}

fn parsed(text: &str) -> Option<f64> {
    text.strip_suffix('%').unwrap_or(text).parse().ok()
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
