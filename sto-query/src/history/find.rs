//! Finds functions of a history by name.

use super::{FunctionIx, History, HistoryError};
use crate::functions::{FunctionChoice, FunctionError, SymbolAndKey};
use crate::text::printable;

/// The functions of histories that match a name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub(crate) struct FoundFunctions {
    /// The functions of each history, in order; empty if it does not have them.
    pub(crate) by_history: Vec<Vec<FunctionIx>>,
    /// The distinct keys of the functions, in order.
    pub(crate) keys: Vec<String>,
}

impl History {
    /// Returns the functions that match a name as the user typed it: all functions of one
    /// key, possibly in several modules, or all that match a regular expression.
    ///
    /// # Errors
    /// Returns an error if no function matches, or if several do.
    pub fn find(&self, name: &str) -> Result<Vec<FunctionIx>, HistoryError> {
        let found = History::find_in(std::slice::from_ref(self), name)?;
        Ok(found.by_history.into_iter().flatten().collect())
    }

    /// Like [`find`](Self::find), but requires a single key, even for a regular expression.
    ///
    /// # Errors
    /// Returns an error if no function matches, or if several do.
    pub fn find_one(&self, name: &str) -> Result<Vec<FunctionIx>, HistoryError> {
        let found = History::find_in(std::slice::from_ref(self), name)?;
        match found.keys.len() {
            1 => Ok(found.by_history.into_iter().flatten().collect()),
            _ => Err(FunctionError::Several {
                text: name.to_owned(),
                names: found.keys,
            }
            .into()),
        }
    }

    /// Like [`find`](Self::find), in several histories together.
    ///
    /// # Errors
    /// Returns an error if no function of any history matches, or if several do.
    pub(crate) fn find_in(
        histories: &[History],
        name: &str,
    ) -> Result<FoundFunctions, HistoryError> {
        let choice = FunctionChoice::parse(name)?;
        let all = histories.iter().flat_map(|history| &history.functions);
        let named: Vec<SymbolAndKey> = all
            .map(|function| SymbolAndKey::from_key(&function.function))
            .collect();
        let chosen = choice.find_matches(&named);
        if chosen.is_empty() {
            let programs: Vec<_> = histories
                .iter()
                .map(|history| printable(&history.executable))
                .collect();
            let among = format!("runs of {}", programs.join(", "));
            return Err(choice.not_found(among, &named).into());
        }
        let keys = choice.names_of(&chosen, &named)?;
        let mut chosen = chosen.into_iter().peekable();
        let mut first = 0;
        let of_history = |history: &History| {
            let end = first + history.functions.len();
            let mut own = Vec::new();
            while let Some(index) = chosen.next_if(|index| *index < end) {
                own.push(FunctionIx::new(index - first));
            }
            first = end;
            own
        };
        Ok(FoundFunctions {
            by_history: histories.iter().map(of_history).collect(),
            keys,
        })
    }
}
