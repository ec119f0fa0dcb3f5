'use strict';
// The WebAssembly module in the folder $STO_WEB reads every file of testdata as the command $STO does.
const assert = require('node:assert/strict');
const { execFile } = require('node:child_process');
const { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { basename, join, relative } = require('node:path');
const { after, before, test } = require('node:test');
const { promisify } = require('node:util');

const TESTDATA = join(__dirname, '../../../../testdata');
const ASSETS = join(process.env.STO_WEB, 'assets');
const FOLDER = join(ASSETS, readdirSync(ASSETS)[0]);

let Library;
let compiled;
let alone;
before(async () => {
  const source = readFileSync(join(FOLDER, 'library.js'), 'utf8');
  ({ Library } = await import(`data:text/javascript,${encodeURIComponent(source)}`));
  compiled = await WebAssembly.compile(readFileSync(join(FOLDER, 'sto.wasm')));
  alone = mkdtempSync(join(tmpdir(), 'sto-web-'));
});
after(() => rmSync(alone, { recursive: true }));

/** Asks the command for the functions of a copy of the file, which has no programs next to it. */
async function byCommand(path) {
  const copy = join(mkdtempSync(join(alone, 'copy-')), basename(path));
  cpSync(path, copy);
  const options = { maxBuffer: 1 << 30, env: { HOME: alone, PATH: process.env.PATH } };
  try {
    const { stdout } = await promisify(execFile)(process.env.STO, ['top', '--format', 'json', copy], options);
    return JSON.parse(stdout);
  } catch {
    return null;
  }
}

function inPage(path) {
  const library = new Library(compiled);
  const call = (address, body) => {
    const { status, bytes } = library.call(address, body);
    return status === 200 ? JSON.parse(new TextDecoder().decode(bytes)) : null;
  };
  const opened = call(`profiles/${basename(path)}`, readFileSync(path));
  if (opened === null) return null;
  const request = JSON.stringify({ named: { runs: opened.profiles } });
  return call('questions/top', new TextEncoder().encode(request));
}

/**
 * Returns what does not depend on the libraries of this machine, which name functions and find callers for the command
 * alone, nor on the number of slices of time, of which a command needs none.
 */
function comparable({ profiles, functions, omitted, incomplete, with_inlined, ...rest }, isNamed) {
  return isNamed ? { functions, omitted, incomplete, with_inlined, ...rest } : rest;
}

const files = readdirSync(TESTDATA, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !/\.(c|cc|expected|go|md|py|sh)$/.test(entry.name))
  .map((entry) => join(entry.path, entry.name));

for (const path of files) {
  const name = relative(TESTDATA, path);
  test(`the page shows of ${name} what the command does`, async () => {
    const [expected, found] = [await byCommand(path), inPage(path)];
    if (expected === null || found === null) return assert.deepEqual(found, expected);
    const isNamed = found.functions.every(({ kind }) => kind !== 'unresolved');
    assert.deepEqual(comparable(found, isNamed), comparable(expected, isNamed));
  });
}
