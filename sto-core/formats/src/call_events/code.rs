//! The encoding of an event or call as one number.

use sto_model::trace::paths::TraceFunctionIx;

/// The kind of an event or call, stored with its function and its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Begin = 0,
    End = 1,
    /// A complete event without a duration.
    Endless = 2,
}

const KIND_BITS: u32 = 2;
const FUNCTION_BITS: u32 = 28;
const NO_FUNCTION: u32 = (1 << FUNCTION_BITS) - 1;

/// The last number of a record. It orders records with equal times by their place in the file.
#[derive(Clone, Copy)]
pub(super) struct Code(pub(super) u64);

impl Code {
    pub(super) fn new(place: u64, function: Option<TraceFunctionIx>, kind: Kind) -> Option<Code> {
        let function = function.map_or(NO_FUNCTION, |function| function.0);
        let fits = function <= NO_FUNCTION && place >> (64 - FUNCTION_BITS - KIND_BITS) == 0;
        let code = (place << FUNCTION_BITS | u64::from(function)) << KIND_BITS | kind as u64;
        fits.then_some(Code(code))
    }

    pub(super) fn kind(self) -> Kind {
        match self.0 & 3 {
            0 => Kind::Begin,
            1 => Kind::End,
            _ => Kind::Endless,
        }
    }

    pub(super) fn function(self) -> Option<TraceFunctionIx> {
        let function = (self.0 >> KIND_BITS) as u32 & NO_FUNCTION;
        (function != NO_FUNCTION).then_some(TraceFunctionIx(function))
    }

    /// The code with another function.
    pub(super) fn with_function(self, function: TraceFunctionIx) -> Code {
        let mask = u64::from(NO_FUNCTION) << KIND_BITS;
        Code(self.0 & !mask | u64::from(function.0) << KIND_BITS & mask)
    }

    pub(super) fn place(self) -> u64 {
        self.0 >> (KIND_BITS + FUNCTION_BITS)
    }
}
