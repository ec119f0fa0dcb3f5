//! Names the shared library as programs load it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name| std::env::var(name).unwrap_or_default();
    // Until version 1.0, each minor version may change the interface.
    let version = match (
        variable("CARGO_PKG_VERSION_MAJOR"),
        variable("CARGO_PKG_VERSION_MINOR"),
    ) {
        (major, minor) if major == "0" => format!("{major}.{minor}"),
        (major, _) => major,
    };
    match &*variable("CARGO_CFG_TARGET_OS") {
        "macos" => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libsto.{version}.dylib")
        }
        "windows" => {}
        _ => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libsto.so.{version}"),
    }
}
