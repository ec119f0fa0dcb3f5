#!/bin/bash
# Publishes the crates of the newest commit on crates.io, each after those that it depends on. ADDRESS is the repository's:
#     sto-cli/dist/publish.sh ADDRESS [--dry-run]
set -euo pipefail
cd "$(dirname "$0")/../.."
address=$1
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone --quiet --shared . "$clone"
cd "$clone"
# Where people get the code, and where relative links of the README lead.
sed -i "s|^license.workspace = true|&\nrepository = \"$address\"|" sto-core/Cargo.toml sto-core/*/Cargo.toml sto-query/Cargo.toml sto-query/*/Cargo.toml sto-cli/Cargo.toml sto-cli/serve/Cargo.toml
cargo publish --workspace --locked --allow-dirty "${@:2}"
