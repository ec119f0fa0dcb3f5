//! Construction of the index from a view and the lines of its runs.

use super::{Calls, File, FileNo, Function, FunctionNo, HotIndex, Line};
use crate::compare::Lines;
use crate::functions::{FunctionKey, KeyOptions, ModuleKey, function_key, outside_of_closures};
use crate::select::main_modules;
use crate::sources::EVENT;
use crate::tree::{Subject, View, call_costs, sum_costs};
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{Frame, FrameKind, agreed_digests};
use sto_core::tree::{outermost, totals};
use sto_core::units::Cost;

/// Maximum number of callers and of callees kept for a function.
const MOST_CALLS: usize = 32;

/// Builds the index of a view in its first sample type; `runs` are the lines of its profiles.
pub(super) fn index(view: &View, runs: &[Lines]) -> HotIndex {
    let build = &view.selection.build;
    let profiles = &view.selection.profiles;
    let main = main_modules(build, profiles);
    let key = |frame| function_key(frame, &main, KeyOptions::default());
    let self_costs = view.self_costs(EVENT);

    // Functions sorted by name and module, and the function of each frame. Functions without a cost are removed
    // later, because frames of lines refer to them.
    let keys: BTreeSet<FunctionKey> = view.frames.iter().map(|(_, frame)| key(frame)).collect();
    let keys: Vec<FunctionKey> = keys.into_iter().collect();
    let numbers: HashMap<&FunctionKey, u32> = keys.iter().zip(0..).collect();
    let number_of: Vec<u32> = view
        .frames
        .iter()
        .map(|(_, frame)| numbers[&key(frame)])
        .collect();
    let costs = sum_costs(view, &self_costs, &number_of);

    let paths = view.frames.iter().map(|(_, frame)| frame.file);
    let paths: BTreeSet<&str> = paths.filter(|path| !path.is_empty()).collect();
    let file_numbers: HashMap<&str, FileNo> =
        paths.iter().copied().zip((0..).map(FileNo)).collect();
    let homes = homes(view, &self_costs, &number_of, keys.len());
    let homes = homes
        .into_iter()
        .map(|path| file_numbers.get(path).copied());
    let homes: Vec<Option<FileNo>> = homes.collect();

    let sums = LineSums::from_runs(runs, |frame| {
        let file = *file_numbers.get(frame.file)?;
        Some((file, *numbers.get(&key(frame))?))
    });
    let first_lines = sums.first_lines(&homes);
    let mut modules: Vec<Box<str>> = Vec::new();
    let mut module_numbers: HashMap<&str, u32> = HashMap::new();
    let functions = keys.iter().enumerate().map(|(number, (name, module))| {
        let module = match module {
            ModuleKey::MainProgram => &build.executable,
            ModuleKey::Named(module) => *module,
        };
        let (own, total) = costs[number];
        Function {
            name: (&**name).into(),
            module: *module_numbers.entry(module).or_insert_with(|| {
                modules.push(module.into());
                modules.len() as u32 - 1
            }),
            file: homes[number],
            first_line: first_lines[number],
            own,
            total,
        }
    });
    let functions: Vec<Function> = functions.collect();
    let whole: Cost = self_costs.iter().copied().sum();
    let outer = outer_numbers(&keys);
    let mut lines_of = sums.by_line(&outer, whole);
    let mut functions_of: Vec<Vec<FunctionNo>> = vec![Vec::new(); paths.len()];
    for (function, number) in functions.iter().zip(0..) {
        if let Some(file) = function.file.filter(|_| !function.total.is_zero()) {
            functions_of[file.0 as usize].push(FunctionNo(number));
        }
    }
    let digests = runs.iter().flat_map(|run| run.sources.clone());
    let digests = agreed_digests(digests);
    let (mut files, mut of_files, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for ((path, mut of_file), number) in paths.iter().zip(functions_of).zip(0..) {
        // The sort is stable, so functions on the same line stay in order.
        of_file.sort_by_key(|function| functions[function.0 as usize].first_line);
        of_files.extend(of_file);
        lines.extend(lines_of.remove(&FileNo(number)).unwrap_or_default());
        files.push(File {
            path: (*path).into(),
            digest: digests.get(*path).copied(),
            ends: [of_files.len() as u32, lines.len() as u32],
        });
    }
    let recorded = profiles.iter().filter_map(|p| p.profile.origin.recorded);
    let calls = call_costs(view, &self_costs, &number_of);
    let inlined = inlined_into(view, &self_costs, &number_of);
    let count = functions.len();
    let swapped = |((a, b), cost): (&(u32, u32), &Cost)| ((*b, *a), *cost);
    HotIndex {
        subject: Subject::new(view, EVENT),
        revision: build.revision.clone(),
        recorded: recorded.min(),
        main_modules: main.iter().map(|&name| name.to_owned()).collect(),
        modules,
        files,
        functions,
        of_files,
        lines,
        calls: [
            Calls::from_pairs(calls.iter().map(swapped), count),
            Calls::from_pairs(calls.iter().map(|(pair, cost)| (*pair, *cost)), count),
            Calls::from_pairs(inlined.into_iter(), count),
        ],
    }
}

/// Returns the source file in which each function costs most, if known.
fn homes<'v>(
    view: &'v View,
    self_costs: &[Cost],
    number_of: &[u32],
    functions: usize,
) -> Vec<&'v str> {
    let each: Vec<u32> = (0..number_of.len() as u32).collect();
    let frame_costs = sum_costs(view, self_costs, &each);
    let mut by_file: BTreeMap<(u32, &str), Cost> = BTreeMap::new();
    for ((_, frame), (&function, (_, total))) in
        view.frames.iter().zip(number_of.iter().zip(frame_costs))
    {
        if !frame.file.is_empty() {
            *by_file.entry((function, frame.file)).or_default() += total;
        }
    }
    let mut homes = vec![("", Cost::ZERO); functions];
    for ((function, file), total) in by_file {
        let home = &mut homes[function as usize];
        if home.0.is_empty() || weight(total) > weight(home.1) {
            *home = (file, total);
        }
    }
    homes.into_iter().map(|(file, _)| file).collect()
}

/// Returns for each function the outermost function that contains its source, as for closures.
fn outer_numbers(keys: &[FunctionKey]) -> Vec<u32> {
    let named: HashMap<(&str, ModuleKey), u32> = keys
        .iter()
        .map(|(name, module)| (&**name, *module))
        .zip(0..)
        .collect();
    let outer = |(number, (name, module)): (usize, &FunctionKey)| {
        let outer = outside_of_closures(name).and_then(|name| named.get(&(name, *module)));
        outer.copied().unwrap_or(number as u32)
    };
    keys.iter().enumerate().map(outer).collect()
}

/// Returns the cost of each pair of an inlined function and the function whose machine code contains it.
fn inlined_into(view: &View, self_costs: &[Cost], number_of: &[u32]) -> BTreeMap<(u32, u32), Cost> {
    let totals = totals(&view.tree, self_costs);
    let number = |node| number_of[view.tree.frame(node).get()];
    // For each node, the function whose machine code it belongs to.
    let mut code_of: Vec<u32> = Vec::with_capacity(view.tree.len());
    let mut inlined: BTreeMap<(u32, u32), Cost> = BTreeMap::new();
    for (node, is_outermost) in view.tree.nodes().zip(outermost(&view.tree, number_of)) {
        let is_inlined = view.frames.row(view.tree.frame(node)).kind == FrameKind::Inlined;
        let caller = view.tree.parent(node).filter(|_| is_inlined);
        code_of.push(match caller {
            Some(caller) => code_of[caller.get()],
            None => number(node),
        });
        let total = totals[node.get()];
        if caller.is_some() && is_outermost && !total.is_zero() {
            let pair = (number(node), code_of[node.get()]);
            *inlined.entry(pair).or_default() += total;
        }
    }
    inlined
}

impl Calls {
    /// Groups pairs of functions by the first one.
    fn from_pairs(pairs: impl Iterator<Item = ((u32, u32), Cost)>, functions: usize) -> Calls {
        let mut of_each: Vec<Vec<(FunctionNo, Cost)>> = vec![Vec::new(); functions];
        for ((of, other), cost) in pairs {
            of_each[of as usize].push((FunctionNo(other), cost));
        }
        let mut made = Calls::default();
        for mut calls in of_each {
            calls.sort_by_key(|&(other, cost)| (Reverse(weight(cost)), other));
            calls.truncate(MOST_CALLS);
            made.calls.extend(calls);
            made.ends.push(made.calls.len() as u32);
        }
        made
    }
}

/// Costs of lines in all runs, by file, line and function: self, total, and total while inlined.
struct LineSums(BTreeMap<(FileNo, u32, u32), [Cost; 3]>);

impl LineSums {
    fn from_runs<'r>(
        runs: &'r [Lines],
        number: impl Fn(Frame<'r>) -> Option<(FileNo, u32)>,
    ) -> LineSums {
        let mut sums: BTreeMap<(FileNo, u32, u32), [Cost; 3]> = BTreeMap::new();
        for run in runs {
            let frames = run.frames.iter();
            let numbers: Vec<Option<(FileNo, u32)>> =
                frames.map(|(_, frame)| number(frame)).collect();
            for cost in &run.costs {
                let Some((file, function)) = numbers[cost.frame.get()] else {
                    continue;
                };
                let sum = sums.entry((file, cost.line, function)).or_default();
                sum[0] += cost.self_cost;
                sum[1] += cost.total;
                if run.frames.row(cost.frame).kind == FrameKind::Inlined {
                    sum[2] += cost.total;
                }
            }
        }
        LineSums(sums)
    }

    /// Returns the first line of each function in its file.
    fn first_lines(&self, homes: &[Option<FileNo>]) -> Vec<Option<u32>> {
        let mut first = vec![None; homes.len()];
        for &(file, line, function) in self.0.keys() {
            let function = function as usize;
            if homes[function] == Some(file) && first[function].is_none() {
                first[function] = Some(line);
            }
        }
        first
    }

    /// Returns the cost of each line by file. If a line belongs to a function and its closures, one mostly calls the
    /// other, so the largest total counts. Totals of several functions, such as instances of a generic one, are
    /// summed up to the cost of everything.
    fn by_line(&self, outer: &[u32], whole: Cost) -> BTreeMap<FileNo, Vec<Line>> {
        let mut lines: BTreeMap<FileNo, Vec<Line>> = BTreeMap::new();
        let all: Vec<_> = self.0.iter().collect();
        for of_line in all.chunk_by(|(a, _), (b, _)| (a.0, a.1) == (b.0, b.1)) {
            let &(file, line, _) = of_line[0].0;
            let mut own = Cost::ZERO;
            let mut largest: BTreeMap<u32, [Cost; 2]> = BTreeMap::new();
            for ((_, _, function), costs) in of_line {
                own += costs[0];
                let of_outer = largest.entry(outer[*function as usize]).or_default();
                for (largest, &cost) in of_outer.iter_mut().zip(&costs[1..]) {
                    *largest = std::cmp::max_by_key(*largest, cost, |&cost| weight(cost));
                }
            }
            let sum = |which: usize| -> Cost { largest.values().map(|costs| costs[which]).sum() };
            let total = std::cmp::min_by_key(sum(0), whole, |&cost| weight(cost));
            lines.entry(file).or_default().push(Line {
                line,
                own,
                total: std::cmp::max_by_key(total, own, |&cost| weight(cost)),
                inlined: std::cmp::min_by_key(sum(1), total, |&cost| weight(cost)),
            });
        }
        lines
    }
}

fn weight(cost: Cost) -> (u64, u64) {
    (cost.value, cost.samples)
}
