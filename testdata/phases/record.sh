#!/bin/bash
# Records every file of this folder anew; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
work=$(mktemp -d -t sto-phases.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp worker.c "$work"
cd "$work"
gcc -std=c11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id \
	-ffile-prefix-map="$work=." -D_POSIX_C_SOURCE=199309L worker.c -o worker
record="perf record --no-buildid-cache -q -e cpu-clock -F 997 -g"
$record -o phases.perf.data ./worker phases 2
$record -o cycle.perf.data ./worker cycle 2.5 0.05
$record -o steady.perf.data ./worker steady 2
gzip -9n ./*.perf.data
cp worker phases.perf.data.gz cycle.perf.data.gz steady.perf.data.gz "$here"
