#!/bin/bash
# Times `sto ingest` against its peers on recordings, and appends the figures, with date and
# machine, to benches/results/peers.md; then runs benches/scaling.py on each.
#     bash benches/peers.sh FILE.perf.data...
#
# Needs hyperfine, jq, perf, and the peers: cargo install --locked inferno samply
# sto resolves inlined functions; `perf script --no-inline` omits them, and `samply import` leaves
# symbols to the viewer. `cat` shows how long reading takes. RUNS sets the number of runs of each
# (default 5). The names of a recording from another machine are unresolved, unless it has the same
# programs.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: bash benches/peers.sh FILE.perf.data..." >&2; exit 2; }
mapfile -t inputs < <(realpath "$@")
cd "$(dirname "$0")/.."

cargo build --release --locked --package sto-cli
sto=$(cargo metadata --format-version 1 --no-deps | jq -r .target_directory)/release/sto

# Before this script changes the results.
revision=$(git describe --always --dirty)
work=$(mktemp -d -t sto-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
for input in "${inputs[@]}"; do
	hyperfine --shell 'bash -o pipefail' --warmup 1 --runs "${RUNS:-5}" --export-json "$work/times.json" \
		--prepare "rm -rf '$work/store' '$work/peer'" \
		--command-name 'sto ingest' \
		"'$sto' ingest '$input' --build bench --store '$work/store'" \
		--command-name 'perf script --no-inline | inferno-collapse-perf' \
		"perf script --no-inline -i '$input' 2>/dev/null | inferno-collapse-perf >'$work/peer'" \
		--command-name 'samply import --save-only' \
		"samply import --save-only -o '$work/peer' '$input'" \
		--command-name 'cat' \
		"cat '$input' >/dev/null"

	# inferno's programs do not print their version, but cargo stores it.
	inferno=$(grep -o 'inferno [0-9.]*' "$(dirname "$(command -v inferno-collapse-perf)")/../.crates.toml")
	{
		echo
		echo "## $(date -u +%F), $(basename "$input")"
		echo
		echo "- sto $revision, $(rustc --version)"
		echo "- $(perf --version), $inferno, $(samply --version), $(hyperfine --version)"
		echo "- $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo), Linux $(uname -r)"
		echo "- input: $(du -h --apparent-size "$input" | cut -f 1)"
		echo
		jq -r '
			def seconds: . * 1000 | round / 1000;
			"| command | mean (s) | deviation | fastest | times sto |",
			"|---|---|---|---|---|",
			(.results[0].mean as $sto | .results[] |
				"| `\(.command | gsub("\\|"; "\\|"))` | \(.mean | seconds) | \(.stddev // 0 | seconds) | \(.min | seconds) | \(.mean / $sto * 100 | round / 100) |")
		' "$work/times.json"
	} | tee -a benches/results/peers.md
	python3 benches/scaling.py "$input" "$sto"
done
