//! `profile`, `label` and `metric`: one row per run, and its labels and metrics.

use super::constraints::Constraints;
use super::stored::{QueryFailure, Stored};
use super::table::{
    Column, MatchEstimate, PrecomputedRows, RowEstimate, Table, count, text_or_null,
};
use rusqlite::types::Value;
use std::sync::Arc;
use sto_core::store::StoredProfile;

/// The `profile` table.
pub(super) struct Profile;
/// The `label` table.
pub(super) struct Label;
/// The `metric` table.
pub(super) struct Metric;

const ID: usize = 0;
const EXECUTABLE: usize = 1;
const RECORDED: usize = 2;

impl Table for Profile {
    const NAME: &'static str = "profile";
    const COLUMNS: &'static [Column] = &[
        Column::text("id").with_equality_index(MatchEstimate::Run),
        Column::text("executable_id").with_equality_index(MatchEstimate::Build),
        Column::integer("recorded").with_range_index(),
        Column::integer("duration"),
        Column::text("benchmark"),
        Column::text("host"),
        Column::text("kernel"),
        Column::text("arch"),
        Column::text("cpu"),
        Column::text("command"),
        Column::text("format"),
        Column::text("event"),
        Column::text("unit"),
        Column::text("git_commit"),
        Column::text("revision"),
        Column::integer("samples"),
        Column::integer("unresolved"),
        Column::integer("truncated"),
        Column::integer("without_stack"),
        Column::integer("lost"),
        Column::integer("source_bytes"),
        Column::integer("stored_bytes"),
    ];
    const ROWS: RowEstimate = RowEstimate::OfRun(1.0);
    type Cursor = PrecomputedRows;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<PrecomputedRows, QueryFailure> {
        let recorded = asked.bounds(RECORDED);
        let is_meant = |run: &StoredProfile| {
            let time = run.profile.origin.recorded;
            time.is_none_or(|time| recorded.may_contain(time.0))
        };
        let (id, build) = (asked.text(ID), asked.text(EXECUTABLE));
        let runs = stored.runs(id.as_deref(), build.as_deref())?.into_iter();
        let meant = runs.filter(|(_, run)| is_meant(run));
        Ok(PrecomputedRows::new(
            meant.map(|(_, run)| row(run)).collect(),
        ))
    }
}

fn row(run: &StoredProfile) -> Vec<Value> {
    let StoredProfile { id, profile, .. } = run;
    let origin = &profile.origin;
    let text = |text: &Option<String>| text_or_null(text.clone().unwrap_or_default());
    let event = profile.sample_types.first();
    let quality = profile.quality;
    vec![
        text_or_null(id.to_string()),
        text_or_null(profile.build.to_string()),
        origin.recorded.map_or(Value::Null, |time| count(time.0)),
        origin.duration.map_or(Value::Null, |time| count(time.0)),
        text(&profile.benchmark),
        text(&origin.host),
        text(&origin.kernel),
        text(&origin.arch),
        text(&origin.cpu),
        text(&origin.command),
        text_or_null(&*profile.format),
        text_or_null(event.map(|event| event.event.clone()).unwrap_or_default()),
        text_or_null(event.map_or("", |event| event.unit.name())),
        text_or_null(
            run.commit
                .as_ref()
                .map(|commit| commit.hash.to_string())
                .unwrap_or_default(),
        ),
        text(&run.revision),
        count(quality.samples),
        count(quality.unresolved),
        count(quality.truncated),
        count(quality.without_stack),
        count(quality.lost),
        count(profile.source_bytes.0),
        count(run.stored.0),
    ]
}

impl Table for Label {
    const NAME: &'static str = "label";
    const COLUMNS: &'static [Column] = &[
        Column::text("profile").with_equality_index(MatchEstimate::Run),
        Column::text("name"),
        Column::text("value"),
    ];
    const ROWS: RowEstimate = RowEstimate::OfRun(3.0);
    type Cursor = PrecomputedRows;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<PrecomputedRows, QueryFailure> {
        let runs = stored.runs(asked.text(ID).as_deref(), None)?.into_iter();
        let rows = runs.flat_map(|(_, run)| {
            let labels = run.profile.labels.iter();
            labels.map(|(name, value)| {
                vec![
                    text_or_null(run.id.to_string()),
                    text_or_null(name),
                    Value::Text(value.clone()),
                ]
            })
        });
        Ok(PrecomputedRows::new(rows.collect()))
    }
}

impl Table for Metric {
    const NAME: &'static str = "metric";
    const COLUMNS: &'static [Column] = &[
        Column::text("profile").with_equality_index(MatchEstimate::Run),
        Column::text("name"),
        Column::real("value"),
    ];
    const ROWS: RowEstimate = RowEstimate::OfRun(3.0);
    type Cursor = PrecomputedRows;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<PrecomputedRows, QueryFailure> {
        let runs = stored.runs(asked.text(ID).as_deref(), None)?.into_iter();
        let rows = runs.flat_map(|(_, run)| {
            let metrics = run.profile.metrics.iter();
            metrics.map(|(name, &value)| {
                vec![
                    text_or_null(run.id.to_string()),
                    text_or_null(name),
                    Value::Real(value),
                ]
            })
        });
        Ok(PrecomputedRows::new(rows.collect()))
    }
}
