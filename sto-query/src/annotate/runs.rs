//! Lookup of runs by the columns of an annotation table.

use crate::select::{MIN_PREFIX, SelectError, Selector, select_all_from};
use hashbrown::{HashMap, HashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use sto_core::id::ProfileId;
use sto_core::store::StoredBuild;

/// Runs of a store, indexed for lookup, because a table may have a row for each.
pub(super) struct Runs<'b> {
    builds: &'b [StoredBuild],
    resolve: &'b dyn Fn(Selector) -> Selector,
    pub(super) all: Vec<ProfileId>,
    /// Names and tags of builds.
    names: HashSet<&'b str>,
    /// Sorted ids: ids of profiles with their index, and GNU build ids without one.
    ids: BTreeMap<String, Option<usize>>,
    /// Runs by benchmark, or by a label's key and value.
    pub(super) by_value: HashMap<(Option<&'b str>, &'b str), Rc<Vec<usize>>>,
    /// Cache of selectors.
    by_name: RefCell<HashMap<String, Rc<Vec<usize>>>>,
}

impl<'b> Runs<'b> {
    pub(super) fn new(
        builds: &'b [StoredBuild],
        resolve: &'b dyn Fn(Selector) -> Selector,
    ) -> Self {
        let mut runs = Runs {
            builds,
            resolve,
            all: Vec::new(),
            names: HashSet::new(),
            ids: BTreeMap::new(),
            by_value: HashMap::new(),
            by_name: RefCell::default(),
        };
        for build in builds {
            runs.names.insert(&build.build.version);
            runs.names.extend(build.tags.iter().map(String::as_str));
            let id = build.build.gnu_build_id.as_ref();
            runs.ids.extend(id.map(|id| (id.to_string(), None)));
            for stored in &build.profiles {
                let index = runs.all.len();
                runs.all.push(stored.id);
                runs.ids.insert(stored.id.to_string(), Some(index));
                let benchmark = stored.profile.benchmark.iter().map(|name| (None, &**name));
                let labels = stored.profile.labels.iter();
                let labels = labels.map(|(key, value)| (Some(&**key), &**value));
                for key in benchmark.chain(labels) {
                    Rc::make_mut(runs.by_value.entry(key).or_default()).push(index);
                }
            }
        }
        runs
    }

    /// Returns the runs denoted by a [`Selector`].
    pub(super) fn find_by_name(&self, name: &str) -> Result<Rc<Vec<usize>>, SelectError> {
        let prefix = name.to_ascii_lowercase();
        let ids = self.ids.range(prefix.clone()..);
        let mut ids = ids.take_while(|(id, _)| id.starts_with(&prefix));
        // Most rows identify a run by its id.
        if let (Some((_, &Some(one))), None) = (ids.next(), ids.next())
            && prefix.len() >= MIN_PREFIX
            && !self.names.contains(name)
        {
            return Ok(Rc::new(vec![one]));
        }
        if let Some(known) = self.by_name.borrow().get(name) {
            return Ok(known.clone());
        }
        let selector = (self.resolve)(name.parse::<Selector>()?);
        let found = select_all_from(self.builds, &selector)?;
        let found = found.iter().flat_map(|selection| &selection.profiles);
        let ids = found.map(|stored| stored.id.to_string());
        let mut indices: Vec<usize> = ids.filter_map(|id| *self.ids.get(&id)?).collect();
        indices.sort_unstable();
        let indices = Rc::new(indices);
        let mut known = self.by_name.borrow_mut();
        known.insert(name.to_owned(), indices.clone());
        Ok(indices)
    }
}
