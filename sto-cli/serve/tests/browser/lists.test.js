'use strict';
// The screens of lists: builds, over time, inside a run, savings, SQL and status. The test in `main.rs` runs this.
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { addressOf, open, textOf, until } = require('./open.js');

const rows = (page, selector) => page.$$eval(`${selector} tbody > tr:not(.details)`, (found) => found.map((row) => row.textContent));
/** Types into the field with this label, in place of its text. */
async function fill(page, label, text) {
  const field = await page.evaluateHandle((label) => [...document.querySelectorAll('label')].find((found) => found.textContent.startsWith(label)).querySelector('input'), label);
  await field.focus();
  await field.evaluate((input) => input.select());
  await page.keyboard.type(text);
}
/** Chooses an option of the field with this label. */
async function choose(page, label, value) {
  const field = await page.evaluateHandle((label) => [...document.querySelectorAll('label')].find((found) => found.textContent.startsWith(label)).querySelector('select'), label);
  await field.select(value);
}

test('builds have verdicts against the build before, which lead to the comparison', () =>
  open('/builds?program=steady', async (page) => {
    await until(page, () => document.querySelectorAll('.judged a').length === 9);
    const verdicts = await page.$$eval('tbody > tr', (found) => found.map((row) => [row.querySelector('th').textContent, row.lastElementChild.textContent]));
    assert.deepEqual(Object.fromEntries(verdicts), {
      b10: '✓ clean', b09: '✓ clean', b08: '✓ clean', b07: '✓ clean', b06: '▲ regression',
      b05: '✓ clean', b04: '✓ clean', b03: '✓ clean', b02: '✓ clean', b01: 'first',
    });
    await page.click('.judged a.worse');
    await until(page, () => location.pathname === '/compare');
    const { searchParams } = addressOf(page);
    assert.match(searchParams.get('baseline'), /^runs:[0-9a-f]{32}(,[0-9a-f]{32}){2}$/);
  }));

test('a search of builds keeps the focus, and the back button undoes it', () =>
  open('/builds', async (page) => {
    await fill(page, 'Search', 'STEADY');
    await until(page, () => location.search.includes('text=STEADY') && document.querySelectorAll('tbody > tr').length === 10);
    assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
    await page.goBack();
    await until(page, () => document.querySelectorAll('tbody > tr').length > 10);
  }));

test('a search finds functions, too, and leads to their course over builds', () =>
  open('/builds?text=pars', async (page) => {
    await page.click('.names a');
    await until(page, () => location.pathname === '/time' && document.querySelector('h2')?.textContent.startsWith('parse'));
  }).catch((error) => {
    // No build has the name, which the browser writes on its console.
    if (!String(error.message).includes('404')) throw error;
  }));

test('runs of a build are shown by keys alone', () =>
  open('/builds?program=steady', async (page) => {
    await page.focus('button[aria-expanded]');
    await page.keyboard.press('Enter');
    assert.equal((await rows(page, 'tr.details table')).length, 3);
    assert.equal(await page.$eval('button[aria-expanded]', (button) => button.getAttribute('aria-expanded')), 'true');
  }));

test('a function over time has a level shift, and its points lead to comparisons', () =>
  open('/time?program=steady&function=parse', async (page) => {
    assert.match((await rows(page, 'section table'))[0], /^b06.*▲/);
    assert.equal((await page.$$('.line-plot .dot')).length, 10);
    await page.evaluate(() => document.querySelector('.line-plot [tabindex="0"]').focus());
    await page.keyboard.press('ArrowLeft');
    assert.match(await textOf(page, '.pointed'), /^b09, /);
    await page.keyboard.press('Enter');
    await until(page, () => location.pathname === '/compare');
  }));

test('a whole program over time is shown by its cost', () =>
  open('/time?program=steady', async (page) => {
    assert.match(await textOf(page, '#main'), /Cost of a run in cpu-clock, 30 runs/);
    await choose(page, 'Points', 'run');
    await until(page, () => document.querySelectorAll('.line-plot .dot').length === 30);
    assert.equal(addressOf(page).searchParams.get('by'), 'run');
  }));

test('functions are suggested while typing', () =>
  open('/time?program=steady', async (page) => {
    await fill(page, 'Function', 'par');
    await until(page, () => document.querySelector('#functions option')?.value === 'parse');
    await until(page, () => location.search.includes('function=par'));
  }));

test('the window inside a run is in the address', () =>
  open('/run', async (page) => {
    await page.click('tbody a');
    const frame = async () => (await page.waitForSelector('iframe')).contentFrame();
    await until(page, () => document.querySelector('iframe')?.contentDocument?.querySelector('.edge'));
    await (await frame()).focus('.edge');
    await page.keyboard.press('PageUp');
    await until(page, () => /window=[\d.]+\.\.[\d.]+/.test(location.search));
    const address = addressOf(page);
    await open(address.pathname + address.search, async (again) => {
      await until(again, () => document.querySelector('iframe')?.contentDocument?.querySelector('#window h2')?.textContent.startsWith('What was done from'));
    });
  }));

test('savings have intervals, and depend on the part that is saved', () =>
  open('/savings?program=steady', async (page) => {
    const saved = () => page.$eval('tbody > tr td', (cell) => Number(cell.textContent));
    const before = await saved();
    assert.ok(before > 0);
    assert.match(await page.$eval('.interval', (drawn) => drawn.getAttribute('aria-label')), /^[\d.<]+ to [\d.]+$/);
    await fill(page, 'If each took', '20');
    await page.keyboard.press('Tab');
    await until(page, (before) => Math.abs(Number(document.querySelector('tbody > tr td').textContent) / before - 2) < 0.02, before);
    assert.equal(addressOf(page).searchParams.get('less'), '20');
    await choose(page, 'Of', 'modules');
    await until(page, () => document.querySelector('tbody th').textContent === 'steady');
  }));

test('rows are sorted by their heads', () =>
  open('/savings', async (page) => {
    const sort = () => page.evaluate(() => [...document.querySelectorAll('thead button')].find(({ textContent }) => textContent === 'Total').click());
    const totals = () => page.$$eval('#main table:first-of-type', ([table]) => [...table.tBodies[0].rows].map((row) => row.cells[4].textContent.replace('<', '')).map(Number));
    await sort();
    const falling = await totals();
    assert.deepEqual(falling, [...falling].sort((a, b) => b - a));
    await sort();
    assert.equal(await page.$eval('[aria-sort]', (head) => head.getAttribute('aria-sort')), 'ascending');
    assert.deepEqual(await totals(), falling.reverse());
  }));

test('a query has a table, a plot and parameters in the address', () =>
  open('/sql', async (page) => {
    await page.focus('textarea');
    await page.keyboard.type("SELECT version, samples AS n FROM executable WHERE name = :program ORDER BY version -- :nothing");
    await fill(page, ':program', 'steady');
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelectorAll('table.wide tbody tr').length === 10);
    assert.equal(addressOf(page).searchParams.get('p.program'), 'steady');
    await choose(page, 'Plot', 'n');
    assert.equal((await page.$$('.line-plot .dot')).length, 10);
    const address = addressOf(page);
    await open(address.pathname + address.search, async (again) => {
      await until(again, () => document.querySelectorAll('table.wide tbody tr').length === 10 && document.querySelector('.line-plot .dot'));
    });
  }));

test('each example of SQL asks for its parameters', () =>
  open('/sql', async (page) => {
    await choose(page, 'Start from', 'callers');
    assert.deepEqual(await page.$$eval('.editor .tools input', (fields) => fields.map(({ name }) => name)), ['version', 'function']);
  }));

test('the status tells that nothing was lost', () =>
  open('/status', async (page) => assert.match(await textOf(page, '#main'), /Nobody has sent a profile|Nothing was refused/)));
