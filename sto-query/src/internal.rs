//! Unstable interface for `sto` and the tests, besides the public modules.

pub mod average {
    pub use crate::average::average;
}

pub mod calls {
    pub use crate::calls::{call_timeline, outliers, prominence, waits};
}

pub mod commits {
    pub use crate::commits::{runs_by_commit, runs_of_version};
}

pub mod compare {
    pub use crate::compare::{
        Lines, SECONDS, TOTAL_COST, calibrate, compare, compare_with_earlier,
    };
}

pub mod correlate {
    pub use crate::correlate::{bottlenecks, pearson, sparse_pearson, spearman};
}

pub mod expand {
    pub use crate::expand::{
        Branch, BranchSelection, CorrelationSelection, GreedySelection, InformedSelection,
        PositiveSelection, expand, expansion,
    };
}

pub mod functions {
    pub use crate::functions::{LibraryCode, RULES_VERSION};
}

pub mod history {
    pub use crate::history::{FunctionIx, History, JudgedWindow, occurrences};
}

pub mod hot {
    pub use crate::hot::{
        FileNo, FunctionNo, HotChanges, HotCosts, HotFunction, HotHistory, HotIndex, HotLine,
        HotRequest, PlacedFiles, TextCosts, newest_of_branch,
    };
}

pub mod listing {
    pub use crate::listing::list_builds;
}

pub mod potential {
    pub use crate::potential::{potential, potentials};
}

pub mod prune {
    pub use crate::prune::prune;
}

pub mod series {
    pub use crate::series::{
        SeriesOptions, change_points, expected, regressions_over_time, scores, series,
    };
}

pub mod source {
    pub use crate::source::SourceTree;
}

pub mod timeline {
    pub use crate::timeline::{Grid, NamedSeries};
}

pub mod tree {
    pub use crate::tree::{
        Function, Listed, ThreadNames, call_tree, function_numbers, functions, top, totals,
    };
}
