//! Adds build ids to modules that were recorded without one.

use rayon::prelude::*;
use sto_binary::{find_without_build_id, has_path_or_name, path_from_user};
use sto_formats::recording::{Location, ModuleIx, ModuleKind, Recording};
use sto_model::SymbolOptions;

/// Sets the build id of modules without one from their file, if its inode number or the user vouches for the file.
///
/// Their separate debug files are then found too, and functions get the names that they have in recordings with build
/// ids. By default perf records build ids only of files in which samples were taken, not of those that only call.
pub(crate) fn add_build_ids(recording: &mut Recording, options: &SymbolOptions) {
    let mut is_used = vec![false; recording.modules.len()];
    for location in &recording.locations {
        if let Location::Address { module, .. } = location {
            is_used[module.get()] = true;
        }
    }
    let main_modules = recording
        .processes
        .iter()
        .filter_map(|process| process.main_module);
    for ModuleIx(main) in main_modules {
        is_used[main as usize] = true;
    }
    let parts = recording.parts_mut();
    let modules = parts.modules.par_iter_mut().zip(is_used);
    let unverified = modules.filter_map(|(module, is_used)| {
        if !is_used || module.kind != ModuleKind::File || module.build_id.is_some() {
            return None;
        }
        let found = find_without_build_id(module, options).ok()?;
        module.build_id = found.symbols.build_id;
        let path = path_from_user(module, options)?;
        Some(format!(
            "{} was used for {} without a check, because the recording has no build id of that file",
            path.display(),
            module.path
        ))
    });
    let mut warnings: Vec<String> = unverified.collect();
    for (file, path) in &options.symbol_files {
        if !parts
            .modules
            .iter()
            .any(|module| has_path_or_name(module, file))
        {
            warnings.push(format!(
                "{} was given for {file}, but the recording has no file of that name",
                path.display()
            ));
        }
    }
    parts.warnings.extend(warnings);
}
