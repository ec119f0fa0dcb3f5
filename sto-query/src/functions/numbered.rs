//! Numbers the functions of a frame table.

use super::{KeyOptions, key_of};
use hashbrown::HashMap;
use std::borrow::Cow;
use sto_core::model::FrameTable;

/// The functions of a frame table. Frames with the same key and module are one function.
pub(crate) struct Functions {
    /// The number of each frame's function. Numbers count up in the order of the frames.
    number_of: Vec<u32>,
    /// The key and the module of each function.
    names: Vec<(String, String)>,
    /// The numbers of the functions with each key.
    by_key: HashMap<String, Vec<u32>>,
}

impl Functions {
    /// Numbers the functions of these frames.
    pub(crate) fn new(frames: &FrameTable) -> Functions {
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

    /// Returns the number of each frame's function.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.number_of
    }

    /// Returns the numbers of the functions with this key, or of all functions.
    pub(crate) fn find_by_key(&self, key: Option<&str>) -> Vec<usize> {
        match key {
            Some(key) => {
                let numbers = self.by_key.get(key).into_iter().flatten();
                numbers.map(|&number| number as usize).collect()
            }
            None => (0..self.names.len()).collect(),
        }
    }

    /// Returns the key and the module of a function.
    pub(crate) fn name(&self, number: usize) -> (&str, &str) {
        let (key, module) = &self.names[number];
        (key, module)
    }
}
