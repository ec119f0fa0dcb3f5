//! Requests of the querier, and the runs that they select.

use super::types::{PROFILE_TYPE, ProfileType};
use crate::problem::Problem;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use sto_core::units::UnixSeconds;
use sto_query::questions::LabelSetsRequest;
use sto_query::select::{LabelMatchers, LabelledRuns};
use sto_query::sources::{BuildRef, Context, Filter, Sources};

/// Any request: the fields of all messages.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(rename = "QuerierMessage")]
pub(crate) struct Request {
    #[serde(rename = "profileTypeID", alias = "profile_typeID")]
    pub(super) profile_type: String,
    #[serde(alias = "label_selector")]
    pub(super) label_selector: String,
    pub(super) matchers: Vec<String>,
    #[serde(alias = "label_names")]
    pub(super) label_names: Vec<String>,
    pub(super) name: String,
    /// Milliseconds since 1970; 0 for any time.
    #[serde(deserialize_with = "integer")]
    #[schemars(with = "i64")]
    pub(super) start: i64,
    #[serde(deserialize_with = "integer")]
    #[schemars(with = "i64")]
    pub(super) end: i64,
    #[serde(deserialize_with = "integer", alias = "max_nodes")]
    #[schemars(with = "i64")]
    pub(super) max_nodes: i64,
    #[serde(alias = "group_by")]
    pub(super) group_by: Vec<String>,
    /// Seconds.
    pub(super) step: f64,
    #[serde(deserialize_with = "integer")]
    #[schemars(with = "i64")]
    pub(super) limit: i64,
    #[serde(alias = "stack_trace_selector")]
    pub(super) stack_trace_selector: Option<StackTraceSelector>,
    #[serde(alias = "profile_id_selector")]
    pub(super) profile_id_selector: Vec<String>,
    /// Whether the client knows names of labels with any characters, by a header.
    #[serde(skip)]
    pub(super) takes_any_label_name: bool,
    pub(super) left: Option<Box<Request>>,
    pub(super) right: Option<Box<Request>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct StackTraceSelector {
    #[serde(alias = "call_site")]
    #[schemars(with = "Vec<serde_json::Value>")]
    call_site: Vec<serde::de::IgnoredAny>,
    #[serde(alias = "go_pgo")]
    #[schemars(with = "Option<serde_json::Value>")]
    go_pgo: Option<serde::de::IgnoredAny>,
}

/// Reads an integer, which JSON may write as text.
fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Integer {
        Number(i64),
        Text(String),
    }
    match Integer::deserialize(deserializer)? {
        Integer::Number(number) => Ok(number),
        Integer::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

/// Runs and the profile type that a request is about.
pub(super) struct Selected {
    pub(super) runs: LabelledRuns,
    pub(super) profile_type: ProfileType,
}

impl Request {
    /// Returns the conditions of all selectors, first those on profile types, then those on labels.
    pub(super) fn selectors(&self) -> Result<(LabelMatchers, LabelMatchers), Problem> {
        let mut all = LabelMatchers::default();
        for text in self.matchers.iter().chain([&self.label_selector]) {
            let matchers: LabelMatchers = text
                .parse()
                .map_err(|error| Problem::bad_request(format!("{error}")))?;
            all = all.and(matchers);
        }
        Ok(all.split(PROFILE_TYPE))
    }

    /// Returns the runs with these labels in the time of the request.
    pub(super) fn runs(&self, labels: LabelMatchers) -> LabelledRuns {
        let mut runs = LabelledRuns::default();
        runs.labels = labels;
        let seconds = |milliseconds: i64| u64::try_from(milliseconds).ok().filter(|&ms| ms > 0);
        runs.since = seconds(self.start).map(|ms| UnixSeconds(ms / 1000));
        runs.until = seconds(self.end).map(|ms| UnixSeconds(ms.div_ceil(1000)));
        runs
    }

    /// Returns the runs and the profile type that are selected; `None` if no run has that type.
    pub(super) fn select(
        &self,
        sources: &Sources,
        context: &Context,
    ) -> Result<Option<Selected>, Problem> {
        let selects_stacks = |selector: &StackTraceSelector| {
            !selector.call_site.is_empty() || selector.go_pgo.is_some()
        };
        if self
            .stack_trace_selector
            .as_ref()
            .is_some_and(selects_stacks)
            || !self.profile_id_selector.is_empty()
        {
            return Err(Problem::new(
                StatusCode::NOT_IMPLEMENTED,
                "this server cannot select stacks by call site, or single profiles; leave out stack_trace_selector and \
                 profile_id_selector",
            ));
        }
        let (_, labels) = self.selectors()?;
        let runs = self.runs(labels);
        let Some(sets) = found(sto_query::ask(
            sources,
            &LabelSetsRequest(runs.clone()),
            context,
        ))?
        else {
            return Ok(None);
        };
        let mut types: Vec<ProfileType> = sets
            .sets
            .iter()
            .flat_map(|set| set.events.iter().flat_map(ProfileType::from_sample_type))
            .collect();
        types.sort();
        types.dedup();
        if self.profile_type.split(':').count() != 5 {
            return Err(Problem::bad_request(format!(
                "`{}` is no profile type; expected NAME:SAMPLE_TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT, such as \
                 process_cpu:cpu:nanoseconds:cpu:nanoseconds",
                self.profile_type
            )));
        }
        let profile_type = types
            .into_iter()
            .find(|known| known.id() == self.profile_type);
        Ok(profile_type.map(|profile_type| Selected { runs, profile_type }))
    }
}

impl Selected {
    /// Returns the profiles and the event, as questions name them.
    pub(super) fn named(&self) -> (BuildRef, Filter) {
        let mut filter = Filter::default();
        filter.event = Some(self.profile_type.event.clone());
        (BuildRef::Labelled(self.runs.clone()), filter)
    }
}

/// Returns `None` if nothing was found, because Pyroscope's answers are empty then.
pub(super) fn found<T>(answer: Result<T, sto_query::QueryError>) -> Result<Option<T>, Problem> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.class() == sto_query::error::ErrorClass::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}
