//! Detects modules whose code did not change.
//!
//! A module with the same GNU build id on both sides has the same code on both. If it costs more,
//! it was called more often or given more work, so the cause is in its caller.

use crate::functions::ModuleKey;
use crate::tree::View;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{FrameKind, GnuBuildId};

/// The modules that are known to have, or not to have, the same code on both sides.
pub(super) struct UnchangedModules<'a> {
    /// Whether build ids are meaningful: only if some module is known to have changed.
    is_known: bool,
    baseline: BuildIds<'a>,
    candidate: BuildIds<'a>,
    /// `None` if a build id is not known.
    same_main: Option<bool>,
    same_kernel: bool,
}

/// The build ids of each module in the runs of one side.
type BuildIds<'a> = BTreeMap<&'a str, BTreeSet<Option<&'a GnuBuildId>>>;

impl<'a> UnchangedModules<'a> {
    pub(super) fn new(baseline: &'a View, candidate: &'a View) -> Self {
        let main_id = |view: &'a View| view.selection.build.gnu_build_id.as_ref();
        let main_ids = main_id(baseline).zip(main_id(candidate));
        let same_main = main_ids.map(|(baseline, candidate)| baseline == candidate);
        let kernels = kernels(baseline);
        let same_kernel = !kernels.contains(&None) && kernels == self::kernels(candidate);
        let mut unchanged = UnchangedModules {
            is_known: false,
            baseline: build_ids(baseline),
            candidate: build_ids(candidate),
            same_main,
            same_kernel,
        };
        unchanged.is_known = same_main != Some(true)
            || unchanged
                .baseline
                .keys()
                .any(|module| unchanged.same_ids(module) == Some(false));
        unchanged
    }

    /// Whether the code of a module is the same on both sides.
    ///
    /// Also `true` for addresses outside of all modules: they are not code, but garbage from stacks
    /// that could not be unwound.
    pub(super) fn contains(&self, module: ModuleKey<'_>, kind: FrameKind) -> bool {
        let is_same = match module {
            ModuleKey::MainProgram => self.same_main == Some(true),
            ModuleKey::Named("") if kind == FrameKind::Unresolved => true,
            ModuleKey::Named(name) => self
                .same_ids(name)
                .unwrap_or(self.same_kernel && (kind == FrameKind::Kernel || name == "[kernel]")),
        };
        self.is_known && is_same
    }

    /// Whether the code of a module is known to differ between the sides.
    pub(super) fn has_changed(&self, module: ModuleKey<'_>) -> bool {
        let same = match module {
            ModuleKey::MainProgram => self.same_main,
            ModuleKey::Named(name) => self.same_ids(name),
        };
        same == Some(false)
    }

    /// `None` if a build id is not known.
    fn same_ids(&self, module: &str) -> Option<bool> {
        let (baseline, candidate) = (self.baseline.get(module)?, self.candidate.get(module)?);
        let known = !baseline.contains(&None) && !candidate.contains(&None);
        known.then(|| baseline == candidate)
    }
}

fn build_ids(view: &View) -> BuildIds<'_> {
    let mut ids = BuildIds::new();
    for stored in &view.selection.profiles {
        for module in stored.profile.modules.iter() {
            ids.entry(&module.name)
                .or_default()
                .insert(module.build_id.as_ref());
        }
    }
    ids
}

/// Kernel releases. A release (Linux, `UTS_RELEASE`) identifies a kernel build if
/// `/sys/kernel/notes` was not recorded.
fn kernels(view: &View) -> BTreeSet<Option<&str>> {
    let profiles = view.selection.profiles.iter();
    profiles
        .map(|stored| stored.profile.origin.kernel.as_deref())
        .collect()
}
