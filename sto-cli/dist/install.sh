#!/bin/sh
# Installs sto with its manual pages and completions into ~/.local, or into $STO_PREFIX:
#     curl -fsSL RELEASE/install.sh | sh
# RELEASE is the address of a release's files. STO_RELEASE=RELEASE installs from another release.
set -eu

fail() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

# Prints the target whose program this machine runs.
target() {
	case $(uname -m) in
	x86_64 | amd64) machine=x86_64 ;;
	aarch64 | arm64) machine=aarch64 ;;
	*) fail "there is no program for $(uname -m): build sto from source" ;;
	esac
	case $(uname -s) in
	Linux)
		# Programs for glibc need 2.28 or later; those for musl run everywhere, but use several threads less well.
		glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc='glibc 0.0'
		minor=${glibc#glibc 2.}
		if [ "$minor" != "$glibc" ] && [ "$minor" -ge 28 ]; then libc=gnu; else libc=musl; fi
		echo "$machine-unknown-linux-$libc"
		;;
	*) fail "there is no program for $(uname -s): build sto from source" ;;
	esac
}

# Downloads a file of the release into the current folder.
download() {
	if command -v curl >/dev/null; then
		curl -fsSL -o "$1" "$release/$1" || fail "cannot download $release/$1"
	else
		wget -q -O "$1" "$release/$1" || fail "cannot download $release/$1"
	fi
}

# Compares the file with its line of SHA256SUMS.
verify() {
	grep "  $1\$" SHA256SUMS >expected || fail "SHA256SUMS of $release does not list $1"
	sha256sum -c expected >/dev/null || fail "$1 is damaged: it does not have the checksum that SHA256SUMS lists"
}

main() {
	release=${STO_RELEASE:-'@RELEASE@'}
	prefix=${STO_PREFIX:-$HOME/.local}
	archive="sto-@VERSION@-$(target).tar.gz"
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	case $prefix in
	/*) ;;
	*) prefix=$PWD/$prefix ;;
	esac
	cd "$folder"
	download SHA256SUMS
	download "$archive"
	verify "$archive"
	tar -xzof "$archive"
	mkdir -p "$prefix"
	cp -Rf "${archive%.tar.gz}/." "$prefix"
	echo "installed $("$prefix/bin/sto" --version) into $prefix"
	case :$PATH: in
	*":$prefix/bin:"*) ;;
	*) echo "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
	esac
}

# At the end, so that a part of this file does nothing.
main
