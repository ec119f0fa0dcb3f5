//! Loaded views that are kept for further questions.

use crate::tree::{View, Window};
use std::sync::{Arc, Mutex, PoisonError};
use sto_core::id::ProfileId;
use sto_core::units::Bytes;

/// The origin of a view. Ids of profiles are digests of their content, so that equal keys mean equal views of one
/// state of a store.
#[derive(PartialEq)]
pub(super) struct ViewKey {
    pub(super) profiles: Vec<ProfileId>,
    pub(super) event: Option<String>,
    pub(super) window: Option<Window>,
    pub(super) inlined: bool,
}

/// The most recently used views that fit into the memory limit.
pub(super) struct ViewCache {
    limit: Bytes,
    /// The views, with their sizes, most recently used last.
    views: Mutex<Vec<(ViewKey, Arc<View>, u64)>>,
}

impl ViewCache {
    pub(super) fn new(limit: Bytes) -> ViewCache {
        ViewCache {
            limit,
            views: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn get(&self, key: &ViewKey) -> Option<Arc<View>> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let found = views.iter().position(|(known, ..)| known == key)?;
        views[found..].rotate_left(1);
        views.last().map(|(_, view, _)| Arc::clone(view))
    }

    /// Keeps a view, and drops those that were not used for longest to make room for it.
    pub(super) fn insert(&self, key: ViewKey, view: &Arc<View>) {
        let size = view.memory_size().0;
        if size > self.limit.0 {
            return;
        }
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.retain(|(known, ..)| *known != key);
        views.push((key, Arc::clone(view), size));
        let mut sum: u64 = views.iter().map(|(.., size)| size).sum();
        let mut dropped = 0;
        while sum > self.limit.0 {
            sum -= views[dropped].2;
            dropped += 1;
        }
        views.drain(..dropped);
    }
}
