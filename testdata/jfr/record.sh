#!/bin/sh
# Records Work.java three times: samples.jfr, one chunk; tlab.jfr, one chunk for each dump, and stacks that are
# cut at eight frames; metrics.jfr, one chunk for each dump too.
set -eu
cd "$(dirname "$0")"
classes=$(mktemp -d)
javac -encoding UTF-8 -d "$classes" Work.java
java -Xlog:disable -XX:StartFlightRecording=settings=samples.jfc,filename=samples.jfr -cp "$classes" Work 2500
java -Xlog:disable -XX:TLABSize=500k -XX:-ResizeTLAB -XX:FlightRecorderOptions=stackdepth=8 \
	-XX:StartFlightRecording=settings=tlab.jfc,name=tlab -cp "$classes" Work 60000 &
sleep 2
jcmd $! JFR.dump name=tlab filename="$classes/first.jfr"
sleep 1
jcmd $! JFR.dump name=tlab filename="$PWD/tlab.jfr"
kill $!
java -Xlog:disable -Xmx48m -XX:StartFlightRecording=settings=metrics.jfc,name=metrics -cp "$classes" Work 60000 &
sleep 1.5
jcmd $! JFR.dump name=metrics filename="$classes/first.jfr"
sleep 1.5
jcmd $! JFR.dump name=metrics filename="$PWD/metrics.jfr"
kill $!
python3 metrics.py metrics.jfr >metrics.expected
zstd -19 --rm -f metrics.jfr
# Where Datadog's libjavaProfiler.so is, its recording.
if [ -n "${DATADOG_PROFILER:-}" ]; then
	options=start,cpu=5ms,wall=20ms,filter=,memory=512k:al,nativemem=64k,jfr,file=datadog.jfr
	java -Xlog:disable -Xmx64m -agentpath:"$DATADOG_PROFILER=$options" -cp "$classes" Work 700
fi
rm -r "$classes"
python3 async_profiler.py >async-profiler.jfr
for recording in samples tlab async-profiler async-wall async-malloc rust-agent datadog; do
	python3 reference.py $recording.jfr >$recording.expected
done
