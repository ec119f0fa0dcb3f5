#!/bin/bash
# Builds both versions of the demo and records them anew; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD

# A folder of its own, so that no path of a checkout gets into the recordings.
work=$(mktemp -d -t sto-demo.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp demo.c "$work"
cd "$work"

for version in 1 2; do
	gcc -std=c11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer -Wl,--build-id \
		-ffile-prefix-map="$work=." -DVERSION=$version demo.c -o demo-v$version
done
for version in 1 2; do
	perf record --no-buildid-cache --buildid-mmap -e cpu-clock -F 997 -g \
		-o v$version.perf.data ./demo-v$version
	perf record --no-buildid-cache --buildid-mmap -e cpu-clock -F 107 --call-graph dwarf,3072 \
		-o v$version.dwarf.perf.data ./demo-v$version
done
chmod 644 ./*.perf.data
mv demo-v1 demo-v2 ./*.perf.data "$here"
