//! Loading calls over time.

use crate::id::{ExecutableId, ProfileId};
use crate::store::error::Result;
use crate::store::read::builds;
use crate::store::read::call_rules::unpacked;
use crate::store::read::counts::CallPacks;
use crate::store::read::metrics::check_size;
use crate::store::read::rows::Rows;
use crate::store::{Loaded, LoadedCalls};

/// The calls of a profile, where it has any.
pub(crate) fn load(rows: &Rows, id: ProfileId) -> Result<Option<LoadedCalls>> {
    let record = builds::profile_record(rows, id)?;
    let Some(packs) = CallPacks::read(rows, record.number)? else {
        return check_size(rows, id, &record).map(|()| None);
    };
    let executable = ExecutableId::of(&builds::build_of(rows, &record)?.executable);
    let Loaded { frames, tree, .. } = builds::load(rows, executable, &[id])?;
    let calls = unpacked(&packs, CallPacks::columns(record.number), tree.len())?;
    Ok(Some(LoadedCalls {
        frames,
        tree,
        calls,
    }))
}
