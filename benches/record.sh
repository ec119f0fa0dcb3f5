#!/bin/bash
# Records the two large inputs of benches/peers.sh and benches/store_size.py: a release build of this
# workspace with frame-pointer call chains (some 50 MB) and with DWARF stack dumps (some 1.5 GB).
# It records the whole system, so do not use the machine at the same time.
#     bash benches/record.sh FOLDER        a folder outside the repository; as root
set -euo pipefail
out=$(realpath "${1:?usage: bash benches/record.sh FOLDER}")
cd "$(dirname "$0")/.."

target=$(mktemp -d -t sto-bench.XXXXXX)
trap 'rm -rf "$target"' EXIT
build=(cargo build --release --locked --target-dir "$target")

cargo fetch --locked
perf record -o "$out/fp.perf.data" -e cpu-clock -F 1499 -a -g -m 1024 -- "${build[@]}"
rm -rf "$target"
perf record -o "$out/dwarf.perf.data" -e cpu-clock -F 799 -a --call-graph dwarf -m 4096 -- "${build[@]}"
