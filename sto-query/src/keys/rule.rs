//! The rules for keys, and their names.

use serde::Serialize;

/// A rule that removes something from a symbol. `functions.md` lists what each rule removes, and
/// its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// Demangles a mangled name.
    Mangled,
    /// The stamp that OCaml's compiler adds to a name, and its spelling of paths.
    OcamlStamp,
    /// The number and line of a trace of PHP's just-in-time compiler.
    PhpTrace,
    /// The spelling of a Rust path in one of the two manglings.
    RustPath,
    /// Arguments and types that the other build's symbol does not have.
    UnknownArguments,
    /// Template, generic and type arguments; only if they are ignored.
    TemplateArguments,
    /// The hash of a crate in a Rust name of the v0 mangling.
    CrateHash,
    /// The number of a closure, lambda, unnamed type, impl block or shim of Rust or C++.
    ClosureNumber,
    /// The spelling of C++'s unnamed namespace.
    AnonymousNamespace,
    /// The number of an outlined OpenMP region.
    OpenmpRegion,
    /// The number of a Go closure, or of the body of a loop over a function.
    GoClosure,
    /// The number of one of several Go init functions.
    GoInit,
    /// The index of a type parameter in the shape of a Go type.
    GoShape,
    /// The wrapper of a Go method value.
    GoMethodValue,
    /// The calling convention of a Go function in assembly.
    GoAbi,
    /// The number of a Java lambda's class or body.
    JavaLambda,
    /// The number of an anonymous Java class.
    JavaAnonymousClass,
    /// The number of a Kotlin lambda.
    KotlinLambda,
    /// The number of an anonymous Scala function.
    ScalaFunction,
    /// The number of a Java proxy class and its package.
    JavaProxy,
    /// The number of an accessor that reflection generated.
    JavaAccessor,
    /// The address in the name of a hidden Java class.
    JavaHiddenClass,
    /// The version of an ELF symbol.
    SymbolVersion,
    /// The tier at which .NET's just-in-time compiler compiled a method.
    DotnetTier,
    /// The hash at the end of a Rust name of the legacy mangling.
    RustHash,
    /// The suffix of a clone, or of a part of a function.
    Clone,
    /// The suffix that makes a local symbol unique in the whole program.
    LocalSymbol,
}

impl Rule {
    /// The rule's name, as in JSON: `closure-number`.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Mangled => "mangled",
            Rule::OcamlStamp => "ocaml-stamp",
            Rule::PhpTrace => "php-trace",
            Rule::RustPath => "rust-path",
            Rule::UnknownArguments => "unknown-arguments",
            Rule::TemplateArguments => "template-arguments",
            Rule::CrateHash => "crate-hash",
            Rule::ClosureNumber => "closure-number",
            Rule::AnonymousNamespace => "anonymous-namespace",
            Rule::OpenmpRegion => "openmp-region",
            Rule::GoClosure => "go-closure",
            Rule::GoInit => "go-init",
            Rule::GoShape => "go-shape",
            Rule::GoMethodValue => "go-method-value",
            Rule::GoAbi => "go-abi",
            Rule::JavaLambda => "java-lambda",
            Rule::JavaAnonymousClass => "java-anonymous-class",
            Rule::KotlinLambda => "kotlin-lambda",
            Rule::ScalaFunction => "scala-function",
            Rule::JavaProxy => "java-proxy",
            Rule::JavaAccessor => "java-accessor",
            Rule::JavaHiddenClass => "java-hidden-class",
            Rule::SymbolVersion => "symbol-version",
            Rule::DotnetTier => "dotnet-tier",
            Rule::RustHash => "rust-hash",
            Rule::Clone => "clone",
            Rule::LocalSymbol => "local-symbol",
        }
    }
}
