#!/bin/sh
# upgrade.sh FROM TO: writes a file as the Firefox Profiler's own code reads it, in its newest version. The
# command line's bundle has no command for that, so one line is added to where it has read a file.
set -eu
folder=$(mktemp -d)
npm install --silent --prefix "$folder" @firefox-devtools/profiler-cli@0.10.0 node@24
bundle=$folder/node_modules/@firefox-devtools/profiler-cli/dist
python3 - "$bundle" <<'PYTHON'
import pathlib, sys

bundle = pathlib.Path(sys.argv[1])
read = "o=RR(a,n);if(o)return o;let i=kR(r,t);if(i)return i;let s=CR(r);return s||nK(r)"
save = (
    "save=async read=>{let profile=await read;require('fs').writeFileSync(process.env.SAVE_AS,"
    "JSON.stringify(profile,(_,v)=>ArrayBuffer.isView(v)?Array.from(v):v));return profile},"
)
text = (bundle / "profiler-cli.js").read_text()
assert text.count(read) == 1
saved = save + read.replace("return o", "return save(o)").replace("return i", "return save(i)")
saved = saved.replace("return s||nK(r)", "return save(s||nK(r))")
(bundle / "save.js").write_text(text.replace(read, saved))
PYTHON
PATH=$folder/node_modules/.bin:$PATH
SAVE_AS=$(realpath "$2") node "$bundle/save.js" load "$1" >/dev/null
node "$bundle/save.js" stop --all >/dev/null
rm -r "$folder"
