// The extension, as VS Code would run it, against `sto lsp` and the demo: $STO names the program.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const vscode = require("./vscode.cjs");
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const demo = fileURLToPath(new URL("../../../../testdata/demo", import.meta.url));
const sto = process.env.STO ?? "sto";

/** A folder with the demo's source, and a store that has a recording of it. */
function project() {
  const folder = mkdtempSync(join(tmpdir(), "sto-vscode-"));
  const source = join(folder, "demo.c");
  copyFileSync(join(demo, "demo.c"), source);
  // It was not edited since the recording.
  utimesSync(source, 0, 0);
  const ingest = ["ingest", join(demo, "v1.perf.data"), "--exe", "demo", "--build", "v1", "--store", join(folder, ".sto")];
  execFileSync(sto, ingest, { cwd: folder });
  return { folder, source };
}

/** A document that is open in the editor. */
function open(path) {
  const text = readFileSync(path, "utf8");
  const document = { uri: vscode.Uri.file(path), languageId: "c", version: 1, isClosed: false, getText: () => text };
  vscode.workspace.textDocuments.push(document);
  return { document, lines: text.split("\n") };
}

const event = (subscribe) => new Promise((resolve) => subscribe(resolve));

test("costs stand at the lines of the demo, and follow the settings", { timeout: 60_000 }, async (context) => {
  const { folder, source } = project();
  context.after(() => rmSync(folder, { recursive: true }));
  vscode.workspace.workspaceFolders.push({ uri: vscode.Uri.file(folder), name: "demo", index: 0 });
  vscode.test.settings = { serverPath: sto, minPercent: 1 };
  const { document, lines } = open(source);
  const extension = require("../dist/extension.js");
  const isProvided = event(vscode.test.provided.event);
  await extension.activate({ subscriptions: [] });
  await isProvided;
  const provider = vscode.test.providers.inlayHints;
  const whole = new vscode.Range(new vscode.Position(0, 0), new vscode.Position(lines.length, 0));
  /** The labels of hints by the text of their lines. */
  const hints = async () => {
    const { token } = new vscode.CancellationTokenSource();
    const hints = (await provider.provideInlayHints(document, whole, token)) ?? [];
    return new Map(hints.map((hint) => [lines[hint.position.line].trim(), String(hint.label)]));
  };
  /** Those after the server says that there are others. */
  const refreshed = async (expected) => {
    for (;;) {
      const changed = event(provider.onDidChangeInlayHints);
      const found = await hints();
      if (expected(found)) {
        return found;
      }
      await changed;
    }
  };
  const found = await refreshed((found) => found.size > 0);
  assert.match(found.get("sum = sum * 31 + left[row][i] * right[i][column];"), /21\.1 % self · 21\.1 % total/);
  vscode.test.settings = { serverPath: sto, minPercent: 20 };
  vscode.test.changed.fire({ affectsConfiguration: () => true });
  const fewer = await refreshed((fewer) => fewer.size < found.size);
  assert.ok(fewer.size > 0 && [...fewer.keys()].every((line) => found.has(line)));
  const { contents } = await vscode.test.providers.hover.provideHover(document, new vscode.Position(138, 8), {});
  assert.match(contents.map((part) => part.value).join("\n"), /21\.1 % self/);
  // Those that the server runs, and those that the palette offers.
  const { contributes } = require("../package.json");
  assert.deepEqual(vscode.test.commands.sort(), contributes.commands.map(({ command }) => command).sort());
  await extension.deactivate();
  assert.deepEqual(vscode.test.shown, []);
});
