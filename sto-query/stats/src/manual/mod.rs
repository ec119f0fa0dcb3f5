//! Rules, formulas and formats, one document for each subject.

/// Makes a module of each document. The definitions of links come first, so that they take precedence over those in the
/// document, which lead to files.
macro_rules! documents {
    ($($name:ident = $path:literal,)*) => {
        $(
            #[doc = concat!(include_str!("links.md"), "\n", include_str!($path))]
            pub mod $name {}
        )*
    };
}

documents! {
    models = "../models/models.md",
    statistics = "../statistics.md",
}
