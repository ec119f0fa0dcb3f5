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
    average = "../average.md",
    bisect = "../commits/bisect/bisect.md",
    calibrate = "../compare/calibrate/calibrate.md",
    calls = "../calls/calls.md",
    compare = "../compare/compare.md",
    correlate = "../correlate/correlate.md",
    drawings = "../render/flame/drawings.md",
    expand = "../expand/expand.md",
    exports = "../render/export/exports.md",
    findings = "../render/findings/findings.md",
    functions = "../functions/functions.md",
    history = "../history/history.md",
    hot = "../hot/hot.md",
    json = "../render/json.md",
    metrics = "../correlate/metrics.md",
    models = "../models/models.md",
    phases = "../phases/phases.md",
    policy = "../policy/policy.md",
    potential = "../potential.md",
    savings = "../savings/savings.md",
    select = "../select/select.md",
    series = "../series/series.md",
    source = "../source/source.md",
    suspects = "../suspects/suspects.md",
    tables = "../tables/tables.md",
    timeline = "../timeline/timeline.md",
    tree = "../tree/tree.md",
}
