//! Single changes that a stranger or a broken disk makes to a store, and what a merge or verification finds.

use super::forged::{Forged, Key, damages, merge, sound};
use super::*;
use crate::codec::{pack, pack_kept_head, unpack_kept_head};
use crate::numbers::{ProfileNo, TypeNo};
use crate::tables::{Column, ENDS, Record};
use crate::test_profiles::{add_with_all_columns, add_without_kept_calls};
use crate::{Snapshot, Store};
use redb::ReadableTable;
use sto_model::id::ProfileId;
use sto_model::tree::NodeIx;

#[test]
fn forged_replacement_hides_no_profile() {
    let honest = Store::in_memory().unwrap();
    let hidden = add_with_all_columns(&honest, 3, "v1");
    let stranger = Store::in_memory().unwrap();
    let by = add_with_all_columns(&stranger, 5, "v1");
    let mut forged = Forged::read(&stranger);
    let replaced = Key::Record((Record::Replaced as u8, hidden.0));
    forged.rows.insert(replaced, pack(&by).unwrap());
    let here = Store::in_memory().unwrap();
    assert_eq!(merge(&here, &forged.store()).unwrap().added, [by]);
    assert_eq!(merge(&here, &honest).unwrap().added, [hidden]);
    assert_eq!(damages(&here), []);
}

#[test]
fn kept_calls_of_a_function_with_too_many_frames_are_left_out() {
    let mut forged = sound();
    let (&number, &id) = forged.profile_ids().iter().next_back().unwrap();
    let key = Key::Column(Column::CallTrees(number, 0).key());
    let mut head = unpack_kept_head(&forged.rows[&key], 4).unwrap();
    head.functions.push((NodeIx(2), 4));
    forged.rows.insert(key, pack_kept_head(&head).unwrap());
    let here = Store::in_memory().unwrap();
    let merged = merge(&here, &forged.with_right_sizes().store()).unwrap();
    assert_eq!(merged.left_out.len(), 1, "{merged:?}");
    assert_eq!(merged.left_out[0].profiles, [id]);
}

#[test]
fn kept_calls_of_a_merged_profile_stay_only_with_their_threads() {
    let there = Store::in_memory().unwrap();
    let id = add_with_all_columns(&there, 5, "v1");
    for (threads, has_kept_calls) in [(2, true), (1, false)] {
        let here = Store::in_memory().unwrap();
        merge(&here, &there).unwrap();
        assert_eq!(add_without_kept_calls(&here, 5, threads).id(), id);
        assert_eq!(damages(&here), []);
        let kept = here.snapshot().unwrap().kept_calls(id).unwrap();
        assert_eq!(kept.is_some(), has_kept_calls, "{threads}");
    }
}

#[test]
fn damaged_costs_hide_no_other_damaged_column() {
    let store = sound().store();
    let profile = ProfileNo(1);
    let columns = [
        Column::Costs(profile, TypeNo(0)),
        Column::Metrics(profile),
        Column::CallTrees(profile, 2),
    ];
    let flip = |transaction: &redb::WriteTransaction, (): &()| {
        let mut ends = transaction.open_table(ENDS)?;
        for column in columns {
            let mut stored = ends.get(column.key())?.unwrap().value().to_vec();
            stored[0] ^= 1;
            ends.insert(column.key(), &stored[..])?;
        }
        Ok(())
    };
    let plan = |_: &Rows| Ok(((), Some(())));
    store.change(plan, flip, |()| None).unwrap();
    let found = damages(&store).into_iter().map(|damage| damage.location);
    assert_eq!(
        found.collect::<Vec<_>>(),
        columns.map(|column| column.to_string())
    );
}

#[test]
fn pulled_profile_with_forged_calls_is_left_out() {
    let sound = sound();
    let (&number, &id) = sound.profile_ids().iter().next_back().unwrap();
    let mut forged = sound.clone();
    let piece = Key::Column(Column::CallTrees(number, 1).key());
    let other = Key::Column(Column::CallTrees(number, 2).key());
    forged.rows.insert(piece, sound.rows[&other].clone());
    for (rows, left_out) in [(sound, &[][..]), (forged.with_right_sizes(), &[id][..])] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        rows.write_to(&store);
        let file = std::fs::read(folder.path().join(Store::FILE_NAME)).unwrap();
        let packed = zstd::bulk::compress(&file, 1).unwrap();
        let unpacked = Snapshot::unpack(&packed, Path::new("place/file")).unwrap();
        let here = Store::in_memory().unwrap();
        let merged = here.merge(&unpacked, &mut |_| Ok(())).unwrap();
        let found: Vec<ProfileId> = merged
            .left_out
            .iter()
            .flat_map(|out| out.profiles.clone())
            .collect();
        assert_eq!(found, left_out);
        if let [out] = &merged.left_out[..] {
            assert!(
                out.why
                    .contains("place/file: the store is damaged: table columns, kept calls 1/1: "),
                "{out:?}"
            );
        }
        assert_eq!(damages(&here), []);
    }
}
