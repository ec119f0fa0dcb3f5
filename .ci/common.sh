# What .ci/run and .ci/nightly share. Sourced by bash from the root of the repository.
set -euo pipefail
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sto-ci/target}"
export CARGO_TERM_COLOR=never
# Nobody debugs what is built here, and a fresh clone has no earlier build to start from.
export CARGO_PROFILE_DEV_DEBUG=none CARGO_INCREMENTAL=0
exec </dev/null

TIMES=
STEP=
STEP_START=0

# Begins a step; the time of each is printed at the end.
step() {
	end_step
	STEP=$* STEP_START=$SECONDS
	printf '\n== %s (%d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60))
}

end_step() {
	local seconds=$((SECONDS - STEP_START))
	[[ -z $STEP ]] || TIMES+=$(printf '%4d:%02d  %s' $((seconds / 60)) $((seconds % 60)) "$STEP")$'\n'
	STEP=
}

print_times() {
	end_step
	printf '\n== time of each step\n%s%4d:%02d  in all\n' "$TIMES" $((SECONDS / 60)) $((SECONDS % 60))
}
trap print_times EXIT

fail() {
	printf 'ci: %s\n' "$*" >&2
	exit 1
}

# Installs the Debian packages that a function names, which prints those that are missing.
install_packages() {
	local packages as_root
	packages=$("$1" | xargs)
	[[ -n $packages ]] || return 0
	echo "installing: $packages"
	as_root=$([[ $EUID -eq 0 ]] || echo sudo)
	{
		$as_root apt-get -qq update
		# shellcheck disable=SC2086 # each word is a package
		$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install $packages >/dev/null
	} || echo "apt-get failed; checking what is still missing"
	packages=$("$1" | xargs)
	[[ -z $packages ]] || fail "install these Debian packages, or the tools in them: $packages"
}

# Installs the packages of .ci/node.txt, for tests of pages, and puts their programs on the path.
install_node_packages() {
	local node
	node="$(dirname "$CARGO_TARGET_DIR")/node"
	# shellcheck disable=SC2046 # each line is a package
	npm install --silent --no-audit --no-fund --prefix "$node" $(grep -v '^#' .ci/node.txt)
	export NODE_PATH="$node/node_modules"
	PATH="$NODE_PATH/.bin:$PATH"
}

# Runs cargo with clippy as the compiler of the workspace, so that a warning is an error. `cargo clippy` would compile
# everything, dependencies included, a second time.
with_clippy() {
	RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ "$@"
}

command -v cargo >/dev/null || PATH="$HOME/.cargo/bin:$PATH"
