//! Profiles on their way between stores: each as a file of its own, at a place that all of them reach.
//!
#![doc = include_str!("exchange.md")]

mod at_once;
mod error;
mod layout;
mod result;

pub(crate) use at_once::at_once;
pub use error::ExchangeError;
pub(crate) use layout::Exchange;
pub use result::{Pulled, Pushed};

/// The name of the layout.
pub(crate) const LAYOUT: &str = "sto-store";

/// The version of the layout.
pub(crate) const VERSION: u64 = 1;
