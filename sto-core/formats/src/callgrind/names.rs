//! Names of objects, files and functions, each written out once.

use super::line::number;
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, text_prefix};
use crate::wire::text::base_name;
use hashbrown::{HashMap, HashSet};
use sto_model::index_types;

index_types! {
    NameIx;
    pub(crate) FunctionIx;
}

/// A function is identified by object, file and name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Function {
    object: NameIx,
    file: NameIx,
    name: NameIx,
}

/// The namespace of `(3) name`: objects, files and functions are numbered separately.
#[derive(Clone, Copy)]
enum Kind {
    Object,
    File,
    Function,
}

#[derive(Default)]
pub(super) struct Names {
    texts: Vec<Box<[u8]>>,
    known: HashMap<Box<[u8]>, NameIx>,
    numbered: [HashMap<u64, NameIx>; 3],
    /// Numbers whose name has not been defined yet.
    nameless: HashMap<NameIx, u64>,
    functions: Vec<Function>,
    index: HashMap<Function, FunctionIx>,
    object: Option<NameIx>,
    file: Option<NameIx>,
    called_object: Option<NameIx>,
    called_file: Option<NameIx>,
    called: Option<NameIx>,
}

impl Names {
    /// Handles a line such as `fl=(2) main.c`; returns the function of `fn=`.
    pub(super) fn set(&mut self, field: &[u8], name: &[u8]) -> Option<FunctionIx> {
        let kind = match field {
            b"ob" | b"cob" | b"job" => Kind::Object,
            b"fn" | b"cfn" | b"jfn" => Kind::Function,
            _ => Kind::File,
        };
        let name = self.name(kind, name);
        match field {
            b"ob" => self.object = Some(name),
            b"fl" | b"fi" | b"fe" => self.file = Some(name),
            b"cob" => self.called_object = Some(name),
            b"cfl" | b"cfi" => self.called_file = Some(name),
            b"cfn" => self.called = Some(name),
            b"fn" => {
                let (object, file) = (self.object, self.file);
                return Some(self.function(object, file, name));
            }
            _ => {}
        }
        None
    }

    /// The function named by the last `cfn=`, in the object and file of the call unless `cob=` and
    /// `cfi=` name others.
    pub(super) fn take_called(&mut self) -> Result<FunctionIx, String> {
        let name = self.called.take();
        let name = name.ok_or("`calls=` without a `cfn=` before, which names the callee")?;
        let object = self.called_object.take().or(self.object);
        let file = self.called_file.take().or(self.file);
        Ok(self.function(object, file, name))
    }

    /// Returns `true` if the lines that follow are in the function's file, and not inlined from
    /// another.
    pub(super) fn is_at_file_of(&self, function: FunctionIx) -> bool {
        self.file == Some(self.functions[function.get()].file)
    }

    fn function(
        &mut self,
        object: Option<NameIx>,
        file: Option<NameIx>,
        name: NameIx,
    ) -> FunctionIx {
        let unknown = self.intern(b"");
        let function = Function {
            object: object.unwrap_or(unknown),
            file: file.unwrap_or(unknown),
            name,
        };
        let next = FunctionIx(self.functions.len() as u32);
        let function_ix = *self.index.entry(function).or_insert(next);
        if function_ix == next {
            self.functions.push(function);
        }
        function_ix
    }

    /// `(3) name` defines the name with a number; `(3)` refers to it.
    fn name(&mut self, kind: Kind, text: &[u8]) -> NameIx {
        let text = text.trim_ascii();
        let numbered = text.strip_prefix(b"(").and_then(|rest| {
            let end = memchr::memchr(b')', rest)?;
            Some((number(&rest[..end]).ok()?, rest[end + 1..].trim_ascii()))
        });
        match numbered {
            None => self.intern(written(kind, text)),
            Some((number, b"")) => {
                if let Some(&known) = self.numbered[kind as usize].get(&number) {
                    return known;
                }
                // The name may be defined later.
                let name = self.new_name(b"");
                self.nameless.insert(name, number);
                self.numbered[kind as usize].insert(number, name);
                name
            }
            Some((number, name)) => {
                let known = self.numbered[kind as usize].get(&number);
                if let Some(&known) = known
                    && self.nameless.remove(&known).is_some()
                {
                    self.texts[known.get()] = written(kind, name).into();
                    return known;
                }
                let name = self.intern(written(kind, name));
                self.numbered[kind as usize].insert(number, name);
                name
            }
        }
    }

    fn new_name(&mut self, name: &[u8]) -> NameIx {
        let ix = NameIx(self.texts.len() as u32);
        self.texts.push(name.into());
        ix
    }

    fn intern(&mut self, name: &[u8]) -> NameIx {
        if let Some(&known) = self.known.get(name) {
            return known;
        }
        let ix = self.new_name(name);
        self.known.insert(name.into(), ix);
        ix
    }

    pub(super) fn frames(&self, builder: &mut RecordingBuilder) -> Built<Vec<LocationIx>> {
        if let Some(number) = self.nameless.values().min() {
            let problem =
                format!("`({number})`: the file has no name with this number; was a part cut off?");
            return Err(problem.into());
        }
        let plain_names: HashSet<&[u8]> = self
            .functions
            .iter()
            .filter_map(|function| self.text(function.name).split(|&byte| byte == b'\'').next())
            .collect();
        self.functions
            .iter()
            .map(|function| {
                let frame = NamedFrame {
                    symbol: without_callers(self.text(function.name), &plain_names),
                    module: base_name(self.text(function.object)),
                    file: self.text(function.file),
                    ..NamedFrame::default()
                };
                frame.add(builder)
            })
            .collect()
    }

    fn text(&self, name: NameIx) -> &[u8] {
        &self.texts[name.get()]
    }
}

/// The function's name without the suffixes of `--separate-callers` and `--separate-recs`:
/// `leaf'work'main` and `fib'2` become `leaf` and `fib`. Other apostrophes stay, because no
/// function name follows them.
fn without_callers<'n>(name: &'n [u8], plain_names: &HashSet<&[u8]>) -> &'n [u8] {
    let mut parts = name.split(|&byte| byte == b'\'');
    let plain = parts.next().unwrap_or(name);
    let is_caller = |part: &[u8]| {
        (!part.is_empty() && part.iter().all(u8::is_ascii_digit)) || plain_names.contains(part)
    };
    match plain {
        b"" => name,
        plain if parts.all(is_caller) => plain,
        _ => name,
    }
}

/// Normalises a name. `pprof -call_tree -callgrind` names functions after nodes of its tree, `work
/// [2/3]`, but gives costs to `work`.
fn written(kind: Kind, name: &[u8]) -> &[u8] {
    if name == b"???" {
        return b"";
    }
    let node = matches!(kind, Kind::Function)
        .then(|| memchr::memmem::rfind(name, b" ["))
        .flatten();
    let plain = node.filter(|&at| {
        let numbers = name[at + 2..].strip_suffix(b"]");
        let slash = numbers.and_then(|numbers| Some((numbers, memchr::memchr(b'/', numbers)?)));
        slash.is_some_and(|(numbers, slash)| {
            number(&numbers[..slash]).is_ok() && number(&numbers[slash + 1..]).is_ok()
        })
    });
    text_prefix(&name[..plain.unwrap_or(name.len())])
}
