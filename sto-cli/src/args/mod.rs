//! What arguments of commands have in common: selectors, formats, percentages.

pub(crate) mod about;
pub(crate) mod benchmark;
pub(crate) mod choice;
pub(crate) mod drawing;
pub(crate) mod findings;
pub(crate) mod history;
pub(crate) mod inlined;
pub(crate) mod inputs;
pub(crate) mod judged;
pub(crate) mod listing;
pub(crate) mod matching;
pub(crate) mod percent;
pub(crate) mod policy;
pub(crate) mod quantities;
pub(crate) mod select;
