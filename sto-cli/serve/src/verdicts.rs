//! Known verdicts: answers of checks that name their runs by content ids.
//!
//! A verdict stays true while other profiles arrive. It depends on the stacks of the runs, which their ids stand for, and on
//! what else the store knows about them, such as metrics. If neither side has several runs, it also depends on the other
//! builds of the program, which show how much runs vary.

use axum::body::Bytes;
use blake3::{Hash, Hasher};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use sto_core::id::ProfileId;
use sto_core::store::StoredBuild;
use sto_core::units::{self, UnixSeconds};
use sto_query::check::{Baseline, Check, CheckRequest};
use sto_query::sources::BuildRef;

/// Memory for answers. The oldest are forgotten first.
const MAX_SIZE: units::Bytes = units::Bytes(32 << 20);

/// Known verdicts.
pub(crate) struct Verdicts {
    max_size: usize,
    known: Mutex<Known>,
    /// Number of checks that were answered by a known verdict.
    pub(crate) hits: AtomicU64,
}

#[derive(Default)]
struct Known {
    verdicts: HashMap<Hash, Verdict>,
    oldest_first: VecDeque<Hash>,
    /// Bytes of all answers.
    size: usize,
}

struct Verdict {
    answer: Bytes,
    /// The builds of the program, if the verdict depends on them.
    program: Option<Hash>,
}

/// Identifies a verdict.
pub(crate) struct Key {
    /// The check, and everything that the store knows about its runs.
    check: Hash,
    /// All profiles of the program.
    program: Hash,
}

impl Key {
    /// Returns the key of a check; `None` if it does not name its runs by ids, so that it may mean other runs later.
    ///
    /// Findings are ignored until some day, so a verdict is known for one day.
    pub(crate) fn new(
        request: &CheckRequest,
        builds: &[StoredBuild],
        now: UnixSeconds,
    ) -> Option<Key> {
        let (Some(Baseline::Any(BuildRef::Runs(baseline))), BuildRef::Runs(candidate), None) =
            (&request.baseline, &request.candidate, &request.counts)
        else {
            return None;
        };
        let named: BTreeSet<ProfileId> = baseline.iter().chain(candidate).copied().collect();
        let mut check = Hasher::new();
        check.update(&serde_json::to_vec(request).ok()?);
        check.update(&(now.0 / 86_400).to_le_bytes());
        let mut programs = BTreeSet::new();
        for build in builds {
            let runs = build.profiles.iter().filter(|run| named.contains(&run.id));
            let mut runs = runs.peekable();
            if runs.peek().is_some() {
                programs.insert(&build.build.executable);
                check.update(format!("{:?} {:?}", build.build, build.tags).as_bytes());
            }
            for run in runs {
                check.update(format!("{run:?}").as_bytes());
            }
        }
        let mut program = Hasher::new();
        let of_program = builds
            .iter()
            .filter(|build| programs.contains(&build.build.executable));
        for run in of_program.flat_map(|build| &build.profiles) {
            program.update(run.id.to_string().as_bytes());
        }
        Some(Key {
            check: check.finalize(),
            program: program.finalize(),
        })
    }
}

impl Default for Verdicts {
    fn default() -> Verdicts {
        Verdicts {
            max_size: MAX_SIZE.0 as usize,
            known: Mutex::default(),
            hits: AtomicU64::new(0),
        }
    }
}

impl Verdicts {
    /// Returns the answer of a check, if it is known.
    pub(crate) fn find(&self, key: &Key) -> Option<Bytes> {
        let known = self.lock();
        let verdict = known.verdicts.get(&key.check)?;
        if verdict
            .program
            .is_some_and(|program| program != key.program)
        {
            return None;
        }
        self.hits.fetch_add(1, Relaxed);
        Some(verdict.answer.clone())
    }

    /// Remembers the answer of a check.
    pub(crate) fn add(&self, key: &Key, check: &Check, answer: Bytes) {
        let has_several_runs = check
            .comparisons
            .iter()
            .all(|comparison| comparison.baseline.runs > 1 || comparison.candidate.runs > 1);
        let verdict = Verdict {
            answer,
            program: (!has_several_runs).then_some(key.program),
        };
        self.insert(key.check, verdict);
    }

    fn insert(&self, key: Hash, verdict: Verdict) {
        let mut known = self.lock();
        known.size += verdict.answer.len();
        match known.verdicts.insert(key, verdict) {
            Some(before) => known.size -= before.answer.len(),
            None => known.oldest_first.push_back(key),
        }
        while known.size > self.max_size {
            let Some(oldest) = known.oldest_first.pop_front() else {
                return;
            };
            let removed = known.verdicts.remove(&oldest);
            known.size -= removed.map_or(0, |removed| removed.answer.len());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(check: &str, program: &str) -> Key {
        Key {
            check: blake3::hash(check.as_bytes()),
            program: blake3::hash(program.as_bytes()),
        }
    }

    #[test]
    fn a_verdict_that_depends_on_other_builds_is_forgotten_with_them() {
        let verdicts = Verdicts::default();
        let (before, after) = (key("check", "one build"), key("check", "two builds"));
        for (program, is_known_after) in [(Some(before.program), false), (None, true)] {
            let answer = Bytes::from_static(b"answer");
            verdicts.insert(before.check, Verdict { answer, program });
            assert!(verdicts.find(&before).is_some());
            assert_eq!(verdicts.find(&after).is_some(), is_known_after);
        }
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_verdicts_are_forgotten() {
        let verdicts = Verdicts {
            max_size: 1000,
            ..Verdicts::default()
        };
        let keys = ["a", "b", "c", "b"].map(|name| key(name, ""));
        for key in &keys {
            let answer = Bytes::from(vec![b' '; 400]);
            verdicts.insert(
                key.check,
                Verdict {
                    answer,
                    program: None,
                },
            );
        }
        let found = keys.map(|key| verdicts.find(&key).is_some());
        assert_eq!(found, [false, true, true, true]);
        assert_eq!(verdicts.lock().size, 800);
        let too_large = Bytes::from(vec![b' '; 2000]);
        verdicts.insert(
            key("d", "").check,
            Verdict {
                answer: too_large,
                program: None,
            },
        );
        assert_eq!(verdicts.lock().size, 0);
    }
}
