#!/bin/sh
# Makes all symbol lists of this folder, in a temporary folder that is gone afterwards.
#
# Build 1 is a source as it stands; build 2 has the lines that begin with `//2 ` too.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Functions of an object file or program, as the linker sees them, that match a pattern.
symbols() { nm "$1" | sed -nE 's/^[0-9a-f]+ [tTwWiu] //p' | grep -E "$2" | sort -u; }

for build in 1 2; do
    mkdir "$work/$build"
    cd "$work/$build"
    cp "$here"/*.c "$here"/*.cc "$here"/*.rs "$here"/*.go "$here"/*.java "$here"/*.ml .
    if [ $build = 2 ]; then sed -i 's,^\(\s*\)//2 ,\1,' ./*.c ./*.cc ./*.rs ./*.go ./*.java ./*.ml; fi

    own='scale|length_of|checked|parse|shared_total|weigh|depth|spread|^main'
    gcc -O2 clones.c clones_lib.c -o gcc-O2 && symbols gcc-O2 "$own" > "$here/gcc-O2-$build.txt"
    gcc -O3 clones.c clones_lib.c -o gcc-O3 && symbols gcc-O3 "$own" > "$here/gcc-O3-$build.txt"
    gcc -O2 -flto clones.c clones_lib.c -o gcc-lto && symbols gcc-lto "$own" > "$here/gcc-lto-$build.txt"
    gcc -O2 -fPIC -shared -fopenmp clones.c clones_lib.c -o gcc.so && symbols gcc.so "$own" > "$here/gcc-pic-$build.txt"
    clang -O2 -flto=thin -fuse-ld=lld clones.c clones_lib.c -o clang-lto
    symbols clang-lto "$own" > "$here/clang-lto-$build.txt"
    clang -O2 -funique-internal-linkage-names clones.c clones_lib.c -o clang-unique
    symbols clang-unique "$own" > "$here/clang-unique-$build.txt"

    # Exported by a library under a version, and called by a program: in the library's dynamic
    # symbols and in the program's.
    printf 'VERS_%s { global: parse; local: *; };\n' $build > versions.map
    gcc -O2 -fPIC -shared -Wl,--version-script=versions.map clones.c clones_lib.c -o libversions.so
    { nm -D libversions.so; nm gcc-O2; } | sed -nE 's/^[0-9a-f ]+ [TU] ([^ ]+@.*)/\1/p' | sort -u \
        > "$here/versions-$build.txt"

    own='4shop|5quiet|hidden|5apply|7measure|ULi|UlP|\$_|^main'
    g++ -std=c++17 -O2 lambdas.cc -o gxx && symbols gxx "$own" > "$here/g++-$build.txt"
    clang++ -std=c++17 -O2 lambdas.cc -o clangxx && symbols clangxx "$own" > "$here/clang++-$build.txt"

    own='(3run|4main|3map|4call|4find|4show|3shl|4drop|5total).*8closures|8closures.*(3run|4main|3map|4call|4find|4show|3shl|4drop|5total)'
    for mangling in legacy v0; do
        unstable=
        if [ $mangling = legacy ]; then unstable=-Zunstable-options; fi
        RUSTC_BOOTSTRAP=1 rustc --edition 2024 -O -C symbol-mangling-version=$mangling $unstable \
            -C metadata=build$build closures.rs -o rust-$mangling
        symbols rust-$mangling "$own" > "$here/rustc-$mangling-$build.txt"
    done

    GOFLAGS=-mod=mod GO111MODULE=off GOCACHE="$work/gocache" go build -o gobin closures.go
    symbols gobin '^main\.' > "$here/go-$build.txt"

    ocamlopt -g stamps.ml -o ocaml
    symbols ocaml '^camlStamps' > "$here/ocaml-$build.txt"

    javac Lambdas.java
    java -Xint Lambdas | grep -vE '^java\.(util|lang)\.(stream|Iterable|String)' > "$here/java-$build.txt"
done
