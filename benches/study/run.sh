#!/bin/bash
# Repeats the study of regressions on new recordings: records rounds FIRST to LAST, runs sto and its
# peers, and appends the results to benches/results/regressions.md under NAME (idle, busy). A round
# takes about 6 s, the rest some minutes. Needs edgeR (Debian: r-bioc-edger).
#     bash benches/study/run.sh NAME FOLDER FIRST LAST      a folder outside the repository
set -euo pipefail
name=${1:?usage: bash benches/study/run.sh NAME FOLDER FIRST LAST}
out=$2 first=$3 last=$4
mkdir -p "$out"
out=$(realpath "$out")
cd "$(dirname "$0")/../.."

# Build first, so that the machine is idle while recording.
cargo build --release --locked -p sto-cli -p sto-benches --bins
bin=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release

bash benches/study/record.sh "$out" "$first" "$last"
rm -rf "$out/store"
for slower in 0 2 5 10 25; do
	"$bin/sto" --store "$out/store" ingest --exe study_workload --build "slower-$slower" \
		"$out/slower-$slower".*.perf.data >"$out/ingest.log"
done
"$bin/study_splits" "$out/store" "$out/tables"
Rscript benches/study/peers.R "$out/tables"
python3 benches/study/report.py "$name=$out/tables"
