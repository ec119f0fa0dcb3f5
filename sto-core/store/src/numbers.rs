//! The numbers that a store gives to what it holds: dense, from 0 on. Ids are the same in every store, numbers
//! are not.

use serde::{Deserialize, Serialize};
use std::fmt::Display;
use sto_model::numbers;

/// A number of a store, which stands in its bytes as 32 bits.
pub(crate) trait Number: Copy + Ord + Display + Send + Sync + 'static {
    /// Stands where there is no number.
    const NONE: Self;

    fn new(number: u32) -> Self;

    fn number(self) -> u32;

    /// The numbers from this one on.
    fn onward(self) -> impl Iterator<Item = Self> {
        (self.number()..).map(Self::new)
    }

    /// The number so many after this one, of things that were counted already.
    fn plus(self, count: usize) -> Self {
        Self::new(self.number() + count as u32)
    }
}

macro_rules! stored_numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        numbers! {$(
            $(#[$doc])*
            #[derive(Default, Serialize, Deserialize)]
            pub(crate) $name;
        )*}

        $(impl Number for $name {
            const NONE: Self = $name(u32::MAX);

            #[inline]
            fn new(number: u32) -> Self {
                $name(number)
            }

            #[inline]
            fn number(self) -> u32 {
                self.0
            }
        }

        impl Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        })*
    };
}

stored_numbers! {
    /// A frame of the store.
    FrameNo;
    /// A node of an executable.
    NodeNo;
    /// A node among those that were picked out of an executable's.
    PickedNo;
    /// An executable.
    ExecutableNo;
    /// A build.
    BuildNo;
    /// A profile.
    ProfileNo;
    /// A list of modules.
    ModulesNo;
    /// A sample type: of a profile, or of the sums of a build.
    TypeNo;
}
