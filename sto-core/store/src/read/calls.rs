//! Loading calls over time.

use crate::error::Result;
use crate::read::builds;
use crate::read::call_rules::unpacked;
use crate::read::counts::CallPacks;
use crate::read::metrics::check_size;
use crate::read::rows::Rows;
use crate::{Loaded, LoadedCalls};
use sto_model::id::{ExecutableId, ProfileId};

/// Loads the calls over time of a profile, if it has any.
pub(crate) fn load(rows: &Rows, id: ProfileId) -> Result<Option<LoadedCalls>> {
    let record = builds::profile_record(rows, id)?;
    let Some(packs) = CallPacks::read(rows, record.number)? else {
        return check_size(rows, id, &record).map(|()| None);
    };
    let executable = ExecutableId::from_name(&builds::build_of(rows, &record)?.executable);
    let Loaded { frames, tree, .. } = builds::load(rows, executable, &[id])?;
    let calls = unpacked(&packs, CallPacks::columns(record.number), tree.len())?;
    Ok(Some(LoadedCalls {
        frames,
        tree,
        calls,
    }))
}
