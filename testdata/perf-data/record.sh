#!/bin/bash
# Records every file of this folder anew; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD

# A folder of its own, so that no path of a checkout gets into the recordings.
work=$(mktemp -d -t sto-demo.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp threads.c ../demo/demo-v1 "$work"
cd "$work"

gcc -std=c11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer -Wl,--build-id \
	-ffile-prefix-map="$work=." threads.c -o threads -pthread

record="perf record --no-buildid-cache -F 997"
$record -e cpu-clock -g -z -o zstd.perf.data ./demo-v1 40000
$record -e cpu-clock -g -o - ./demo-v1 40000 >pipe.perf.data
$record -e cpu-clock -g -z -o - ./demo-v1 40000 >pipe-zstd.perf.data
$record -e cpu-clock,page-faults -g -o two-events.perf.data ./demo-v1 40000
$record -e cpu-clock -o no-call-chains.perf.data ./demo-v1 40000
$record -e cpu-clock -g -o threads.perf.data ./threads
perf script -i two-events.perf.data >two-events.perf-script.txt

chmod 644 ./*.perf.data
mv threads ./*.perf.data ./*.txt "$here"
