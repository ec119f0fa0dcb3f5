'use strict';
// The pages of a server at $STO_PAGES, which has the builds v1 and v2 of `demo` and one with hostile names. The test in
// `main.rs` runs this.
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { SERVER, addressOf, newPage, open, textOf, until, violations } = require('./open.js');

const SCREENS = ['/', '/builds', '/profile', '/profile?build=v1&function=compress', '/compare', '/compare?baseline=v1&candidate=v2', '/time', '/run', '/savings', '/sql', '/status'];
const STATES = [
  { width: 1280, theme: 'light' },
  { width: 1280, theme: 'dark' },
  { width: 390, theme: 'light' },
];

for (const path of SCREENS) {
  test(`axe finds nothing on ${path}, and nothing is cut off`, () =>
    open(path, async (page) => {
      for (const { width, theme } of STATES) {
        await page.setViewport({ width, height: 900 });
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
        assert.deepEqual(await violations(page), [], `${width} pixels, ${theme}`);
        const [scroll, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(scroll <= window, `the page is ${scroll} pixels wide in a window of ${window}`);
      }
    }));
}

test('an address gets content ids, which show the same', () =>
  open('/profile?build=v1', async (page) => {
    const address = addressOf(page);
    assert.match(address.searchParams.get('build'), /^runs:[0-9a-f]{32}$/);
    await open(address.pathname + address.search, async (again) => assert.equal(await textOf(again, 'h1'), 'demo v1'));
  }));

test('names from profiles are only text', async () => {
  const page = await newPage();
  await page.goto(SERVER, { waitUntil: 'networkidle0' });
  const answer = await page.evaluate(async () => {
    const response = await fetch('/api/v1/questions/builds', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    return response.json();
  });
  await page.close();
  const { profiles } = answer.builds.find(({ executable }) => executable.includes('evil'));
  const runs = `runs:${profiles[0].id}`;
  const name = encodeURIComponent('<img src=x onerror="hacked=1">');
  for (const path of [`/profile?build=${runs}&function=${name}&search=%3Cimg`, `/compare?baseline=${runs}&candidate=${runs}&all=1`, `/profile?build=%3Cimg%20src=x%20onerror=hacked=1%3E`]) {
    const page = await newPage();
    await page.goto(SERVER + path, { waitUntil: 'networkidle0' });
    assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
    assert.equal(await page.evaluate(() => document.querySelectorAll('#main img, #main script, #main b').length), 0);
    await page.close();
  }
});

test('the palette goes to a build by keys alone', () =>
  open('/', async (page) => {
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.keyboard.type('demo v2');
    await until(page, () => document.querySelector('.palette [aria-selected] small')?.textContent === 'build');
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelector('h1')?.textContent === 'demo v2');
    assert.equal(addressOf(page).pathname, '/profile');
  }));

test('a question mark shows the keys, and Escape hides them', () =>
  open('/profile?build=v1', async (page) => {
    await page.keyboard.press('?');
    assert.match(await textOf(page, 'dialog.keys'), /Ctrl\+k/);
    await page.keyboard.press('Escape');
    await until(page, () => !document.querySelector('dialog'));
  }));

for (const path of ['/profile?build=v1&function=compress', '/compare?baseline=v1&candidate=v2']) {
  test(`Tab reaches every control of ${path}, and shows where it is`, () =>
    open(path, async (page) => {
      const expected = await page.evaluate(() => {
        const controls = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]');
        globalThis.unreached = new Set([...controls].filter((control) => control.tabIndex >= 0 && !control.disabled && control.checkVisibility()));
        globalThis.unmarked = [];
        return globalThis.unreached.size;
      });
      for (let step = 0; step < expected + 2; step += 1) {
        await page.keyboard.press('Tab');
        await page.evaluate(() => {
          const { activeElement } = document;
          globalThis.unreached.delete(activeElement);
          // The canvas marks the stack of the tree.
          const marked = activeElement.closest('.flame-scroller') ?? activeElement;
          if (activeElement !== document.body && getComputedStyle(marked).outlineStyle === 'none') globalThis.unmarked.push(activeElement.outerHTML.slice(0, 100));
        });
      }
      assert.deepEqual(await page.evaluate(() => [...globalThis.unreached].map((control) => control.outerHTML.slice(0, 100))), []);
      assert.deepEqual(await page.evaluate(() => globalThis.unmarked), []);
    }));
}

test('arrows walk the tree, Enter zooms, and the back button undoes it', () =>
  open('/profile?build=v1', async (page) => {
    await page.focus('[role=tree]');
    const current = () => page.evaluate(() => document.getElementById(document.querySelector('[role=tree]').getAttribute('aria-activedescendant')).textContent);
    assert.match(await current(), /^all: /);
    for (let level = 0; level < 4; level += 1) {
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('End');
    }
    const reached = await current();
    await page.keyboard.press('Enter');
    assert.ok(addressOf(page).searchParams.get('zoom'));
    assert.equal(await textOf(page, '.flame-status'), reached);
    await page.goBack();
    await until(page, () => document.querySelector('sto-flame').zoom === '');
    await page.goForward();
    await until(page, () => document.querySelector('sto-flame').zoom !== '');
  }));

test('a row of the table shows callers, callees and lines of its function', () =>
  open('/profile?build=v1', async (page) => {
    await page.focus('[role=grid]');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelectorAll('.sandwich sto-flame').length === 2 && document.querySelector('.lines'));
    assert.equal(addressOf(page).searchParams.get('function'), 'match_length');
  }));

test('a search tells the share of what it found', () =>
  open('/profile?build=v1&search=compress', async (page) => {
    assert.match(await textOf(page, '.flame-found'), /^1 name, \d+ stacks?, 36\.\d % of all$/);
  }));

test('a comparison has verdict, evidence, command and hidden rows', () =>
  open('/compare?baseline=v1&candidate=v2', async (page) => {
    assert.match(await textOf(page, '.verdict'), /Regression.*doLogging/);
    assert.match(await textOf(page, '#main'), /sto find-regressions demo@v1 demo@v2/);
    assert.match(await textOf(page, '#main'), /Show \d+ functions that the test finds unchanged/);
    assert.equal(await page.$$eval('.dots circle', (dots) => dots.length), 2);
    await page.click('.panel a');
    await until(page, () => document.querySelector('h1')?.textContent === 'demo v1');
  }));

test('an error says what to do', () =>
  open('/status', async (page) => {
    const message = await page.evaluate(async () => {
      const { ask } = await import(document.querySelector('script[type=module]').src.replace('main.js', 'ask.js'));
      return ask('top', { named: { selector: 'nothing' } }).catch((error) => error.message);
    });
    assert.match(message, /nothing/);
  }).catch((error) => {
    // The browser writes failed requests on its console.
    if (!String(error.message).includes('404')) throw error;
  }));
