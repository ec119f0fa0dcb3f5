//! `executable`: one row per build.

use super::constraints::Constraints;
use super::stored::{QueryFailure, Stored};
use super::table::{
    Column, MatchEstimate, PrecomputedRows, RowEstimate, Table, count, text_or_null,
};
use crate::QueryError;
use rusqlite::types::Value;
use std::sync::Arc;
use sto_core::store::StoredBuild;

/// The `executable` table.
pub(super) struct Executable;

const ID: usize = 0;
const NAME: usize = 1;
const VERSION: usize = 2;
const SAMPLES: usize = 3;
const EVENT_NAME: usize = 4;
const UNIT: usize = 5;

impl Table for Executable {
    const NAME: &'static str = "executable";
    const COLUMNS: &'static [Column] = &[
        Column::text("id").with_equality_index(MatchEstimate::Build),
        Column::text("name").with_equality_index(MatchEstimate::Few(20.0)),
        Column::text("version").with_equality_index(MatchEstimate::Few(2.0)),
        Column::integer("samples"),
        Column::text("event"),
        Column::text("unit"),
        Column::integer("runs"),
        Column::integer("recorded"),
        Column::text("git_commit"),
        Column::text("revision"),
        Column::text("build_id"),
        Column::text("tags"),
    ];
    const ROWS: RowEstimate = RowEstimate::OfBuild(1.0);
    type Cursor = PrecomputedRows;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<PrecomputedRows, QueryFailure> {
        let builds = stored.builds(asked.text(ID).as_deref())?.iter();
        let meant = builds.filter(|stored| {
            asked.may_equal(NAME, &stored.build.executable)
                && asked.may_equal(VERSION, &stored.build.version)
        });
        let is_counted = [SAMPLES, EVENT_NAME, UNIT]
            .into_iter()
            .any(|ix| asked.uses(ix));
        let rows = meant.map(|build| row(stored, build, is_counted));
        Ok(PrecomputedRows::new(rows.collect::<Result<_, _>>()?))
    }
}

fn row(stored: &Stored, build: &StoredBuild, is_counted: bool) -> Result<Vec<Value>, QueryError> {
    let [mut samples, mut event, mut unit] = [const { Value::Null }; 3];
    if is_counted {
        let (counted, sample_type) = stored.event_samples(build)?;
        samples = count(counted);
        if let Some(sample_type) = sample_type {
            event = text_or_null(&*sample_type.event);
            unit = text_or_null(sample_type.unit.name());
        }
    }
    let StoredBuild {
        id,
        build,
        profiles,
        tags,
    } = build;
    let recorded = profiles
        .iter()
        .filter_map(|run| run.profile.origin.recorded);
    let commit = build.commit.as_ref().map(|commit| commit.hash.to_string());
    Ok(vec![
        text_or_null(id.to_string()),
        text_or_null(&*build.executable),
        text_or_null(&*build.version),
        samples,
        event,
        unit,
        count(profiles.len() as u64),
        recorded.max().map_or(Value::Null, |time| count(time.0)),
        text_or_null(commit.unwrap_or_default()),
        text_or_null(build.revision.clone().unwrap_or_default()),
        text_or_null(
            build
                .gnu_build_id
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        ),
        text_or_null(tags.join(",")),
    ])
}
