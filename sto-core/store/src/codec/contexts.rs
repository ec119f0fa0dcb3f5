//! Contexts of samples: threads and labels.
//!
//! Many contexts share a set of labels, and many sets share a label; each is stored once.

use super::DecodeError;
use super::bytes::{Packer, Unpacker};
use super::records;
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use sto_model::SampleLabel;
use sto_model::tree::{ProfileThread, SampleContext, distinct_label_sets};

/// Distinct labels, and sets of indices into them.
type Labels = (Vec<SampleLabel>, Vec<Vec<u32>>);

pub(super) fn pack_contexts(
    pack: &mut Packer,
    contexts: &[SampleContext],
) -> Result<(), DecodeError> {
    let sets: BTreeSet<&[SampleLabel]> = distinct_label_sets(contexts).collect();
    let sets = || sets.iter().filter(|set| !set.is_empty());
    let labels: BTreeSet<&SampleLabel> = sets().copied().flatten().collect();
    let label_indices: BTreeMap<&SampleLabel, u32> = labels.iter().copied().zip(0..).collect();
    let indices = sets().map(|set| set.iter().map(|label| label_indices[label]).collect());
    let both: Labels = (labels.into_iter().cloned().collect(), indices.collect());
    let set_indices: BTreeMap<&[SampleLabel], u32> = sets().copied().zip(1..).collect();
    // 0 is the empty set.
    let index = |set: &[SampleLabel]| set_indices.get(set).copied().unwrap_or(0);
    let index_of: HashMap<*const SampleLabel, u32> = distinct_label_sets(contexts)
        .map(|set| (set.as_ptr(), index(set)))
        .collect();

    let [
        mut pids,
        mut tids,
        mut lengths,
        mut text,
        mut own_sets,
        mut list,
    ] = [(); 6].map(|()| Packer::default());
    let mut previous = 0;
    for SampleContext { thread, labels } in contexts {
        pids.number(thread.pid - previous);
        tids.number(thread.tid.wrapping_sub(thread.pid));
        lengths.number(thread.name.len() as u64);
        text.raw(thread.name.as_bytes());
        own_sets.number(index_of[&labels.as_ptr()]);
        previous = thread.pid;
    }
    list.raw(&records::pack(&both)?);
    pack.number(contexts.len() as u64);
    for column in [pids, tids, lengths, text, own_sets, list] {
        pack.column(column);
    }
    Ok(())
}

pub(super) fn unpack_contexts(pack: &mut Unpacker<'_>) -> Result<Vec<SampleContext>, DecodeError> {
    let count = pack.number32()? as usize;
    let columns: Vec<Vec<u8>> = (0..5).map(|_| pack.column()).collect::<Result<_, _>>()?;
    let [mut pids, mut tids, mut lengths, mut text, mut own_sets] =
        std::array::from_fn(|at| Unpacker::new(&columns[at]));
    let sets = unpack_sets(&pack.column()?)?;
    if count > pids.remaining() {
        return Err(DecodeError("there are fewer contexts than announced"));
    }
    let mut contexts: Vec<SampleContext> = Vec::with_capacity(count);
    for _ in 0..count {
        let previous = contexts.last().map_or(0, |context| context.thread.pid);
        let pid = previous.checked_add(pids.number32()?);
        let pid = pid.ok_or(DecodeError("a process id takes more than 32 bits"))?;
        let tid = pid.wrapping_add(tids.number32()?);
        let length = usize::try_from(lengths.number()?).unwrap_or(usize::MAX);
        let name =
            str::from_utf8(text.raw(length)?).map_err(|_| DecodeError("a name is not UTF-8"))?;
        let labels = sets.get(own_sets.number32()? as usize);
        let labels = labels.ok_or(DecodeError(
            "a context has a set of labels that does not exist",
        ))?;
        let context = SampleContext {
            thread: ProfileThread {
                pid,
                tid,
                name: name.to_owned(),
            },
            labels: labels.clone(),
        };
        if contexts.last().is_some_and(|last| *last >= context) {
            return Err(DecodeError("contexts are out of order"));
        }
        contexts.push(context);
    }
    for column in [pids, tids, lengths, text, own_sets] {
        column.finish()?;
    }
    Ok(contexts)
}

/// Unpacks the sets of labels; the empty set comes first.
fn unpack_sets(list: &[u8]) -> Result<Vec<Arc<[SampleLabel]>>, DecodeError> {
    let (labels, indices): Labels = records::unpack(list)?;
    let is_in_order = |set: &Vec<u32>| !set.is_empty() && set.is_sorted_by(|a, b| a < b);
    if !labels.is_sorted_by(|a, b| a < b)
        || !indices.iter().all(is_in_order)
        || !indices.is_sorted_by(|a, b| a < b)
    {
        return Err(DecodeError("labels are out of order"));
    }
    let mut sets = vec![Arc::default()];
    for indices in indices {
        let set = indices.iter().map(|&index| labels.get(index as usize));
        let set: Option<Arc<[_]>> = set.map(Option::<&SampleLabel>::cloned).collect();
        sets.push(set.ok_or(DecodeError("a set has a label that does not exist"))?);
    }
    Ok(sets)
}
