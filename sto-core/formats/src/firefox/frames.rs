//! Conversion of a profile's tables to stacks: names, modules, kinds, addresses.

use super::schema::{
    FRAME_ADDRESS, FRAME_CATEGORY, FRAME_LINE, FUNC_RESOURCE, FUNC_SOURCE, FrameTable, FuncTable,
    Lib, Meta, Profile, ResourceTable, Sources, StackTable, Thread, is_column_set,
};
use crate::error::{DecodeError, Decoded};
use crate::json::{CallTree, Caller};
use crate::names::{NamedFrame, module_name, module_of_path};
use crate::pprof::build_id;
use crate::recording::{
    Location, LocationIx, Module, ModuleIx, ModuleKind, RecordingBuilder, StackIx, text_prefix,
};
use crate::wire::json::{Text, entry};
use sto_model::FrameKind;

pub(super) fn modules(profile: &Profile<'_>, builder: &mut RecordingBuilder) -> Vec<Module> {
    let libs = profile.libs.iter();
    libs.map(|lib| module(lib, builder)).collect()
}

fn module(lib: &Lib<'_>, builder: &mut RecordingBuilder) -> Module {
    let path = match &*lib.path.0 {
        b"" => &lib.name,
        _ => &lib.path,
    };
    let build_id = lib.code_id.as_ref().and_then(|id| build_id(&id.0));
    module_of_path(&path.0, ModuleKind::Image, build_id, builder)
}

/// The stacks of a thread's tables.
pub(super) struct Tree(CallTree);

impl Tree {
    pub(super) fn new(
        profile: &Profile<'_>,
        thread: &Thread<'_>,
        at: &str,
        modules: &[Module],
        builder: &mut RecordingBuilder,
    ) -> Decoded<Tree> {
        let shared = &profile.shared;
        macro_rules! table {
            ($field:ident, $name:literal) => {
                match (&thread.$field, &shared.$field) {
                    (Some(table), _) | (None, Some(table)) => table,
                    (None, None) => return Err(missing(at, $name)),
                }
            };
        }
        let stacks = table!(stack_table, "stackTable");
        let frames = FrameReader {
            profile,
            strings: table!(string_array, "stringArray"),
            frames: table!(frame_table, "frameTable"),
            funcs: table!(func_table, "funcTable"),
            resources: table!(resource_table, "resourceTable"),
            sources: thread.sources.as_ref().or(shared.sources.as_ref()),
            at,
            is_ours: is_written_by_sto(&profile.meta),
            modules,
            builder,
        };
        let locations = frames.locations()?;
        let callers = callers(stacks, at)?;
        let mut entries = Vec::with_capacity(stacks.frame.len());
        for (ix, (caller, &frame)) in callers.into_iter().zip(&stacks.frame).enumerate() {
            let at = || format!("{at}.stackTable.frame[{ix}]");
            let &location = entry(&locations, frame.into(), "frameTable", at)?;
            let location = Some(location);
            entries.push(Caller { caller, location });
        }
        Ok(Tree(CallTree::new(entries)))
    }

    /// The stack at an index of the stack table; an unknown stack without an index.
    pub(super) fn stack(
        &mut self,
        stack: Option<i32>,
        path: impl Fn() -> String,
        builder: &mut RecordingBuilder,
    ) -> Decoded<StackIx> {
        let Some(stack) = stack.filter(|&stack| stack != -1) else {
            return builder
                .stack(&[])
                .map_err(|limit| DecodeError::new(path(), limit));
        };
        entry(self.0.entries(), stack.into(), "stackTable", &path)?;
        let found = self.0.stack(stack as u32, builder);
        found.map_err(|limit| DecodeError::new(path(), limit))
    }
}

/// The caller of each stack, which must precede it.
fn callers(stacks: &StackTable, at: &str) -> Decoded<Vec<Option<u32>>> {
    let (column, length) = match &stacks.prefix_offset {
        Some(offsets) => ("prefixOffset", offsets.len()),
        None => ("prefix", stacks.prefix.len()),
    };
    if length != stacks.frame.len() {
        let problem = format!(
            "{} entries, and {length} of {column}; expected as many",
            stacks.frame.len()
        );
        return Err(DecodeError::new(format!("{at}.stackTable.frame"), problem));
    }
    let caller_of = |ix: u32| match &stacks.prefix_offset {
        None => match stacks.prefix[ix as usize] {
            Some(prefix) if prefix >= ix => Err(prefix),
            prefix => Ok(prefix),
        },
        Some(offsets) => match offsets[ix as usize] {
            0 => Ok(None),
            offset => ix.checked_sub(offset).map(Some).ok_or(offset),
        },
    };
    let checked = (0..length as u32).map(|ix| {
        caller_of(ix).map_err(|found| {
            let path = format!("{at}.stackTable.{column}[{ix}]");
            let problem =
                format!("{found}; expected a stack before it: callers come before callees");
            DecodeError::new(path, problem)
        })
    });
    checked.collect()
}

fn missing(at: &str, table: &str) -> DecodeError {
    let problem = format!("expected a {table}, here or in `shared`, found none");
    DecodeError::new(at, problem)
}

/// Returns `true` if sto wrote the profile.
pub(super) fn is_written_by_sto(meta: &Meta<'_>) -> bool {
    let by = meta.imported_from.as_ref();
    by.is_some_and(|by| *by.0 == *b"sto")
}

struct FrameReader<'r, 'b> {
    profile: &'r Profile<'b>,
    strings: &'r [Text<'b>],
    frames: &'r FrameTable,
    funcs: &'r FuncTable,
    resources: &'r ResourceTable,
    sources: Option<&'r Sources>,
    at: &'r str,
    is_ours: bool,
    modules: &'r [Module],
    builder: &'r mut RecordingBuilder,
}

impl<'b> FrameReader<'_, 'b> {
    fn locations(mut self) -> Decoded<Vec<LocationIx>> {
        let frames = 0..self.frames.func.len();
        frames.map(|ix| self.location(ix)).collect()
    }

    fn location(&mut self, ix: usize) -> Decoded<LocationIx> {
        let frames = self.frames;
        let func = frames.func[ix] as usize;
        let path = |column: &str| format!("{}.frameTable.{column}[{ix}]", self.at);
        let &name = entry(&self.funcs.name, func as i64, "funcTable", || path("func"))?;
        let name = self.string(name, "funcTable.name", func)?;
        let (lib, module) = self.module(ix, func)?;
        let address = frames.address.get(ix);
        let address = address.filter(|_| is_column_set(&frames.flags, ix, FRAME_ADDRESS));
        let address = address.and_then(|&address| u64::try_from(address).ok());
        if let (Some(lib), Some(address)) = (lib, address)
            && is_hex(&name.0)
            && self.modules[lib.get()].kind == ModuleKind::Image
        {
            let location = Location::Address {
                module: lib,
                address,
            };
            let found = self.builder.unnamed_location(location);
            return found.map_err(|limit| DecodeError::new(path("address"), limit));
        }
        let frame = NamedFrame {
            symbol: &name.0,
            module: module_name(text_prefix(&module.0)),
            file: &self.file(func)?.0,
            line: match frames.line.get(ix) {
                Some(&Some(line)) if is_column_set(&frames.flags, ix, FRAME_LINE) => line,
                _ => 0,
            },
            kind: self.kind(ix)?,
        };
        let found = frame.add(self.builder);
        found.map_err(|limit| DecodeError::new(path("func"), limit))
    }

    fn string(&self, ix: u32, column: &str, row: usize) -> Decoded<Text<'b>> {
        let at = || format!("{}.{column}[{row}]", self.at);
        entry(self.strings, ix.into(), "stringArray", at).cloned()
    }

    /// The library of a frame, if known, and the name of the file or library of its function.
    fn module(&self, ix: usize, func: usize) -> Decoded<(Option<ModuleIx>, Text<'b>)> {
        let own = self.frames.lib.get(ix).copied().flatten();
        let own = own.filter(|_| is_column_set(&self.frames.flags, ix, FRAME_ADDRESS));
        let own = self.lib(own, || format!("{}.frameTable.lib[{ix}]", self.at))?;
        let resource = self.funcs.resource.get(func).copied().unwrap_or(-1);
        if resource < 0 || !is_column_set(&self.funcs.flags, func, FUNC_RESOURCE) {
            let name = own.map(|lib| self.profile.libs[lib.get()].name.clone());
            return Ok((own, name.unwrap_or_default()));
        }
        let row = resource as usize;
        let at = || format!("{}.funcTable.resource[{func}]", self.at);
        let &name = entry(&self.resources.name, resource, "resourceTable", at)?;
        let name = self.string(name, "resourceTable.name", row)?;
        let lib = self.resources.lib.get(row).copied().flatten();
        let lib = self.lib(lib, || format!("{}.resourceTable.lib[{row}]", self.at))?;
        Ok((own.or(lib), name))
    }

    /// The module of a library; `None` for -1.
    fn lib(&self, lib: Option<i64>, at: impl Fn() -> String) -> Decoded<Option<ModuleIx>> {
        let Some(lib) = lib.filter(|&lib| lib >= 0) else {
            return Ok(None);
        };
        entry(self.modules, lib, "libs", at)?;
        Ok(Some(ModuleIx(lib as u32)))
    }

    fn file(&self, func: usize) -> Decoded<Text<'b>> {
        let known = |column: &[Option<u32>]| column.get(func).copied().flatten();
        if let Some(file) = known(&self.funcs.file_name) {
            return self.string(file, "funcTable.fileName", func);
        }
        let source = known(&self.funcs.source);
        let source = source.filter(|_| is_column_set(&self.funcs.flags, func, FUNC_SOURCE));
        let (Some(source), Some(sources)) = (source, self.sources) else {
            return Ok(Text::default());
        };
        let at = || format!("{}.funcTable.source[{func}]", self.at);
        let &file = entry(&sources.filename, source.into(), "sources", at)?;
        self.string(file, "sources.filename", source as usize)
    }

    /// The kind of a frame, if the profile has it.
    fn kind(&self, ix: usize) -> Decoded<Option<FrameKind>> {
        let frames = self.frames;
        let category = frames.category.get(ix).copied().flatten();
        let mut kind = None;
        let categories = &self.profile.meta.categories;
        // Old profiles have undefined bits there.
        let is_named = !categories.is_empty() && is_column_set(&frames.flags, ix, FRAME_CATEGORY);
        if let Some(category) = category.filter(|_| is_named) {
            let at = || format!("{}.frameTable.category[{ix}]", self.at);
            let category = entry(categories, category.into(), "meta.categories", at)?;
            kind = kind_of_category(&category.name.0)
                .filter(|&kind| kind != FrameKind::User || self.is_ours);
        }
        if let Some(implementation) = frames.implementation.get(ix).copied().flatten() {
            let name = self.string(implementation, "frameTable.implementation", ix)?;
            kind = kind_of_implementation(&name.0).or(kind);
        }
        Ok(if frames.is_inlined(ix) {
            Some(FrameKind::Inlined)
        } else {
            kind
        })
    }
}

/// Returns `true` if a function is named by its address because it was not symbolicated.
fn is_hex(name: &[u8]) -> bool {
    let digits = name.strip_prefix(b"0x").unwrap_or_default();
    !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
}

/// The kind for a category written by sto or samply.
fn kind_of_category(name: &[u8]) -> Option<FrameKind> {
    Some(match name {
        b"User" => FrameKind::User,
        b"Kernel" => FrameKind::Kernel,
        b"Inlined" => FrameKind::Inlined,
        b"JIT" | b"JIT app cache" => FrameKind::Jit,
        b"JIT baseline" => FrameKind::JitBaseline,
        b"Interpreted" => FrameKind::Interpreted,
        b"Waker" => FrameKind::Waker,
        b"Unresolved" => FrameKind::Unresolved,
        _ => return None,
    })
}

/// The kind for an implementation of SpiderMonkey.
fn kind_of_implementation(name: &[u8]) -> Option<FrameKind> {
    Some(match name {
        b"ion" => FrameKind::Jit,
        b"baseline" | b"blinterp" => FrameKind::JitBaseline,
        b"interpreter" => FrameKind::Interpreted,
        _ => return None,
    })
}
