#!/bin/bash
# Builds the program and records its calls, with clang 14.0.6. Best on an idle machine: a thread that gets no processor
# is slow, too.
set -euo pipefail
cd "$(dirname "$0")"
rm -f xray-log.pool.* pool.xray.zst
clang -O1 -fxray-instrument -fxray-instruction-threshold=1 -pthread -Wl,--gc-sections pool.c -o pool
XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic" XRAY_BASIC_OPTIONS="func_duration_threshold_us=0" ./pool
zstd -19 --rm -q xray-log.pool.* -o pool.xray.zst
chmod 644 pool.xray.zst
