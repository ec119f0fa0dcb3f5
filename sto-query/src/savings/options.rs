//! Options of a search for savings.

use crate::functions::KeyOptions;
use crate::tree::Order;
use serde::{Deserialize, Serialize};

/// The kind of code whose cores are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SavingsOf {
    /// Functions.
    #[default]
    Functions,
    /// Libraries and programs: the files that code was loaded from.
    Modules,
}

/// Options of a search for savings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SavingsOptions {
    /// The kind of listed code.
    pub of: SavingsOf,
    /// The cost that orders the list, and that is partly saved.
    pub order: Order,
    /// The saved part of the cost, above 0 and at most 1.
    pub less: f64,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// How functions of several builds are matched.
    pub matching: KeyOptions,
    /// Maximum number of functions or libraries; unlimited if `None`.
    pub limit: Option<usize>,
}

impl Default for SavingsOptions {
    fn default() -> SavingsOptions {
        SavingsOptions {
            of: SavingsOf::default(),
            order: Order::default(),
            less: 0.1,
            inlined: false,
            matching: KeyOptions::default(),
            limit: None,
        }
    }
}
