#!/bin/sh
# Makes the files of this folder.
set -eu
cd "$(dirname "$0")"
programs=$(mktemp -d)
trap 'rm -r "$programs"' EXIT
gcc -O1 -g -ffile-prefix-map="$PWD=." work.c -o "$programs/work"
gcc -O1 -g -ffile-prefix-map="$PWD=." threads.c -o "$programs/threads" -lpthread
files=$PWD
cd "$programs"
callgrind() {
    file=$1
    shift
    valgrind --quiet --tool=callgrind --callgrind-out-file="$files/$file" "$@"
}
callgrind work.callgrind --toggle-collect=main ./work
callgrind contexts.callgrind --toggle-collect=main --separate-callers=10 --separate-recs=20 ./work
callgrind parts.callgrind --toggle-collect=main --combine-dumps=yes --dump-before=fib ./work
callgrind threads.callgrind --toggle-collect=main --toggle-collect=run --separate-threads=yes \
    --combine-dumps=yes --dump-instr=yes --cache-sim=yes --branch-sim=yes --collect-jumps=yes ./threads
cd "$files"
for inclusive in no yes; do
    callgrind_annotate --auto=no --threshold=100 --inclusive=$inclusive work.callgrind
done > work.annotate
