#!/bin/bash
# Makes the programs and recordings of this folder anew; see README.md.
set -euo pipefail
cd "$(dirname "$0")"

flags="-g -O1 -fasynchronous-unwind-tables -mbranch-protection=pac-ret -ffreestanding -nostdlib -static-pie
	-ffile-prefix-map=$PWD=. -Wl,--build-id -Wl,-z,max-page-size=4096"
aarch64-linux-gnu-gcc $flags -fomit-frame-pointer calls.c -o calls-dwarf
aarch64-linux-gnu-gcc $flags -fno-omit-frame-pointer -momit-leaf-frame-pointer calls.c -o calls-fp

for mode in dwarf fp; do
	program=calls-$mode
	notes=$(aarch64-linux-gnu-readelf -nh $program)
	export MODE=$mode
	export BUILD_ID=$(sed -n 's/.*Build ID: //p' <<<"$notes")
	export ENTRY=$(sed -n 's/.*Entry point address: *0x//p' <<<"$notes")
	for cpu in max max,pauth=off; do
		qemu-aarch64 -cpu $cpu -g 31234 ./$program &
		env $([ $cpu = max ] || echo NAMES=1) gdb-multiarch -q -batch \
			-ex "set debuginfod enabled off" -ex "set backtrace past-main on" -ex "file $program" \
			-ex "target remote :31234" -x record.py
		wait || true
	done
done
