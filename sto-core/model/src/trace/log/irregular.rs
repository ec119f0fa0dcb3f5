//! What is not as it should be in a trace, counted.

use super::Lost;
use crate::limits::MAX_DEPTH;

/// How often each rule of the log was needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Irregular {
    /// Events that are before the one before them.
    pub(super) backwards: u64,
    /// How far the farthest of them goes back, in nanoseconds.
    pub(super) farthest: u64,
    /// Ends of calls that did not begin.
    pub(super) ends_alone: u64,
    /// Calls that end because their caller does.
    pub(super) ended_with_caller: u64,
    /// Calls that do not end.
    pub(super) never_ended: u64,
    /// Calls that are deeper than stacks may be.
    pub(super) too_deep: u64,
    /// How often events were lost.
    pub(super) losses: u64,
    /// How many, where the trace says it.
    pub(super) lost: u64,
    /// What did not fit in a thread that had lost events.
    pub(super) after_loss: u64,
}

impl Irregular {
    pub(super) fn back(&mut self, nanoseconds: u64) {
        self.backwards += 1;
        self.farthest = self.farthest.max(nanoseconds);
    }

    pub(super) fn lost(&mut self, lost: Lost) {
        self.losses += 1;
        if let Lost::Events(events) = lost {
            self.lost = self.lost.saturating_add(events);
        }
    }

    pub(super) fn add(&mut self, other: &Irregular) {
        self.backwards += other.backwards;
        self.farthest = self.farthest.max(other.farthest);
        self.ends_alone += other.ends_alone;
        self.ended_with_caller += other.ended_with_caller;
        self.never_ended += other.never_ended;
        self.too_deep += other.too_deep;
        self.losses += other.losses;
        self.lost = self.lost.saturating_add(other.lost);
        self.after_loss += other.after_loss;
    }

    /// A sentence for each rule that was needed.
    pub(super) fn warnings(&self) -> Vec<String> {
        let backwards = format!(
            "The clock went backwards in a thread, {} by up to {} ns; that is read as no time.",
            times(self.backwards),
            self.farthest
        );
        let lost = match self.lost {
            0 => format!("Events were lost, {}", times(self.losses)),
            lost => format!("Events were lost, {lost} or more"),
        };
        let after_loss = match self.after_loss {
            0 => format!("{lost}."),
            after => format!(
                "{lost}; {} that did not begin or end as their callers did were mended.",
                calls(after)
            ),
        };
        let rules = [
            (self.losses, after_loss),
            (self.backwards, backwards),
            (
                self.ends_alone,
                format!(
                    "{} ended without a begin; left out.",
                    calls(self.ends_alone)
                ),
            ),
            (
                self.ended_with_caller,
                format!(
                    "{} had not ended when a caller did; they end with it.",
                    calls(self.ended_with_caller)
                ),
            ),
            (
                self.never_ended,
                format!(
                    "{} did not end; they last to the last event of their thread.",
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
        let needed = rules.into_iter().filter(|&(count, _)| count > 0);
        needed.map(|(_, sentence)| sentence).collect()
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
