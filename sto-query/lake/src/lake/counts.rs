//! Counts by function and run, aggregated by a query engine with the query `lake/counts`.

use super::LakeError;
use super::profile::Record;
use super::read::{Table, damaged, guarded};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use sto_model::files::{Links, RegularFile};
use sto_model::id::{BuildId, ProfileId};
use sto_model::trace::is_call_time;
use sto_model::tree::{NodeIx, SelfCosts, StackTree, merge_equal_nodes};
use sto_model::units::{Bytes, Cost, SampleType};
use sto_model::{Frame, FrameIx, FrameKind, FrameTable};
use sto_store::{Loaded, StoredBuild, StoredProfile};

/// Name of an engine's temporary folder for output that is incomplete.
const UNDER_WAY: &str = "_temporary";

/// Maximum size of a file in bytes.
const MOST_BYTES: u64 = 1 << 36;

/// Runs of some builds with the cost of each function, but without stacks.
pub struct Counts {
    builds: Vec<StoredBuild>,
    frames: FrameTable,
    runs: HashMap<ProfileId, Costs>,
}

/// Costs of functions in a run, by event.
#[derive(Default)]
struct Costs(HashMap<String, OfEvent>);

/// Costs of functions in a run, 48 bytes each.
#[derive(Clone, Default)]
struct OfEvent {
    own: SelfCosts,
    total: SelfCosts,
}

impl Counts {
    /// Reads a file, or all files of a folder written by an engine. Each file is read into memory as a whole.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, is invalid or incomplete, or if the runs are traces of calls.
    pub fn read(path: &Path) -> Result<Counts, LakeError> {
        let mut counts = Counts {
            builds: Vec::new(),
            frames: FrameTable::new(),
            runs: HashMap::new(),
        };
        let mut builds = BTreeMap::new();
        for file in files(path)? {
            let read =
                RegularFile::open(&file, Links::Follow).and_then(|open| open.read(MOST_BYTES));
            let name = name(&file);
            let bytes = read.map_err(unread(&name))?;
            guarded(&name, || {
                counts.add(&Table::open(&name, bytes)?, &mut builds)
            })?;
        }
        if builds.is_empty() {
            return Err(damaged(
                &name(path),
                "no row has a `record`, although each run must have one",
            ));
        }
        for build in builds.values_mut() {
            let order = |run: &StoredProfile| (run.profile.recorded_sort_key(), run.id);
            build.profiles.sort_by_key(order);
            build.profiles.dedup_by_key(|run| run.id);
            for StoredProfile { profile, .. } in &build.profiles {
                let types = &profile.sample_types;
                if types.iter().any(|event| is_call_time(event, types)) {
                    return Err(LakeError::CountsOfCalls(name(path)));
                }
            }
        }
        for Costs(events) in counts.runs.values_mut() {
            for OfEvent { own, total } in events.values_mut() {
                merge_equal_nodes(own);
                merge_equal_nodes(total);
            }
        }
        counts.builds = builds.into_values().collect();
        Ok(counts)
    }

    /// The builds with their runs, as in a store.
    pub fn builds(&self) -> &[StoredBuild] {
        &self.builds
    }

    /// Returns self and total costs of functions in these runs, both as stacks of one frame.
    pub fn self_and_total(&self, runs: &[StoredProfile]) -> [Loaded; 2] {
        let costs_of = |cost: fn(&OfEvent) -> &SelfCosts| {
            let mut tree = StackTree::with_capacity(self.frames.len());
            for (frame, _) in self.frames.iter() {
                tree.push(None, frame);
            }
            let of_run = |run: &StoredProfile| -> Vec<SelfCosts> {
                let events = self.runs.get(&run.id);
                let of_event = |event: &SampleType| {
                    let found = events.and_then(|events| events.0.get(&event.event));
                    found.map_or(SelfCosts::new(), |found| cost(found).clone())
                };
                run.profile.sample_types.iter().map(of_event).collect()
            };
            Loaded {
                frames: self.frames.clone(),
                tree,
                costs: runs.iter().map(of_run).collect(),
            }
        };
        [costs_of(|of| &of.own), costs_of(|of| &of.total)]
    }

    fn add(
        &mut self,
        table: &Table<'_>,
        builds: &mut BTreeMap<BuildId, StoredBuild>,
    ) -> Result<(), LakeError> {
        let profiles = TextColumn::read(table, "profile")?;
        let ids = profiles.words.iter().map(|id| id.parse());
        let ids = ids.collect::<Result<Vec<ProfileId>, _>>();
        let ids = ids.map_err(|error| table.damaged(format!("column profile: {error}")))?;
        let mut is_of_run = vec![false; table.rows()];
        for (row, record) in table.texts("record")?.iter().enumerate() {
            let Some(record) = record else { continue };
            is_of_run[row] = true;
            add_run(ids[profiles.of_row[row]], record.data(), builds)
                .map_err(|what| table.damaged(format!("column record: {what}")))?;
        }
        let events = TextColumn::read(table, "event")?;
        let [symbols, modules, files] =
            ["symbol", "module", "file"].map(|name| TextColumn::read(table, name));
        let (symbols, modules, files) = (symbols?, modules?, files?);
        let kinds = TextColumn::read(table, "kind")?;
        let kind = |name: &String| FrameKind::ALL.into_iter().find(|kind| kind.name() == name);
        let kind_of: Vec<Option<FrameKind>> = kinds.words.iter().map(kind).collect();
        let [own, samples] = [table.numbers("self")?, table.numbers("samples")?];
        let [total, of_total] = [table.numbers("total")?, table.numbers("total_samples")?];
        let mut frames: HashMap<[usize; 4], FrameIx> = HashMap::new();
        for row in 0..table.rows() {
            if is_of_run[row] {
                continue;
            }
            let texts = [&symbols, &modules, &files, &kinds].map(|words| words.of_row[row]);
            let [symbol, module, file, kind] = texts;
            let kind = kind_of[kind].ok_or_else(|| {
                table.damaged(format!(
                    "column kind: `{}` is not a kind",
                    kinds.words[kind]
                ))
            })?;
            let frame = *frames.entry(texts).or_insert_with(|| {
                self.frames.insert(Frame {
                    module: &modules.words[module],
                    symbol: &symbols.words[symbol],
                    kind,
                    file: &files.words[file],
                    line: 0,
                })
            });
            let cost = |value: &[Option<u64>], samples: &[Option<u64>]| {
                Some(Cost {
                    value: value[row]?,
                    samples: samples[row]?,
                })
            };
            let costs = cost(&own, &samples).zip(cost(&total, &of_total));
            let (own, total) =
                costs.ok_or_else(|| table.damaged("a row has no `record` and no counts"))?;
            let run = self.runs.entry(ids[profiles.of_row[row]]).or_default();
            let event = &events.words[events.of_row[row]];
            let of_event = run.0.entry_ref(event).or_default();
            of_event.own.push((NodeIx(frame.0), own));
            of_event.total.push((NodeIx(frame.0), total));
        }
        Ok(())
    }
}

/// Distinct texts of a column, and the text of each row; null becomes an empty text.
struct TextColumn {
    words: Vec<String>,
    of_row: Vec<usize>,
}

impl TextColumn {
    fn read(table: &Table<'_>, column: &str) -> Result<TextColumn, LakeError> {
        let mut words = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut of_row = Vec::with_capacity(table.rows());
        for cell in table.texts(column)? {
            let number = *numbers
                .entry_ref(table.text(cell.as_ref())?)
                .or_insert_with_key(|word| {
                    words.push(word.to_owned());
                    words.len() - 1
                });
            of_row.push(number);
        }
        Ok(TextColumn { words, of_row })
    }
}

/// Adds a run from its record.
///
/// # Errors
///
/// Returns a description of the problem if the record is invalid.
fn add_run(
    id: ProfileId,
    record: &[u8],
    builds: &mut BTreeMap<BuildId, StoredBuild>,
) -> Result<(), String> {
    let Record { build, profile } =
        serde_json::from_slice(record).map_err(|error| error.to_string())?;
    let (build, profile) = (build.into_owned(), profile.into_owned());
    if build.id() != profile.build {
        return Err(format!("profile {id} is not of the build that it names"));
    }
    let run = StoredProfile {
        id,
        profile,
        gnu_build_id: build.gnu_build_id.clone(),
        revision: build.revision.clone(),
        commit: build.commit.clone(),
        stored: Bytes(0),
        slices: Bytes(0),
    };
    let known = builds.entry(build.id()).or_insert_with(|| StoredBuild {
        id: build.id(),
        build,
        profiles: Vec::new(),
        tags: Vec::new(),
    });
    known.profiles.push(run);
    Ok(())
}

/// Returns the file, or the files of the folder sorted by name.
fn files(path: &Path) -> Result<Vec<PathBuf>, LakeError> {
    let folder = name(path);
    let at = unread(&folder);
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(&at)?;
    let entries = entries.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = entries.collect::<Result<_, _>>().map_err(at)?;
    if files.iter().any(|file| file.ends_with(UNDER_WAY)) {
        return Err(damaged(
            &folder,
            "an engine is still writing to the folder, or failed",
        ));
    }
    files.retain(|file| file.extension().is_some_and(|name| name == "parquet"));
    files.sort();
    Ok(files)
}

/// Name of a file in messages.
fn name(path: &Path) -> String {
    path.display().to_string()
}

fn unread(file: &str) -> impl Fn(io::Error) -> LakeError + '_ {
    |source| LakeError::Read {
        file: file.to_owned(),
        source,
    }
}
