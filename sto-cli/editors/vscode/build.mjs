// Bundles the extension into dist/extension.js, and writes LICENSE: that of Sto, and those of what is in the bundle.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const bundled = await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  external: ["vscode"],
  format: "cjs",
  platform: "node",
  target: "node20",
  minify: true,
  metafile: true,
});

const inputs = Object.keys(bundled.metafile.inputs);
const packages = inputs.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
const licences = ["LICENSE-APACHE", "LICENSE-MIT"].map((name) => readFileSync(`../../../${name}`, "utf8"));
for (const name of [...new Set(packages)].filter(Boolean).sort()) {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (!file) {
    throw new Error(`${folder} has no licence to bring along`);
  }
  licences.push(`${name}\n\n${readFileSync(`${folder}/${file}`, "utf8")}`);
}
writeFileSync("LICENSE", licences.join(`\n${"-".repeat(80)}\n\n`));
