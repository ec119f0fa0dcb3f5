#!/bin/bash
# Records what the kernel does while two programs run, in a machine of its own. Needs qemu-system-x86, busybox-static,
# cpio, and the file of a kernel: record.sh /boot/vmlinuz-6.1.0-56-cloud-amd64
set -euo pipefail
kernel=$(realpath "$1")
cd "$(dirname "$0")"
folder=$(mktemp -d)
mkdir -p "$folder"/root/{bin,proc,sys,dev}
cp init "$folder/root/init"
cp /bin/busybox "$folder/root/bin/"
(cd "$folder/root" && find . | cpio -o -H newc --quiet | gzip >../initrd.gz)
qemu-system-x86_64 -M pc -m 512 -smp 2 -nographic -no-reboot -kernel "$kernel" -initrd "$folder/initrd.gz" \
	-append "console=ttyS0 quiet panic=-1" | tr -d '\r' >"$folder/console"
for layout in default abstime latency; do
	awk "/^=====BEGIN $layout/ { on = 1; next } /^=====END/ { on = 0 } on" "$folder/console" >"$layout.trace"
done
rm -r "$folder"
