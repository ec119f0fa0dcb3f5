//! Rules, formulas and formats, one document for each subject.

/// Makes a module of each document.
macro_rules! documents {
    ($($name:ident = $path:literal,)*) => {
        $(
            #[doc = include_str!($path)]
            pub mod $name {}
        )*
    };
}

documents! {
    file = "../file/file.md",
    sizes = "../maintain/sizes.md",
}
