//! What stacks are told apart by.

use crate::runtime::error::CliError;
use std::str::FromStr;
use sto_core::store::Store;
use sto_query::tree::{ThreadNames, View};

/// What each root of a drawing stands for.
#[derive(Clone, Debug)]
pub(crate) enum By {
    Thread,
    /// A value of the label with this key, of samples or of runs.
    Label(String),
}

impl FromStr for By {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<By, &'static str> {
        match (text, text.strip_prefix("label:")) {
            ("thread", _) => Ok(By::Thread),
            (_, Some(key)) if !key.is_empty() => Ok(By::Label(key.to_owned())),
            _ => Err("expected `thread` or `label:KEY`"),
        }
    }
}

impl By {
    /// The stacks of a view that was loaded from this store, below their roots.
    pub(crate) fn tell_apart(
        &self,
        view: &View,
        store: &Store,
        names: ThreadNames,
    ) -> Result<View, CliError> {
        Ok(match self {
            By::Thread => view.by_thread(store, names)?,
            By::Label(key) => view.by_label(store, key)?,
        })
    }
}
