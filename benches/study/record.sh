#!/bin/bash
# Records the runs of the study: rounds FIRST to LAST, each with two runs of the unchanged program
# and one of each slowdown, one after the other, so that drift of the machine affects all of them. A
# round takes about 6 s and 3 MB. Existing rounds are kept.
#     bash benches/study/record.sh FOLDER FIRST LAST        a folder outside the repository
set -euo pipefail
out=$(realpath "${1:?usage: bash benches/study/record.sh FOLDER FIRST LAST}")
first=$2 last=$3
cd "$(dirname "$0")"

program=$out/study_workload
if [ ! -e "$program" ]; then
	# A folder of its own, so that no path of a checkout gets into the recordings.
	work=$(mktemp -d -t sto-study.XXXXXX)
	trap 'rm -rf "$work"' EXIT
	cp workload.rs "$work"
	(cd "$work" && rustc --edition 2024 -O -g -C force-frame-pointers=yes --crate-name study_workload \
		--remap-path-prefix "$work=." -C link-arg=-Wl,--build-id workload.rs -o "$program")
fi

for round in $(seq -w "$first" "$last"); do
	run=0
	for slower in 0 2 0 5 10 25; do
		run=$((run + 1))
		data=$out/slower-$slower.$round.$run.perf.data
		[ -e "$data" ] && continue
		perf record --no-buildid-cache --buildid-mmap -e cpu-clock -F 4999 -g -o "$data.part" \
			"$program" "$slower" "$((10#$round * 10 + run))" >/dev/null 2>"$out/perf.log" || {
			cat "$out/perf.log"
			exit 1
		}
		mv "$data.part" "$data"
	done
done
