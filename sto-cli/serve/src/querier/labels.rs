//! Profile types, labels and series.

use super::request::{Request, found};
use super::types::{PROFILE_TYPE, ProfileType};
use crate::problem::Problem;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use sto_query::questions::LabelSetsRequest;
use sto_query::sources::{Context, Sources};

/// The labels of runs that measured a profile type.
struct Series {
    labels: BTreeMap<String, String>,
    profile_type: ProfileType,
}

pub(super) fn profile_types(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Value, Problem> {
    let series = selected(request, sources, context)?;
    // Several events can have the same id.
    let types: BTreeMap<String, ProfileType> = series
        .into_iter()
        .map(|series| (series.profile_type.id(), series.profile_type))
        .collect();
    let types = types.iter().map(|(id, known)| {
        let [sample_type, sample_unit, period_type, period_unit] = &known.parts;
        json!({
            "ID": id,
            "name": known.name(),
            "sampleType": sample_type,
            "sampleUnit": sample_unit,
            "periodType": period_type,
            "periodUnit": period_unit,
        })
    });
    Ok(json!({ "profileTypes": types.collect::<Vec<_>>() }))
}

pub(super) fn names(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Value, Problem> {
    let series = selected(request, sources, context)?;
    let names: BTreeSet<&String> = series
        .iter()
        .flat_map(|series| series.labels.keys())
        .collect();
    Ok(json!({ "names": names }))
}

pub(super) fn values(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Value, Problem> {
    let series = selected(request, sources, context)?;
    let values: BTreeSet<&String> = series
        .iter()
        .filter_map(|series| series.labels.get(&request.name))
        .collect();
    Ok(json!({ "names": values }))
}

pub(super) fn series(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Value, Problem> {
    let wanted = &request.label_names;
    let mut sets = BTreeSet::new();
    for mut series in selected(request, sources, context)? {
        if !wanted.is_empty() {
            series.labels.retain(|name, _| wanted.contains(name));
        }
        sets.insert(series.labels);
    }
    sets.remove(&BTreeMap::new());
    let sets = sets.iter().map(|labels| json!({ "labels": pairs(labels) }));
    Ok(json!({ "labelsSet": sets.collect::<Vec<_>>() }))
}

/// Returns labels as pairs of name and value.
pub(super) fn pairs(labels: &BTreeMap<String, String>) -> Vec<Value> {
    let pairs = labels.iter();
    pairs
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect()
}

/// Returns the selected series, with the profile type as a label.
fn selected(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Vec<Series>, Problem> {
    let (types, labels) = request.selectors()?;
    let question = LabelSetsRequest(request.runs(labels));
    let Some(found) = found(sto_query::ask(sources, &question, context))? else {
        return Ok(Vec::new());
    };
    let mut series = Vec::new();
    for set in found.sets {
        let mut labels = set.labels;
        labels.retain(|name, _| request.takes_any_label_name || is_plain(name));
        for profile_type in set.events.iter().flat_map(ProfileType::from_sample_type) {
            let id = profile_type.id();
            if types.matches(|_| id.as_str()) {
                let mut labels = labels.clone();
                labels.insert(PROFILE_TYPE.to_owned(), id);
                series.push(Series {
                    labels,
                    profile_type,
                });
            }
        }
    }
    Ok(series)
}

/// Whether clients that know only Prometheus's first rules for names take this one.
fn is_plain(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit())
}
