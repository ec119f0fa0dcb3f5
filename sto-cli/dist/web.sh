#!/bin/bash
# Makes the page that opens profiles without a server, as files for any server of static files:
#     sto-cli/dist/web.sh FOLDER
# clang compiles the C code of zstd. STO_WEB_PROFILE is another profile of cargo than `web`, for tests.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 FOLDER" >&2; exit 2; }
folder=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
profile=${STO_WEB_PROFILE:-web}
target=wasm32-unknown-unknown

# The stack has the size that main threads have on Linux.
export CC_wasm32_unknown_unknown=clang AR_wasm32_unknown_unknown=llvm-ar
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS='-C link-arg=-zstack-size=8388608'
cargo build --locked --profile "$profile" --target $target --package sto-wasm
module=${CARGO_TARGET_DIR:-target}/$target/${profile/#dev/debug}/sto_wasm.wasm

# The files of the server's pages, some of them replaced. Their names and order are in the server's source.
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
cp -r sto-cli/serve/assets/. sto-cli/serve/web/. "$files"
rm "$files/index.html" "$files/tsconfig.json"
cp "$module" "$files/sto.wasm"
digest=$(cd "$files" && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c 1-16)
links="<link rel=\"icon\" href=\"assets/$digest/icon.svg\">"
for style in $(sed -n 's/^    "\(styles\/.*\.css\)"$/\1/p' sto-cli/serve/src/pages/assets.rs) styles/open.css; do
	links+=$'\n'"<link rel=\"stylesheet\" href=\"assets/$digest/$style\">"
done
links+=$'\n'"<script type=\"module\" src=\"assets/$digest/main.js\"></script>"
page=$(<sto-cli/serve/web/index.html)

mkdir -p "$folder/assets"
cp -r "$files" "$folder/assets/$digest"
chmod 755 "$folder/assets/$digest"
printf '%s\n' "${page/<!-- files -->/$links}" >"$folder/index.html"
echo "$folder: open it by a web server, such as python3 -m http.server --directory $folder"
