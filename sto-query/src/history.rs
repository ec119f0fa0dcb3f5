//! The runs of a program over time, of all its builds.

use crate::compare::{KeyOptions, key_symbol};
use crate::render::printable;
use crate::select::main_modules;
use crate::tree::totals;
use hashbrown::HashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::intern::{NodeIx, SelfCosts, StackTree};
use sto_core::model::{Build, FrameKind, FrameTable};
use sto_core::store::{Store, StoreError, StoredBuild, StoredProfile};
use sto_core::units::{Cost, SampleType};

/// Which runs make a history.
#[derive(Clone, Debug, Default)]
pub struct HistoryQuery {
    /// The program; without it, the only one that has runs of the benchmark.
    pub executable: Option<String>,
    /// The benchmark; without it, runs of any.
    pub benchmark: Option<String>,
    /// The event; without it, the one that most runs measured.
    pub event: Option<String>,
}

/// Why there is no such history.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No run is of that program and benchmark.
    #[error("no run in the store is of {asked}; there are {known}")]
    NoRuns {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: String,
    },
    /// Several programs have such runs.
    #[error("several programs have such runs; name one with --exe: {}", .programs.join(", "))]
    SeveralPrograms {
        /// Their names.
        programs: Vec<String>,
    },
    /// No run measured that event.
    #[error("no run measured `{event}`; there are runs of {}", .known.join(", "))]
    NoEvent {
        /// The event.
        event: String,
        /// What was measured.
        known: Vec<String>,
    },
    /// No run has that function.
    #[error("no run has a function `{function}`{}", .closest.as_ref().map_or(String::new(), |name| format!("; did you mean `{name}`?")))]
    NoFunction {
        /// The function.
        function: String,
        /// The one whose name is closest.
        closest: Option<String>,
    },
}

/// Index of a function in a [`History`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionIx(u32);

impl FunctionIx {
    pub(crate) fn new(place: usize) -> Self {
        FunctionIx(u32::try_from(place).expect("fewer functions than 2^32 frames"))
    }

    /// The index as a position in a column.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A function as all builds know it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryFunction {
    /// Its symbol as [`key_symbol`] leaves it.
    pub symbol: String,
    /// The file that its code was loaded from; the program's name for the program itself.
    pub module: String,
}

/// A run of a history.
#[derive(Clone, Debug)]
pub struct HistoryRun {
    /// The build that ran.
    pub build: Build,
    /// The profile.
    pub profile: StoredProfile,
    /// What the whole run cost.
    pub whole: Cost,
}

/// The runs of one program, and of one benchmark where that was asked for: oldest first.
#[derive(Clone, Debug)]
pub struct History {
    /// The program.
    pub executable: String,
    /// The benchmark.
    pub benchmark: Option<String>,
    /// What was measured.
    pub sample_type: SampleType,
    /// The runs, in order of their recording; those that do not tell when come last.
    pub runs: Vec<HistoryRun>,
    /// The functions, in the order of symbol and module.
    pub functions: Vec<HistoryFunction>,
    tree: StackTree,
    /// By run.
    costs: Vec<SelfCosts>,
    /// By node.
    function_of: Vec<FunctionIx>,
    /// By node: whether no caller is of the same function.
    outermost: Vec<bool>,
}

impl History {
    /// Loads the runs that a query names.
    ///
    /// # Errors
    /// Where the store cannot be read, no run is meant, or several programs are.
    pub fn load(store: &Store, query: &HistoryQuery) -> Result<History, HistoryError> {
        let builds = matching(store.builds()?, query)?;
        let executable = builds[0].build.executable.clone();
        let sample_type = sample_type(&builds, query)?;
        let main_modules: BTreeSet<String> = builds
            .iter()
            .flat_map(|stored| main_modules(&stored.build, &stored.profiles))
            .map(str::to_owned)
            .collect();

        let mut runs: Vec<(Build, StoredProfile)> = Vec::new();
        for stored in builds {
            let measured =
                |profile: &&StoredProfile| profile.profile.sample_types.contains(&sample_type);
            let profiles = stored.profiles.iter().filter(measured);
            runs.extend(profiles.map(|profile| (stored.build.clone(), profile.clone())));
        }
        // Stable: builds and their profiles come in order.
        runs.sort_by_key(|(_, profile)| {
            let recorded = profile.profile.origin.recorded;
            (recorded.is_none(), recorded)
        });
        let ids: Vec<ProfileId> = runs.iter().map(|(_, profile)| profile.id).collect();
        let loaded = store.load(ExecutableId::of(&executable), &ids)?;

        let (functions, of_frame) = number_functions(&loaded.frames, &main_modules, &executable);
        let of_frame = |node| of_frame[loaded.tree.frame(node).get()];
        let function_of: Vec<FunctionIx> = loaded.tree.nodes().map(of_frame).collect();
        let outermost = outermost(&loaded.tree, &function_of, functions.len());
        let mut kept = Vec::with_capacity(runs.len());
        let mut costs = Vec::with_capacity(runs.len());
        for ((build, profile), columns) in runs.into_iter().zip(loaded.costs) {
            let types = profile.profile.sample_types.iter();
            let column = types.zip(columns).find(|(known, _)| **known == sample_type);
            let column = column.map(|(_, column)| column).unwrap_or_default();
            let whole = column.iter().map(|&(_, cost)| cost).sum();
            kept.push(HistoryRun {
                build,
                profile,
                whole,
            });
            costs.push(column);
        }
        Ok(History {
            executable,
            benchmark: query.benchmark.clone(),
            sample_type,
            runs: kept,
            functions,
            tree: loaded.tree,
            costs,
            function_of,
            outermost,
        })
    }

    /// The functions of this name: a symbol as it stands in a build, or what is left of it between
    /// builds. Several modules may have one.
    ///
    /// # Errors
    /// Where no run has such a function.
    pub fn find(&self, name: &str) -> Result<Vec<FunctionIx>, HistoryError> {
        let key = key_symbol(name, KeyOptions::default());
        let first = self
            .functions
            .partition_point(|f| f.symbol.as_str() < &*key);
        let equal = self.functions[first..]
            .iter()
            .take_while(|f| f.symbol == key);
        let found: Vec<FunctionIx> = (first..)
            .zip(equal)
            .map(|(ix, _)| FunctionIx::new(ix))
            .collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let distance = |symbol: &str| strsim::damerau_levenshtein(symbol, name);
        let closest = self
            .functions
            .iter()
            .map(|f| (distance(&f.symbol), &f.symbol))
            .min();
        Err(HistoryError::NoFunction {
            function: printable(name).into_owned(),
            // A name that shares less than half of what was written was hardly meant.
            closest: closest
                .filter(|(distance, _)| distance * 2 <= name.chars().count())
                .map(|(_, symbol)| printable(symbol).into_owned()),
        })
    }

    /// What samples cost whose stack has one of these functions, by run; each counted once.
    pub fn totals_of(&self, functions: &[FunctionIx]) -> Vec<Cost> {
        let ends = self.tree.subtree_ends();
        // In preorder a subtree is one piece, so the outermost of these nodes are pieces that do
        // not overlap.
        let mut pieces: Vec<(u32, u32)> = Vec::new();
        for node in self.tree.nodes() {
            let is_inside = pieces.last().is_some_and(|&(_, end)| node.0 < end);
            if !is_inside && functions.contains(&self.function_of[node.get()]) {
                pieces.push((node.0, ends[node.get()]));
            }
        }
        let sum = |costs: &SelfCosts| {
            let mut pieces = pieces.iter().peekable();
            let mut sum = Cost::ZERO;
            for &(node, cost) in costs {
                while pieces.next_if(|&&(_, end)| end <= node.0).is_some() {}
                match pieces.peek() {
                    None => break,
                    Some(&&(start, _)) if start <= node.0 => sum += cost,
                    Some(_) => {}
                }
            }
            sum
        };
        self.costs.iter().map(sum).collect()
    }

    /// What each function cost in one run: the samples whose stack has it, each counted once.
    pub fn totals(&self, run: usize) -> Vec<Cost> {
        let mut self_costs = vec![Cost::ZERO; self.tree.len()];
        for &(node, cost) in &self.costs[run] {
            self_costs[node.get()] = cost;
        }
        let of_node = totals(&self.tree, &self_costs);
        let mut of_function = vec![Cost::ZERO; self.functions.len()];
        for (node, cost) in of_node.into_iter().enumerate() {
            if self.outermost[node] {
                of_function[self.function_of[node].get()] += cost;
            }
        }
        of_function
    }

    /// What each function cost by itself in one run.
    pub fn self_costs(&self, run: usize) -> Vec<Cost> {
        let mut of_function = vec![Cost::ZERO; self.functions.len()];
        for &(node, cost) in &self.costs[run] {
            of_function[self.function_of[node.get()].get()] += cost;
        }
        of_function
    }
}

/// The builds of the program, with those profiles that are of the benchmark; at least one of each.
fn matching(
    mut builds: Vec<StoredBuild>,
    query: &HistoryQuery,
) -> Result<Vec<StoredBuild>, HistoryError> {
    let known = describe(&builds);
    builds.retain_mut(|stored| {
        if let Some(benchmark) = &query.benchmark {
            stored
                .profiles
                .retain(|stored| stored.profile.benchmark.as_ref() == Some(benchmark));
        }
        let executable = query.executable.as_ref();
        executable.is_none_or(|name| *name == stored.build.executable)
            && !stored.profiles.is_empty()
    });
    let programs: BTreeSet<&str> = builds.iter().map(|b| b.build.executable.as_str()).collect();
    match programs.len() {
        0 => {
            let named = |what: &str, name: &Option<String>| {
                name.as_ref()
                    .map(|name| format!("{what} `{}`", printable(name)))
            };
            let asked = [
                named("program", &query.executable),
                named("benchmark", &query.benchmark),
            ];
            let asked: Vec<String> = asked.into_iter().flatten().collect();
            Err(HistoryError::NoRuns {
                asked: if asked.is_empty() {
                    "any program".to_owned()
                } else {
                    asked.join(" and ")
                },
                known,
            })
        }
        1 => Ok(builds),
        _ => Err(HistoryError::SeveralPrograms {
            programs: programs
                .iter()
                .map(|name| printable(name).into_owned())
                .collect(),
        }),
    }
}

/// Names that an error lists at most.
const MAX_NAMED: usize = 10;

fn describe(builds: &[StoredBuild]) -> String {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for stored in builds {
        for profile in &stored.profiles {
            let executable = printable(&stored.build.executable);
            known.insert(match &profile.profile.benchmark {
                None => executable.into_owned(),
                Some(name) => format!("{executable} ({})", printable(name)),
            });
        }
    }
    let more = known.len().saturating_sub(MAX_NAMED);
    let mut listed: Vec<String> = known.into_iter().take(MAX_NAMED).collect();
    match (listed.is_empty(), more) {
        (true, _) => return "no runs at all".to_owned(),
        (false, 0) => {}
        (false, more) => listed.push(format!("{more} more")),
    }
    format!("runs of {}", listed.join(", "))
}

fn sample_type(builds: &[StoredBuild], query: &HistoryQuery) -> Result<SampleType, HistoryError> {
    let mut measured: Vec<(SampleType, u64)> = Vec::new();
    for profile in builds.iter().flat_map(|stored| &stored.profiles) {
        for sample_type in &profile.profile.sample_types {
            match measured.iter_mut().find(|(known, _)| known == sample_type) {
                Some((_, runs)) => *runs += 1,
                None => measured.push((sample_type.clone(), 1)),
            }
        }
    }
    let known = || {
        measured
            .iter()
            .map(|(known, _)| known.event.clone())
            .collect()
    };
    match &query.event {
        None => measured
            .iter()
            .rev()
            .max_by_key(|(_, runs)| *runs)
            .map(|(sample_type, _)| sample_type.clone())
            .ok_or_else(|| HistoryError::NoEvent {
                event: "anything".to_owned(),
                known: known(),
            }),
        Some(event) => measured
            .iter()
            .find(|(known, _)| known.event == *event)
            .map(|(sample_type, _)| sample_type.clone())
            .ok_or_else(|| HistoryError::NoEvent {
                event: printable(event).into_owned(),
                known: known(),
            }),
    }
}

/// The functions in order, and by frame which it is of.
fn number_functions(
    frames: &FrameTable,
    main_modules: &BTreeSet<String>,
    executable: &str,
) -> (Vec<HistoryFunction>, Vec<FunctionIx>) {
    let mut keys: HashMap<&str, Cow<str>> = HashMap::new();
    for (_, frame) in frames.iter() {
        keys.entry(frame.symbol)
            .or_insert_with(|| key_symbol(frame.symbol, KeyOptions::default()));
    }
    let key = |ix| {
        let frame = frames.frame(ix);
        let module = match main_modules.contains(frame.module) {
            true => executable,
            false => frame.module,
        };
        match frame.kind {
            // Offsets shift from build to build: what has no symbol is one function a module.
            FrameKind::Unresolved => ("[unresolved]", module),
            _ => (&*keys[frame.symbol], module),
        }
    };
    let mut numbers: BTreeMap<(&str, &str), FunctionIx> = frames
        .iter()
        .map(|(ix, _)| (key(ix), FunctionIx(0)))
        .collect();
    for (place, number) in (0..).zip(numbers.values_mut()) {
        *number = FunctionIx(place);
    }
    let of_frame = frames.iter().map(|(ix, _)| numbers[&key(ix)]).collect();
    let functions = numbers.keys().map(|&(symbol, module)| HistoryFunction {
        symbol: symbol.to_owned(),
        module: module.to_owned(),
    });
    (functions.collect(), of_frame)
}

fn outermost(tree: &StackTree, function_of: &[FunctionIx], functions: usize) -> Vec<bool> {
    let ends = tree.subtree_ends();
    // The outermost node's subtree is one piece of the preorder: within it none is outermost.
    let mut within_until = vec![0u32; functions];
    let is_outermost = |node: NodeIx| {
        let until = &mut within_until[function_of[node.get()].get()];
        let outermost = node.0 >= *until;
        if outermost {
            *until = ends[node.get()];
        }
        outermost
    };
    tree.nodes().map(is_outermost).collect()
}
