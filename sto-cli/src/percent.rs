//! Shares, as users write them.

use std::fmt;
use std::str::FromStr;

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
}

impl FromStr for Percent {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_suffix('%').unwrap_or(text).parse::<f64>() {
            Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(Percent(percent)),
            _ => Err("expected a number of percent, such as 0.5"),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
