//! Which of several files of the work tree a source file of the profiles is: the user is asked once, and what they
//! said is kept in the store's folder.

use super::environment::source_folder;
use super::{CliError, StorePath, output};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the file in the store's folder: by work tree, then by path of profiles, a path below that tree.
const FILE_NAME: &str = "sources.json";

/// The files that were meant, by the paths that profiles have.
pub(crate) type Chosen = BTreeMap<String, PathBuf>;

/// What was said, and asked.
pub(crate) struct Choices {
    /// `None` where there is no store, or none with a folder of its own.
    file: Option<PathBuf>,
    root: PathBuf,
    pub(crate) chosen: Chosen,
    asked: BTreeSet<String>,
}

impl Choices {
    /// What was said of this work tree before.
    pub(crate) fn of(store: Option<&Path>, root: &Path) -> Choices {
        let folder = store.filter(|store| !store.is_file());
        let file = folder.map(|folder| folder.join(FILE_NAME));
        let all = file.as_deref().map(read).unwrap_or_default();
        let of_root = all.get(root.to_string_lossy().as_ref());
        let said = of_root.and_then(Value::as_object).into_iter().flatten();
        let chosen = said.filter_map(|(meant, path)| {
            // Whatever else stands there is none of the files that are asked about.
            Some((meant.clone(), root.join(path.as_str()?)))
        });
        Choices {
            file,
            root: root.to_owned(),
            chosen: chosen.collect(),
            asked: BTreeSet::new(),
        }
    }

    /// Whether a file of the profiles is to be asked about: once in a session.
    pub(crate) fn asks(&mut self, meant: &str) -> bool {
        self.asked.insert(meant.to_owned())
    }

    /// A path as it is shown, and kept.
    pub(crate) fn name(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        below.to_string_lossy().into_owned()
    }

    /// Keeps what was said.
    pub(crate) fn choose(&mut self, meant: &str, path: &Path) -> Result<(), CliError> {
        self.chosen.insert(meant.to_owned(), path.to_owned());
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut all = read(file);
        let root = self.root.to_string_lossy().into_owned();
        if !all[&*root].is_object() {
            all[&*root] = json!({});
        }
        all[&*root][meant] = json!(self.name(path));
        output::write_file(file, format!("{all:#}\n").as_bytes())
    }
}

/// What was said in an editor of the sources here.
pub(crate) fn chosen(store: &StorePath) -> Chosen {
    Choices::of(Some(&store.folder), &source_folder()).chosen
}

/// What the file has; what is none of ours is as if it were empty.
fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_default();
    let read = serde_json::from_str(&text).ok();
    read.filter(Value::is_object).unwrap_or_else(|| json!({}))
}
