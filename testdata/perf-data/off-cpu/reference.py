"""Prints the time off the processor of each recording here by reason, from the text of `perf script`."""
import collections
import re
import subprocess

EVENTS = {"sched-switch": "sched:sched_switch", "context-switches": "context-switches"}

for name, event in EVENTS.items():
    command = ["perf", "script", "-i", f"{name}.perf.data", "--show-switch-events", "-F", "tid,time,event,trace", "--ns"]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    records = []
    for line in lines:
        match = re.match(r"\D*(\d+)\s+(\d+)\.(\d+):", line)
        if match:
            tid, seconds, nanoseconds = map(int, match.groups())
            records.append((tid, seconds * 10**9 + nanoseconds, line))
    end = max(time for _, time, _ in records)
    off = collections.Counter()
    for tid, time, line in records:
        if event in line:
            starts = (at for of, at, text in records if of == tid and at > time and "SWITCH IN" in text)
            state = re.search(r"prev_state=(\S)", line)
            off[state[1] if state else "?"] += min(starts, default=end) - time
    print(name, dict(off))
