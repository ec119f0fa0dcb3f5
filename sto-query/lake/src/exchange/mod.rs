//! Profiles on their way between stores: each as a file of its own, at a place that all of them reach.
//!
#![doc = include_str!("exchange.md")]

mod error;
mod layout;

pub use error::ExchangeError;
pub use layout::Exchange;

/// The name of the layout.
pub const LAYOUT: &str = "sto-store";

/// The version of the layout.
pub const VERSION: u64 = 1;
