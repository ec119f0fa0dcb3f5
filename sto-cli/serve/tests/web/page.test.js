'use strict';
// The page in the folder $STO_WEB opens files without a server, and shows what the command $STO does.
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { once } = require('node:events');
const { readFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { extname, join, normalize } = require('node:path');
const { after, before, test } = require('node:test');
const { open, textOf, until, violations } = require('../browser/open.js');

const TESTDATA = join(__dirname, '../../../../testdata');
const DEMO = ['v1', 'v2'].map((build) => join(TESTDATA, `demo/${build}.perf.data`));
const PROGRAMS = ['v1', 'v2'].map((build) => join(TESTDATA, `demo/demo-${build}`));
const TYPES = { '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.svg': 'image/svg+xml' };
const HOSTILE = '<img src=x onerror="hacked=1">';

// The page is below a folder, as on sites of projects. The one in `broken` lacks the library.
const server = createServer(({ url }, response) => {
  const file = normalize(new URL(url, 'http://localhost').pathname).replace(/^\/(below|broken)\//, '') || 'index.html';
  try {
    if (url.startsWith('/broken/')) assert.ok(!file.endsWith('.wasm'));
    const bytes = readFileSync(join(process.env.STO_WEB, file));
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
let site;
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  site = `http://127.0.0.1:${server.address().port}/below/`;
});
after(() => server.close());

const onPage = (use) => open(site, use);

/** Chooses files as a user does. */
async function choose(page, ...paths) {
  const field = await page.waitForSelector('input[type=file]');
  await field.uploadFile(...paths);
  await idle(page);
}

/** Drops files, of which the debugger tells the page. */
async function drop(page, ...files) {
  const parts = files.map(({ name, bytes }) => ({ name, base64: Buffer.from(bytes).toString('base64') }));
  await page.evaluate((parts) => {
    const dataTransfer = new DataTransfer();
    for (const { name, base64 } of parts) dataTransfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, parts);
  await idle(page);
}

const dropped = (path) => ({ name: path.slice(path.lastIndexOf('/') + 1), bytes: readFileSync(path) });
/** Waits until files are opened and their screen is there. */
const idle = (page) => until(page, () => !document.querySelector('#main[aria-busy]') && !document.querySelector('[role=status]')?.textContent.startsWith('Reading'));

/** Asks the command for the most expensive functions, as the table shows them. */
function topOf(path) {
  const { functions } = JSON.parse(execFileSync(process.env.STO, ['top', '--inlined', '--format', 'json', '--limit', '3', path]));
  const costly = functions.filter(({ self }) => self.samples > 0);
  return costly.map(({ function: name, self }) => `${name} ${(100 * self.share).toFixed(100 * self.share < 10 ? 2 : 1)} %`).sort();
}

/** Returns the first rows of the table; those of equal cost have no order. */
async function shown(page) {
  const rows = await page.$$eval('sto-table [role=row]:has(.name)', (rows) => rows.slice(0, 3).map((row) => `${row.querySelector('.name').title} ${row.querySelector('[role=gridcell]').textContent}`));
  return rows.filter((row) => !row.endsWith(' 0 %')).sort();
}

test('a recording of perf has the functions of its program', () =>
  onPage(async (page) => {
    await choose(page, DEMO[0], PROGRAMS[0]);
    await until(page, () => document.querySelector('h1')?.textContent === 'demo-v1 v1.perf.data');
    assert.deepEqual(await shown(page), topOf(DEMO[0]));
  }));

for (const path of ['pprof/go-cpu.pb.gz', 'jfr/async-profiler.jfr', 'v8-log/work.v8log', 'speedscope/py-spy.json']) {
  test(`${path} is shown as by the command`, () =>
    onPage(async (page) => {
      const file = join(TESTDATA, path);
      await choose(page, file);
      await until(page, () => document.querySelector('sto-table [role=row] .name'));
      assert.deepEqual(await shown(page), topOf(file));
    }));
}

test('two files that are dropped are compared as by the command', () =>
  onPage(async (page) => {
    await drop(page, ...[...DEMO, ...PROGRAMS].map(dropped));
    await until(page, () => document.querySelector('.verdict'));
    assert.match(await textOf(page, '.verdict'), /Regression.*doLogging/);
    await page.click('.panel a');
    await until(page, () => document.querySelector('h1')?.textContent === 'demo-v1 v1.perf.data');
    await page.goBack();
    await until(page, () => document.querySelector('.verdict'));
  }));

test('axe finds nothing on any screen', () =>
  onPage(async (page) => {
    assert.deepEqual(await violations(page), []);
    await drop(page, { name: 'text.txt', bytes: 'no profile' });
    assert.deepEqual(await violations(page), []);
    await drop(page, ...[...DEMO, ...PROGRAMS].map(dropped));
    await until(page, () => document.querySelector('.verdict'));
    assert.deepEqual(await violations(page), []);
    await page.click('.panel a');
    await until(page, () => document.querySelector('h1')?.textContent === 'demo-v1 v1.perf.data');
    assert.deepEqual(await violations(page), []);
  }));

test('a file that is no profile is named with the reason, and others still open', () =>
  onPage(async (page) => {
    await drop(page, { name: 'text.txt', bytes: 'no profile' });
    assert.match(await textOf(page, '[role=alert]'), /text\.txt/);
    await drop(page, { name: 'a.folded', bytes: 'main;parse 60\nmain 40\n' });
    await until(page, () => document.querySelector('sto-flame'));
  }));

test('a page without the library says so', () =>
  open(site.replace('below', 'broken'), async (page) => {
    await drop(page, { name: 'a.folded', bytes: 'main 1' });
    assert.match(await textOf(page, '[role=alert]'), /A file of this page is missing/);
  }).catch((error) => {
    // The browser writes failed requests on its console.
    if (!String(error.message).includes('404')) throw error;
  }));

test('hostile names are only text, and nothing is loaded from elsewhere', () =>
  onPage(async (page) => {
    const requests = [];
    page.on('request', (request) => requests.push(request.url()));
    await drop(page, { name: `${HOSTILE}.folded`, bytes: `main;${HOSTILE};javascript:hacked=1 60\n` });
    await until(page, () => document.querySelector('sto-flame'));
    assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
    assert.equal(await page.evaluate(() => document.querySelectorAll('img, #main script').length), 0);
    assert.deepEqual(requests.filter((url) => !url.startsWith(site)), []);
    await assert.rejects(page.evaluate(() => document.body.append(Object.assign(document.createElement('script'), { textContent: 'hacked=1' })) ?? hacked));
  }).catch((error) => {
    // The browser writes refused scripts on its console.
    if (!String(error.message).includes('Content Security Policy')) throw error;
  }));

test('a profile is saved in other formats', () =>
  onPage(async (page) => {
    await drop(page, { name: 'a.folded', bytes: 'main;parse 60\nmain 40\n' });
    await until(page, () => document.querySelector('sto-flame'));
    await page.evaluate(() => {
      globalThis.saved = [];
      URL.createObjectURL = (blob) => {
        blob.text().then((text) => saved.push(text));
        return '#';
      };
    });
    await page.evaluate(() => [...document.querySelectorAll('.menu button')].find(({ textContent }) => textContent === 'Folded stacks').click());
    await until(page, () => saved.length === 1);
    assert.deepEqual(await page.evaluate(() => saved[0].trim().split('\n').sort()), ['main 40', 'main;parse 60']);
  }));

test('a page that is loaded again asks for the file', () =>
  onPage(async (page) => {
    await drop(page, { name: 'a.folded', bytes: 'main;parse 60\nmain 40\n' });
    await until(page, () => document.querySelector('sto-flame'));
    await page.reload({ waitUntil: 'networkidle0' });
    await until(page, () => document.querySelector('.problem'));
    assert.match(await textOf(page, '.problem'), /Open the file first/);
  }));
