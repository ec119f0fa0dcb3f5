//! Stores whose rows were changed under right checksums, as a stranger can send them: merging one never damages a store.
//!
//! Every row of a store with columns of all kinds is attacked, so a column of a new kind is too.

use super::*;
use crate::codec::{
    CHECKSUM_LEN, Contents, ProfileRecord, pack, pack_parts, unpack, unpack_parts, with_checksum,
};
use crate::numbers::ProfileNo;
use crate::read::rows::{NewRows, record_key};
use crate::tables::{Column, ColumnKey, RECORDS, Record, RecordKey};
use crate::test_profiles::{add, add_with_all_columns};
use crate::{Merged, Store, pack_rest, unpack_rest};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;
use sto_model::id::{ExecutableId, ProfileId};
use sto_model::tree::ProfileData;

/// The rows of a store without their checksums.
#[derive(Clone)]
pub(super) struct Forged {
    contents: Contents,
    pub(super) rows: Bodies,
}

pub(super) type Bodies = BTreeMap<Key, Vec<u8>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Record(RecordKey),
    Column(ColumnKey),
}

impl Key {
    /// The key of a copy of this row.
    fn next(self) -> Key {
        match self {
            Key::Record((kind, mut id)) => {
                id[15] ^= 1;
                Key::Record((kind, id))
            }
            Key::Column((kind, owner, part)) => match (kind, owner, part + 1) {
                next if Column::from_key(next).is_some() => Key::Column(next),
                _ => Key::Column((kind, owner + 1, part)),
            },
        }
    }

    fn kind(self) -> (bool, u8) {
        match self {
            Key::Record((kind, _)) => (false, kind),
            Key::Column((kind, ..)) => (true, kind),
        }
    }

    /// The profile that owns this column.
    fn profile(self) -> Option<ProfileNo> {
        let Key::Column((kind, owner, _)) = self else {
            return None;
        };
        let mut own = Column::first_of(ProfileNo(owner));
        own.any(|column| column.key().0 == kind)
            .then_some(ProfileNo(owner))
    }
}

impl Forged {
    pub(super) fn read(store: &Store) -> Forged {
        let read = |rows: &Rows| {
            let mut all = BTreeMap::new();
            rows.each_record(|key, stored| {
                let body = &stored[..stored.len() - CHECKSUM_LEN];
                all.insert(Key::Record(key), body.to_vec());
            })?;
            let mut keys = Vec::new();
            rows.each_end(|key, _| keys.push(key))?;
            for key in keys {
                let body = rows.column(Column::from_key(key).unwrap())?;
                all.insert(Key::Column(key), body);
            }
            Ok(Forged {
                contents: rows.contents,
                rows: all,
            })
        };
        store.snapshot().unwrap().read(read).unwrap()
    }

    pub(super) fn store(&self) -> Store {
        let store = Store::in_memory().unwrap();
        self.write_to(&store);
        store
    }

    pub(super) fn write_to(&self, store: &Store) {
        let write = |transaction: &redb::WriteTransaction, (): &()| {
            let mut new = NewRows::new(self.contents);
            for (key, body) in &self.rows {
                if let Key::Column(key) = key {
                    new.column(Column::from_key(*key).unwrap(), body.clone());
                }
            }
            new.write(transaction)?;
            let mut records = transaction.open_table(RECORDS)?;
            for (key, body) in &self.rows {
                if let Key::Record((kind, id)) = key {
                    let checked = record_key(Record::from_number(*kind).unwrap(), *id);
                    let stored = with_checksum(&checked, body.clone());
                    records.insert((*kind, *id), &stored[..])?;
                }
            }
            Ok(())
        };
        let plan = |_: &Rows| Ok(((), Some(())));
        store.change(plan, write, |()| None).unwrap();
    }

    /// Makes the sizes in the records of profiles right.
    pub(super) fn with_right_sizes(mut self) -> Forged {
        for (key, body) in self.rows.clone() {
            if let Key::Record((kind, _)) = key
                && kind == Record::Profile as u8
                && let Ok(mut record) = unpack::<ProfileRecord>(&body)
            {
                let own = self.rows.iter();
                let own = own.filter(|(key, _)| key.profile() == Some(record.number));
                record.columns = own
                    .map(|(_, body)| (body.len() + CHECKSUM_LEN) as u64)
                    .sum();
                self.rows.insert(key, pack(&record).unwrap());
            }
        }
        self
    }

    pub(super) fn profile_ids(&self) -> BTreeMap<ProfileNo, ProfileId> {
        let mut ids = BTreeMap::new();
        for (key, body) in &self.rows {
            if let Key::Record((kind, id)) = key
                && *kind == Record::Profile as u8
            {
                let record: ProfileRecord = unpack(body).unwrap();
                ids.insert(record.number, ProfileId(*id));
            }
        }
        ids
    }
}

/// A change of one row.
struct Forgery {
    key: Key,
    what: String,
    forged: Forged,
    /// Whether the row is missing, too short or too long, and its profile's record still has the size of the sound row.
    is_size_wrong: bool,
}

/// Values in which one byte is another. `STO_FORGERIES` sets the number of other values of each byte, at most 255.
fn with_other_numbers(body: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    let count = std::env::var("STO_FORGERIES").map_or(1, |count| count.parse().unwrap());
    (0..body.len() * count).map(move |forgery| {
        let (at, value) = (forgery / count, forgery % count);
        let mut body = body.to_vec();
        let more = 1 + (at + value * 101) % 255;
        body[at] = body[at].wrapping_add(more as u8);
        (format!("byte {at} is {more} more"), body)
    })
}

/// Values that are cut or repeated.
fn with_other_lengths(body: &[u8]) -> [(String, Vec<u8>); 4] {
    [
        ("empty".to_owned(), Vec::new()),
        ("cut in half".to_owned(), body[..body.len() / 2].to_vec()),
        (
            "cut by one byte".to_owned(),
            body[..body.len().saturating_sub(1)].to_vec(),
        ),
        ("repeated".to_owned(), body.repeat(2)),
    ]
}

/// The changes of the rows of a store, also to records under these ids.
fn forgeries(sound: &Forged, ids: &[ProfileId]) -> Vec<Forgery> {
    let mut all = Vec::new();
    // The other profile has the same columns.
    let keys = sound.rows.keys().copied();
    let keys: Vec<Key> = keys
        .filter(|key| key.profile() != Some(ProfileNo(0)))
        .collect();
    for (index, &key) in keys.iter().enumerate() {
        let body = &sound.rows[&key];
        let changed = |change: &dyn Fn(&mut Bodies)| {
            let mut forged = sound.clone();
            change(&mut forged.rows);
            forged
        };
        let mut sizes = vec![
            (
                "removed".to_owned(),
                changed(&|rows| drop(rows.remove(&key))),
            ),
            (
                "copied".to_owned(),
                changed(&|rows| drop(rows.insert(key.next(), body.clone()))),
            ),
        ];
        for (what, body) in with_other_lengths(body) {
            sizes.push((what, changed(&|rows| drop(rows.insert(key, body.clone())))));
        }
        let mut values = Vec::new();
        let rest = || keys[index + 1..].iter().copied();
        let of_kind = rest().find(|other| other.kind() == key.kind());
        for other in of_kind.into_iter().chain(rest().next()) {
            let swap = |rows: &mut Bodies| {
                rows.insert(key, sound.rows[&other].clone());
                rows.insert(other, body.clone());
            };
            values.push((format!("swapped with {other:?}"), changed(&swap)));
        }
        if let Key::Record((kind, _)) = key {
            for &id in ids {
                let to = Key::Record((kind, id.0));
                let copy = |rows: &mut Bodies| drop(rows.insert(to, body.clone()));
                values.push((format!("copied to {id}"), changed(&copy)));
            }
        }
        for (what, body) in with_other_numbers(body) {
            values.push((what, changed(&|rows| drop(rows.insert(key, body.clone())))));
        }
        for (what, forged) in sizes {
            // A copy that belongs to another profile does not count.
            let is_elsewhere =
                forged.rows.get(&key) == Some(body) && key.next().profile() != key.profile();
            all.push(Forgery {
                key,
                what: format!("{what}, sizes made right"),
                forged: forged.clone().with_right_sizes(),
                is_size_wrong: false,
            });
            all.push(Forgery {
                key,
                what,
                forged,
                is_size_wrong: key.profile().is_some() && !is_elsewhere,
            });
        }
        all.extend(values.into_iter().map(|(what, forged)| Forgery {
            key,
            what,
            forged: forged.with_right_sizes(),
            is_size_wrong: false,
        }));
    }
    all
}

pub(super) fn damages(store: &Store) -> Vec<Corruption> {
    let walk = |rows: &Rows| {
        let mut damages = Corruptions::default();
        let walked = walk(rows, &mut Checked::default(), &mut damages, &mut |_| Ok(()));
        assert!(walked.is_ok(), "nobody cancels");
        Ok(damages.finish()?)
    };
    store.snapshot().unwrap().read(walk).unwrap()
}

pub(super) fn merge(store: &Store, other: &Store) -> Result<Merged, StoreError> {
    store.merge(&other.snapshot().unwrap(), &mut |_| Ok(()))
}

/// Whether a profile of `there` is neither in `here` nor reported by the merge.
fn has_lost_one(merged: &Merged, there: &Store, here: &Store) -> bool {
    let conflicts = merged.conflicts.iter().map(|conflict| conflict.there);
    let left_out = merged.left_out.iter().flat_map(|out| out.profiles.clone());
    let reported: Vec<ProfileId> = conflicts.chain(left_out).collect();
    let ids = |store: &Store| {
        let ids = |rows: &Rows| rows.ids(Record::Profile);
        let ids = store.snapshot().unwrap().read(ids).unwrap().into_iter();
        ids.map(ProfileId).collect::<Vec<_>>()
    };
    let here = ids(here);
    ids(there)
        .iter()
        .any(|id| !here.contains(id) && !reported.contains(id))
}

/// A store with two profiles that have columns of all kinds, and a replaced one.
pub(super) fn sound() -> Forged {
    let store = Store::in_memory().unwrap();
    add_with_all_columns(&store, 3, "v1");
    let id = add_with_all_columns(&store, 5, "v1");
    let plan = |rows: &Rows| {
        let mut new = NewRows::new(rows.contents);
        new.record(Record::Replaced, [7; 16], &id)?;
        Ok(((), Some(new)))
    };
    store
        .change(plan, |transaction, new| new.write(transaction), |_| None)
        .unwrap();
    Forged::read(&store)
}

#[test]
fn columns_of_all_kinds_are_attacked() {
    let sound = sound();
    let store = sound.store();
    assert_eq!(damages(&store), []);
    let target = Store::in_memory().unwrap();
    assert_eq!(merge(&target, &store).unwrap().added.len(), 2);
    let target = Forged::read(&target);
    for column in Column::kinds().filter(|column| !matches!(column, Column::Sums(..))) {
        let is_of_kind = |key: &&Key| key.kind() == (true, column.key().0);
        let before = sound.rows.keys().filter(is_of_kind).count();
        let after = target.rows.keys().filter(is_of_kind).count();
        assert!(
            before > 0 && before == after,
            "{}: {before}, {after}",
            column.name()
        );
    }
}

#[test]
fn merging_forged_stores_never_damages_the_target() {
    let sound = sound();
    let ids = sound.profile_ids();
    let target = Store::in_memory().unwrap();
    add(&target, "main;a;b 7\nmain;d 1\n", "v1");
    let target = Forged::read(&target);
    let all_ids = ids
        .values()
        .copied()
        .chain(target.profile_ids().into_values());
    let wrong: Vec<String> = forgeries(&sound, &all_ids.collect::<Vec<_>>())
        .par_iter()
        .filter_map(|forgery| {
            let (there, here) = (forgery.forged.store(), target.store());
            let merged = merge(&here, &there);
            let found = damages(&here);
            let wrong = match &merged {
                _ if !found.is_empty() => format!("the target is damaged: {found:?}"),
                Err(error) if forgery.key.profile().is_some() => {
                    format!("nothing is merged: {error}")
                }
                Err(_) => return None,
                Ok(merged) if merged.processed() != merged.profiles => {
                    format!("a profile is not counted: {merged:?}")
                }
                Ok(merged) if has_lost_one(merged, &there, &here) => {
                    format!("a profile is lost: {merged:?}")
                }
                Ok(merged) if forgery.is_size_wrong => {
                    let id = ids[&forgery.key.profile().unwrap()];
                    let mut left_out = merged.left_out.iter().flat_map(|out| &out.profiles);
                    (!left_out.any(|&out| out == id))
                        .then(|| format!("not left out: {merged:?}"))?
                }
                Ok(merged) => {
                    let damages = damages(&there);
                    (damages.is_empty() && !merged.left_out.is_empty())
                        .then(|| format!("left out, but sound: {merged:?}"))?
                }
            };
            Some(format!("{:?} {}: {wrong}", forgery.key, forgery.what))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{}: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(8)]
    );
}

#[test]
fn importing_forged_parts_never_damages_the_store() {
    let sound = sound().store();
    let snapshot = sound.snapshot().unwrap();
    let builds = snapshot.builds().unwrap();
    let (build, stored) = (&builds[0].build, &builds[0].profiles[0]);
    let found = Mutex::new(None);
    let keep = |_, interned| {
        *found.lock().unwrap() = Some(interned);
        Ok::<_, StoreError>(())
    };
    let executable = ExecutableId::from_name(&build.executable);
    snapshot.load_each(executable, &[stored.id], keep).unwrap();
    let interned: ProfileData = found.into_inner().unwrap().unwrap();
    let packed = pack_rest(&interned).unwrap();
    let parts = unpack_parts(&packed).unwrap();
    let parts: Vec<Vec<u8>> = parts.into_iter().map(<[u8]>::to_vec).collect();
    let mut forged = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        for (what, part) in with_other_lengths(part)
            .into_iter()
            .chain(with_other_numbers(part))
        {
            let mut parts = parts.clone();
            parts[at] = part;
            forged.push((format!("{at} {what}"), parts));
        }
        let mut removed = parts.clone();
        removed.remove(at);
        let mut copied = parts.clone();
        copied.insert(at, part.clone());
        let mut swapped = parts.clone();
        swapped.swap(at, (at + 1) % parts.len());
        for (what, parts) in [
            ("removed", removed),
            ("copied", copied),
            ("swapped", swapped),
        ] {
            forged.push((format!("{at} {what}"), parts));
        }
    }
    forged.par_iter().for_each(|(what, parts)| {
        let mut imported = ProfileData {
            frames: interned.frames.clone(),
            tree: interned.tree.clone(),
            costs: interned.costs.clone(),
            ..ProfileData::default()
        };
        if unpack_rest(&mut imported, &pack_parts(parts).unwrap()).is_ok() {
            let store = Store::in_memory().unwrap();
            let _ = store.writer().add(build, &stored.profile, &imported);
            assert_eq!(damages(&store), [], "{what}");
        }
    });
}
