//! Call paths: functions with their chains of callers.

use crate::index_types;
use crate::limits::MAX_CALL_STACKS;
use hashbrown::HashTable;
use std::hash::BuildHasher;

index_types! {
    /// A function of a trace, numbered by the format's reader.
    pub TraceFunctionIx;
    /// Index of a path in [`CallPaths`].
    pub CallPathIx;
}

const NONE: u32 = u32::MAX;

/// Distinct call paths. A path consists of a function and the path of its caller.
///
/// They are numbered in the order of their first call, so that callers have smaller numbers than their callees. Their
/// number is limited: further ones count as the path of their caller, as if they were inlined into it.
#[derive(Clone, Debug)]
pub struct CallPaths {
    limit: usize,
    callers: Vec<u32>,
    functions: Vec<TraceFunctionIx>,
    /// The last callee of each path, which loops often call again.
    last: Vec<u32>,
    /// The last outermost path.
    last_root: Option<CallPathIx>,
    index: HashTable<u32>,
    hasher: hashbrown::DefaultHashBuilder,
}

impl Default for CallPaths {
    fn default() -> CallPaths {
        CallPaths::with_limit(MAX_CALL_STACKS)
    }
}

impl CallPaths {
    /// Creates an empty table that takes this number of paths, and any number of outermost ones.
    pub fn with_limit(limit: usize) -> CallPaths {
        CallPaths {
            limit,
            callers: Vec::new(),
            functions: Vec::new(),
            last: Vec::new(),
            last_root: None,
            index: HashTable::new(),
            hasher: hashbrown::DefaultHashBuilder::default(),
        }
    }

    /// Adds no more paths. An outermost path must be known from now on.
    pub fn freeze(&mut self) {
        self.limit = self.path_count();
    }

    /// The maximum number of paths.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The number of paths.
    pub fn path_count(&self) -> usize {
        self.functions.len()
    }

    /// Iterates over all paths, callers before callees.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = CallPathIx> + use<> {
        (0..self.path_count() as u32).map(CallPathIx)
    }

    /// The path of the caller, or `None` for an outermost call.
    pub fn caller(&self, path: CallPathIx) -> Option<CallPathIx> {
        let caller = self.callers[path.get()];
        (caller != NONE).then_some(CallPathIx(caller))
    }

    /// The innermost function of a path.
    pub fn function(&self, path: CallPathIx) -> TraceFunctionIx {
        self.functions[path.get()]
    }

    /// Returns the path of a call to `function` from `caller`, and adds it if it is new. Returns the caller's path if
    /// there are too many.
    ///
    /// # Panics
    /// Panics if there are already 2^32 - 1 paths, which take 64 GiB.
    #[inline]
    pub fn intern(&mut self, caller: Option<CallPathIx>, function: TraceFunctionIx) -> CallPathIx {
        let last = match caller {
            Some(caller) => self.last[caller.get()],
            None => self.last_root.map_or(NONE, |root| root.0),
        };
        if self.functions.get(last as usize) == Some(&function) {
            return CallPathIx(last);
        }
        let path = self.find_or_insert(caller.map_or(NONE, |caller| caller.0), function);
        match caller {
            Some(caller) if caller == path => {}
            Some(caller) => self.last[caller.get()] = path.0,
            None => self.last_root = Some(path),
        }
        path
    }

    fn find_or_insert(&mut self, caller: u32, function: TraceFunctionIx) -> CallPathIx {
        let CallPaths {
            limit,
            callers,
            functions,
            last,
            index,
            hasher,
            ..
        } = self;
        let hash_of = |caller: u32, function: TraceFunctionIx| {
            hasher.hash_one(u64::from(caller) << 32 | u64::from(function.0))
        };
        let is_this =
            |&path: &u32| callers[path as usize] == caller && functions[path as usize] == function;
        let hash = hash_of(caller, function);
        if let Some(&path) = index.find(hash, is_this) {
            return CallPathIx(path);
        }
        let path = functions.len() as u32;
        if functions.len() >= *limit && caller != NONE {
            return CallPathIx(caller);
        }
        assert_ne!(path, NONE, "fewer than 2^32 - 1 paths");
        callers.push(caller);
        functions.push(function);
        last.push(NONE);
        index.insert_unique(hash, path, |&path| {
            hash_of(callers[path as usize], functions[path as usize])
        });
        CallPathIx(path)
    }

    /// Adds other paths in their order. Returns the index in `self` of each of them.
    pub fn append(&mut self, others: &CallPaths) -> Vec<CallPathIx> {
        let mut indices: Vec<CallPathIx> = Vec::with_capacity(others.path_count());
        for path in others.iter() {
            let caller = others.caller(path).map(|caller| indices[caller.get()]);
            indices.push(self.intern(caller, others.function(path)));
        }
        indices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_differ_by_caller_and_function() {
        let mut paths = CallPaths::default();
        let [main, read, write] = [0, 1, 2].map(TraceFunctionIx);
        let root = paths.intern(None, main);
        let reads = paths.intern(Some(root), read);
        let writes = paths.intern(Some(root), write);
        let nested = paths.intern(Some(reads), write);
        assert_eq!([root, reads, writes, nested], [0, 1, 2, 3].map(CallPathIx));
        assert_eq!(paths.intern(Some(root), read), reads);
        assert_eq!(paths.intern(None, main), root);
        assert_eq!(paths.caller(nested), Some(reads));
        assert_eq!(paths.caller(root), None);
        assert_eq!(paths.function(nested), write);
        assert_ne!(paths.intern(None, read), reads);
    }

    #[test]
    fn further_paths_are_those_of_their_callers() {
        let [main, read, write] = [0, 1, 2].map(TraceFunctionIx);
        let mut paths = CallPaths::with_limit(2);
        let root = paths.intern(None, main);
        let reads = paths.intern(Some(root), read);
        assert_eq!(paths.intern(Some(root), write), root);
        assert_eq!(paths.intern(Some(reads), main), reads);
        assert_eq!(paths.intern(Some(root), read), reads);
        assert_eq!(paths.intern(None, write), CallPathIx(2));
        assert_eq!(paths.path_count(), 3);
    }

    #[test]
    fn append_reuses_equal_paths() {
        let add = |paths: &mut CallPaths, functions: &[u32]| {
            functions.iter().fold(None, |caller, &function| {
                Some(paths.intern(caller, TraceFunctionIx(function)))
            })
        };
        let (mut paths, mut others) = (CallPaths::default(), CallPaths::default());
        add(&mut paths, &[0, 1]);
        add(&mut others, &[0, 2]);
        add(&mut others, &[0, 1]);
        assert_eq!(paths.append(&others), [0, 2, 1].map(CallPathIx));
        assert_eq!(paths.path_count(), 3);
    }
}
