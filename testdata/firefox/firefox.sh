#!/bin/sh
# Records firefox-75.json.zst: Firefox, from its start, as it draws the page of ../chrome. What it marked and logged, and
# the addresses of its pages, are left out.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
mkdir "$folder/profile"
printf '<script>%s</script>' "$(cat ../chrome/page.js)" >"$folder/page.html"
HOME=$folder MOZ_PROFILER_STARTUP=1 MOZ_PROFILER_STARTUP_INTERVAL=10 MOZ_PROFILER_STARTUP_FILTERS=GeckoMain \
	MOZ_PROFILER_STARTUP_FEATURES=js,cpu,processcpu,memory MOZ_PROFILER_SHUTDOWN=$folder/gecko.json \
	firefox --headless --no-remote --profile "$folder/profile" --screenshot "$folder/page.png" "file://$folder/page.html"
sh upgrade.sh "$folder/gecko.json" "$folder/full.json"
python3 - "$folder/full.json" >firefox-75.json <<'PYTHON'
import json, re, sys

profile = json.load(open(sys.argv[1]))
for left_out in ["pages", "profilerOverhead", "profilingLog", "profileGatheringLog"]:
    profile.pop(left_out, None)
profile["meta"]["markerSchema"] = []
for thread in profile["threads"]:
    thread["markers"] = {key: [] for key in thread["markers"] if key != "length"} | {"length": 0}
# Names that markers alone had.
used = json.dumps([profile["shared"][table] for table in ["funcTable", "frameTable", "resourceTable", "sources"]])
numbers = set(map(int, re.findall(r"\d+", used)))
strings = profile["shared"]["stringArray"]
profile["shared"]["stringArray"] = [s if n in numbers else "" for n, s in enumerate(strings)]
print(json.dumps(profile, separators=(",", ":"), ensure_ascii=False))
PYTHON
zstd -19 --rm -f -q firefox-75.json
rm -r "$folder"
