//! From the tables of a profile to stacks: names, modules, kinds, addresses.

use super::schema::{Lib, Meta, Profile, Thread};
use crate::formats::json::{CallTree, Caller, Damage, Text};
use crate::formats::named::NamedStacks;
use crate::formats::perf_script::module_name;
use crate::formats::{Location, LocationIx, Module, ModuleIx, ModuleKind, kind_by_names};
use crate::formats::{StackIx, pprof::build_id};
use crate::model::{Frame, FrameKind};
use crate::symbolize::source_path;
use hashbrown::HashMap;

/// The libraries of a profile.
pub(super) struct Modules {
    /// By library.
    pub(super) modules: Vec<Module>,
    known: HashMap<Location, LocationIx>,
}

impl Modules {
    pub(super) fn of(profile: &Profile<'_>, named: &mut NamedStacks) -> Modules {
        let modules = profile.libs.iter().map(|lib| module(lib, named)).collect();
        Modules {
            modules,
            known: HashMap::new(),
        }
    }

    /// The place of an address in a library.
    fn location(
        &mut self,
        location: Location,
        named: &mut NamedStacks,
    ) -> Result<LocationIx, String> {
        if let Some(&known) = self.known.get(&location) {
            return Ok(known);
        }
        let ix = named.nameless(location)?;
        self.known.insert(location, ix);
        Ok(ix)
    }
}

fn module(lib: &Lib<'_>, named: &mut NamedStacks) -> Module {
    let path = match &*lib.path.0 {
        b"" => &lib.name,
        _ => &lib.path,
    };
    let name = named.text(module_name(&path.0)).into_owned();
    let kind = match kind_by_names("function", &name) {
        FrameKind::Kernel => ModuleKind::KernelModule,
        _ if matches!(path.0.first(), None | Some(b'[')) => ModuleKind::Anonymous,
        _ => ModuleKind::Image,
    };
    Module {
        path: match kind {
            ModuleKind::Image => named.text(&path.0).into_owned(),
            _ => name,
        },
        kind,
        build_id: lib.code_id.as_ref().and_then(|id| build_id(&id.0)),
        inode: None,
        kernel_text: None,
        alias: None,
    }
}

/// The stacks of a thread's tables.
pub(super) struct Tree(CallTree);

impl Tree {
    pub(super) fn of(
        profile: &Profile<'_>,
        thread: &Thread<'_>,
        at: &str,
        modules: &mut Modules,
        named: &mut NamedStacks,
    ) -> Result<Tree, Damage> {
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
            is_ours: is_ours(&profile.meta),
            modules,
            named,
        };
        let locations = frames.locations()?;
        if stacks.prefix.len() != stacks.frame.len() {
            let problem = format!(
                "{} entries, and {} of prefix; expected as many",
                stacks.frame.len(),
                stacks.prefix.len()
            );
            return Err(Damage::new(format!("{at}.stackTable.frame"), problem));
        }
        let mut entries = Vec::with_capacity(stacks.frame.len());
        for (ix, (&prefix, &frame)) in stacks.prefix.iter().zip(&stacks.frame).enumerate() {
            if let Some(prefix) = prefix.filter(|&prefix| prefix as usize >= ix) {
                let problem =
                    format!("{prefix}; expected a stack before it: callers come before callees");
                return Err(Damage::new(
                    format!("{at}.stackTable.prefix[{ix}]"),
                    problem,
                ));
            }
            let location = locations.get(frame as usize).ok_or_else(|| {
                let place = format!("{at}.stackTable.frame[{ix}]");
                Damage::index(place, "frameTable", locations.len(), frame.into())
            })?;
            entries.push(Caller {
                caller: prefix,
                location: Some(*location),
            });
        }
        Ok(Tree(CallTree::new(entries)))
    }

    /// The stack at a place of the stack table; without one, that of nothing known.
    pub(super) fn stack(
        &mut self,
        stack: Option<u32>,
        place: impl Fn() -> String,
        named: &mut NamedStacks,
    ) -> Result<StackIx, Damage> {
        let Some(stack) = stack else {
            return named.stack(&[]).map_err(Damage::limit(place()));
        };
        if stack as usize >= self.0.len() {
            return Err(Damage::index(
                place(),
                "stackTable",
                self.0.len(),
                stack.into(),
            ));
        }
        let found = self.0.stack(stack, named);
        found.map_err(|limit| Damage::limit(place())(limit))
    }
}

fn missing(at: &str, table: &str) -> Damage {
    let problem = format!("expected a {table}, here or in `shared`, found none");
    Damage::new(at, problem)
}

/// Whether `sto export` wrote the profile.
pub(super) fn is_ours(meta: &Meta<'_>) -> bool {
    let by = meta.imported_from.as_ref();
    by.is_some_and(|by| *by.0 == *b"sto")
}

struct FrameReader<'r, 'b> {
    profile: &'r Profile<'b>,
    strings: &'r [Text<'b>],
    frames: &'r super::schema::FrameTable,
    funcs: &'r super::schema::FuncTable,
    resources: &'r super::schema::ResourceTable,
    sources: Option<&'r super::schema::Sources>,
    at: &'r str,
    is_ours: bool,
    modules: &'r mut Modules,
    named: &'r mut NamedStacks,
}

impl<'b> FrameReader<'_, 'b> {
    fn locations(mut self) -> Result<Vec<LocationIx>, Damage> {
        (0..self.frames.func.len())
            .map(|ix| self.location(ix))
            .collect()
    }

    fn location(&mut self, ix: usize) -> Result<LocationIx, Damage> {
        let frames = self.frames;
        let func = frames.func[ix] as usize;
        let place = |column: &str| format!("{}.frameTable.{column}[{ix}]", self.at);
        let Some(&name) = self.funcs.name.get(func) else {
            let length = self.funcs.name.len();
            return Err(Damage::index(
                place("func"),
                "funcTable",
                length,
                func as i64,
            ));
        };
        let name = self.string(name, "funcTable.name", func)?;
        let (lib, module) = self.module(func)?;
        let address = frames
            .address
            .get(ix)
            .and_then(|&address| u64::try_from(address).ok());
        if let (Some(lib), Some(address)) = (lib, address)
            && is_hex(&name.0)
            && self.modules.modules[lib.0 as usize].kind == ModuleKind::Image
        {
            let location = Location::Address {
                module: lib,
                address,
            };
            let found = self.modules.location(location, self.named);
            return found.map_err(Damage::limit(place("address")));
        }
        let file = self.file(func)?;
        let kind = self.kind(ix)?;
        let symbol = self.named.text(match &*name.0 {
            b"" => b"[unknown]",
            name => name,
        });
        let module = self.named.text(module_name(&module.0));
        let file = self.named.text(&file.0);
        let frame = Frame {
            kind: kind.unwrap_or_else(|| kind_by_names(&symbol, &module)),
            symbol: &symbol,
            module: &module,
            file: &source_path(&file),
            line: frames.line.get(ix).copied().flatten().unwrap_or(0),
        };
        let found = self.named.frame_at_line(frame);
        found.map_err(Damage::limit(place("func")))
    }

    fn string(&self, ix: u32, column: &str, row: usize) -> Result<Text<'b>, Damage> {
        self.strings.get(ix as usize).cloned().ok_or_else(|| {
            let place = format!("{}.{column}[{row}]", self.at);
            Damage::index(place, "stringArray", self.strings.len(), ix.into())
        })
    }

    /// The library of a function, where known, and its name.
    fn module(&self, func: usize) -> Result<(Option<ModuleIx>, Text<'b>), Damage> {
        let resource = self.funcs.resource.get(func).copied().unwrap_or(-1);
        if resource < 0 {
            return Ok((None, Text::default()));
        }
        let row = resource as usize;
        let Some(&name) = self.resources.name.get(row) else {
            let place = format!("{}.funcTable.resource[{func}]", self.at);
            let length = self.resources.name.len();
            return Err(Damage::index(place, "resourceTable", length, resource));
        };
        let name = self.string(name, "resourceTable.name", row)?;
        let Some(lib) = self
            .resources
            .lib
            .get(row)
            .copied()
            .flatten()
            .filter(|&lib| lib >= 0)
        else {
            return Ok((None, name));
        };
        let libs = self.modules.modules.len();
        if lib as usize >= libs {
            let place = format!("{}.resourceTable.lib[{row}]", self.at);
            return Err(Damage::index(place, "libs", libs, lib));
        }
        Ok((Some(ModuleIx(lib as u32)), name))
    }

    fn file(&self, func: usize) -> Result<Text<'b>, Damage> {
        let known = |column: &[Option<u32>]| column.get(func).copied().flatten();
        if let Some(file) = known(&self.funcs.file_name) {
            return self.string(file, "funcTable.fileName", func);
        }
        let (Some(source), Some(sources)) = (known(&self.funcs.source), self.sources) else {
            return Ok(Text::default());
        };
        let Some(&file) = sources.filename.get(source as usize) else {
            let place = format!("{}.funcTable.source[{func}]", self.at);
            return Err(Damage::index(
                place,
                "sources",
                sources.filename.len(),
                source.into(),
            ));
        };
        self.string(file, "sources.filename", source as usize)
    }

    /// The kind of a frame, as far as the profile tells it.
    fn kind(&self, ix: usize) -> Result<Option<FrameKind>, Damage> {
        let frames = self.frames;
        let inlined = frames.inline_depth.get(ix).is_some_and(|&depth| depth > 0);
        let mut kind = None;
        if let Some(category) = frames.category.get(ix).copied().flatten() {
            let categories = &self.profile.meta.categories;
            let Some(category) = categories.get(category as usize) else {
                let place = format!("{}.frameTable.category[{ix}]", self.at);
                let length = categories.len();
                return Err(Damage::index(
                    place,
                    "meta.categories",
                    length,
                    category.into(),
                ));
            };
            kind = kind_of_category(&category.name.0)
                .filter(|&kind| kind != FrameKind::User || self.is_ours);
        }
        if let Some(implementation) = frames.implementation.get(ix).copied().flatten() {
            let name = self.string(implementation, "frameTable.implementation", ix)?;
            kind = kind_of_implementation(&name.0).or(kind);
        }
        Ok(if inlined {
            Some(FrameKind::Inlined)
        } else {
            kind
        })
    }
}

/// Whether a function is called by its address, as long as nothing looked it up.
fn is_hex(name: &[u8]) -> bool {
    let digits = name.strip_prefix(b"0x").unwrap_or_default();
    !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
}

/// The categories of `sto export`, and of samply.
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

/// How SpiderMonkey ran a function.
fn kind_of_implementation(name: &[u8]) -> Option<FrameKind> {
    Some(match name {
        b"ion" => FrameKind::Jit,
        b"baseline" | b"blinterp" => FrameKind::JitBaseline,
        b"interpreter" => FrameKind::Interpreted,
        _ => return None,
    })
}
