//! Call paths in one line.

use crate::compare::{CallPath, FunctionName};
use crate::functions;
use crate::text::names::{cut_path, distinct_names, shorten_name};
use crate::text::{MIN_NAME_WIDTH, display_width, printable, shorten};
use crate::tree::{Link, fold_library, folded_name};
use std::collections::BTreeSet;
use std::iter::zip;

/// A step of a call path: one or several frames.
pub(super) enum Step<'a> {
    /// A single frame.
    Frame(Link<'a>),
    /// Calls within libraries and runtimes.
    Folded(&'a [Link<'a>]),
    /// Number of frames in the middle that the comparison left out.
    Omitted(usize),
}

/// Returns the frames of a path, outermost first.
pub(super) fn links(path: &CallPath) -> Vec<Link<'_>> {
    path.stack.iter().map(link).collect()
}

/// Returns the steps of a path, given the number of frames left out in its middle. The last frame,
/// the function itself, is never folded.
pub(super) fn folded_steps<'a>(links: &'a [Link<'a>], mut omitted: usize) -> Vec<Step<'a>> {
    let mut folded = fold_library(&links[..links.len().saturating_sub(1)])
        .into_iter()
        .peekable();
    let mut steps = Vec::new();
    let mut ix = 0;
    while ix < links.len() {
        if omitted > 0 && ix >= links.len() / 2 {
            steps.push(Step::Omitted(omitted));
            omitted = 0;
        }
        let end = match folded.next_if(|folded| folded.start == ix) {
            Some(folded) => {
                steps.push(Step::Folded(&links[folded.clone()]));
                folded.end
            }
            None => {
                steps.push(Step::Frame(links[ix]));
                ix + 1
            }
        };
        ix = end;
    }
    steps
}

/// Formats a path: `main > (… 7 frames: std) > serve > log`.
///
/// Names are at most `width` wide, and at most `ends` steps are shown at either end. Calls within
/// libraries and runtimes are one step. The number of frames left out in the middle is shown.
pub(super) fn steps(path: &CallPath, ends: usize, width: usize) -> String {
    let links = links(path);
    // Text of each step, and the number of its frames.
    let step = |step| match step {
        Step::Omitted(frames) => (frames, format!("({frames} more)")),
        Step::Folded(frames) => {
            let name = format!("(… {})", folded_name(frames));
            (frames.len(), shorten(&printable(&name), width))
        }
        Step::Frame(frame) => (1, shorten_name(&printable(frame.symbol), width)),
    };
    let steps = folded_steps(&links, path.omitted).into_iter().map(step);
    let mut steps: Vec<(usize, String)> = steps.collect();
    if steps.len() > 2 * ends {
        let middle = ends..steps.len() - ends;
        let left_out: usize = steps[middle.clone()].iter().map(|(frames, _)| frames).sum();
        steps.splice(middle, [(left_out, format!("({left_out} more)"))]);
    }
    let names: Vec<String> = steps.into_iter().map(|(_, name)| name).collect();
    names.join(" > ")
}

fn link(function: &FunctionName) -> Link<'_> {
    Link {
        symbol: &function.function,
        module: &function.module,
        is_passed_through: true,
    }
}

/// Maximum number of innermost callers of the program to name, besides those by which paths differ.
const INNERMOST: usize = 4;

/// Formats the callers of a finding's function for each of its paths, outermost first.
///
/// Each line names the innermost caller that belongs to the program, the callers at which the path
/// diverges from the others, and further callers from the innermost outwards while they fit in
/// `width` columns. A function without callers is named itself.
pub(super) fn callers(paths: &[CallPath], width: usize, full_names: bool) -> Vec<String> {
    let mut all: Vec<Callers> = paths.iter().map(Callers::from_path).collect();
    if !full_names {
        let names = all
            .iter()
            .flat_map(|path| path.names.iter().map(String::as_str));
        let mut short = distinct_names(names).into_iter();
        let names = all.iter_mut().flat_map(|path| &mut path.names);
        names
            .zip(&mut short)
            .for_each(|(name, short)| *name = short);
    }
    let line = |(ix, path): (usize, &Callers)| {
        let others = all.iter().enumerate().filter(|(other, _)| *other != ix);
        let mut named: BTreeSet<usize> = others.map(|(_, other)| path.leaves(other)).collect();
        let mut of_program = path.of_program();
        named.insert(of_program.next().unwrap_or(0));
        for further in of_program.take(INNERMOST - 1) {
            let mut more = named.clone();
            more.insert(further);
            if display_width(&path.line(&more, usize::MAX)) > width {
                break;
            }
            named = more;
        }
        let rest = named.len() * " > … 10 > ".len();
        path.line(
            &named,
            (width.saturating_sub(rest) / named.len()).max(MIN_NAME_WIDTH),
        )
    };
    all.iter().enumerate().map(line).collect()
}

/// A path from the innermost caller outwards.
struct Callers {
    names: Vec<String>,
    is_library: Vec<bool>,
    /// Index of the first caller outside of those left out, and the number of those left out.
    omitted: (usize, usize),
}

impl Callers {
    fn from_path(path: &CallPath) -> Callers {
        let stack = match path.stack.split_last() {
            Some((_, callers)) if !callers.is_empty() => callers,
            _ => &path.stack,
        };
        let innermost_first = stack.iter().rev();
        let name = |f: &FunctionName| printable(&f.function).into_owned();
        let is_library = |f: &FunctionName| functions::is_library(&f.function, &f.module);
        Callers {
            names: innermost_first.clone().map(name).collect(),
            is_library: innermost_first.map(is_library).collect(),
            omitted: ((path.stack.len() / 2).saturating_sub(1), path.omitted),
        }
    }

    /// Returns the indices of callers that belong to the program, innermost first.
    fn of_program(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.names.len()).filter(|&ix| !self.is_library[ix])
    }

    /// Returns the index at which the path diverges from another: at a caller of the program if
    /// such callers differ, or the outermost caller if the paths don't diverge.
    fn leaves(&self, other: &Callers) -> usize {
        let of_other = other.of_program().map(|ix| &other.names[ix]);
        let mut pairs = zip(self.of_program(), of_other);
        if let Some((ix, _)) = pairs.find(|(ix, name)| self.names[*ix] != **name) {
            return ix;
        }
        let common = zip(&self.names, &other.names).take_while(|(a, b)| a == b);
        common.count().min(self.names.len() - 1)
    }

    fn line(&self, named: &BTreeSet<usize>, width: usize) -> String {
        let (first, omitted) = self.omitted;
        let left_out = |inner: usize, outer: usize| {
            if (inner..=outer).contains(&first) {
                outer - inner + omitted
            } else {
                outer - inner
            }
        };
        let mut steps = Vec::new();
        let leave_out = |steps: &mut Vec<String>, inner: usize, outer: usize| {
            if left_out(inner, outer) > 0 {
                steps.push(format!("… {}", left_out(inner, outer)));
            }
        };
        let mut outer = self.names.len();
        for &ix in named.iter().rev() {
            leave_out(&mut steps, ix + 1, outer);
            steps.push(cut_path(&self.names[ix], width));
            outer = ix;
        }
        if outer > 0 {
            leave_out(&mut steps, 0, outer);
        }
        steps.join(" > ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(stack: &str, omitted: usize) -> CallPath {
        let function = |function: &str| FunctionName {
            function: function.to_owned(),
            module: String::new(),
        };
        CallPath {
            stack: stack.split(' ').map(function).collect(),
            omitted,
            baseline_share: 0.0,
            candidate_share: 0.0,
            baseline_samples: 0,
            candidate_samples: 0,
            change: None,
        }
    }

    #[test]
    fn paths_name_the_callers_at_which_they_diverge() {
        let paths = [
            path("main run start_tag a b c d e f hash", 0),
            path("main run end_tag a b c d e f hash", 0),
            path("main run end_tag x a b c d e f hash", 0),
        ];
        assert_eq!(
            callers(&paths, 60, false),
            [
                "… 2 > start_tag > … 2 > c > d > e > f",
                "… 2 > end_tag > … 2 > c > d > e > f",
                "… 3 > x > … 2 > c > d > e > f",
            ]
        );
        assert_eq!(
            callers(&paths[..1], 20, false),
            ["… 5 > c > d > e > f"],
            "the innermost have the room"
        );
        assert_eq!(callers(&[path("main", 0)], 40, false), ["main"]);
        assert_eq!(
            callers(&[path("a b c d e f", 9)], 40, false),
            ["… 1 > b > c > … 9 > d > e"]
        );
    }

    #[test]
    fn omitted_library_frames_are_counted() {
        let paths = [
            path("main a core::iter::Map::fold run core::ops::call sum", 0),
            path("main b core::iter::Filter::fold run core::ops::call sum", 0),
            path("main core::iter::Map::fold run core::ops::call sum", 0),
        ];
        assert_eq!(
            callers(&paths, 60, false),
            [
                "main > a > … 1 > run > … 1",
                "main > b > … 1 > run > … 1",
                "main > … 1 > run > … 1",
            ]
        );
        let alike = [
            path("main core::iter::Map::fold run sum", 0),
            path("main core::iter::Filter::fold run sum", 0),
        ];
        assert_eq!(
            callers(&alike, 120, false),
            [
                "main > core::iter::Map::fold > run",
                "main > core::iter::Filter::fold > run",
            ],
            "where paths differ in them alone, they are named"
        );
    }

    #[test]
    fn narrow_path_keeps_its_innermost_caller() {
        let long = format!("main {} hash", "name".repeat(30));
        let [line] = &callers(&[path(&long, 0)], 40, false)[..] else {
            panic!("one path")
        };
        assert!(display_width(line) <= 40, "{line}");
        assert!(line.starts_with("… 1 > name"), "{line}");
    }
}
