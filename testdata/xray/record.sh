#!/bin/bash
# Builds the program and records its calls in both modes; with clang 14.0.6 and llvm-xray 14.0.6.
set -euo pipefail
cd "$(dirname "$0")"
rm -f xray-log.calls.* *.xray *.yaml *.json
clang++ -O2 -gline-tables-only -fdebug-compilation-dir=/src -fxray-instrument -pthread -Wl,--gc-sections calls.cc -o calls
recorded() { mv xray-log.calls.* "log" && mv log "$1.xray" && chmod 644 "$1.xray"; }
XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic" XRAY_BASIC_OPTIONS="func_duration_threshold_us=0" ./calls
recorded basic
FDR="func_duration_threshold_us=0" ./calls
recorded fdr
# Threads fill several buffers each.
FDR="func_duration_threshold_us=0:buffer_size=600:buffer_max=100" ./calls
recorded fdr-small
for log in basic fdr fdr-small; do
	llvm-xray convert -f yaml -symbolize -m calls "$log.xray" -o "$log.yaml"
done
llvm-xray convert -f yaml basic.xray -o numbers.yaml
llvm-xray convert -f trace_event -symbolize -m calls basic.xray -o basic.json
