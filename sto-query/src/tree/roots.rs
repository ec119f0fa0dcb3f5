//! Stacks below a separate root for each thread or value of a label.

use super::View;
use super::contexts::Nodes;
use crate::select::full_name;
use crate::text::{find_closest, printable};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::str::FromStr;
use sto_core::id::ProfileId;
use sto_core::model::{Frame, FrameKind, SampleLabel};
use sto_core::store::{Snapshot, StoreError};
use sto_core::tree::{
    ContextIx, NodeIx, ProfileThread, SelfCosts, StackTree, distinct_label_sets, merge_equal_nodes,
};
use sto_core::units::{Bytes, Cost};

/// Errors of splitting stacks by thread or label.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// Neither a profile nor its samples have the label.
    #[error("{}: no profile has a label `{}`{}", printable(.build), printable(.key), .closest.as_ref().map_or(String::new(), |key| format!("; did you mean `{}`?", printable(key))))]
    NoLabel {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The label's key.
        key: String,
        /// The most similar key, if any is similar.
        closest: Option<String>,
        /// The existing keys, in ascending order.
        known: Vec<String>,
    },
    /// A profile has no time slices, with which threads are stored.
    #[error("{}: the threads of profile {profile} were not kept", printable(.build))]
    NoThreads {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile.
        profile: ProfileId,
    },
    /// No sample has a thread.
    #[error("{}: its samples have no threads", printable(.build))]
    UntoldThreads {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How threads are named and merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadNames {
    /// By name: threads with the same name are merged, as ids differ from run to run.
    Name,
    /// By name and thread id.
    NameAndId,
}

/// Grouping of stacks below new roots, written `thread` or `label:KEY`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum RootsBy {
    /// A thread.
    Thread,
    /// A value of the label with this key, of samples or of runs.
    Label(String),
}

impl FromStr for RootsBy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<RootsBy, &'static str> {
        match (text, text.strip_prefix("label:")) {
            ("thread", _) => Ok(RootsBy::Thread),
            (_, Some(key)) if !key.is_empty() => Ok(RootsBy::Label(key.to_owned())),
            _ => Err("expected `thread` or `label:KEY`"),
        }
    }
}

impl TryFrom<String> for RootsBy {
    type Error = &'static str;

    fn try_from(text: String) -> Result<RootsBy, &'static str> {
        text.parse()
    }
}

impl From<RootsBy> for String {
    fn from(by: RootsBy) -> String {
        match by {
            RootsBy::Thread => "thread".to_owned(),
            RootsBy::Label(key) => format!("label:{key}"),
        }
    }
}

/// Self costs of one root: `[run][sample type]`.
type Columns = Vec<Vec<SelfCosts>>;

/// The roots by name.
type Roots = BTreeMap<Rc<str>, Columns>;

impl View {
    /// Returns the stacks below a root for each thread or value of a label.
    ///
    /// # Errors
    ///
    /// Returns an error if [`View::with_label_roots`] or [`View::with_thread_roots`] does.
    ///
    /// # Panics
    ///
    /// Panics if stacks were changed since the view was loaded from that store.
    pub(crate) fn with_roots(
        &self,
        store: &Snapshot,
        by: &RootsBy,
        names: ThreadNames,
    ) -> Result<View, RootsError> {
        match by {
            RootsBy::Thread => self.with_thread_roots(store, names),
            RootsBy::Label(key) => self.with_label_roots(store, key),
        }
    }

    /// Returns the stacks below a frame `KEY=VALUE` for each value of a label.
    ///
    /// The value is the label of the sample or, if it has none, of its run; empty if neither has
    /// one. Several labels of a sample with the same key are one value, separated by commas. Labels
    /// of samples are stored with time slices.
    ///
    /// # Errors
    ///
    /// Returns an error if neither a profile nor its samples have the label, or `store` lacks a
    /// profile or its slices.
    ///
    /// # Panics
    ///
    /// Panics if stacks were changed since the view was loaded from that store.
    pub fn with_label_roots(&self, store: &Snapshot, key: &str) -> Result<View, RootsError> {
        let profiles = &self.selection.profiles;
        let mut is_of_samples = vec![false; profiles.len()];
        let mut known = BTreeSet::new();
        for (stored, is_of_samples) in profiles.iter().zip(&mut is_of_samples) {
            known.extend(stored.profile.labels.keys().cloned());
            if stored.slices > Bytes(0) {
                let contexts = store.load_contexts(stored.id)?.unwrap_or_default();
                let labels = distinct_label_sets(&contexts).flatten();
                let keys: BTreeSet<&str> = labels.map(|label| &*label.key).collect();
                *is_of_samples = keys.contains(key);
                known.extend(keys.into_iter().map(str::to_owned));
            }
        }
        if !known.contains(key) {
            return Err(unknown_label(full_name(&self.selection.build), key, known));
        }
        let mut roots = Roots::default();
        let nodes = Nodes::new(self);
        for (run, (stored, is_of_samples)) in profiles.iter().zip(is_of_samples).enumerate() {
            let of_run = stored.profile.labels.get(key).map_or("", String::as_str);
            let kept = if is_of_samples {
                nodes.context_costs(store, stored.id)?
            } else {
                None
            };
            match kept {
                Some(kept) => {
                    let sets = distinct_label_sets(&kept.contexts);
                    let names: HashMap<*const SampleLabel, Rc<str>> = sets
                        .map(|labels| (labels.as_ptr(), label_name(key, labels, of_run)))
                        .collect();
                    let contexts = kept.contexts.iter();
                    let names = contexts.map(|context| names[&context.labels.as_ptr()].clone());
                    self.add(&mut roots, run, &kept.costs, &names.collect::<Vec<_>>());
                }
                None => {
                    let columns = roots.entry(label_name(key, &[], of_run));
                    let columns = columns.or_insert_with(|| self.empty());
                    columns[run].clone_from(&self.runs[run]);
                }
            }
        }
        Ok(self.below(roots))
    }

    /// Returns the stacks below a frame for each thread that ran them.
    ///
    /// # Errors
    ///
    /// Returns an error if no profile has threads, or `store` lacks a profile or its time slices,
    /// with which threads are stored.
    ///
    /// # Panics
    ///
    /// Panics if stacks were changed since the view was loaded from that store.
    pub fn with_thread_roots(
        &self,
        store: &Snapshot,
        names: ThreadNames,
    ) -> Result<View, RootsError> {
        let build = || full_name(&self.selection.build);
        let nodes = Nodes::new(self);
        let mut roots = Roots::default();
        let mut any_told = false;
        for (run, stored) in self.selection.profiles.iter().enumerate() {
            let kept = nodes.context_costs(store, stored.id)?;
            let kept = kept.ok_or_else(|| RootsError::NoThreads {
                build: build(),
                profile: stored.id,
            })?;
            let threads = || kept.contexts.iter().map(|context| &context.thread);
            any_told |= threads().any(|thread| thread.tid != 0 || !thread.name.is_empty());
            // A process is named like its first thread.
            let processes: HashMap<u32, &str> = threads()
                .filter(|thread| thread.pid == thread.tid)
                .map(|thread| (thread.pid, &*thread.name))
                .collect();
            let name = |thread: &ProfileThread| -> Rc<str> {
                let name = thread_name(thread, names);
                let process = processes.get(&thread.pid).filter(|of| **of != thread.name);
                process
                    .map_or(name.clone(), |process| format!("{process}: {name}"))
                    .into()
            };
            let names: Vec<Rc<str>> = threads().map(name).collect();
            self.add(&mut roots, run, &kept.costs, &names);
        }
        if any_told {
            Ok(self.below(roots))
        } else {
            Err(RootsError::UntoldThreads { build: build() })
        }
    }

    /// Adds the costs of a run to roots, given the name of the root of each context.
    fn add(
        &self,
        roots: &mut Roots,
        run: usize,
        costs: &BTreeMap<(ContextIx, NodeIx), Vec<Cost>>,
        names: &[Rc<str>],
    ) {
        for (&(context, node), costs) in costs {
            let root = roots.entry(names[context.0 as usize].clone());
            let columns = &mut root.or_insert_with(|| self.empty())[run];
            for (column, &cost) in columns.iter_mut().zip(costs) {
                if !cost.is_zero() {
                    column.push((node, cost));
                }
            }
        }
        for columns in roots.values_mut() {
            columns[run].iter_mut().for_each(merge_equal_nodes);
        }
    }

    fn empty(&self) -> Columns {
        vec![vec![SelfCosts::new(); self.sample_types.len()]; self.selection.profiles.len()]
    }

    /// Copies the stacks below each root in which they have a cost.
    fn below(&self, roots: Roots) -> View {
        let mut frames = self.frames.clone();
        let mut tree = StackTree::new();
        let mut runs = self.empty();
        // For each node, the root that it was last copied for, and the copy.
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
            windows: self.windows.clone(),
        }
    }
}

/// Returns the error for a label that a build lacks, given its other labels.
pub(crate) fn unknown_label(build: String, key: &str, known: BTreeSet<String>) -> RootsError {
    RootsError::NoLabel {
        build,
        key: key.to_owned(),
        closest: find_closest(key, known.iter().map(String::as_str)).map(str::to_owned),
        known: known.into_iter().collect(),
    }
}

/// Returns `KEY=VALUE` from the labels of a sample or, if it has none, of its run.
pub(crate) fn label_name(key: &str, labels: &[SampleLabel], of_run: &str) -> Rc<str> {
    let own = labels.iter().filter(|label| label.key == key);
    let own: Vec<_> = own.map(SampleLabel::text).collect();
    match &own[..] {
        [] => format!("{key}={of_run}"),
        own => format!("{key}={}", own.join(", ")),
    }
    .into()
}

/// Returns the name of a thread.
pub(crate) fn thread_name(thread: &ProfileThread, names: ThreadNames) -> String {
    match (names, thread.name.as_str()) {
        (_, "") => format!("thread {}", thread.tid),
        (ThreadNames::Name, name) => name.to_owned(),
        (ThreadNames::NameAndId, name) => format!("{name} ({})", thread.tid),
    }
}
