//! Finds the folder of the store.

use crate::runtime::interrupt::temporaries;
use crate::runtime::user_folder::user_folder;
use crate::runtime::{CliError, Machine, now, owner, ui};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_core::store::{Snapshot, Store, StoreError, StoreOptions};
use sto_query::QueryError;
use sto_query::questions::Question;
use sto_query::sources::{Context, Sources};

/// The store's folder, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StorePath {
    pub(crate) folder: PathBuf,
    /// Whether the command line names it.
    pub(crate) is_named: bool,
    /// Whether it was found by searching from the working directory upwards.
    is_searched_for: bool,
    /// Whether it is the default in the user's data folder.
    pub(crate) is_default: bool,
}

impl StorePath {
    /// The store and files, as sources for queries.
    pub(crate) fn sources(&self) -> Sources {
        let folder = self.folder.clone();
        let open = move || Snapshot::open(&folder, options());
        Sources::with_opener(open).with_environment(Arc::new(Machine::here()))
    }

    /// Answers a question about the store and files.
    pub(crate) fn ask<Q: Question>(&self, question: &Q) -> Result<Q::Answer, QueryError> {
        sto_query::ask(&self.sources(), question, &context())
    }

    /// Like [`StorePath::sources`], with the store's current state. Creates the store if it does not exist.
    pub(crate) fn sources_or_empty(&self) -> Result<Sources, StoreError> {
        let snapshot = self.open_or_create()?.snapshot()?;
        Ok(Sources::from_snapshot(snapshot).with_environment(Arc::new(Machine::here())))
    }

    /// Opens the store, which must exist.
    pub(crate) fn open(&self) -> Result<Store, StoreError> {
        Store::open_with(&self.folder, options())
    }

    /// Opens the store. If it does not exist, adding a profile creates it.
    pub(crate) fn open_or_create(&self) -> Result<Store, StoreError> {
        let options = StoreOptions {
            create: true,
            ..options()
        };
        Store::open_with(&self.folder, options)
    }

    /// The `--store` option, if it was given.
    pub(crate) fn option(&self) -> Vec<String> {
        if self.is_named {
            vec!["--store".to_owned(), self.folder.display().to_string()]
        } else {
            Vec::new()
        }
    }

    /// Notes that a new store was created in the default folder.
    pub(crate) fn note_if_new(&self, is_new: bool) {
        if is_new && self.is_default {
            let folder = self.folder.display();
            let note = format!("made a new store in {folder}; `--store` names another folder");
            ui::print_message("note", &note);
        }
    }
}

/// The context of this command's questions: the current time. Ctrl-C ends the process.
pub(crate) fn context() -> Context {
    let mut context = Context::default();
    context.now = Some(now());
    context
}

/// Options for opening stores: the user is told which process is waited for, and temporary files are removed at exit.
pub(crate) fn options() -> StoreOptions {
    StoreOptions {
        on_wait: Some(Arc::new(ui::note_waiting)),
        temporaries: temporaries().clone(),
        ..StoreOptions::default()
    }
}

/// Finds the store: `--store`, otherwise `$STO_STORE`, otherwise the nearest `.sto/` from the
/// working directory upwards, otherwise `configured`, otherwise `$XDG_DATA_HOME/sto`, otherwise `~/.local/share/sto`.
///
/// # Errors
/// Returns an error if `$HOME` is needed and not set, or if the store was found by searching, belongs to another user and is
/// not in `safe`.
pub(crate) fn find(
    option: Option<PathBuf>,
    configured: Option<PathBuf>,
    safe: &[PathBuf],
) -> Result<StorePath, CliError> {
    let variable = |name: &str| std::env::var_os(name);
    let working = std::env::current_dir().ok();
    let found =
        find_in(option, &variable, working.as_deref(), configured).ok_or(CliError::NoStorePath)?;
    if found.is_searched_for && !safe.contains(&found.folder) {
        for path in [&found.folder, &found.folder.join(Store::FILE_NAME)] {
            owner::check(
                path,
                "store",
                "--store, $STO_STORE, or `safe-stores` in the configuration file",
            )?;
        }
    }
    Ok(found)
}

fn find_in(
    option: Option<PathBuf>,
    variable: &dyn Fn(&str) -> Option<OsString>,
    working: Option<&Path>,
    configured: Option<PathBuf>,
) -> Option<StorePath> {
    // An empty variable counts as unset.
    let path = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let is_named = option.is_some();
    let named = option.or_else(|| path("STO_STORE"));
    let found = || {
        let mut folders = working?.ancestors().map(|folder| folder.join(".sto"));
        folders.find(|folder| folder.is_dir())
    };
    let found = named.is_none().then(found).flatten();
    let is_searched_for = found.is_some();
    if let Some(folder) = named.or(found).or(configured) {
        return Some(StorePath {
            folder,
            is_named,
            is_searched_for,
            is_default: false,
        });
    }
    let data = user_folder(variable, "XDG_DATA_HOME", ".local/share")?;
    Some(StorePath {
        folder: data.join("sto"),
        is_named: false,
        is_searched_for: false,
        is_default: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], working: &Path) -> Option<StorePath> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        find_in(None, &variable, Some(working), None)
    }

    fn default(folder: &str) -> Option<StorePath> {
        Some(StorePath {
            folder: PathBuf::from(folder),
            is_named: false,
            is_searched_for: false,
            is_default: true,
        })
    }

    #[test]
    fn empty_and_relative_variables_count_as_unset() {
        let nowhere = Path::new("/");
        let home = ("HOME", "/home/u");
        assert_eq!(
            found(&[home, ("STO_STORE", ""), ("XDG_DATA_HOME", "")], nowhere),
            default("/home/u/.local/share/sto")
        );
        assert_eq!(
            found(&[home, ("XDG_DATA_HOME", "data")], nowhere),
            default("/home/u/.local/share/sto")
        );
        assert_eq!(
            found(&[home, ("XDG_DATA_HOME", "/data")], nowhere),
            default("/data/sto")
        );
    }

    #[test]
    fn without_any_folder_there_is_no_store_path() {
        assert_eq!(found(&[], Path::new("/")), None);
    }
}
