#!/bin/sh
# What `perf stat -I -x` prints of a program that works, sleeps and works again.
set -eu
cd "$(dirname "$0")"
events=page-faults,cpu-clock,cycles
work='python3 -c "x = [i * i for i in range(300000)]"; sleep 0.1; find /usr/share -name "*.txt" >/dev/null'
perf stat -I 20 -x, -e $events -o stat.csv -- sh -c "$work"
perf stat -a -A -I 50 -x';' -e $events -o processors.csv -- sh -c "$work"
perf stat -a --per-core -I 50 -x, -e $events -o cores.csv -- sh -c "$work"
sh -c "$work; $work" &
perf stat --per-thread -p $! -I 50 -x, -e $events -o threads.csv
