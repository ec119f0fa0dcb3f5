//! D names, parsed in bounded time.
//!
//! The comments name the productions of <https://dlang.org/spec/abi.html#name_mangling>.
//!
//! A few bytes can stand for gigabytes, because a back reference may point to a type that contains
//! further back references. So the parser limits its work. It also limits its recursion.

use std::fmt;

/// Limit to the nesting of types, values and qualified names. The names of D's standard library
/// have up to 17 levels; 64 levels take less than 0.25 MiB of stack, even in a debug build.
const MAX_DEPTH: usize = 64;

/// Limit to the number of bytes that are read and returned, counting repetitions: four times what
/// the names of D's standard library need. A hostile name takes up to 0.1 s.
const MAX_WORK: usize = 1 << 16;

// Codes in mangled names and the text that is written for each: `code=text|code=text`.
const BASIC_TYPES: &str = "v=void|b=bool|n=typeof(null)|Nn=noreturn|g=byte|h=ubyte|s=short|\
    t=ushort|i=int|k=uint|l=long|m=ulong|zi=cent|zk=ucent|f=float|d=double|e=real|o=ifloat|\
    p=idouble|j=ireal|q=cfloat|r=cdouble|c=creal|a=char|u=wchar|w=dchar";
const TYPE_MODIFIERS: &str = "x=const|y=immutable|O=shared|Ng=inout|Nh=__vector";
const CALL_CONVENTIONS: &str =
    "F=|U=extern(C) |W=extern(Windows) |R=extern(C++) |Y=extern(Objective-C) ";
const FUNCTION_ATTRIBUTES: &str = "Na=|Nb=|Nc=|Nd=|Ne=|Nf=|Ni=|Nj=|Nl=|Nm=";
const STORAGE_CLASSES: &str = "M=scope |Nk=return |I=in |J=out |K=ref |L=lazy ";
const SPECIAL_FUNCTIONS: &str = "__ctor=this|__dtor=~this|__postblit=this(this)";
const GENERATED_DATA: &str = "__init=initializer|__vtbl=vtable|__Class=ClassInfo|\
    __Interface=Interface|__ModuleInfo=ModuleInfo";

/// Writes the readable name: with template arguments, but without parameters, attributes and
/// result.
///
/// # Errors
/// Returns an error if the name cannot be demangled, or `out` is full.
pub(super) fn write(mangled: &str, out: &mut impl fmt::Write) -> fmt::Result {
    if mangled == "_Dmain" {
        return out.write_str("D main");
    }
    let mut parser = Parser {
        mangled,
        rest: mangled,
        depth: 0,
        work: 0,
    };
    let name = parser.parse_mangled_name().ok_or(fmt::Error)?;
    if name.is_empty() || !parser.rest.is_empty() {
        return Err(fmt::Error);
    }
    out.write_str(&name)
}

/// A recursive parser.
///
/// Its functions return the readable form of what they parse, or `None` if it is invalid or
/// exceeds a limit.
struct Parser<'a> {
    mangled: &'a str,
    /// The part of the mangled name that is not parsed yet.
    rest: &'a str,
    depth: usize,
    work: usize,
}

impl<'a> Parser<'a> {
    /// `MangledName`
    fn parse_mangled_name(&mut self) -> Option<String> {
        self.skip("_D").then_some(())?;
        let name = self.parse_qualified_name()?;
        if !self.skip("Z") {
            self.skip("M");
            self.parse_type("")?;
        }
        Some(name)
    }

    /// `QualifiedName`
    fn parse_qualified_name(&mut self) -> Option<String> {
        self.nested(|parser| {
            let mut names = Vec::new();
            let mut last_template = None;
            loop {
                let is_template = parser.skip("__T") || parser.skip("__U");
                let identifier = parser.parse_identifier()?;
                let data = find_text(GENERATED_DATA, identifier);
                if let Some(data) = data.filter(|_| parser.rest == "Z") {
                    return Some(format!("{data} for {}", names.join(".")));
                }
                let special = find_text(SPECIAL_FUNCTIONS, identifier);
                let mut name = special.unwrap_or(identifier).to_owned();
                if is_template {
                    name += &parser.parse_template_arguments()?;
                }
                // `struct Set(T) {}` is short for `template Set(T) { struct Set {} }`.
                let is_repeated = !is_template && last_template == Some(identifier);
                if !is_repeated && !is_fake_parent(identifier) {
                    names.push(name);
                }
                last_template = is_template.then_some(identifier);
                parser.skip_parent_signature();
                if !parser.is_at_symbol_name() {
                    return Some(names.join("."));
                }
            }
        })
    }

    /// Skips `TypeFunctionNoReturn` if the name of a symbol nested in this function follows.
    fn skip_parent_signature(&mut self) {
        let start = self.rest;
        self.skip("M");
        self.parse_codes(TYPE_MODIFIERS);
        let is_signature =
            self.parse_code(CALL_CONVENTIONS).is_some() && self.parse_parameters().is_some();
        if !is_signature || !self.is_at_symbol_name() {
            self.rest = start;
        }
    }

    /// Returns `true` if `SymbolName` follows.
    fn is_at_symbol_name(&self) -> bool {
        let next = self.peek();
        next.starts_with(is_digit) || next.starts_with("__T") || next.starts_with("__U")
    }

    /// `LName` or `IdentifierBackRef`, which may follow anonymous symbols (`0`).
    fn parse_identifier(&mut self) -> Option<&'a str> {
        while self.skip("0") {}
        let reference = self.back_reference();
        if let Some((target, _)) = reference {
            self.rest = target;
        }
        let length = self.parse_number()?;
        let identifier = self.take(length)?;
        if let Some((_, rest)) = reference {
            self.rest = rest;
        }
        Some(identifier)
    }

    /// `TemplateArgs`
    fn parse_template_arguments(&mut self) -> Option<String> {
        let mut arguments = Vec::new();
        while !self.skip("Z") {
            self.skip("H");
            arguments.push(match self.take(1)? {
                "T" => self.parse_type("")?,
                "V" => {
                    let is_map = self.peek().starts_with('H');
                    let type_name = self.parse_type("")?;
                    self.parse_value(&type_name, is_map)?
                }
                "S" if self.rest.starts_with("_D") => self.parse_mangled_name()?,
                "S" => self.parse_qualified_name()?,
                "X" => self.parse_identifier()?.to_owned(),
                _ => return None,
            });
        }
        Some(format!("!({})", arguments.join(", ")))
    }

    /// `Value`, of a type with this name.
    fn parse_value(&mut self, type_name: &str, is_map: bool) -> Option<String> {
        self.nested(|parser| {
            Some(match parser.take(1)? {
                "n" => "null".to_owned(),
                "i" => parser.parse_integer(type_name)?,
                "N" => format!("-{}", parser.parse_integer(type_name)?),
                "e" => parser.parse_real()?,
                "a" => parser.parse_string()?,
                "w" => parser.parse_string()? + "w",
                "d" => parser.parse_string()? + "d",
                "A" => format!("[{}]", parser.parse_values(is_map)?),
                "S" => format!("{type_name}({})", parser.parse_values(false)?),
                "f" => parser.parse_mangled_name()?,
                _ => return None,
            })
        })
    }

    /// `Number Value...`. The values of a map follow their keys; the number counts the pairs.
    fn parse_values(&mut self, is_map: bool) -> Option<String> {
        let mut values = Vec::new();
        for _ in 0..self.parse_number()? {
            let mut value = self.parse_value("", false)?;
            if is_map {
                value = format!("{value}:{}", self.parse_value("", false)?);
            }
            values.push(value);
        }
        Some(values.join(", "))
    }

    fn parse_integer(&mut self, type_name: &str) -> Option<String> {
        let digits = self.take_while(is_digit)?;
        Some(match type_name {
            "bool" => (digits != "0").to_string(),
            "char" | "wchar" | "dchar" => match digits.parse::<u32>().ok()? {
                code @ 0..=0xff => format!("'{}'", (code as u8).escape_ascii()),
                code => format!("'\\u{code:04x}'"),
            },
            "ubyte" | "ushort" | "uint" => format!("{digits}u"),
            "long" => format!("{digits}L"),
            "ulong" => format!("{digits}uL"),
            _ => digits.to_owned(),
        })
    }

    /// `HexFloat`
    fn parse_real(&mut self) -> Option<String> {
        if let Some(special) = self.parse_code("NAN=NaN|INF=Inf|NINF=-Inf") {
            return Some(special.to_owned());
        }
        let sign = self.parse_codes("N=-");
        let (integer, fraction) = self.take_while(|c| c.is_ascii_hexdigit())?.split_at(1);
        self.skip("P").then_some(())?;
        let exponent = self.parse_codes("N=-") + self.take_while(is_digit)?;
        Some(format!("{sign}0x{integer}.{fraction}p{exponent}"))
    }

    /// `Number _ HexDigits`
    fn parse_string(&mut self) -> Option<String> {
        let length = self.parse_number()?;
        self.skip("_").then_some(())?;
        let mut bytes = Vec::new();
        for _ in 0..length {
            bytes.push(u8::from_str_radix(self.take(2)?, 16).ok()?);
        }
        Some(format!("{:?}", String::from_utf8_lossy(&bytes)))
    }

    /// `Type`. If it is the type of a function, `keyword` precedes the parameters.
    fn parse_type(&mut self, keyword: &str) -> Option<String> {
        self.nested(|parser| {
            if let Some((target, rest)) = parser.back_reference() {
                parser.rest = target;
                let text = parser.parse_type(keyword);
                parser.rest = rest;
                return text;
            }
            if let Some(basic_type) = parser.parse_code(BASIC_TYPES) {
                return Some(basic_type.to_owned());
            }
            if let Some(modifier) = parser.parse_code(TYPE_MODIFIERS) {
                return Some(format!("{modifier}({})", parser.parse_type("")?));
            }
            if let Some(convention) = parser.parse_code(CALL_CONVENTIONS) {
                let parameters = parser.parse_parameters()?;
                let result = parser.parse_type("")?;
                return Some(format!("{convention}{result}{keyword}({parameters})"));
            }
            Some(match parser.take(1)? {
                "A" => parser.parse_type("")? + "[]",
                "G" => {
                    let length = parser.take_while(is_digit)?;
                    format!("{}[{length}]", parser.parse_type("")?)
                }
                "H" => {
                    let key = parser.parse_type("")?;
                    format!("{}[{key}]", parser.parse_type("")?)
                }
                "P" if parser.peek().starts_with(['F', 'U', 'W', 'R', 'Y']) => {
                    parser.parse_type(" function")?
                }
                "P" => parser.parse_type("")? + "*",
                "D" => {
                    parser.parse_codes(TYPE_MODIFIERS);
                    parser.parse_type(" delegate")?
                }
                "C" | "S" | "E" | "T" | "I" => parser.parse_qualified_name()?,
                "B" => format!("tuple({})", parser.parse_parameters()?),
                _ => return None,
            })
        })
    }

    /// `FuncAttrs Parameters ParamClose`, without the attributes.
    fn parse_parameters(&mut self) -> Option<String> {
        self.parse_codes(FUNCTION_ATTRIBUTES);
        let mut parameters = Vec::new();
        loop {
            if let Some(end) = self.parse_code("X=...|Y=, ...|Z=") {
                // Before the dots of `void f(...)` is no parameter.
                let text = parameters.join(", ") + end;
                return Some(text.trim_start_matches(", ").to_owned());
            }
            let storage_classes = self.parse_codes(STORAGE_CLASSES);
            parameters.push(storage_classes + &self.parse_type("")?);
        }
    }

    /// Parses any number of codes.
    fn parse_codes(&mut self, codes: &'static str) -> String {
        std::iter::from_fn(|| self.parse_code(codes)).collect()
    }

    fn parse_code(&mut self, codes: &'static str) -> Option<&'static str> {
        let (_, text) = pairs(codes).find(|(code, _)| self.skip(code))?;
        Some(text)
    }

    /// Returns what is parsed next: the rest, or what a back reference points to.
    fn peek(&self) -> &'a str {
        self.back_reference().map_or(self.rest, |(next, _)| next)
    }

    /// `Q NumberBackRef`. Returns the text from its target on, and the text after the reference.
    fn back_reference(&self) -> Option<(&'a str, &'a str)> {
        let digits = self.rest.strip_prefix('Q')?;
        // The last digit is a small letter. Four digits reach farther than a name can be long.
        let last = digits
            .bytes()
            .take(4)
            .position(|b| b.is_ascii_lowercase())?;
        let (digits, rest) = digits.split_at(last + 1);
        let mut distance = 0;
        for digit in digits.chars() {
            distance = distance * 26 + digit.to_digit(36)?.checked_sub(10)? as usize;
        }
        let position = self.mangled.len() - self.rest.len();
        let target = self.mangled.get(position.checked_sub(distance)?..)?;
        Some((target, rest))
    }

    fn parse_number(&mut self) -> Option<usize> {
        self.take_while(is_digit)?.parse().ok()
    }

    /// Takes one or more characters.
    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> Option<&'a str> {
        let length = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        self.take(length).filter(|part| !part.is_empty())
    }

    fn skip(&mut self, text: &str) -> bool {
        self.rest.starts_with(text) && self.take(text.len()).is_some()
    }

    fn take(&mut self, length: usize) -> Option<&'a str> {
        let (part, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        self.count_work(length)?;
        Some(part)
    }

    /// Calls `parse` one level deeper.
    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Option<String>) -> Option<String> {
        self.count_work(1)?;
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let text = parse(self);
        self.depth -= 1;
        self.count_work(text.as_ref()?.len())?;
        text
    }

    /// Returns `None` if the limit is reached.
    fn count_work(&mut self, bytes: usize) -> Option<()> {
        self.work += bytes;
        (self.work <= MAX_WORK).then_some(())
    }
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

/// Returns `true` for a parent like `__S1`. The compiler adds these parents to distinguish symbols
/// of the same name in one function.
fn is_fake_parent(identifier: &str) -> bool {
    identifier.trim_end_matches(is_digit) == "__S"
}

fn find_text(codes: &'static str, code: &str) -> Option<&'static str> {
    let (_, text) = pairs(codes).find(|pair| pair.0 == code)?;
    Some(text)
}

fn pairs(codes: &str) -> impl Iterator<Item = (&str, &str)> {
    codes.split('|').filter_map(|pair| pair.split_once('='))
}

#[cfg(test)]
mod tests;
