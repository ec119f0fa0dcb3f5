//! The `sto` command.

fn main() {}
