#!/bin/sh
# Records the four anomalies: for each, what was sampled and what the program reported. Needs OpenJDK 17
# (openjdk-17-jdk-headless), HSQLDB (libhsqldb-java), gcc, perf and zstd; perf must be allowed to record.
set -eu
cd "$(dirname "$0")"
out=$PWD
work=$(mktemp -d)
hsqldb=/usr/share/java/hsqldb.jar
javac -d "$work" -cp $hsqldb ./*.java
gcc -O2 -g -fno-omit-frame-pointer -pthread -o "$work/sort" sort.c
pack() { zstd -q -f -19 --rm "$work/$1" -o "$out/$1.zst"; }
# A Java program under perf, with the names of what was compiled; the reporter's times are by perf's clock.
record_java() {
	name=$1
	events=$2
	shift 2
	perf record -q -k CLOCK_MONOTONIC -e $events -g -o "$work/perf.data" -- \
		java -Xlog:disable -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit \
		-Dmonotonic=true -cp "$work" "$@"
	perf script -i "$work/perf.data" -F comm,pid,tid,time,period,event,ip,sym,dso >"$work/$name.perf"
	pack "$name.perf"
	pack "$name.csv"
}

java -Xlog:disable -XX:StartFlightRecording="settings=$out/gradual.jfc,filename=$work/gradual.jfr" \
	-cp "$work:$hsqldb" Transactions "$work/gradual.csv" 8
pack gradual.jfr
pack gradual.csv
record_java sudden cpu-clock/freq=199,name=cpu-clock/ -Xmn4m -XX:-TieredCompilation \
	-XX:-UseOnStackReplacement Compress "$work/sudden.csv" 6
record_java collections cpu-clock/freq=199,name=cpu-clock/,page-faults/period=50,name=page-faults/ -Xms700m -Xmx6g -XX:NewSize=400m \
	-XX:MaxNewSize=3g -XX:+UseParallelGC -XX:ParallelGCThreads=1 -XX:YoungGenerationSizeIncrement=15 \
	-XX:YoungGenerationSizeSupplement=0 Orders "$work/collections.csv" 5 200
perf record -q -k CLOCK_MONOTONIC -e cpu-clock/freq=199,name=cpu-clock/ -g -o "$work/perf.data" -- "$work/sort" "$work/periodic.csv" 150000 4
perf script -i "$work/perf.data" -F comm,pid,tid,time,period,event,ip,sym,dso >"$work/periodic.perf"
pack periodic.perf
pack periodic.csv
rm -r "$work"
