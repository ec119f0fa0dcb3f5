//! The line to look at first.

use super::result::{Basis, Change, Comparison, Finding};
use crate::functions::key_of;
use crate::select::Selection;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use sto_core::model::{Frame, FrameTable, SourceDigests};
use sto_core::store::{Snapshot, StoreError, StoredProfile};
use sto_core::tree::LineCost;
use sto_core::units::{Cost, SampleType};

/// What each line cost in one run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Lines {
    /// The frames that the lines are of.
    pub frames: FrameTable,
    /// The costs.
    pub costs: Vec<LineCost>,
    /// Digests of source files, where debug info has them.
    pub sources: SourceDigests,
}

impl Lines {
    /// Loads what each line cost of this event in the last run of a selection. None, where the
    /// lines are not known, the run does not have the event, or no run is selected.
    ///
    /// # Errors
    /// Where the store does not have the run, or cannot be read.
    pub(crate) fn load(
        store: &Snapshot,
        selection: &Selection,
        event: &str,
    ) -> Result<Lines, StoreError> {
        let last = selection.profiles.last();
        last.map_or(Ok(Lines::default()), |last| Lines::of(store, last, event))
    }

    /// Loads what each line cost in each run of a selection.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub(crate) fn load_each(
        store: &Snapshot,
        selection: &Selection,
        event: &str,
    ) -> Result<Vec<Lines>, StoreError> {
        let runs = selection.profiles.iter();
        runs.map(|run| Lines::of(store, run, event)).collect()
    }

    fn of(store: &Snapshot, run: &StoredProfile, event: &str) -> Result<Lines, StoreError> {
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
    /// Says of findings which of their function's lines costs most: by itself where most of what the
    /// finding rests on is the function's own cost, else with what is called there. Of equals, the
    /// first.
    ///
    /// The lines are the candidate's, for functions that it has; or the baseline's, for those that
    /// [are gone](super::Finding::is_gone).
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
            finding.line = finding.line.or(dearest(finding, costs));
        }
    }

    /// Place in `findings` of each frame's function, of those that the candidate has or has not.
    fn findings_of_frames(&self, lines: &Lines, of_gone: bool) -> Vec<Option<usize>> {
        let mut finding_of = HashMap::new();
        for (ix, finding) in self.findings.iter().enumerate() {
            if finding.is_gone() == of_gone {
                finding_of.insert((&*finding.function, &*finding.module), ix);
            }
        }
        let finding = |frame: Frame| {
            let key = key_of(frame, self.matching.options);
            let finding = *finding_of.get(&(&*key, frame.module))?;
            // Frames that differ in kind are one function; in another file is another line.
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

fn dearest(finding: &Finding, lines: BTreeMap<u32, [Cost; 2]>) -> Option<u32> {
    let weight = |cost: Cost| (cost.value, cost.samples);
    // Library code has lines of its own: the function's are those that call it.
    let samples = |change: &Change| change.baseline_samples + change.candidate_samples;
    let is_its_own = finding.basis == Basis::AttributedSelf
        && samples(&finding.self_) >= samples(&finding.attributed_self) / 2;
    let by_cost = lines.into_iter().max_by_key(|&(line, [own, total])| {
        let own = match is_its_own {
            true => weight(own),
            false => (0, 0),
        };
        (own, weight(total), Reverse(line))
    });
    by_cost.map(|(line, _)| line)
}
