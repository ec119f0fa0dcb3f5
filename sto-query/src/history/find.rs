//! The functions of a history that a user names.

use super::{FunctionIx, History, HistoryError};
use crate::functions::{FunctionChoice, FunctionError, Named};
use crate::text::printable;

/// The functions of histories that a user names.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub(crate) struct FoundFunctions {
    /// Those of each history, in order; none where it does not have them.
    pub(crate) by_history: Vec<Vec<FunctionIx>>,
    /// Their keys, each once and in order.
    pub(crate) keys: Vec<String>,
}

impl History {
    /// The functions that a user [names](FunctionChoice): those of one key, of several modules maybe, or all
    /// that fit a regular expression.
    ///
    /// # Errors
    /// Where no function of these runs is meant, or several are.
    pub fn find(&self, name: &str) -> Result<Vec<FunctionIx>, HistoryError> {
        let found = History::find_in(std::slice::from_ref(self), name)?;
        Ok(found.by_history.into_iter().flatten().collect())
    }

    /// The same, but of one key alone, also by a regular expression.
    ///
    /// # Errors
    /// Where no function of these runs is meant, or several are.
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

    /// The same, of several histories together.
    ///
    /// # Errors
    /// Where no function of any of them is meant, or several are.
    pub(crate) fn find_in(
        histories: &[History],
        name: &str,
    ) -> Result<FoundFunctions, HistoryError> {
        let choice = FunctionChoice::parse(name)?;
        let all = histories.iter().flat_map(|history| &history.functions);
        let named: Vec<Named> = all
            .map(|function| Named::of_key(&function.function))
            .collect();
        let chosen = choice.among(&named);
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
