#!/bin/bash
# Records every file of this folder anew; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD

# A folder of its own, so that no path of a checkout gets into the recordings.
work=$(mktemp -d -t sto-demo.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp threads.c pages.c made.c dumped/dumped.c fib.js ../demo/demo-v1 "$work"
cd "$work"

gcc -std=c11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer -Wl,--build-id \
	-ffile-prefix-map="$work=." threads.c -o threads -pthread

gcc -std=c11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer pages.c -o pages
gcc -std=gnu11 -Wall -Wextra -O2 -fomit-frame-pointer -Wl,--build-id made.c -o made
gcc -std=gnu11 -Wall -Wextra -O2 -fomit-frame-pointer -Wl,--build-id dumped.c -o dumped

record="perf record --no-buildid-cache -F 997"
$record -e cpu-clock -g -z -o zstd.perf.data ./demo-v1 40000
$record -e cpu-clock -g -o - ./demo-v1 40000 >pipe.perf.data
$record -e cpu-clock -g -z -o - ./demo-v1 40000 >pipe-zstd.perf.data
$record -e cpu-clock,page-faults -g -o two-events.perf.data ./demo-v1 40000
$record -e cpu-clock -o no-call-chains.perf.data ./demo-v1 40000
$record -e cpu-clock -g -o threads.perf.data ./threads
$record -F 199 -g -e '{cpu-clock,page-faults}:S' -o group.perf.data ./demo-v1 40000
perf record --no-buildid-cache -e sched:sched_switch -g -o - sleep 0.01 >pipe-tracepoint.perf.data
perf script -i two-events.perf.data >two-events.perf-script.txt

record="perf record --no-buildid-cache -q -F 397"
$record -g -e '{cpu-clock,page-faults,context-switches}:S' -o counters.perf.data ./pages
unshare --pid --fork --mount-proc $record -g -a -e '{cpu-clock,page-faults}:S' -o counters-all.perf.data \
	sh -c './pages & taskset -c 1 ./pages; wait'
$record -e cpu-clock/call-graph=fp/ -e page-faults/call-graph=no,period=100/ \
	-e context-switches/call-graph=no,period=1/ -o beside.perf.data ./pages

record="perf record --no-buildid-cache -q -F 199 -e cpu-clock"
$record --call-graph dwarf,1024 -o dwarf.perf.data ./demo-v1 10000
$record --call-graph dwarf,1024 -o made.perf.data ./made
made_map=$(ls -t /tmp/perf-*.map | head -n 1)
$record -g --per-thread -o per-thread.perf.data ./demo-v1 40000
# In a namespace of its own perf lists this script's processes alone; what others start meanwhile is in the
# recording all the same.
unshare --pid --fork --mount-proc $record -g -a -o system-wide.perf.data ./demo-v1 20000

perf record --no-buildid-cache -q -k mono -F 99 --call-graph dwarf,1024 -o dumped.perf.data ./dumped
rm -f "$here"/dumped/*
mv dumped dumped.c dumped.perf.data jit-*.dump "$here/dumped"

# Of the thousand functions of node itself only some.
functions='fib.js|JS:.*Module|Entry'
node="node --interpreted-frames-native-stack"
$record -g -o node-map.perf.data $node --perf-basic-prof fib.js
map=$(basename "$(ls -t /tmp/perf-*.map | head -n 1)")
grep -E "$functions" "/tmp/$map" >"$map"
$record -g -k mono -o node-dump.perf.data $node --perf-prof fib.js
dump=$(echo jit-*.dump)
python3 "$here/trim_jitdump.py" "$functions" "$dump"
perf inject --jit -i node-dump.perf.data -o node-injected.perf.data
python3 "$here/synthetic.py"

rm -f "$here"/perf-*.map "$here"/jit-*.dump
chmod 644 "$map" "$made_map"
chmod 644 ./*.perf.data
mv threads made ./*.perf.data ./*.txt "$map" "$made_map" "$dump" "$here"
