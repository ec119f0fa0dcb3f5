//! Build ids of modules that a recording has none of.

use rayon::prelude::*;
use sto_binary::{by_hand, find_without_build_id, is_called};
use sto_formats::recording::{Location, ModuleIx, ModuleKind, Recording};
use sto_model::SymbolOptions;

/// Gives modules that the recording has no build id of that of their file, where that is believed by its inode or as the
/// user says so: then their debug files are found too, and a function has the name that it has in recordings with
/// the build id. perf writes build ids of such files alone that samples were taken in, not of those that only call.
pub(crate) fn add_build_ids(recording: &mut Recording, options: &SymbolOptions) {
    let mut is_used = vec![false; recording.modules.len()];
    for location in &recording.locations {
        if let Location::Address { module, .. } = location {
            is_used[module.get()] = true;
        }
    }
    let mains = recording
        .processes
        .iter()
        .filter_map(|process| process.main_module);
    for ModuleIx(main) in mains {
        is_used[main as usize] = true;
    }
    let parts = recording.parts_mut();
    let modules = parts.modules.par_iter_mut().zip(is_used);
    let believed = modules.filter_map(|(module, is_used)| {
        if !is_used || module.kind != ModuleKind::File || module.build_id.is_some() {
            return None;
        }
        let found = find_without_build_id(module, options).ok()?;
        module.build_id = found.symbols.build_id;
        let path = by_hand(module, options)?;
        Some(format!(
            "{} was believed to be {} because it was named for that: the recording has no build id to tell",
            path.display(),
            module.path
        ))
    });
    let mut warnings: Vec<String> = believed.collect();
    for (file, path) in &options.by_hand {
        if !parts.modules.iter().any(|module| is_called(module, file)) {
            warnings.push(format!(
                "{} was named for {file}, but the recording has no file of that name",
                path.display()
            ));
        }
    }
    parts.warnings.extend(warnings);
}
