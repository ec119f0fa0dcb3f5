//! Stacks below a root of their own for each thread, or each value of a label.

use super::View;
use super::view::merge_equal_nodes;
use crate::render::printable;
use crate::select::full_name;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_core::id::ProfileId;
use sto_core::intern::{NodeIx, ProfileThread, SelfCosts, StackTree};
use sto_core::model::{Frame, FrameIx, FrameKind};
use sto_core::store::{LoadedSlices, Store, StoreError};

/// Why stacks cannot be told apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// No profile has the label.
    #[error("{}: no profile has a label `{}`", printable(.build), printable(.key))]
    NoLabel {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The label's key.
        key: String,
        /// The keys that there are.
        known: Vec<String>,
    },
    /// Threads are kept with slices of time alone.
    #[error("{}: the threads of profile {profile} were not kept", printable(.build))]
    NoThreads {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile.
        profile: ProfileId,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How threads are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadNames {
    /// By name: threads of one name are one, as ids differ from run to run.
    Name,
    /// By name and thread id.
    NameAndId,
}

/// Self costs of one root: `[run][sample type]`.
type Columns = Vec<Vec<SelfCosts>>;

impl View {
    /// The same stacks, below a frame `KEY=VALUE` for each value of a label. Runs without the label
    /// are below one without a value.
    ///
    /// # Errors
    /// Where no profile has the label.
    pub fn by_label(&self, key: &str) -> Result<View, RootsError> {
        let profiles = || self.selection.profiles.iter().map(|stored| &stored.profile);
        if !profiles().any(|profile| profile.labels.contains_key(key)) {
            let mut known: Vec<_> = profiles().flat_map(|p| p.labels.keys().cloned()).collect();
            known.sort();
            known.dedup();
            return Err(RootsError::NoLabel {
                build: full_name(&self.selection.build),
                key: key.to_owned(),
                known,
            });
        }
        let mut roots = BTreeMap::new();
        for (run, profile) in profiles().enumerate() {
            let value = profile.labels.get(key).map_or("", String::as_str);
            let columns: &mut Columns = roots
                .entry(format!("{key}={value}"))
                .or_insert_with(|| self.empty());
            columns[run].clone_from(&self.runs[run]);
        }
        Ok(self.below(roots))
    }

    /// The same stacks, below a frame for each thread that ran them.
    ///
    /// # Errors
    /// Where `store` does not have every profile with its threads, as they are kept with slices of
    /// time.
    ///
    /// # Panics
    /// If stacks were changed since the view was loaded from that store.
    pub fn by_thread(&self, store: &Store, names: ThreadNames) -> Result<View, RootsError> {
        let mut nodes: HashMap<(Option<NodeIx>, FrameIx), NodeIx> = HashMap::new();
        for node in self.tree.nodes() {
            nodes.insert((self.tree.parent(node), self.tree.frame(node)), node);
        }
        let mut roots = BTreeMap::new();
        for (run, stored) in self.selection.profiles.iter().enumerate() {
            let loaded = store.load_slices(stored.id)?;
            let loaded = loaded.ok_or_else(|| RootsError::NoThreads {
                build: full_name(&self.selection.build),
                profile: stored.id,
            })?;
            let places = self.places_of(&loaded, &nodes);
            let types = stored.profile.sample_types.iter();
            for (sample_type, costs) in types.zip(&loaded.slices.costs) {
                let known = self.sample_types.iter().position(|t| t == sample_type);
                // The view may be of one event alone.
                let Some(column) = known else { continue };
                for cost in costs.iter() {
                    let thread = &loaded.slices.threads[cost.thread.0 as usize];
                    let columns: &mut Columns = roots
                        .entry(thread_name(thread, names))
                        .or_insert_with(|| self.empty());
                    columns[run][column].push((places[cost.node.get()], cost.cost));
                }
            }
        }
        for column in roots.values_mut().flatten().flatten() {
            merge_equal_nodes(column);
        }
        Ok(self.below(roots))
    }

    /// For each node of a profile's own tree the node of this view.
    fn places_of(
        &self,
        profile: &LoadedSlices,
        nodes: &HashMap<(Option<NodeIx>, FrameIx), NodeIx>,
    ) -> Vec<NodeIx> {
        let frames: Vec<FrameIx> = profile
            .frames
            .iter()
            .map(|(_, frame)| {
                self.frames
                    .find(frame)
                    .expect("the view has its profiles' frames")
            })
            .collect();
        let mut places: Vec<NodeIx> = Vec::with_capacity(profile.tree.len());
        for node in profile.tree.nodes() {
            let parent = profile.tree.parent(node).map(|parent| places[parent.get()]);
            let frame = frames[profile.tree.frame(node).get()];
            places.push(nodes[&(parent, frame)]);
        }
        places
    }

    fn empty(&self) -> Columns {
        vec![vec![SelfCosts::new(); self.sample_types.len()]; self.selection.profiles.len()]
    }

    /// A copy of the stacks below each root that has a cost in them, with these costs.
    fn below(&self, roots: BTreeMap<String, Columns>) -> View {
        let mut frames = self.frames.clone();
        let mut tree = StackTree::new();
        let mut runs = self.empty();
        // The root that a node was copied for last, and the copy.
        let mut copies: Vec<Option<(NodeIx, NodeIx)>> = vec![None; self.tree.len()];
        for (name, columns) in roots {
            let frame = frames.insert(Frame {
                module: "",
                symbol: &name,
                kind: FrameKind::User,
                file: "",
                line: 0,
            });
            let root = tree.push(None, frame);
            let mut used = Vec::new();
            for &(node, _) in columns.iter().flatten().flatten() {
                let is_new = |&node: &NodeIx| copies[node.get()].is_none_or(|(of, _)| of != root);
                for node in self
                    .tree
                    .ancestors(node)
                    .take_while(is_new)
                    .collect::<Vec<_>>()
                {
                    copies[node.get()] = Some((root, root));
                    used.push(node);
                }
            }
            used.sort_unstable();
            for node in used {
                let parent = self.tree.parent(node).and_then(|p| copies[p.get()]);
                let parent = parent.map_or(root, |(_, copy)| copy);
                let copy = tree.push(Some(parent), self.tree.frame(node));
                copies[node.get()] = Some((root, copy));
            }
            for (run, columns) in columns.into_iter().enumerate() {
                for (column, costs) in columns.into_iter().enumerate() {
                    let moved = costs.into_iter().map(|(node, cost)| {
                        let (_, copy) =
                            copies[node.get()].expect("all nodes with costs are copied");
                        (copy, cost)
                    });
                    runs[run][column].extend(moved);
                }
            }
        }
        View {
            selection: self.selection.clone(),
            sample_types: self.sample_types.clone(),
            frames,
            tree,
            runs,
        }
    }
}

fn thread_name(thread: &ProfileThread, names: ThreadNames) -> String {
    match (names, thread.name.as_str()) {
        (_, "") => format!("thread {}", thread.tid),
        (ThreadNames::Name, name) => name.to_owned(),
        (ThreadNames::NameAndId, name) => format!("{name} ({})", thread.tid),
    }
}
