#!/bin/bash
# Builds the released files of one target into target/release-files: an archive with the program, its manual pages,
# completions and licences, and for glibc a Debian package:
#     sto-cli/dist/package.sh x86_64-unknown-linux-musl
# The machine must be able to run the program, which writes its own manual pages.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=sto-cli/dist/tools.sh
source sto-cli/dist/tools.sh
target=${1:?the target is missing, such as x86_64-unknown-linux-musl}

install_crates cargo-auditable@0.7.7
# The program contains the list of its dependencies, which `cargo audit bin sto` and other scanners read.
build_for "$target" auditable --package sto-cli --features full

built="$CARGO_TARGET_DIR/$target/dist"
name="sto-$version-$target"
tree="$built/$name"
rm -rf "$tree"
install -d "$tree"/bin "$tree"/share/{doc/sto,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
install "$built/sto" "$tree/bin/sto"
# By its name instead of its path, which completions contain.
PATH="$tree/bin:$PATH"
sto man "$tree/share/man/man1"
sto completions bash >"$tree/share/bash-completion/completions/sto"
sto completions zsh >"$tree/share/zsh/site-functions/_sto"
sto completions fish >"$tree/share/fish/vendor_completions.d/sto.fish"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT sto-cli/docs/*.md sto-cli/dist/sto.service "$tree/share/doc/sto"
licences sto-cli full "$target" >"$tree/share/doc/sto/LICENSES-OF-DEPENDENCIES"
tar -C "$built" -czf "$files/$name.tar.gz" "$name"

if [[ $target == *-linux-gnu ]]; then
	install_crates cargo-deb@3.8.0
	# `cargo deb` finds files by a fixed path.
	ln -sfn "$name" "$built/tree"
	cargo deb --no-build --no-strip --locked --package sto-cli --profile dist --target "$target" --output "$files/"
fi
ls -l "$files"
