#!/bin/bash
# Adds to a folder with the files of all targets what a release needs besides them: install.sh and SHA256SUMS. Prints the
# release's part of CHANGELOG.md. TAG is the version after a v, and ADDRESS is where the files can be downloaded:
#     sto-cli/dist/finish.sh TAG ADDRESS FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=sto-cli/dist/tools.sh
source sto-cli/dist/tools.sh
tag=$1 address=$2 folder=$3

[[ $tag == "v$version" ]] || fail "the tag is $tag, and the version in Cargo.toml is $version"
notes=$(awk -v heading="## [$version] - 2" 'index($0, "## ") == 1 { found = index($0, heading) == 1; next } found' CHANGELOG.md)
[[ -n $notes ]] || fail "CHANGELOG.md has no part '## [$version] - DATE'"
sed "s|@RELEASE@|$address|; s|@VERSION@|$version|" sto-cli/dist/install.sh >"$folder/install.sh"
rm -f "$folder/SHA256SUMS"
sums=$(cd "$folder" && sha256sum -- *)
printf '%s\n' "$sums" >"$folder/SHA256SUMS"
printf '%s\n' "$notes"
