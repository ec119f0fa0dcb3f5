//! Index types: a newtype for each kind of index, so that indices of different tables cannot be mixed up.

/// Defines 32-bit index types.
#[doc(hidden)]
#[macro_export]
macro_rules! index_types {
    ($($(#[$meta:meta])* $vis:vis $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name(pub u32);

        impl $name {
            /// The index as a `usize`.
            #[allow(dead_code, reason = "not every index type indexes a slice")]
            #[inline]
            $vis const fn get(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
