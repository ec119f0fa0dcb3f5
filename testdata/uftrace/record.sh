#!/bin/bash
# Builds the program and records its calls; with gcc 12.2.0 and uftrace 0.13. What it writes of other machines' libraries
# is left out.
set -euo pipefail
cd "$(dirname "$0")"
rm -rf calls.data arguments.data /tmp/uftrace-calls
mkdir /tmp/uftrace-calls
g++ -O1 -g -pg -pthread calls.cc -o /tmp/uftrace-calls/calls
uftrace record --no-event -d calls.data /tmp/uftrace-calls/calls
uftrace record --no-event -A leaf@arg1 -A strtol@arg1/s -R leaf@retval -d arguments.data /tmp/uftrace-calls/calls
for name in calls arguments; do
	uftrace report --no-pager -d "$name.data" -f total,call >"$name.report"
	uftrace dump --no-pager -d "$name.data" | grep -E 'entry|exit ' >"$name.dump"
	rm -f "$name.data"/{lib,ld-}* "$name.data"/*.dbg "$name.data"/{perf-cpu*.dat,default.opts}
	sed -i '/ \/usr\/lib\//d' "$name.data"/sid-*.map
done
uftrace dump --no-pager --chrome -d calls.data >calls.json
rm -r /tmp/uftrace-calls
