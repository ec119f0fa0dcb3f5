//! A call path in one line.

use crate::compare::CallPath;
use crate::render::names::shorten_name;
use crate::render::{MIN_NAME_WIDTH, display_width, printable, shorten};
use std::collections::BTreeSet;
use std::iter::zip;

/// `main > serve > log`: names at most this wide, and so many functions at either end; how many
/// stand between them, is said.
pub(super) fn steps(path: &CallPath, ends: usize, width: usize) -> String {
    let name = |ix: usize| shorten(&printable(&path.stack[ix].function), width);
    let named = path.stack.len();
    let (head, tail) = match named + path.omitted > 2 * ends {
        true => (ends, named - ends),
        false => (named, named),
    };
    let mut steps: Vec<String> = (0..head).map(name).collect();
    if tail > head || path.omitted > 0 {
        steps.push(format!("({} more)", tail - head + path.omitted));
    }
    steps.extend((tail..named).map(name));
    steps.join(" > ")
}

/// Innermost callers that a path names at most, beside those that tell it from the others.
const INNERMOST: usize = 4;

/// The callers of a finding's function, outermost first, by each of its paths: a line of each. Named are
/// the one that calls it, those at which a path leaves the others, and further ones from the innermost out
/// as long as there is room in `width` columns. Where nobody calls it, the function itself is named.
pub(super) fn callers(paths: &[CallPath], width: usize) -> Vec<String> {
    let all: Vec<Callers> = paths.iter().map(Callers::of).collect();
    let line = |(ix, path): (usize, &Callers)| {
        let others = all.iter().enumerate().filter(|(other, _)| *other != ix);
        let mut named: BTreeSet<usize> = others.map(|(_, other)| path.leaves(other)).collect();
        named.insert(0);
        for further in 1..path.names.len().min(INNERMOST) {
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

/// A path from the innermost caller out.
struct Callers {
    names: Vec<String>,
    /// The first one outside of those that are left out, and how many these are.
    omitted: (usize, usize),
}

impl Callers {
    fn of(path: &CallPath) -> Callers {
        let mut names: Vec<_> = path
            .stack
            .iter()
            .rev()
            .map(|f| printable(&f.function).into_owned())
            .collect();
        let middle = names.len() / 2;
        if names.len() > 1 {
            names.remove(0);
        }
        Callers {
            names,
            omitted: (middle.saturating_sub(1), path.omitted),
        }
    }

    /// Where it first differs from another path; its outermost caller where it never does.
    fn leaves(&self, other: &Callers) -> usize {
        let common = zip(&self.names, &other.names).take_while(|(a, b)| a == b);
        common.count().min(self.names.len() - 1)
    }

    fn line(&self, named: &BTreeSet<usize>, width: usize) -> String {
        let mut steps = Vec::new();
        let mut outer = self.names.len();
        for &place in named.iter().rev() {
            let (first, omitted) = self.omitted;
            let between = outer - place - 1;
            let between = between
                + if (place + 1..=outer).contains(&first) {
                    omitted
                } else {
                    0
                };
            if between > 0 {
                steps.push(format!("… {between}"));
            }
            steps.push(shorten_name(&self.names[place], width));
            outer = place;
        }
        steps.join(" > ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::FunctionName;

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
    fn paths_name_the_callers_by_which_they_differ() {
        let paths = [
            path("main run start_tag a b c d e f hash", 0),
            path("main run end_tag a b c d e f hash", 0),
            path("main run end_tag x a b c d e f hash", 0),
        ];
        assert_eq!(
            callers(&paths, 60),
            [
                "… 2 > start_tag > … 2 > c > d > e > f",
                "… 2 > end_tag > … 2 > c > d > e > f",
                "… 3 > x > … 2 > c > d > e > f",
            ]
        );
        assert_eq!(
            callers(&paths[..1], 20),
            ["… 5 > c > d > e > f"],
            "the innermost have the room"
        );
        assert_eq!(callers(&[path("main", 0)], 40), ["main"]);
        assert_eq!(
            callers(&[path("a b c d e f", 9)], 40),
            ["… 1 > b > c > … 9 > d > e"]
        );
    }

    #[test]
    fn a_path_without_room_keeps_its_innermost_caller() {
        let long = format!("main {} hash", "name".repeat(30));
        let [line] = &callers(&[path(&long, 0)], 40)[..] else {
            panic!("one path")
        };
        assert!(display_width(line) <= 40, "{line}");
        assert!(line.starts_with("… 1 > name"), "{line}");
    }
}
