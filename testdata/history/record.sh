#!/bin/bash
# Records history.sto anew: five runs of each of ten releases of pulldown-cmark, oldest first.
#     bash testdata/history/record.sh FOLDER        a folder outside the repository
# Needs cargo, perf, Python and `sto` in PATH. Leave the machine alone meanwhile: it takes two minutes
# once the releases are built.
set -euo pipefail
out=$(realpath "${1:?usage: bash testdata/history/record.sh FOLDER}")
here=$(cd "$(dirname "$0")" && pwd)
releases=(0.9.0 0.9.1 0.9.2 0.9.3 0.9.6 0.10.0 0.10.3 0.11.0 0.12.2 0.13.0)

# With line tables alone, the compiler gives inlined functions names without their paths: the same
# function would be another one in the release that inlines it.
export CARGO_PROFILE_RELEASE_DEBUG=2 RUSTFLAGS="-C force-frame-pointers=yes"
for release in "${releases[@]}"; do
    [ -d "$out/$release" ] || cargo install --quiet --root "$out/$release" pulldown-cmark --version "=$release"
done
python3 "$here/book.py" 15000 > "$out/book.md"

# Paths as short as this, for a recording tells its command.
cd "$out"
export STO_STORE="$out/store"
for release in "${releases[@]}"; do
    sto record --build "$release" --benchmark book -F 1997 --runs 5 -- \
        "$release/bin/pulldown-cmark" -T -F < book.md > /dev/null
done
rm -f "$here/history.sto"
sto export-store -o "$here/history.sto"
