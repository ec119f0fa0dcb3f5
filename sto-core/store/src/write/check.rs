//! The rules for profiles.

use crate::codec::{CommitRecord, is_consistent};
use crate::error::{InternalError, Result};
use crate::read::rows::record_location;
use crate::read::{call_rules, metrics, slices};
use crate::tables::Record;
use sto_model::id::ProfileId;
use sto_model::limits::{
    MAX_COUNT, MAX_DEPTH, MAX_LABELS, MAX_NAME, MAX_SAMPLE_TYPES, MAX_SOURCE_FILES, MAX_USER_STRING,
};
use sto_model::tree::{LineCost, NodeIx, ProfileData, SelfCosts, StackTree};
use sto_model::units::Cost;
use sto_model::{Build, CommitHash, FrameIx, Profile, StringIx};

/// Checks the rules that the types do not enforce, so that everything stored can be read.
pub(crate) fn check(build: &Build, profile: &Profile, interned: &ProfileData) -> Result<()> {
    let ProfileData {
        frames,
        tree,
        costs,
        line_costs: lines,
        slices,
        metrics,
        calls,
        // Decoding takes long: calls that were ingested are valid, and those of other stores were checked when read.
        kept_calls: _,
        source_digests: sources,
        addresses,
    } = interned;
    let ascending = |costs: &SelfCosts| costs.is_sorted_by(|a, b| a.0 < b.0);
    let lines_ascending =
        |lines: &Vec<LineCost>| lines.is_sorted_by(|a, b| (a.frame, a.line) < (b.frame, b.line));
    let rules = [
        (profile.build == build.id(), "it names another build"),
        (
            costs.len() == profile.sample_types.len() && lines.len() == costs.len(),
            "it does not have one column of costs per sample type",
        ),
        (
            build.commit.as_ref().is_none_or(|commit| {
                let named = build
                    .revision
                    .as_deref()
                    .and_then(CommitHash::from_revision);
                named.as_ref() == Some(&commit.hash)
            }),
            "its commit does not match its revision",
        ),
        (is_preorder(tree), "its tree is not in preorder"),
        (
            // Ids and slices refer to nodes by index in the order in which the store returns them.
            frames.iter().is_sorted_by(|(_, a), (_, b)| a < b),
            "its frames are out of order",
        ),
        (
            siblings_ascend(tree),
            "two callees of a stack are out of order or equal",
        ),
        (
            tree.frames().iter().all(|frame| frame.get() < frames.len()),
            "a node's frame does not exist",
        ),
        (costs.iter().all(ascending), "its costs are out of order"),
        (
            costs
                .iter()
                .flatten()
                .all(|&(node, cost)| node.get() < tree.len() && !cost.is_zero()),
            "a cost is zero, or of a node that does not exist",
        ),
        (
            lines.iter().all(lines_ascending),
            "its line costs are out of order",
        ),
        (
            lines
                .iter()
                .flatten()
                .all(|cost| cost.frame.get() < frames.len() && cost.line > 0),
            "a line cost is of line 0, or of a frame that does not exist",
        ),
        (
            sources.len() <= MAX_SOURCE_FILES && sources.keys().all(|path| path.len() <= MAX_NAME),
            "it has digests of more than 65536 source files, or a path that is too long",
        ),
    ];
    if let Some((_, why)) = rules.iter().find(|(kept, _)| !kept) {
        return Err(InternalError::Refused(why));
    }
    if let Some(why) = beyond_limits(build, profile, interned) {
        return Err(InternalError::Refused(why));
    }
    if let Some(slices) = slices {
        slices::check(slices, interned)?;
    }
    if let Some(addresses) = addresses {
        let slices = slices.iter().flat_map(|_| &addresses.costs);
        let add_up = addresses.slices.len() == slices.clone().count()
            && addresses
                .slices
                .iter()
                .zip(slices)
                .all(|(slices, costs)| is_consistent(slices, costs));
        if !addresses.are_consistent_with(tree, costs) || !add_up {
            return Err(InternalError::Refused(
                "its addresses do not match its stacks",
            ));
        }
    }
    metrics.as_ref().map_or(Ok(()), metrics::check)?;
    calls
        .as_ref()
        .map_or(Ok(()), |calls| call_rules::check(calls, interned))
}

/// Checks a profile that this store, or another one, has under an id: its rules, and that its content matches the id.
pub(crate) fn check_stored(
    id: ProfileId,
    build: &Build,
    profile: &Profile,
    interned: &ProfileData,
) -> Result<()> {
    check(build, profile, interned)?;
    if ProfileId::new(build, profile, interned) == id {
        Ok(())
    } else {
        Err(content_mismatch(id))
    }
}

/// An error about a profile whose content does not match its id.
pub(crate) fn content_mismatch(id: ProfileId) -> InternalError {
    let location = record_location(Record::Profile, id.0);
    InternalError::damaged(location, "its content does not match its id")
}

/// Returns the first limit that a profile exceeds. Reading a file truncates or rejects larger data, but a
/// profile of another store or program may never have been in a file.
fn beyond_limits(build: &Build, profile: &Profile, interned: &ProfileData) -> Option<&'static str> {
    let ProfileData {
        frames,
        tree,
        costs,
        ..
    } = interned;
    let origin = &profile.origin;
    let origin = [
        &origin.host,
        &origin.kernel,
        &origin.arch,
        &origin.cpu,
        &origin.command,
    ];
    let mut names = origin
        .into_iter()
        .flatten()
        .chain(profile.sample_types.iter().map(|known| &known.event))
        .chain(profile.modules.iter().map(|module| &module.name))
        .map(String::as_str)
        .chain((0..frames.string_count()).map(|ix| frames.string(StringIx(ix as u32))));
    let mut given = [&build.executable, &build.version]
        .into_iter()
        .chain(&build.revision)
        .chain(&profile.benchmark)
        .chain(profile.labels.iter().flat_map(|(key, value)| [key, value]))
        .chain(profile.metrics.keys());
    let is_counted = |cost: Option<Cost>| {
        cost.is_some_and(|cost| cost.samples <= MAX_COUNT && cost.value <= MAX_COUNT)
    };
    let mut totals = costs.iter().map(|costs| {
        let mut costs = costs.iter().map(|&(_, cost)| cost);
        costs.try_fold(Cost::ZERO, Cost::checked_add)
    });
    let limits = [
        (
            costs.iter().any(|costs| !costs.is_empty()),
            "it has no samples",
        ),
        (
            totals.all(is_counted) && profile.quality.samples <= MAX_COUNT,
            "its counts add up to more than 2^56",
        ),
        (
            names.all(|name| name.len() <= MAX_NAME),
            "a name in it is longer than 4096 bytes",
        ),
        (
            given.all(|name| name.len() <= MAX_USER_STRING),
            "a name given for it is longer than 4096 bytes",
        ),
        (
            profile.labels.len() <= MAX_LABELS && profile.metrics.len() <= MAX_LABELS,
            "it has more than 256 labels, or metrics",
        ),
        (
            profile.metrics.values().all(|value| value.is_finite()),
            "a metric is not a finite number",
        ),
        (
            profile.sample_types.len() <= MAX_SAMPLE_TYPES,
            "it has more than 1024 sample types",
        ),
        (
            build
                .commit
                .as_ref()
                .is_none_or(|commit| CommitRecord::from_commit(commit).is_within_limits()),
            "its commit has more than 256 parents, or a subject longer than 4096 bytes",
        ),
        (
            depth(tree) <= MAX_DEPTH,
            "a stack has more than 2097152 frames",
        ),
    ];
    limits.iter().find(|(kept, _)| !kept).map(|&(_, why)| why)
}

/// The maximum depth of a tree in preorder.
fn depth(tree: &StackTree) -> usize {
    let mut depths: Vec<u32> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        depths.push(
            tree.parent(node)
                .map_or(1, |parent| depths[parent.get()] + 1),
        );
    }
    depths.into_iter().max().unwrap_or(0) as usize
}

fn is_preorder(tree: &StackTree) -> bool {
    let mut open = None;
    tree.nodes().all(|node| {
        let parent = tree.parent(node);
        while open != parent && open.is_some() {
            open = open.and_then(|open| tree.parent(open));
        }
        let found = open == parent;
        open = Some(node);
        found
    })
}

/// Whether the children of each node, and the roots, are in the order of their frames.
fn siblings_ascend(tree: &StackTree) -> bool {
    // In preorder, the previous sibling is the last node popped on the way back to the parent.
    let mut path: Vec<(NodeIx, FrameIx)> = Vec::new();
    tree.nodes().all(|node| {
        let parent = tree.parent(node);
        let frame = tree.frame(node);
        let mut sibling = None;
        while path.last().map(|&(open, _)| open) != parent {
            match path.pop() {
                Some((_, left)) => sibling = Some(left),
                None => break,
            }
        }
        path.push((node, frame));
        sibling.is_none_or(|sibling| sibling < frame)
    })
}
