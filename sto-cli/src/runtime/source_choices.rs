//! The user's choices between several source files that match one file of the profiles. They are saved in the store's
//! folder.

use super::git;
use super::{CliError, StorePath, output};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the file in the store's folder: maps work trees to maps from profile paths to paths in the work tree.
const FILE_NAME: &str = "sources.json";

/// The chosen file for each path in the profiles.
pub(crate) type Chosen = BTreeMap<String, PathBuf>;

/// The choices so far, and the questions that were asked.
pub(crate) struct Choices {
    /// `None` without a store, or if the store is a single file.
    file: Option<PathBuf>,
    root: PathBuf,
    pub(crate) chosen: Chosen,
    asked: BTreeSet<String>,
}

impl Choices {
    /// Loads the choices for this work tree.
    pub(crate) fn load(store: Option<&Path>, root: &Path) -> Choices {
        let folder = store.filter(|store| !store.is_file());
        let file = folder.map(|folder| folder.join(FILE_NAME));
        let all = file.as_deref().map(read).unwrap_or_default();
        let choices = all.get(root.to_string_lossy().as_ref());
        let entries = choices.and_then(Value::as_object).into_iter().flatten();
        let chosen = entries.filter_map(|(profile_path, path)| {
            // Ignore values that are not paths.
            Some((profile_path.clone(), root.join(path.as_str()?)))
        });
        Choices {
            file,
            root: root.to_owned(),
            chosen: chosen.collect(),
            asked: BTreeSet::new(),
        }
    }

    /// Whether to ask about a file of the profiles; `true` only once per session.
    pub(crate) fn should_ask(&mut self, profile_path: &str) -> bool {
        self.asked.insert(profile_path.to_owned())
    }

    /// The path relative to the work tree, for display and storage.
    pub(crate) fn name(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        below.to_string_lossy().into_owned()
    }

    /// Stores a choice.
    pub(crate) fn choose(&mut self, profile_path: &str, path: &Path) -> Result<(), CliError> {
        self.chosen.insert(profile_path.to_owned(), path.to_owned());
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut all = read(file);
        let root = self.root.to_string_lossy().into_owned();
        if !all[&*root].is_object() {
            all[&*root] = json!({});
        }
        all[&*root][profile_path] = json!(self.name(path));
        output::write_file(file, format!("{all:#}\n").as_bytes())
    }
}

/// The choices for the current source folder.
pub(crate) fn chosen(store: &StorePath) -> Chosen {
    Choices::load(Some(&store.folder), &git::here().source_folder()).chosen
}

/// The content of the file; empty if it is not a JSON object.
fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_default();
    let read = serde_json::from_str(&text).ok();
    read.filter(Value::is_object).unwrap_or_else(|| json!({}))
}
