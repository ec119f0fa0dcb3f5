//! Rules, formulas and formats, one document for each subject.
#![allow(
    rustdoc::invalid_rust_codeblocks,
    reason = "indented blocks of SPEC.md are no Rust"
)]

/// Makes a module of each document. The definitions of links come first, so that they take precedence over those in the
/// document, which lead to files. Indented blocks of SPEC.md are no Rust, so they are not tested.
macro_rules! documents {
    ($($name:ident = $path:literal,)*) => {
        $(
            #[cfg_attr(not(doctest), doc = concat!(include_str!("links.md"), "\n", include_str!($path)))]
            pub mod $name {}
        )*
    };
}

documents! {
    naming = "../ingest/naming.md",
    spec = "../../SPEC.md",
    symbols = "../symbolize/symbols.md",
}
