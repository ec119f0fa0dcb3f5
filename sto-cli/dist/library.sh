#!/bin/bash
# Builds libsto for C, of one target, into target/release-files: an archive with both libraries, sto.h and sto.pc:
#     sto-cli/dist/library.sh x86_64-unknown-linux-gnu
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=sto-cli/dist/tools.sh
source sto-cli/dist/tools.sh
target=${1:?the target is missing, such as x86_64-unknown-linux-gnu}

build_for "$target" '' --package sto-capi

built="$CARGO_TARGET_DIR/$target/dist"
name="libsto-$version-$target"
tree="$built/$name"
rm -rf "$tree"
make -C sto-query/capi install BUILT="$built" DESTDIR="$tree" PREFIX=
# Wherever the archive is unpacked.
# shellcheck disable=SC2016 # pkg-config expands it
sed -i 's|^prefix=$|prefix=${pcfiledir}/../..|; s|^libdir=|&${prefix}|; s|^includedir=|&${prefix}|' "$tree/lib/pkgconfig/sto.pc"
cp LICENSE-APACHE LICENSE-MIT sto-query/capi/README.md "$tree"
licences sto-query/capi '' "$target" >"$tree/LICENSES-OF-DEPENDENCIES"
tar -C "$built" -czf "$files/$name.tar.gz" "$name"
