# Installs the tools that the scripts of this folder call, in the versions below, and puts them into PATH. Sourced by
# bash from the root of the repository.

# shellcheck shell=bash disable=SC2034
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
tools="$CARGO_TARGET_DIR/tools"
PATH="$tools/bin:$tools/python/bin:$PATH"

# What a script leaves for the release.
files="$CARGO_TARGET_DIR/release-files"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
mkdir -p "$files"

# Installs programs from crates.io. They run for seconds only, so compiling them quickly matters more than their speed.
install_crates() {
	CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off \
		cargo install --quiet --locked --target-dir "$tools/target" --root "$tools" "$@"
}

# Installs programs from PyPI.
install_wheels() {
	python3 -m venv "$tools/python"
	pip install --quiet --disable-pip-version-check "$@"
}

# Builds packages of the workspace for a target, as released: `build_for TARGET auditable|'' CARGO-ARGUMENT...`. Zig's
# compiler and linker make programs for a glibc that old distributions have, and static ones with musl.
build_for() {
	local target=$1 wrapper=$2 command=(zigbuild --target "$1")
	case $target in
	# Debian 10, Ubuntu 20.04, Red Hat Enterprise Linux 8, and later.
	*-linux-gnu) command=(zigbuild --target "$target.2.28") ;;
	esac
	rustup target add "$target"
	install_wheels cargo-zigbuild==0.24.0 ziglang==0.15.2
	# shellcheck disable=SC2086 # it may be empty
	cargo $wrapper "${command[@]}" --profile dist --locked "${@:3}"
}

# Prints the licences of all that is in the program or library of a folder, compiled for a target:
# `licences FOLDER FEATURES TARGET`.
licences() {
	install_crates cargo-about@0.9.3 --features cli
	cargo about generate --locked --offline --manifest-path "$1/Cargo.toml" --features "$2" --target "$3" \
		--config sto-cli/dist/about.toml sto-cli/dist/about.hbs
}

fail() {
	printf '%s: %s\n' "$0" "$*" >&2
	exit 1
}
