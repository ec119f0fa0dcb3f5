//! Dense numbers, from 0, that a store assigns to its content. Unlike ids, they differ between stores.

use serde::{Deserialize, Serialize};
use std::fmt::Display;
use sto_model::index_types;

/// A number that a store assigns, 32 bits in its bytes.
pub(crate) trait Number: Copy + Ord + Display + Send + Sync + 'static {
    /// Marks the absence of a number.
    const NONE: Self;

    fn new(number: u32) -> Self;

    fn number(self) -> u32;

    /// The numbers from this one.
    fn onward(self) -> impl Iterator<Item = Self> {
        (self.number()..).map(Self::new)
    }

    /// The number that comes `count` later, for things that were already counted.
    fn plus(self, count: usize) -> Self {
        Self::new(self.number() + count as u32)
    }
}

macro_rules! stored_numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        index_types! {$(
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
    /// A node in a selection of an executable's nodes.
    PickedNo;
    /// An executable.
    ExecutableNo;
    /// A build.
    BuildNo;
    /// A profile.
    ProfileNo;
    /// A list of modules.
    ModulesNo;
    /// A sample type of a profile, or of a build's sums.
    TypeNo;
}
