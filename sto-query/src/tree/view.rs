//! The stacks and costs of a selection.

use super::run_window::RunWindow;
use crate::select::{SelectError, Selection};
use sto_core::id::ProfileId;
use sto_core::model::{FrameIx, FrameKind, FrameTable};
use sto_core::store::{Loaded, Snapshot};
use sto_core::trace::is_call_time;
use sto_core::tree::{NodeIx, SelfCosts, StackTree, merge_equal_nodes, total_cost};
use sto_core::units::{Bytes, Cost, SampleType};

/// The stacks and costs of a selection, the input of all analyses.
#[derive(Clone, Debug)]
pub struct View {
    /// The selected build and profiles.
    pub selection: Selection,
    /// The events measured by any run: the sources' default, if they have one, then by descending
    /// number of samples.
    pub sample_types: Vec<SampleType>,
    /// The frames.
    pub frames: FrameTable,
    /// The stacks, in preorder.
    pub tree: StackTree,
    /// Self costs: `runs[run][sample type]`; empty if a run did not measure that type.
    pub runs: Vec<Vec<SelfCosts>>,
    /// The selected part of each run's time; empty if all of it is selected.
    pub windows: Vec<RunWindow>,
}

impl View {
    /// Loads the stacks and costs of a selection.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn load(store: &Snapshot, selection: Selection) -> Result<View, SelectError> {
        let profiles: Vec<ProfileId> = selection.profiles.iter().map(|p| p.id).collect();
        let executable = sto_core::id::ExecutableId::from_name(&selection.build.executable);
        let loaded = store.load(executable, &profiles)?;
        Ok(View::from_loaded(selection, loaded))
    }

    /// Loads two selections in parallel.
    ///
    /// # Errors
    ///
    /// Returns an error if a store cannot be read.
    pub fn load_both(
        (store, selection): (&Snapshot, Selection),
        (other_store, other): (&Snapshot, Selection),
    ) -> Result<(View, View), SelectError> {
        let (view, other) = rayon::join(
            || View::load(store, selection),
            || View::load(other_store, other),
        );
        Ok((view?, other?))
    }

    /// Loads the stacks of a selection, and the costs of its profiles added up as a single run.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn load_sum(store: &Snapshot, selection: Selection) -> Result<View, SelectError> {
        if selection.profiles.len() == 1 {
            return View::load(store, selection);
        }
        let profiles: Vec<ProfileId> = selection.profiles.iter().map(|p| p.id).collect();
        let build = selection.build.id();
        if selection.profiles.iter().any(|p| p.profile.build != build) {
            // Sums are kept by build.
            return View::load(store, selection);
        }
        let build = store.load_sum(build, &profiles)?;
        let samples = |costs: &SelfCosts| total_cost(costs).samples;
        let types = &build.sample_types;
        if types.iter().any(|t| {
            types
                .iter()
                .any(|other| t != other && t.counts_same_as(other))
        }) {
            // The separate runs are needed to tell which sample types are the same.
            return View::load(store, selection);
        }
        let is_time: Vec<bool> = types.iter().map(|t| is_call_time(t, types)).collect();
        let types = build.sample_types.into_iter().zip(is_time);
        let mut columns: Vec<_> = types.zip(build.costs).collect();
        let default = default_sample_type(&selection);
        columns.sort_by_cached_key(|((sample_type, is_time), costs)| {
            (
                default != Some(sample_type),
                std::cmp::Reverse(samples(costs)),
                // Time and number of calls have the same number of samples.
                !is_time,
                sample_type.clone(),
            )
        });
        let columns = columns.into_iter().map(|((t, _), costs)| (t, costs));
        let (sample_types, run) = columns.unzip();
        Ok(View {
            selection,
            sample_types,
            frames: build.frames,
            tree: build.tree,
            runs: vec![run],
            windows: Vec::new(),
        })
    }

    /// Aligns the sample types of loaded profiles. Types that count the same thing are merged,
    /// under the name in the first run.
    ///
    /// The runs in `loaded` must be the selection's profiles, in their order.
    pub fn from_loaded(selection: Selection, loaded: Loaded) -> View {
        let profiles = selection.profiles.iter();
        let types = profiles.map(|stored| &stored.profile.sample_types[..]);
        let (columns, of_runs) = SampleType::choose_columns(types);
        let mut samples = vec![0_u64; columns.len()];
        for (columns, costs) in of_runs.iter().zip(&loaded.costs) {
            for (&ix, column) in columns.iter().zip(costs) {
                samples[ix] = samples[ix].saturating_add(total_cost(column).samples);
            }
        }
        // The sort is stable: of types with the same number of samples, the one recorded first
        // comes first.
        let default = default_sample_type(&selection);
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|&column| {
            let is_default = default == Some(&columns[column]);
            (!is_default, std::cmp::Reverse(samples[column]))
        });
        let mut rank = vec![0; columns.len()];
        for (ix, &column) in order.iter().enumerate() {
            rank[column] = ix;
        }
        let sample_types = order.iter().map(|&column| columns[column].clone());
        let sample_types: Vec<SampleType> = sample_types.collect();

        let mut runs = Vec::with_capacity(loaded.costs.len());
        for (columns, costs) in of_runs.into_iter().zip(loaded.costs) {
            let mut run = vec![SelfCosts::new(); sample_types.len()];
            for (ix, column) in columns.into_iter().zip(costs) {
                add(&mut run[rank[ix]], column);
            }
            runs.push(run);
        }
        View {
            selection,
            sample_types,
            frames: loaded.frames,
            tree: loaded.tree,
            runs,
            windows: Vec::new(),
        }
    }

    /// An estimate of the view's size in memory.
    pub(crate) fn memory_size(&self) -> Bytes {
        /// A frame's symbol, module, file and hash, besides their text.
        const FRAME: usize = 96;
        let costs: usize = self.runs.iter().flatten().map(Vec::capacity).sum();
        /// A profile's record: sample types, labels, metrics, origin.
        const PROFILE: usize = 2048;
        let size = size_of::<View>()
            + self.selection.profiles.len() * PROFILE
            + self.tree.len() * size_of::<(Option<NodeIx>, FrameIx)>()
            + self.frames.len() * FRAME
            + self.frames.text_len()
            + costs * size_of::<(NodeIx, Cost)>();
        Bytes(size as u64)
    }

    /// Returns the self costs by node, summed over all runs, in the sample type at this index of
    /// `sample_types`; all zero if there is no such type.
    pub fn self_costs(&self, sample_type: usize) -> Vec<Cost> {
        let mut costs = vec![Cost::ZERO; self.tree.len()];
        for column in self.runs.iter().filter_map(|run| run.get(sample_type)) {
            for (node, cost) in column {
                costs[node.get()] += *cost;
            }
        }
        costs
    }

    /// Returns `true` if a sample type is the time of calls, and its samples are these calls.
    pub(crate) fn is_time_of_calls(&self, sample_type: &SampleType) -> bool {
        let mut profiles = self.selection.profiles.iter();
        profiles.any(|stored| is_call_time(sample_type, &stored.profile.sample_types))
    }

    /// Returns `true` if code was inlined, and its frames were removed from the stacks.
    pub(crate) fn is_without_inlined(&self) -> bool {
        let mut nodes = self.tree.nodes();
        let is_left =
            |node| self.tree.parent(node).is_some() && self.is_inlined(self.tree.frame(node));
        self.has_inlined() && !nodes.any(is_left)
    }

    /// Whether any frame is inlined.
    fn has_inlined(&self) -> bool {
        self.frames.iter().any(|(frame, _)| self.is_inlined(frame))
    }

    fn is_inlined(&self, frame: FrameIx) -> bool {
        self.frames.row(frame).kind == FrameKind::Inlined
    }

    /// Returns the stacks without inlined frames. Their cost is added to the function that their
    /// code was compiled into, as in `perf report`.
    ///
    /// Inlined frames at the root of a stack are kept.
    #[must_use]
    pub fn without_inlined(self) -> View {
        if self.has_inlined() {
            self.merge_inlined().0
        } else {
            self
        }
    }

    /// Like [`View::without_inlined`], and returns the new node of each node.
    pub(crate) fn merge_inlined(&self) -> (View, Vec<NodeIx>) {
        let (tree, moved_to) = remove_inlined(&self.tree, &self.frames);
        let view = self.with_stacks(self.frames.clone(), tree, &moved_to);
        (view, moved_to)
    }

    /// Returns the view with other stacks. `moved_to` has the new node of each node.
    pub(super) fn with_stacks(
        &self,
        frames: FrameTable,
        tree: StackTree,
        moved_to: &[NodeIx],
    ) -> View {
        let moved = |run: &Vec<SelfCosts>| run.iter().map(|c| move_costs(c, moved_to)).collect();
        View {
            selection: self.selection.clone(),
            sample_types: self.sample_types.clone(),
            frames,
            tree,
            runs: self.runs.iter().map(moved).collect(),
            windows: self.windows.clone(),
        }
    }
}

/// Returns the stacks without inlined frames, except at the root, and the new node of each node.
pub(crate) fn remove_inlined(tree: &StackTree, frames: &FrameTable) -> (StackTree, Vec<NodeIx>) {
    let mut outer = StackTree::new();
    let mut moved_to: Vec<NodeIx> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        let frame = tree.frame(node);
        let parent = tree.parent(node).map(|parent| moved_to[parent.get()]);
        moved_to.push(match parent {
            Some(caller) if frames.row(frame).kind == FrameKind::Inlined => caller,
            _ => outer.push(parent, frame),
        });
    }
    (outer, moved_to)
}

/// Moves costs to new nodes. `moved_to` has the new node of each node.
pub(super) fn move_costs(column: &SelfCosts, moved_to: &[NodeIx]) -> SelfCosts {
    let costs = column.iter();
    let mut moved: SelfCosts = costs
        .map(|&(node, cost)| (moved_to[node.get()], cost))
        .collect();
    merge_equal_nodes(&mut moved);
    moved
}

/// Returns the default sample type of the sources, if all of them agree.
fn default_sample_type(selection: &Selection) -> Option<&SampleType> {
    let mut defaults = selection.profiles.iter().map(|stored| {
        let profile = &stored.profile;
        let types = profile
            .has_default_sample_type()
            .then_some(&profile.sample_types);
        types.and_then(|types| types.first())
    });
    let first = defaults.next()??;
    defaults.all(|other| other == Some(first)).then_some(first)
}

/// Adds one column to another. A profile has two columns of the same type if two events of a
/// recording have the same name.
fn add(merged: &mut SelfCosts, column: SelfCosts) {
    if merged.is_empty() {
        *merged = column;
        return;
    }
    merged.extend(column);
    merge_equal_nodes(merged);
}
