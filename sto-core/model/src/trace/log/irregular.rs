//! Counts of irregular events of a trace, and the warnings about them.

use super::LostEvents;
use crate::limits::MAX_DEPTH;

/// The number of times that each rule of the log applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Irregular {
    /// Events with an earlier time than the previous event.
    pub(super) backwards: u64,
    /// The largest time difference of these events in nanoseconds.
    pub(super) max_backwards: u64,
    /// Ends of calls that did not begin.
    pub(super) unmatched_ends: u64,
    /// Calls that were ended by the end of a caller.
    pub(super) ended_with_caller: u64,
    /// Calls that did not end.
    pub(super) never_ended: u64,
    /// Calls that are deeper than the limit.
    pub(super) too_deep: u64,
    /// Number of times that events were lost.
    pub(super) losses: u64,
    /// Number of lost events, as far as the trace has it.
    pub(super) lost: u64,
    /// Unmatched ends and unended calls after a loss, which are not in the counts above.
    pub(super) after_loss: u64,
}

impl Irregular {
    pub(super) fn add_backwards(&mut self, nanoseconds: u64) {
        self.backwards += 1;
        self.max_backwards = self.max_backwards.max(nanoseconds);
    }

    pub(super) fn add_loss(&mut self, lost: LostEvents) {
        self.losses += 1;
        if let LostEvents::Count(events) = lost {
            self.lost = self.lost.saturating_add(events);
        }
    }

    pub(super) fn add(&mut self, other: &Irregular) {
        self.backwards += other.backwards;
        self.max_backwards = self.max_backwards.max(other.max_backwards);
        self.unmatched_ends += other.unmatched_ends;
        self.ended_with_caller += other.ended_with_caller;
        self.never_ended += other.never_ended;
        self.too_deep += other.too_deep;
        self.losses += other.losses;
        self.lost = self.lost.saturating_add(other.lost);
        self.after_loss += other.after_loss;
    }

    /// A warning for each rule that applied.
    pub(super) fn warnings(&self) -> Vec<String> {
        let backwards = format!(
            "The clock of a thread went backwards {}, by up to {} ns; these steps are read as no time.",
            times(self.backwards),
            self.max_backwards
        );
        let lost = match self.lost {
            0 => format!("Events were lost {}", times(self.losses)),
            lost => format!("At least {lost} events were lost"),
        };
        let after_loss = match self.after_loss {
            0 => format!("{lost}."),
            after => format!(
                "{lost}; repaired {} whose begin or end is missing.",
                calls(after)
            ),
        };
        let rules = [
            (self.losses, after_loss),
            (self.backwards, backwards),
            (
                self.unmatched_ends,
                format!(
                    "{} ended without a begin; left out.",
                    calls(self.unmatched_ends)
                ),
            ),
            (
                self.ended_with_caller,
                format!(
                    "{} had not ended when a caller did; they end with the caller.",
                    calls(self.ended_with_caller)
                ),
            ),
            (
                self.never_ended,
                format!(
                    "{} did not end; they end at the last event of their thread.",
                    calls(self.never_ended)
                ),
            ),
            (
                self.too_deep,
                format!(
                    "{} had more than {MAX_DEPTH} callers; left out.",
                    calls(self.too_deep)
                ),
            ),
        ];
        let applied = rules.into_iter().filter(|&(count, _)| count > 0);
        applied.map(|(_, warning)| warning).collect()
    }
}

fn calls(count: u64) -> String {
    match count {
        1 => "1 call".to_owned(),
        count => format!("{count} calls"),
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}
