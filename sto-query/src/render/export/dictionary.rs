//! The names, modules, functions and locations that samples of pprof and OTLP refer to.

use crate::tree::View;
use hashbrown::HashMap;
use std::collections::BTreeSet;
use sto_core::formats::{PPROF_SYSTEM_NAME_SUFFIXES, kind_by_names};
use sto_core::model::{FrameIx, FrameKind};
use sto_core::tree::NodeIx;

/// The tables of a file. Number 0 of each means "none"; the vectors of mappings, functions and
/// locations don't store it.
pub(super) struct Dictionary {
    pub(super) strings: Vec<String>,
    string_ids: HashMap<String, u64>,
    pub(super) mappings: Vec<Mapping>,
    mapping_ids: HashMap<String, u64>,
    pub(super) functions: Vec<Function>,
    function_ids: HashMap<Function, u64>,
    pub(super) locations: Vec<Location>,
    /// Location of each node.
    location_ids: Vec<u32>,
    /// For each node, the caller whose location is the next one of the stack.
    callers: Vec<Option<NodeIx>>,
}

/// A module, as numbers of strings.
#[derive(Clone, Copy)]
pub(super) struct Mapping {
    pub(super) file: u64,
    /// In hexadecimal digits; empty if unknown.
    pub(super) build_id: u64,
}

/// A function, as numbers of strings.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Function {
    pub(super) name: u64,
    pub(super) system_name: u64,
    pub(super) file: u64,
}

/// A frame, with the frames that it is inlined into.
pub(super) struct Location {
    pub(super) mapping: u64,
    /// Kind of its outermost frame.
    pub(super) kind: FrameKind,
    /// Number of its innermost function, and the line.
    line: (u64, u32),
    /// Location that it is inlined into.
    into: Option<u32>,
}

impl Dictionary {
    /// Collects the tables of all stacks of a view. The first mapping is the executable.
    pub(super) fn from_view(view: &View) -> Dictionary {
        let mut dictionary = Dictionary {
            strings: Vec::new(),
            string_ids: HashMap::new(),
            mappings: Vec::new(),
            mapping_ids: HashMap::new(),
            functions: Vec::new(),
            function_ids: HashMap::new(),
            locations: Vec::new(),
            location_ids: Vec::with_capacity(view.tree.len()),
            callers: Vec::with_capacity(view.tree.len()),
        };
        dictionary.string("");
        dictionary.mapping(view, &view.selection.build.executable);
        dictionary.add_locations(view);
        dictionary
    }

    /// Returns the number of a string. Adds the string if it is new.
    pub(super) fn string(&mut self, text: &str) -> u64 {
        if let Some(&id) = self.string_ids.get(text) {
            return id;
        }
        let id = self.strings.len() as u64;
        self.strings.push(text.to_owned());
        self.string_ids.insert(text.to_owned(), id);
        id
    }

    /// Returns the functions of a location with their lines, innermost first.
    pub(super) fn lines<'d>(
        &'d self,
        location: &'d Location,
    ) -> impl Iterator<Item = (u64, u32)> + 'd {
        let outer = |location: &&Location| Some(&self.locations[location.into? as usize - 1]);
        std::iter::successors(Some(location), outer).map(|location| location.line)
    }

    /// Returns the locations of a stack, leaf first.
    pub(super) fn stack(&self, node: NodeIx) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(node), |node| self.callers[node.get()])
            .map(|node| self.location_ids[node.get()].into())
    }

    /// Returns the mapping of a module. Adds the mapping if it is new.
    fn mapping(&mut self, view: &View, module: &str) -> u64 {
        if module.is_empty() {
            return 0;
        }
        if let Some(&id) = self.mapping_ids.get(module) {
            return id;
        }
        let mapping = Mapping {
            file: self.string(module),
            build_id: self.string(&build_id(view, module)),
        };
        self.mappings.push(mapping);
        let id = self.mappings.len() as u64;
        self.mapping_ids.insert(module.to_owned(), id);
        id
    }

    fn function(&mut self, name: &str, system_name: &str, file: &str) -> u64 {
        let function = Function {
            name: self.string(name),
            system_name: self.string(system_name),
            file: self.string(file),
        };
        let next = self.functions.len() as u64 + 1;
        let id = *self.function_ids.entry(function).or_insert(next);
        if id == next {
            self.functions.push(function);
        }
        id
    }

    fn add_locations(&mut self, view: &View) {
        // Key: the location that a frame is inlined into, and the frame.
        let mut known: HashMap<(Option<u32>, FrameIx), u32> = HashMap::new();
        for node in view.tree.nodes() {
            let frame_ix = view.tree.frame(node);
            let frame = view.frames.frame(frame_ix);
            let caller = view.tree.parent(node);
            let into = caller.filter(|&caller| {
                let module = view.frames.frame(view.tree.frame(caller)).module;
                frame.kind == FrameKind::Inlined && frame.module == module
            });
            let outer = into.map(|into| self.location_ids[into.get()]);
            let next = self.locations.len() as u32 + 1;
            let id = *known.entry((outer, frame_ix)).or_insert(next);
            if id == next {
                let suffix = match outer {
                    Some(_) => "",
                    None => suffix(frame.symbol, frame.module, frame.kind),
                };
                let system_name = match suffix {
                    "" => String::new(),
                    suffix => format!("{}{suffix}", frame.symbol),
                };
                let function = self.function(frame.symbol, &system_name, frame.file);
                let location = Location {
                    mapping: self.mapping(view, frame.module),
                    kind: outer.map_or(frame.kind, |outer| self.locations[outer as usize - 1].kind),
                    line: (function, frame.line),
                    into: outer,
                };
                self.locations.push(location);
            }
            self.location_ids.push(id);
            self.callers.push(match into {
                Some(into) => self.callers[into.get()],
                None => caller,
            });
        }
    }
}

/// Returns the build id of a module that all profiles agree on, or of the executable; empty if
/// there is none.
fn build_id(view: &View, module: &str) -> String {
    let build = &view.selection.build;
    let modules = view.selection.profiles.iter();
    let modules = modules.flat_map(|stored| stored.profile.modules.iter());
    let ids: BTreeSet<_> = modules
        .filter(|known| known.name == module)
        .filter_map(|known| known.build_id.as_ref())
        .collect();
    let of_build = build
        .gnu_build_id
        .as_ref()
        .filter(|_| module == build.executable);
    match (ids.len(), ids.first()) {
        (1, Some(id)) => id.to_string(),
        (0, _) => of_build.map_or_else(String::new, ToString::to_string),
        _ => String::new(),
    }
}

/// Returns the suffix of the system name that encodes a frame's kind; empty if its names imply the
/// kind.
fn suffix(symbol: &str, module: &str, kind: FrameKind) -> &'static str {
    if kind_by_names(symbol, module) == kind {
        ""
    } else {
        PPROF_SYSTEM_NAME_SUFFIXES[kind as usize]
    }
}
