//! `executable`: one row per build.

use super::asked::Asked;
use super::stored::{Stored, Unanswered};
use super::table::{Column, Found, Listed, Rows, Table, count, known};
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
        Column::text("id").finds(Found::Build),
        Column::text("name").finds(Found::Few(20.0)),
        Column::text("version").finds(Found::Few(2.0)),
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
    const ROWS: Rows = Rows::OfBuild(1.0);
    type Cursor = Listed;

    fn rows(stored: &Arc<Stored>, asked: &Asked<'_>) -> Result<Listed, Unanswered> {
        let builds = stored.builds(asked.text(ID).as_deref())?.iter();
        let meant = builds.filter(|stored| {
            asked.takes(NAME, &stored.build.executable)
                && asked.takes(VERSION, &stored.build.version)
        });
        let is_counted = [SAMPLES, EVENT_NAME, UNIT]
            .into_iter()
            .any(|ix| asked.uses(ix));
        let rows = meant.map(|build| row(stored, build, is_counted));
        Ok(Listed::new(rows.collect::<Result<_, _>>()?))
    }
}

fn row(stored: &Stored, build: &StoredBuild, is_counted: bool) -> Result<Vec<Value>, QueryError> {
    let [mut samples, mut event, mut unit] = [const { Value::Null }; 3];
    if is_counted {
        let (counted, sample_type) = stored.measured(build)?;
        samples = count(counted);
        if let Some(sample_type) = sample_type {
            event = known(&*sample_type.event);
            unit = known(sample_type.unit.name());
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
        known(id.to_string()),
        known(&*build.executable),
        known(&*build.version),
        samples,
        event,
        unit,
        count(profiles.len() as u64),
        recorded.max().map_or(Value::Null, |time| count(time.0)),
        known(commit.unwrap_or_default()),
        known(build.revision.clone().unwrap_or_default()),
        known(
            build
                .gnu_build_id
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        ),
        known(tags.join(",")),
    ])
}
