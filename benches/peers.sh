#!/bin/bash
# Times `sto ingest` against its peers on one recording, and appends the figures, with date and
# machine, to benches/results/peers.md.
#     bash benches/peers.sh FILE.perf.data
#
# Needs hyperfine, jq, perf, and the peers: cargo install --locked inferno samply
# sto resolves inlined functions; `perf script --no-inline` omits them, and `samply import` leaves
# symbols to the viewer. RUNS sets the number of runs of each (default 5).
set -euo pipefail
input=$(realpath "${1:?usage: bash benches/peers.sh FILE.perf.data}")
cd "$(dirname "$0")/.."

cargo build --release --locked --package sto-cli
sto=$(cargo metadata --format-version 1 --no-deps | jq -r .target_directory)/release/sto

work=$(mktemp -d -t sto-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
hyperfine --shell 'bash -o pipefail' --warmup 1 --runs "${RUNS:-5}" --export-json "$work/times.json" \
	--prepare "rm -rf '$work/store' '$work/peer'" \
	--command-name 'sto ingest' \
	"'$sto' ingest '$input' --build bench --store '$work/store'" \
	--command-name 'perf script --no-inline | inferno-collapse-perf' \
	"perf script --no-inline -i '$input' 2>/dev/null | inferno-collapse-perf >'$work/peer'" \
	--command-name 'samply import --save-only' \
	"samply import --save-only -o '$work/peer' '$input'"

# inferno's programs do not print their version, but cargo stores it.
inferno=$(grep -o 'inferno [0-9.]*' "$(dirname "$(command -v inferno-collapse-perf)")/../.crates.toml")
{
	echo
	echo "## $(date -u +%F), $(basename "$input")"
	echo
	echo "- sto $(git describe --always --dirty), $(rustc --version)"
	echo "- $(perf --version), $inferno, $(samply --version), $(hyperfine --version)"
	echo "- $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo), Linux $(uname -r)"
	echo "- input: $(du -h --apparent-size "$input" | cut -f 1)"
	echo
	jq -r '
		def seconds: . * 1000 | round / 1000;
		"| command | mean (s) | deviation | fastest | times sto |",
		"|---|---|---|---|---|",
		(.results[0].mean as $sto | .results[] |
			"| `\(.command | gsub("\\|"; "\\|"))` | \(.mean | seconds) | \(.stddev // 0 | seconds) | \(.min | seconds) | \(.mean / $sto * 10 | round / 10) |")
	' "$work/times.json"
} | tee -a benches/results/peers.md
