//! Conversion of the file's locations: mappings, functions, inlined lines, dropped frames.

use super::dropped::DroppedFunctions;
use super::schema::{Function, Line, Location, Mapping, Profile};
use crate::error::{DecodeError, Decoded};
use crate::names::{NamedFrame, PPROF_SYSTEM_NAME_SUFFIXES, module_of_path};
use crate::recording::{
    self, Built, LocationIx, Module, ModuleIx, ModuleKind, RecordingBuilder, StackIx, text_prefix,
};
use hashbrown::HashMap;
use std::ops::Range;
use sto_model::{FrameKind, GnuBuildId};

/// The frames of each location of the file.
#[derive(Default)]
pub(crate) struct Frames {
    /// The part of `expansion` for each location of the file.
    ranges: Vec<Range<u32>>,
    /// Outer functions before the functions inlined into them.
    expansion: Vec<LocationIx>,
    cuts: Vec<Cut>,
}

/// The position of a cut relative to a location, walking from the root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Not,
    /// Before the location.
    Before,
    /// After the location, whose own dropped frames are already removed.
    After,
}

/// The modules of mappings, without duplicates.
#[derive(Default)]
pub(crate) struct Modules {
    pub(crate) modules: Vec<Module>,
    ix_of: HashMap<Module, ModuleIx>,
}

impl Modules {
    fn ix(&mut self, module: Module) -> ModuleIx {
        let Modules { modules, ix_of } = self;
        *ix_of.entry(module).or_insert_with_key(|module| {
            modules.push(module.clone());
            ModuleIx(modules.len() as u32 - 1)
        })
    }
}

impl Frames {
    pub(crate) fn new(
        profile: &Profile<'_>,
        modules: &mut Modules,
        stacks: &mut RecordingBuilder,
    ) -> Decoded<Frames> {
        let mut dropped = DroppedFunctions::new(profile)?;
        let mappings = profile.mappings.rows.iter();
        let module_of = mappings.map(|mapping| Ok(modules.ix(module(profile, mapping, stacks)?)));
        let mut reader = LocationReader {
            profile,
            module_of: module_of.collect::<Decoded<_>>()?,
            modules: &modules.modules,
            stacks,
        };
        let mut frames = Frames::default();
        for location in &profile.locations.rows {
            let start = frames.expansion.len() as u32;
            let cut = reader.add(location, &mut dropped, &mut frames.expansion)?;
            frames.ranges.push(start..frames.expansion.len() as u32);
            frames.cuts.push(cut);
        }
        Ok(frames)
    }

    /// Adds the stack with these location indices, leaf first.
    pub(crate) fn stack(&self, indices: &[u64], stacks: &mut RecordingBuilder) -> Built<StackIx> {
        let mut stack: Vec<LocationIx> = Vec::new();
        // Frames that are dropped at the root stay; otherwise the whole stack would be dropped.
        let mut is_kept_above = false;
        for index in indices.iter().rev().map(|&index| index as usize) {
            let cut = if is_kept_above {
                self.cuts[index]
            } else {
                Cut::Not
            };
            is_kept_above |= self.cuts[index] == Cut::Not;
            if cut == Cut::Before {
                break;
            }
            let Range { start, end } = self.ranges[index];
            let frames = &self.expansion[start as usize..end as usize];
            // The file has one location for all functions inlined there.
            stacks.count_expanded_frames(frames.len())?;
            stack.extend_from_slice(frames);
            if cut == Cut::After {
                break;
            }
        }
        stacks.stack(&stack)
    }
}

struct LocationReader<'r, 'b> {
    profile: &'r Profile<'b>,
    /// The module of each mapping.
    module_of: Vec<ModuleIx>,
    modules: &'r [Module],
    stacks: &'r mut RecordingBuilder,
}

impl LocationReader<'_, '_> {
    /// Adds the frames of a location, outermost first.
    fn add(
        &mut self,
        location: &Location<'_>,
        dropped: &mut DroppedFunctions,
        expansion: &mut Vec<LocationIx>,
    ) -> Decoded<Cut> {
        let profile = self.profile;
        profile
            .mappings
            .get(location.mapping, "the mapping", location.at)?;
        let module = profile.mappings.index_of(location.mapping);
        let name = match module.map_or("", |index| self.module(index).name()) {
            "" | "vmlinux" if location.kind == Some(FrameKind::Kernel) => "[kernel]".to_owned(),
            name => name.to_owned(),
        };
        let mut functions = Vec::with_capacity(location.lines.len());
        for &message in location.lines.iter().rev() {
            let line = Line::parse(message)?;
            let function = profile
                .functions
                .get(line.function, "the function", message.at())?;
            functions.extend(function.map(|function| (function, line)));
        }
        if functions.is_empty() {
            let location_ix = self.nameless(location, module);
            expansion.push(location_ix.map_err(DecodeError::at(location.at))?);
            return Ok(Cut::Not);
        }
        let names = functions.iter().map(|(function, _)| function.name);
        let is_dropped = names.map(|name| dropped.contains(name.ix, profile.text(name)?));
        let is_dropped = is_dropped.collect::<Decoded<Vec<_>>>()?;
        let (cut, kept) = match is_dropped.iter().position(|&is_dropped| is_dropped) {
            None => (Cut::Not, functions.len()),
            Some(0) => (Cut::Before, functions.len()),
            Some(depth) => (Cut::After, depth),
        };
        for (depth, (function, line)) in functions[..kept].iter().enumerate() {
            let kind = match depth {
                0 => location.kind,
                _ => Some(FrameKind::Inlined),
            };
            let frame = self.frame(function, line, &name, kind)?;
            expansion.push(frame.map_err(DecodeError::at(location.at))?);
        }
        Ok(cut)
    }

    fn frame(
        &mut self,
        function: &Function,
        line: &Line,
        module: &str,
        kind: Option<FrameKind>,
    ) -> Decoded<Built<LocationIx>> {
        let profile = self.profile;
        let (name, system_name) = (
            profile.text(function.name)?,
            profile.text(function.system_name)?,
        );
        let frame = NamedFrame {
            symbol: if name.is_empty() { system_name } else { name },
            module: module.as_bytes(),
            file: profile.text(function.file)?,
            line: u32::try_from(line.line).unwrap_or(0),
            kind: kind_by_suffix(name, system_name).or(kind),
        };
        Ok(frame.add(self.stacks))
    }

    fn module(&self, mapping: usize) -> &Module {
        &self.modules[self.module_of[mapping].0 as usize]
    }

    /// Adds a location that has only an address.
    fn nameless(&mut self, location: &Location<'_>, module: Option<usize>) -> Built<LocationIx> {
        let address = module.and_then(|index| {
            let mapping = &self.profile.mappings.rows[index];
            let address = match self.module(index).kind {
                ModuleKind::File => location
                    .address
                    .checked_sub(mapping.start)?
                    .checked_add(mapping.offset)?,
                _ => location.address,
            };
            (location.address != 0).then_some(recording::Location::Address {
                module: self.module_of[index],
                address,
            })
        });
        self.stacks
            .unnamed_location(address.unwrap_or(recording::Location::Unmapped))
    }
}

fn kind_by_suffix(name: &[u8], system_name: &[u8]) -> Option<FrameKind> {
    // All suffixes have the same length.
    let at = system_name
        .len()
        .checked_sub(PPROF_SYSTEM_NAME_SUFFIXES[0].len())?;
    let (start, suffix) = system_name.split_at(at);
    if start.len() != name.len() || text_prefix(start) != text_prefix(name) {
        return None;
    }
    let kinds = FrameKind::ALL.into_iter();
    kinds
        .zip(PPROF_SYSTEM_NAME_SUFFIXES)
        .find_map(|(kind, known)| (suffix == known.as_bytes()).then_some(kind))
}

const KERNEL: &[u8] = b"[kernel.kallsyms]";

fn module(
    profile: &Profile<'_>,
    mapping: &Mapping,
    stacks: &mut RecordingBuilder,
) -> Decoded<Module> {
    let path = match profile.text(mapping.file)? {
        // perf appends the symbol that addresses are relative to.
        path if path.starts_with(KERNEL) => KERNEL,
        path => path,
    };
    let build_id = build_id(profile.text(mapping.build_id)?);
    Ok(module_of_path(path, ModuleKind::File, build_id, stacks))
}

/// Parses a GNU build id in hexadecimal digits. Ids of other linkers are ignored.
pub(crate) fn build_id(text: &[u8]) -> Option<GnuBuildId> {
    std::str::from_utf8(text_prefix(text)).ok()?.parse().ok()
}
