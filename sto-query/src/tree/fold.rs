//! Folding of frames that samples only pass through, which are shown as one line.
//!
//! A frame is *passed through* if it has one callee and almost no self cost. Consecutive frames
//! that are passed through form a run. Its first and last frames that belong to the program are
//! kept. The frames before, between and after them are folded: two or more frames of libraries and
//! runtimes, or three or more if frames of the program are among them.

use crate::functions::{is_library, origin};
use std::ops::Range;

/// Share of all samples below which self cost is negligible.
pub(crate) const NO_OWN_COST: f64 = 0.001;

/// Maximum number of origins to name for folded frames.
const NAMED: usize = 3;

/// A frame of a chain of calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<'a> {
    /// Symbol or function key.
    pub(crate) symbol: &'a str,
    /// The file that its code was loaded from.
    pub(crate) module: &'a str,
    /// Whether samples only pass through it.
    pub(crate) is_passed_through: bool,
}

/// Returns the folded rows of a tree, given the depths of all rows in preorder, and the link of
/// each row.
pub(crate) fn fold_tree<'a>(
    depths: impl Iterator<Item = usize>,
    link: impl Fn(usize) -> Link<'a>,
) -> Vec<usize> {
    let mut callees: Vec<usize> = Vec::new();
    let mut callers = Vec::new();
    for (row, depth) in depths.enumerate() {
        callers.truncate(depth);
        callers
            .last()
            .into_iter()
            .for_each(|&caller: &usize| callees[caller] += 1);
        callers.push(row);
        callees.push(0);
    }
    // The only callee of a row directly follows it. The last row of a chain has no or several
    // callees.
    let rows: Vec<usize> = (0..callees.len()).collect();
    let chains = rows.chunk_by(|&row, _| callees[row] == 1);
    let folded = chains.flat_map(|chain| {
        let links: Vec<Link> = chain[..chain.len() - 1]
            .iter()
            .map(|&row| link(row))
            .collect();
        let start = chain[0];
        let folded = fold(&links).into_iter().flatten();
        folded.map(move |ix| start + ix)
    });
    folded.collect()
}

/// Returns the ranges of folded frames in a chain, outermost first, in which each frame is the only
/// callee of the one before.
fn fold(chain: &[Link]) -> Vec<Range<usize>> {
    let mut folded = Vec::new();
    let mut start = 0;
    for run in chain.chunk_by(|a, b| a.is_passed_through && b.is_passed_through) {
        if run[0].is_passed_through {
            let of_program: Vec<usize> = (0..run.len())
                .filter(|&ix| !is_library(run[ix].symbol, run[ix].module))
                .collect();
            let ends = match (of_program.first(), of_program.last()) {
                (Some(&first), Some(&last)) => [0..first, first + 1..last, last + 1..run.len()],
                _ => [0..run.len(), 0..0, 0..0],
            };
            for part in ends {
                let has_program = of_program.iter().any(|ix| part.contains(ix));
                let least = if has_program { 3 } else { 2 };
                if part.len() >= least {
                    folded.push(start + part.start..start + part.end);
                }
            }
        }
        start += run.len();
    }
    folded
}

/// Returns the ranges of two or more consecutive frames of libraries and runtimes.
pub(crate) fn fold_library(chain: &[Link]) -> Vec<Range<usize>> {
    let mut folded = Vec::new();
    let mut start = 0;
    let is_library = |link: &Link| is_library(link.symbol, link.module);
    for run in chain.chunk_by(|a, b| is_library(a) == is_library(b)) {
        if run.len() > 1 && is_library(&run[0]) {
            folded.push(start..start + run.len());
        }
        start += run.len();
    }
    folded
}

/// Describes folded frames: `18 frames: rayon, std`.
pub(crate) fn folded_name(frames: &[Link]) -> String {
    let mut origins: Vec<&str> = Vec::new();
    for link in frames {
        let origin = origin(link.symbol, link.module);
        if !origin.is_empty() && !origins.contains(&origin) {
            origins.push(origin);
            if origins.len() > NAMED {
                break;
            }
        }
    }
    let more = if origins.len() > NAMED { ", …" } else { "" };
    origins.truncate(NAMED);
    match origins[..] {
        [] => format!("{} frames", frames.len()),
        _ => format!("{} frames: {}{more}", frames.len(), origins.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(symbol: &'static str) -> Link<'static> {
        Link {
            symbol: symbol.trim_end_matches('!'),
            module: "app",
            is_passed_through: !symbol.ends_with('!'),
        }
    }

    fn folded(chain: &'static str) -> Vec<String> {
        let chain: Vec<Link> = chain.split(' ').map(link).collect();
        fold(&chain)
            .into_iter()
            .map(|run| folded_name(&chain[run]))
            .collect()
    }

    #[test]
    fn first_and_last_program_frames_are_kept() {
        let chain = "_start std::rt::lang_start core::ops::call_once app::main app::run walk::go app::search \
                     core::a alloc::b hot!";
        assert_eq!(folded(chain), ["3 frames: app, std", "2 frames: std"]);
        let chain = "app::main rayon::a rayon::b std::c app::search hot!";
        assert_eq!(folded(chain), ["3 frames: rayon, std"]);
    }

    #[test]
    fn short_chains_and_frames_with_cost_are_not_folded() {
        assert!(folded("main run work hot!").is_empty());
        assert!(folded("main! std::a! run! std::b!").is_empty());
        assert!(
            folded("main std::a run").is_empty(),
            "one frame is one line anyway"
        );
        assert_eq!(folded("main a b c hot!"), Vec::<String>::new());
        assert_eq!(folded("main a b c d hot!"), ["3 frames: app"]);
    }

    #[test]
    fn names_at_most_three_origins() {
        let chain = "main a::x b::x c::x d::x e::x hot hot!";
        assert_eq!(folded(chain), ["5 frames: a, b, c, …"]);
    }
}
