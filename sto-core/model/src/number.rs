//! Numbers that name one of many things of a kind, so that no kind is taken for another.

/// Makes a type for each: 32 bits wide, ordered, and copied like what it holds.
#[doc(hidden)]
#[macro_export]
macro_rules! numbers {
    ($($(#[$meta:meta])* $vis:vis $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name(pub u32);

        impl $name {
            /// The number as a position in a column.
            #[allow(dead_code, reason = "not every kind of thing has a column")]
            #[inline]
            $vis const fn get(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
