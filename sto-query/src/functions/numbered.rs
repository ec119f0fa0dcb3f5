//! The functions of a table of frames, numbered.

use super::{KeyOptions, key_of};
use hashbrown::HashMap;
use std::borrow::Cow;
use sto_core::model::FrameTable;

/// The functions of frames: what has one key and one module is one.
pub(crate) struct Functions {
    /// By frame, the number of its function; they count up in the order of the frames.
    number_of: Vec<u32>,
    /// The key and the module of each.
    names: Vec<(String, String)>,
    /// The numbers of those with a key.
    by_key: HashMap<String, Vec<u32>>,
}

impl Functions {
    /// Of these frames.
    pub(crate) fn of(frames: &FrameTable) -> Functions {
        let mut numbers: HashMap<(Cow<'_, str>, &str), u32> = HashMap::new();
        let mut names = Vec::new();
        let mut by_key: HashMap<String, Vec<u32>> = HashMap::new();
        let keys = frames.iter().map(|(_, frame)| {
            let key = (key_of(frame, KeyOptions::default()), frame.module);
            *numbers.entry(key).or_insert_with_key(|(key, module)| {
                let number = names.len() as u32;
                names.push((key.to_string(), (*module).to_owned()));
                by_key.entry(key.to_string()).or_default().push(number);
                number
            })
        });
        Functions {
            number_of: keys.collect(),
            names,
            by_key,
        }
    }

    /// By frame, the number of its function.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.number_of
    }

    /// The numbers of functions with this key, or of all.
    pub(crate) fn with_key(&self, key: Option<&str>) -> Vec<usize> {
        match key {
            Some(key) => {
                let numbers = self.by_key.get(key).into_iter().flatten();
                numbers.map(|&number| number as usize).collect()
            }
            None => (0..self.names.len()).collect(),
        }
    }

    /// The key and the module of a function.
    pub(crate) fn name(&self, number: usize) -> (&str, &str) {
        let (key, module) = &self.names[number];
        (key, module)
    }
}
