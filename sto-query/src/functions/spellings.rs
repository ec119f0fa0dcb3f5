//! Matches functions whose symbols in one build leave out what they have in the other.
//!
//! Rust's legacy mangling names the function and the parameters of its type, the v0 mangling also
//! the arguments of both. Go writes `Map[...]` into profiles and `Map[go.shape.int]` into symbol
//! tables. One key is turned into the other only if no build has both: then both are functions, and
//! stay apart.

use super::matched::{FunctionKey, ModuleKey};
use crate::keys::{Method, Rule, before_cut, is_rust, without_arguments, without_stamp};
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;

/// The functions of a build that [`Spellings`] reads: key and symbol.
pub(crate) type BuildFunctions<'a> = Vec<(FunctionKey<'a>, &'a str)>;

/// Keys that are replaced so that builds match.
#[derive(Default)]
pub(crate) struct Spellings<'a> {
    replaced: HashMap<FunctionKey<'a>, (Rule, String)>,
}

impl<'a> Spellings<'a> {
    /// Compares the keys of these builds.
    pub(crate) fn new(builds: &[BuildFunctions<'a>]) -> Spellings<'a> {
        let mut modules: HashMap<ModuleKey, Module> = HashMap::new();
        for (build, functions) in builds.iter().enumerate() {
            for ((key, module), symbol) in functions {
                let module = modules.entry(*module).or_default();
                if symbol.starts_with("caml") {
                    module.without_stamps.insert(key);
                }
                module.leaves_out |= is_rust(symbol) || symbol.contains("[...]");
                let builds = module.builds_of.entry(key).or_default();
                if builds.last() != Some(&build) {
                    builds.push(build);
                }
            }
        }
        let mut replaced = HashMap::new();
        for (module, functions) in modules {
            let mut replace = |key: &Cow<'a, str>, rule, name: String| {
                if **key != name {
                    replaced.insert((key.clone(), module), (rule, name));
                }
            };
            if !functions.without_stamps.is_empty() {
                functions.remove_stamps(&mut replace);
            }
            if functions.leaves_out && builds.len() > 1 {
                functions.leave_out_arguments(builds.len(), &mut replace);
            }
        }
        Spellings { replaced }
    }

    /// Returns the key by which builds match, and the rule that replaced it.
    pub(crate) fn find(&self, key: &FunctionKey<'a>) -> Option<(Rule, &str)> {
        let (rule, name) = self.replaced.get(key)?;
        Some((*rule, name))
    }

    /// Replaces the key if another build spells it otherwise.
    pub(crate) fn apply(&self, key: &mut FunctionKey<'a>) {
        if let Some((_, name)) = self.find(key) {
            key.0 = Cow::Owned(name.to_owned());
        }
    }
}

/// The functions of a module in all builds.
#[derive(Default)]
struct Module<'k, 'a> {
    /// The builds that have each key, in order.
    builds_of: HashMap<&'k Cow<'a, str>, Vec<usize>>,
    /// The keys of OCaml's symbols, which have no stamps any more.
    without_stamps: HashSet<&'k Cow<'a, str>>,
    /// Whether it has functions of a language whose symbols may leave out arguments.
    leaves_out: bool,
}

impl<'a> Module<'_, 'a> {
    /// Removes the stamps of names in the spelling of perf (`App.leaf_88`).
    fn remove_stamps(&self, replace: &mut impl FnMut(&Cow<'a, str>, Rule, String)) {
        for key in self.builds_of.keys() {
            let is_path = key.starts_with(|c: char| c.is_ascii_uppercase()) && key.contains('.');
            if is_path && !self.without_stamps.contains(key) {
                replace(key, Rule::OcamlStamp, without_stamp(key).to_owned());
            }
        }
    }

    /// Leaves out the arguments and types of keys that another build has without them.
    fn leave_out_arguments(
        &self,
        builds: usize,
        replace: &mut impl FnMut(&Cow<'a, str>, Rule, String),
    ) {
        /// Number of keys that are tried for one name. Others with that name match by then.
        const MAX_TRIED: usize = 8;
        let unmatched = || (self.builds_of.iter()).filter(|(_, of)| of.len() < builds);
        let mut with_name: HashMap<String, Vec<&[usize]>> = HashMap::new();
        let mut shortened: HashMap<&Cow<str>, String> = HashMap::new();
        for (key, builds) in unmatched() {
            let name = match without_parameters(key) {
                Some(name) => shortened.entry(key).or_insert(name).clone(),
                None => key.to_string(),
            };
            let tried = with_name.entry(name).or_default();
            if tried.len() < MAX_TRIED {
                tried.push(builds);
            }
        }
        let mut general: HashMap<&Cow<str>, String> = HashMap::new();
        for (key, builds) in unmatched() {
            let is_elsewhere = |name: &String| {
                let tried = with_name.get(name).into_iter().flatten();
                tried
                    .into_iter()
                    .any(|others| !others.iter().any(|other| builds.contains(other)))
            };
            let names = match shortened.get(key) {
                Some(name) => vec![name.clone()],
                None => more_general(key),
            };
            if let Some(name) = names.into_iter().find(is_elsewhere) {
                general.insert(key, name);
            }
        }
        self.add_other_instances(&shortened, &mut general);
        let used: HashSet<String> = general.values().cloned().collect();
        let shortened = shortened
            .into_iter()
            .filter(|(_, name)| used.contains(name));
        let general = general
            .into_iter()
            .filter(|(key, _)| !used.contains(&***key));
        for (key, name) in general.chain(shortened) {
            replace(key, Rule::UnknownArguments, name);
        }
    }

    /// Adds instances that all builds have. A name with parameters may stand for these too, as the
    /// standard library is compiled apart from the program, with another mangling.
    fn add_other_instances<'n>(
        &'n self,
        shortened: &HashMap<&Cow<'a, str>, String>,
        general: &mut HashMap<&'n Cow<'a, str>, String>,
    ) {
        let names: HashSet<&String> = shortened.values().collect();
        for key in self.builds_of.keys() {
            if !names.is_empty() && !shortened.contains_key(key) {
                let name = short(key);
                if name != **key && names.contains(&name) {
                    general.entry(key).or_insert(name);
                }
            }
        }
    }
}

/// Returns the names that [`Spellings`] may have given to a function.
pub(crate) fn other_spellings(key: &str) -> Vec<String> {
    let mut names = more_general(key);
    names.push(without_stamp(key).to_owned());
    names
}

/// Returns the names that a function may have in a symbol that leaves out arguments and types, the
/// most specific first:
///
/// ```text
/// <&Cart<u8> as Add<u8>>::add<u8>
/// <&Cart as Add>::add                the legacy mangling
/// <&_ as Add>::add                   of `impl<T> Add for &T`
/// <_ as Add>::add                    of `impl<T> Add for T`
/// Add::add                           of a default method
/// ```
fn more_general(key: &str) -> Vec<String> {
    let short = short(key);
    let mut names = Vec::new();
    if let Some(method) = Method::parse(&short) {
        let after = method.after;
        let of = |self_type: &str| match method.of_trait {
            Some(name) => format!("<{self_type} as {name}>{after}"),
            None => format!("<{self_type}>{after}"),
        };
        names.extend(pattern(method.self_type).map(of));
        if let Some(name) = method.of_trait {
            names.push(of("_"));
            names.push(format!("{name}{after}"));
        }
    }
    names.insert(0, short);
    names
}

/// Returns the name without arguments.
fn short(key: &str) -> String {
    let short = without_arguments(key);
    before_cut(short.as_deref().unwrap_or(key)).to_owned()
}

/// Returns the name without arguments and types, if some of them are parameters, as in
/// `Cart<T>::add`; `None` otherwise.
fn without_parameters(key: &str) -> Option<String> {
    if !has_parameters(key) {
        return None;
    }
    let mut names = more_general(key).into_iter();
    names.find(|name| !has_parameters(name) || !name.starts_with('<'))
}

/// Whether a type in brackets is a parameter: a name without the path that types have.
fn has_parameters(key: &str) -> bool {
    let bytes = key.as_bytes();
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        at += 1;
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b'[' if key[at..].starts_with("...]") => return true,
            b'A'..=b'Z' if depth > 0 => {
                let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
                let end = at + bytes[at..].iter().take_while(|b| is_word(b)).count();
                let begins = at < 2 || !(is_word(&bytes[at - 2]) || bytes[at - 2] == b':');
                let after = &key[end..];
                if begins && !(after.starts_with("::") || after.starts_with([' ', '<']))
                    || begins && after.starts_with(" as ")
                {
                    return true;
                }
                at = end;
            }
            _ => {}
        }
    }
    false
}

/// Returns the type with `_` for all that a reference, pointer, slice, array or tuple contains.
fn pattern(self_type: &str) -> Option<&'static str> {
    let patterns = [
        ("&mut ", "&mut _"),
        ("&", "&_"),
        ("*const ", "*const _"),
        ("*mut ", "*mut _"),
        ("[", "[_]"),
        ("(", "(_)"),
    ];
    let found = patterns
        .iter()
        .find(|(start, _)| self_type.starts_with(start));
    found.map(|(_, pattern)| *pattern)
}
