//! Adds metrics that become known after the recording to stored profiles.

use crate::codec::ProfileRecord;
use crate::error::{InternalError, StoreError};
use crate::read::builds::builds;
use crate::read::rows::{NewRows, Rows};
use crate::tables::Record;
use crate::write::next_history;
use crate::{Store, StoredBuild};
use std::collections::BTreeMap;
use sto_model::id::ProfileId;
use sto_model::limits::{MAX_LABELS, MAX_USER_STRING};

/// The result of adding metrics to profiles, or the expected result if metrics with other values may not be
/// replaced. Each metric counts once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotated {
    /// Metrics that their profiles did not have.
    pub new: usize,
    /// Metrics that their profiles already had with the same value.
    pub unchanged: usize,
    /// Metrics that their profiles had with another value, in the order of profiles and
    /// names.
    pub different: Vec<OtherValue>,
}

/// A metric that a profile has with another value than the new one.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherValue {
    /// The profile.
    pub profile: ProfileId,
    /// The metric.
    pub metric: String,
    /// The value before.
    pub stored: f64,
    /// The new value.
    pub given: f64,
}

/// Metrics for profiles.
pub type Metrics = BTreeMap<ProfileId, BTreeMap<String, f64>>;

impl Store {
    /// Adds metrics to stored profiles, in one transaction. Other values are replaced if `may_replace`;
    /// otherwise a single other value means that nothing is changed.
    ///
    /// # Errors
    /// Returns an error if a profile does not exist, a metric is not a finite number, its name is empty or
    /// longer than 4096 bytes, a profile would have more than 256 metrics, or the file cannot be
    /// written. The store is then unchanged.
    pub fn annotate(&self, metrics: &Metrics, may_replace: bool) -> Result<Annotated, StoreError> {
        self.change(
            |rows| plan(rows, metrics, may_replace),
            |transaction, new| new.write(transaction),
            |new| Some(new.bytes()),
        )
    }

    /// Like [`Store::annotate`], with profiles chosen in the same transaction, so that none of them can be
    /// removed in between. `choose` receives all builds and may be called several times; the result contains its
    /// last choice. If it returns an error, nothing is changed.
    ///
    /// # Errors
    /// Like [`Store::annotate`].
    pub fn annotate_chosen<E>(
        &self,
        choose: impl Fn(&[StoredBuild]) -> Result<Metrics, E>,
        may_replace: bool,
    ) -> Result<Result<(Metrics, Annotated), E>, StoreError> {
        self.change(
            |rows| match choose(&builds(rows)?) {
                Ok(metrics) => {
                    let (annotated, new) = plan(rows, &metrics, may_replace)?;
                    Ok((Ok((metrics, annotated)), new))
                }
                Err(error) => Ok((Err(error), None)),
            },
            |transaction, new| new.write(transaction),
            |new| Some(new.bytes()),
        )
    }
}

fn plan(
    rows: &Rows,
    metrics: &Metrics,
    may_replace: bool,
) -> Result<(Annotated, Option<NewRows>), InternalError> {
    let mut annotated = Annotated::default();
    let mut new = NewRows::new(rows.contents);
    for (&profile, given) in metrics {
        let record: Option<ProfileRecord> = rows.record(Record::Profile, profile.0)?;
        let mut record = record.ok_or(InternalError::NoProfile(profile))?;
        let known = &mut record.profile.metrics;
        let before = known.clone();
        for (metric, &given) in given {
            check(metric, given)?;
            match known.insert(metric.clone(), given) {
                None => annotated.new += 1,
                Some(stored) if stored == given => annotated.unchanged += 1,
                Some(stored) => annotated.different.push(OtherValue {
                    profile,
                    metric: metric.clone(),
                    stored,
                    given,
                }),
            }
        }
        if known.len() > MAX_LABELS {
            return Err(InternalError::Refused(
                "it would have more than 256 metrics",
            ));
        }
        if *known != before {
            new.record(Record::Profile, profile.0, &record)?;
        }
    }
    let is_refused = !may_replace && !annotated.different.is_empty();
    let is_changed = annotated.new + annotated.different.len() > 0;
    new.contents.history = next_history(new.contents.history, b"metrics given\0\0\0");
    Ok((annotated, (is_changed && !is_refused).then_some(new)))
}

fn check(metric: &str, value: f64) -> Result<(), InternalError> {
    if !(1..=MAX_USER_STRING).contains(&metric.len()) {
        return Err(InternalError::Refused(
            "a metric's name must have 1 to 4096 bytes",
        ));
    }
    if !value.is_finite() {
        return Err(InternalError::Refused("a metric must be a finite number"));
    }
    Ok(())
}
