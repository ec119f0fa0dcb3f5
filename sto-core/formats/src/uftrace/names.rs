//! Names and arguments of the functions at addresses.

use super::arguments::{Field, Specs};
use super::sessions::{Mapping, Sessions};
use super::symbols::{Function, Symbols};
use crate::demangle::demangle;
use hashbrown::HashMap;

/// Index of a session and an address in it.
pub(super) type Address = (usize, u64);

/// The functions at addresses.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) sessions: &'a Sessions,
    pub(super) symbols: &'a HashMap<String, Symbols>,
    pub(super) are_relative: bool,
}

impl<'a> Names<'a> {
    /// The mapped file that contains an address, and the function.
    pub(super) fn find(
        self,
        (session, address): Address,
    ) -> Option<(&'a Mapping, Option<Function<'a>>)> {
        let mapping = self.sessions.list.get(session)?.mapping(address)?;
        let lookup = if self.are_relative {
            address - mapping.begin
        } else {
            address
        };
        let symbols = self.symbols.get(&mapping.file);
        Some((
            mapping,
            symbols.and_then(|symbols| symbols.function(lookup)),
        ))
    }
}

/// The recorded arguments of functions.
pub(super) struct Arguments<'a> {
    pub(super) names: Names<'a>,
    pub(super) specs: Specs,
}

impl Arguments<'_> {
    pub(super) fn get(&self, address: Address) -> Option<&[Field]> {
        let (_, function) = self.names.find(address)?;
        self.specs.function(&demangle(function?.name))
    }
}
