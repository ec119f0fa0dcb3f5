#!/bin/bash
# Records list.cpp, and a compiler that reads it, by Perun's collectors. Models how it grows, and stores that, as Perun does.
#     python3 -m venv venv && venv/bin/pip install perun-toolsuite==0.28.3 cmake
#     PATH=$PWD/venv/bin:$PATH ./record.sh
set -euo pipefail
here=$PWD
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp list.cpp "$folder"
cd "$folder"
git init -q .
git add list.cpp
git -c user.name=a -c user.email=a@b commit -qm 'Add a list'
perun -y init --vcs-type=git

# The linker leaves out one of Perun's libraries, which the other one needs, where it is not told to keep it.
export LDFLAGS=-Wl,--no-as-needed
perun -y collect -c target/list -w 20000 complexity -t target -f list.cpp -r insert -r fill -s insert 200
perun -y postprocessby .perun/jobs/complexity*.perf regression-analysis -m full
perun -y collect -c "g++ -c" -w list.cpp time -w 1 -r 5

# What machine it was is nobody's business, and the folder has another name each time.
kept() {
	python3 -c "
import json, sys
profile = json.load(sys.stdin)
del profile['machine']
print(json.dumps(profile).replace('$folder', '/tmp/list'))"
}
newest() {
	find .perun/jobs -name "$1" -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-
}
kept <"$(newest '*complexity*.perf')" >"$here/complexity.perf"
kept <"$(newest 'time*.perf')" >"$here/time.perf"
perun -y add --keep-profile "$here/time.perf"
cp "$(find .perun/objects -type f -size -4 -exec grep -lav '^pidx' {} + | head -1)" "$here/time.object"
