#!/bin/bash
# Builds the Python package of one target into target/release-files:
#     sto-cli/dist/wheel.sh x86_64-unknown-linux-gnu
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=sto-cli/dist/tools.sh
source sto-cli/dist/tools.sh
target=${1:?the target is missing, such as x86_64-unknown-linux-gnu}

rustup target add "$target"
install_wheels maturin==1.16.0 ziglang==0.15.2
maturin build --profile dist --locked --zig --target "$target" --compatibility manylinux_2_28 \
	--manifest-path sto-query/python/Cargo.toml --out "$files"
