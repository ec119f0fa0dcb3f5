//! Finds the source line of each finding.

use super::result::{Basis, Change, Comparison, Finding};
use crate::functions::{key_of, other_spellings};
use crate::select::Selection;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use sto_core::model::{Frame, FrameTable, SourceFileDigests};
use sto_core::store::{Snapshot, StoreError, StoredProfile};
use sto_core::tree::LineCost;
use sto_core::units::{Cost, SampleType};

/// The cost of each source line in one run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Lines {
    /// The frames of the lines.
    pub frames: FrameTable,
    /// The costs.
    pub costs: Vec<LineCost>,
    /// Digests of the source files that debug info has digests for.
    pub sources: SourceFileDigests,
}

impl Lines {
    /// Loads the line costs of this event in the last run of a selection. They are empty if the
    /// lines are not known, the run does not have the event, or no run is selected.
    ///
    /// # Errors
    /// Returns an error if the store does not have the run or cannot be read.
    pub(crate) fn load(
        store: &Snapshot,
        selection: &Selection,
        event: &str,
    ) -> Result<Lines, StoreError> {
        let last = selection.profiles.last();
        last.map_or(Ok(Lines::default()), |last| {
            Lines::load_run(store, last, event)
        })
    }

    /// Loads the line costs of this event in each run of a selection.
    ///
    /// # Errors
    /// Returns the same errors as [`load`](Self::load).
    pub(crate) fn load_each(
        store: &Snapshot,
        selection: &Selection,
        event: &str,
    ) -> Result<Vec<Lines>, StoreError> {
        let runs = selection.profiles.iter();
        runs.map(|run| Lines::load_run(store, run, event)).collect()
    }

    fn load_run(store: &Snapshot, run: &StoredProfile, event: &str) -> Result<Lines, StoreError> {
        let mut loaded = store.load_lines(run.id)?;
        let column = SampleType::index_of_event(event, &run.profile.sample_types);
        let column = column.filter(|&column| column < loaded.lines.len());
        Ok(Lines {
            costs: column.map_or(Vec::new(), |column| loaded.lines.swap_remove(column)),
            frames: loaded.frames,
            sources: loaded.sources,
        })
    }
}

impl Comparison {
    /// Sets the line of each finding to the most expensive line of its function: by self cost if
    /// the finding mostly rests on the function's self cost, otherwise by total cost. The first
    /// line wins a tie.
    ///
    /// If `of_gone` is `false`, `lines` are the candidate's, for functions that it has. If `true`,
    /// they are the baseline's, for functions that [are gone](super::Finding::is_gone).
    pub fn set_lines(&mut self, lines: &Lines, of_gone: bool) {
        let of_frame = self.findings_of_frames(lines, of_gone);
        let mut costs: Vec<BTreeMap<u32, [Cost; 2]>> = vec![BTreeMap::new(); self.findings.len()];
        for line in &lines.costs {
            if let Some(finding) = of_frame[line.frame.get()] {
                let [own, total] = costs[finding].entry(line.line).or_default();
                *own += line.self_cost;
                *total += line.total;
            }
        }
        for (finding, costs) in self.findings.iter_mut().zip(costs) {
            finding.line = finding.line.or(most_expensive_line(finding, costs));
        }
    }

    /// Returns, for each frame, the index of its function's finding. Only considers findings of
    /// gone functions if `of_gone`, and only other findings otherwise.
    fn findings_of_frames(&self, lines: &Lines, of_gone: bool) -> Vec<Option<usize>> {
        let mut finding_of = HashMap::new();
        for (ix, finding) in self.findings.iter().enumerate() {
            if finding.is_gone() == of_gone {
                finding_of.insert((&*finding.function, &*finding.module), ix);
            }
        }
        let finding = |frame: Frame| {
            let key = key_of(frame, self.matching.options);
            let named = |key: &str| finding_of.get(&(key, frame.module)).copied();
            let other = || other_spellings(&key).iter().find_map(|key| named(key));
            let finding = named(&key).or_else(other)?;
            // Frames of different kinds may be one function, but lines of another file do not
            // count.
            let is_there = self.findings[finding].file.as_deref() == Some(frame.file);
            is_there.then_some(finding)
        };
        lines
            .frames
            .iter()
            .map(|(_, frame)| finding(frame))
            .collect()
    }
}

fn most_expensive_line(finding: &Finding, lines: BTreeMap<u32, [Cost; 2]>) -> Option<u32> {
    let weight = |cost: Cost| (cost.value, cost.samples);
    // Library code has its own lines, so for attributed cost the function's lines are those with
    // the calls.
    let samples = |change: &Change| change.baseline_samples + change.candidate_samples;
    let rests_on_self = finding.basis == Basis::AttributedSelf
        && samples(&finding.self_) >= samples(&finding.attributed_self) / 2;
    let by_cost = lines.into_iter().max_by_key(|&(line, [own, total])| {
        let own = if rests_on_self { weight(own) } else { (0, 0) };
        (own, weight(total), Reverse(line))
    });
    by_cost.map(|(line, _)| line)
}
